#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: labs/judge.py LAB SEED PRESET KERNEL LOG TRUTH

Judges a boot of a lab again, from outside. A student's code runs in ring 0, so it can print any verdict in the LOG. But
TRUTH, what the plugin has done (docs/reference/qemu-ds.md, "The truth"), is out of its reach. What the check of the
folder LAB makes the Debug Store do, with the numbers that it draws from SEED on the processor PRESET, must be in there.
KERNEL has the addresses (kernel.elf.full). A lab that is not in LABS has no such judge. Exit status: 0; 3 a file cannot
be read; 4 the truth is another one than the log's, with a line that says what."""

import re
import subprocess
import sys
from pathlib import Path

PMC, A_PMC, SELECT, FIXED_CONTROL, GLOBAL_CONTROL, LOAD_LATENCY = 0xC1, 0x4C1, 0x186, 0x38D, 0x38F, 0x3F6
EN, INT, OS, USER = 1 << 22, 1 << 20, 1 << 17, 1 << 16
FORMAT_4 = ("icelake",)  # of the presets in the labs' boots


class Contradiction(Exception):
    """What is seen, and what is expected."""


class Boot:
    """What a boot has shown: `events` are the lines of the truth, as dictionaries of numbers by their names."""

    def __init__(self, seed, preset, kernel, log, truth):
        self.seed, self.preset, self.kernel = int(seed), preset, kernel
        self.said = Path(log).read_text(encoding="utf-8", errors="replace").replace("\r", "")
        lines = Path(truth).read_text(encoding="ascii").splitlines()
        expect("last line of the truth", lines[-1:], ["end"])
        self.events = []
        for line in lines[1:-1]:
            cpu, _, what, *words = line.partition(" words ")[0].split()
            values = {} if what == "total" else {name: int(value, 16) for name, value in zip(words[::2], words[1::2])}
            self.events.append({"cpu": int(cpu), "what": what, **values})

    def of(self, *what):
        return [event for event in self.events if event["what"] in what]

    def records(self, *others):
        return self.of("record", *others)

    def writes(self, msr, cpu=0):
        return [event["value"] for event in self.of("wrmsr") if event["msr"] == msr and event["cpu"] == cpu]

    def starts(self, counter, cpu=0):
        """The low halves of what the counter was set to, by either name of its register."""
        return [event["value"] & 0xFFFFFFFF for event in self.of("wrmsr")
                if event["msr"] in (PMC + counter, A_PMC + counter) and event["cpu"] == cpu]

    def symbols(self, *names):
        """Of the check and of the kernel: a student's file may have one of the same name, which is not global."""
        listed = subprocess.run(["nm", "-g", "--defined-only", self.kernel], check=True, capture_output=True, text=True)
        found = {name: int(address, 16) for address, _, name in map(str.split, listed.stdout.splitlines())}
        return [found[name] for name in names]

    def passed(self, name, pattern):
        """The numbers in the lines PASS of this name."""
        lines = re.findall(rf"^PASS: {name}: (.*)", self.said, re.M)
        return [[int(number) for number in found.groups()] for found in (re.match(pattern, line) for line in lines)
                if found]


def expect(what, seen, expected):
    if seen != expected:
        raise Contradiction(f"{what}: {seen}; expected {expected}")


def expect_list(what, seen, expected):
    """The same of long lists: says where they part."""
    for i, (one, other) in enumerate(zip(seen, expected)):
        expect(f"{what}, number {i + 1}", one, other)
    expect(f"number of {what}", len(seen), len(expected))


def expect_in_order(what, seen, expected):
    """Others may be in between: a student may write a register twice."""
    rest = iter(seen)
    for i, value in enumerate(expected):
        if value not in rest:
            raise Contradiction(f"{what}: {value}, number {i + 1} of what is expected, is not there in that order")


def first_record(boot):
    counter = 1 + boot.seed % 3
    first, = boot.symbols("lab_first_call")
    expected, said = [], []
    for period, calls in ((3 + boot.seed // 3 % 6, 24), (5 + boot.seed % 8, 19 + boot.seed // 8 % 4)):
        expected += [(1 << counter, first + 5 * (24 - calls + event - 1)) for event in
                     range(period + 1, calls + 1, period + 1)]
        said.append([counter, period, period + 1, calls])
        counter = 1 + counter % 3
    expect_list("records (counter, address)", [(r["counters"], r["ip"]) for r in boot.records()], expected)
    expect("numbers of the verdicts",
           boot.passed("records", r"counter (\d+), period (\d+): every (\d+)th of (\d+) calls"), said)


def where_it_points(boot):
    counter, rounds = 2 + boot.seed // 4 % 2, 4 - boot.seed // 4 % 3
    places = 2 + rounds // 2 * 46 + rounds % 2 * 24  # instructions of the path; a round has 22, or 24 if it is odd
    expect("number of records", len(boot.records()), (places - 2) * (6 if boot.preset in FORMAT_4 else 2))
    begin, = boot.symbols("lab_program_2")
    pmis = [event["next"] - begin for event in boot.of("pmi")]
    expect_list("interrupts of the second measurement", pmis[places - 2:], pmis[:places - 2])
    expect("number of interrupts", len(pmis), 2 * (places - 2))
    expect("interrupts outside of the program", [address for address in pmis if not 0 <= address < 4096], [])
    periods = [*range(2, places), 100000, *range(2, places)]
    expect_in_order(f"start values of counter {counter}", boot.starts(counter), [2**32 - period for period in periods])
    if not any(value & (0xFFFF | EN | INT | OS) == (0xC0 | EN | INT | OS) for value in boot.writes(SELECT + counter)):
        raise Contradiction(f"counter {counter} has never counted instructions with INT and OS")


def buffer_and_threshold(boot):
    due = boot.records("dropped")
    base, least = None, 0
    for period in (1, 2 + boot.seed % 8, 13 + boot.seed % 40, 200 + boot.seed % 300, 1800):
        for room in (3, 20):
            events = range(period + 1, 1801, period + 1)
            least += 600 // (period + 1) // (room - 1)  # in the first run, with the threshold as high as it may be
            these, due = due[:len(events)], due[len(events):]
            if base is None and these:
                base = these[0]["ip"] - 5 * period
            expect_list(f"calls that a record is due for, period {period}", [r["ip"] - base for r in these],
                        [5 * ((event - 1) % 600) for event in events])
            expect(f"counters of these records, period {period}", {r["counters"] for r in these},
                   {1 << 1 + boot.seed % 3} if events else set())
            lost = [event for event, r in zip(events, these) if r["what"] == "dropped"]
            expect("records lost with interrupts on", [event for event in lost if not 600 < event <= 1200], [])
            said = [period, room, len(these) - len(lost), len(lost)]
            if said not in boot.passed("session", r"period (\d+), (\d+) records of room: (\d+) delivered, (\d+) lost"):
                raise Contradiction(f"period {period}, {room} records of room: in truth {said[2]} are stored and "
                                    f"{said[3]} lost; no verdict says so")
    expect("number of further records", len(due), 0)
    if len(boot.of("pmi")) < least:
        raise Contradiction(f"{len(boot.of('pmi'))} interrupts; expected at least {least}")
    expect("place of the calls", base % 4096, boot.symbols("lab_calls_3")[0] % 4096)


def branches(boot):
    path = [(event["from"], event["to"]) for event in boot.of("branch")]
    doors = boot.symbols("room_kitchen", "room_library", "room_stairs", "room_garden")
    number, walk = boot.seed * 0x9E3779B97F4A7C15 % 2**64, []
    for _ in range(24):
        number = (number * 6364136223846793005 + 1442695040888963407) % 2**64
        walk.append(doors[number >> 61 & 3])
    count = len(path) // 3
    expect("branches of three walks", [path[i * count:(i + 1) * count] == path[:count] for i in range(3)], [True] * 3)
    expect_list("doors that are taken", [to for _, to in path[:count] if to in doors], walk)
    expect("branches of the verdicts", boot.passed("(?:path|round|full)", r"(?:the newest )?(\d+) branches"),
           [[count], [17 + boot.seed % 4], [count]])


def rings_and_leaks(boot):
    counter = 1 + boot.seed % 3
    both = [1, 1, 2, 2, 3, 3]  # each filter for a program in ring 0, and for one in ring 3
    filters = [(value & OS) // OS + (value & USER) // USER * 2 for value in boot.writes(SELECT + counter)
               if value & (0xFFFF | EN | INT) == 0x02C4 | EN]
    expect_in_order(f"rings of counter {counter}", filters, both)
    other = 4 * (1 + boot.seed % 2)  # of the second fixed counter: where its bits are
    expect_in_order("rings of fixed counter 0, then beside counter 1, and of another beside it",
                    [value & 0xFFF for value in boot.writes(FIXED_CONTROL)],
                    [*both, 0xB2, 0xB1, 0xB | 2 << other, 0xB | 1 << other])
    records = boot.records()
    expect("counters of the records", {r["counters"] for r in records}, {1 << counter})
    expect("rings of the records", [r["ip"] >> 63 for r in records], [1] * 51 + [0] * 51)
    expect("records of the verdict", boot.passed("records", r"(\d+) records"), [[102]])


def runs_of(boot):
    """The addresses of the records of each run of a program that has any. A run ends when all counters go off."""
    runs = [[]]
    for event in boot.events:
        if event["what"] == "wrmsr" and event["msr"] == GLOBAL_CONTROL and not event["value"]:
            runs.append([])
        elif event["what"] == "record":
            runs[-1].append(event["ip"])
    return [run for run in runs if run]


def your_profiler(boot):
    runs = runs_of(boot)
    expect("number of runs with records", len(runs), 9)
    loops = [(int(length), int(samples)) for length, samples in
             re.findall(r"^a loop of (\d+) instructions: (\d+) samples on all", boot.said, re.M)]
    expect("loops", [length for length, _ in loops], [10, 20, 30, 40, 50])
    for (length, samples), run in zip(loops, runs):
        if len(run) < samples or len(set(run)) < length:
            raise Contradiction(f"a loop of {length} instructions: {len(run)} records of {len(set(run))} instructions")
    profile = re.search(r"^(\d+) samples of (\d+) instructions, period ([1-9]\d*);", boot.said, re.M)
    if not profile or len(runs[7]) < int(profile[1]) or len(runs[5] + runs[6]) < int(profile[2]):
        raise Contradiction(f"the profile: {len(runs[7])} records of {len(runs[5] + runs[6])} instructions")
    starts = [2**32 - value for value in boot.starts(1)]
    period = int(profile[3])
    expect("events until the first record of each run but the last", starts[:-1],
           [period] * 5 + [1, 2, 1 + boot.seed % period])
    expect("samples with stacks", [[len(boot.of("pmi"))]],
           [[sum(numbers)] for numbers in boot.passed("stacks", r"(\d+) .* judged: (\d+) within .*, (\d+) outside")])


def perturbation(boot):
    stored, trials = len(boot.records()), boot.passed("report", r"it claims what (\d+) runs")
    if not stored or stored % 12 or not trials or trials[0][0] <= stored // 12:
        raise Contradiction(f"this machine: {stored} records, 12 in each traced run, and {trials} runs")
    expect("samples of the report", re.findall(r"^  samples  (\d+), lost: unknown", boot.said, re.M), [str(stored)])


def which_line(boot):
    state = (boot.seed + 1) * 0x9E3779B97F4A7C15 % 2**64

    def below(limit):
        nonlocal state
        state ^= state << 13 & 2**64 - 1
        state ^= state >> 7
        state ^= state << 17 & 2**64 - 1
        return (state >> 20) % limit

    loads, period, threshold, further = below(4), 100 + below(900), 20 + below(100), below(3)
    stores = (loads + 1 + further) % 4
    expect("counters and threshold of the verdict",
           boot.passed("sampling", r"counter (\d+) for loads of more than (\d+) cycles and counter (\d+)"),
           [[loads, threshold, stores]])
    for cpu in range(2):
        for counter, event in ((loads, 0x01CD), (stores, 0x82D0)):
            expect_in_order(f"events of counter {counter} of vCPU {cpu}",
                            [value & (0xFFFF | EN | OS) for value in boot.writes(SELECT + counter, cpu)],
                            [event | EN | OS])
            expect_in_order(f"start values of counter {counter} of vCPU {cpu}",
                            boot.starts(counter, cpu), [2**32 - period])
        expect_in_order(f"thresholds of vCPU {cpu}", boot.writes(LOAD_LATENCY, cpu), [threshold, 30])
        expect(f"vCPU {cpu} has records", any(r["cpu"] == cpu for r in boot.records()), True)
    samples = boot.passed("machine", r"(\d+) samples of two processors")
    if not samples or samples[0][0] > len(boot.records()):
        raise Contradiction(f"two processors: {len(boot.records())} records, and the verdict says {samples}")


LABS = {"01-first-record": first_record, "02-where-it-points": where_it_points,
        "03-buffer-and-threshold": buffer_and_threshold, "07-branches": branches,
        "08-rings-and-leaks": rings_and_leaks, "09-your-profiler": your_profiler, "10-perturbation": perturbation,
        "11-which-line": which_line}


def main():
    lab, *arguments = sys.argv[1:]
    try:
        judge = LABS.get(Path(lab).name)
        if judge:
            judge(Boot(*arguments))
    except Contradiction as why:
        print(f"truth: {why}")
        return 4
    except subprocess.CalledProcessError as error:
        print(f"judge.py: {error.stderr.strip()}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"judge.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 3
    return 0


sys.exit(main())
