# SPDX-License-Identifier: MIT
"""Debian's perf under qemu-ds finds what known.asm does on paper: counts, which instruction each sample is of,
registers, data addresses, branches, counters in records. One boot for each machine does it all."""

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import checks
import guest
import known
import pytest
import tsc

FORMATS = {"skylake": "PEBS fmt3+, Skylake events,", "icelake": "PEBS fmt4+-baseline, Icelake events,",
           "pantherlake": "Pantherlake Hybrid events, Architectural PEBS,",
           "clearwaterforest": "Darkmont events, Architectural PEBS,"}
LOADS = "event=0xd0,umask=0x81"
GROUP = [known.ALL, known.BRANCHES, known.LOADS]  # members of "group"

WORDS = 20
LONG = f"known $(seq {WORDS - 1})"
COMMANDS = {
    "quiet": checks.QUIET,
    "stat": f"perf stat -x, -e instructions:u,branches:u {LONG}",
    "instructions": f"perf record -q -e instructions:upp -c 10007 {LONG} && perf script -F ip,period",
    "branches": f"perf record -q -e branches:upp -c 1010 {LONG} && perf script -F ip,period",
    "interrupts": f"perf record -q -e instructions:u -c 10007 {LONG} && perf script -F ip,period",
    "cycles": f"perf record -q -e cycles:upp -c 10007 {LONG} && perf script -F ip,period",
    "rdpmc": "perf test -v 'User space counter reading' 2>&1",
    "stepped": "linux-stepped",
    "brand": "grep 'model name' /proc/cpuinfo",
    "expression": "perf test -v 'Simple expression parser' 2>&1",
    "registers": f"perf record -q -e instructions:upp -c 10007 --intr-regs=cx,dx,bx,r8,ip {LONG} && "
                 "perf script -F ip,iregs",
    "loads": f"perf record -q -d -e PMU/{LOADS}/upp -c 1008 known && perf script -F ip,addr",
    "stacks": "perf record -q -b -e branches:upp -c 1010 known && perf script -F ip,brstack",
    "callers": "perf record -q --call-graph lbr -e instructions:upp -c 1007 known && "
               "perf script -D | grep -A 4 PERF_RECORD_SAMPLE",
    **{name: f"perf stat -x, -e instructions:u,branches:u,PMU/{LOADS}/u,PMU/event=0xd0,umask=0x82/u {name}"
       for name in ("known32", "known64")},
    "bts": "perf record -q --per-thread -e intel_bts//u known && perf script --itrace=b -F ip,addr",
}
ARCHITECTURAL_COMMANDS = {
    "precise instructions": f"perf record -q -e instructions:uppp -c 10007 --intr-regs=cx {LONG} && "
                            "perf script -F ip,period,iregs",
    "precise branches": f"perf record -q -e branches:uppp -c 1010 --intr-regs=cx {LONG} && "
                        "perf script -F ip,period,iregs",
    "group": f"perf record -q -e '{{PMU/instructions/upp,PMU/branches/u,PMU/{LOADS}/u}}:S' -c 10007 {LONG} && "
             "perf script -F ip,period",
    "slots": "perf stat -x, -e topdown-bad-spec:u,topdown-fe-bound:u,topdown-retiring:u,topdown-be-bound:u known",
    "logged": "perf record -q -e '{branches:upp,instructions:u}:S' -c 5003 -j any,u,counter known && perf report -D | "
              "grep -E '^\\.{5} +[0-9]+:|branch stack'",
    "vectors": f"perf record -q -e instructions:upp {checks.VECTORS} && perf script -F ip,iregs",
}
# Of a performance core, which has the metrics; beside a program of other slots, so that Linux saves them and goes on.
METRICS = {
    "metrics": "while :; do :; done & perf stat -x, -e '{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,"
               f"topdown-be-bound}}:u' {LONG}; status=$?; kill $!; exit $status",
}
# Before "quiet": at its rate Linux would sample little but its own interrupts. Where there are two CPUs, it begins with
# one.
AGAIN = (f"{checks.BY_FREQUENCY}; for i in 1 2; do perf record -o /tmp/data -g -e PMU/instructions/p "
         "-e PMU/branches/p -c 997 busybox seq 1 100; done")
SAMPLING = {"one CPU": AGAIN, "two CPUs": f"echo 1 >/sys/devices/system/cpu/cpu1/online; {AGAIN}"}
PROGRAMS = 4  # random ones: each takes seconds in each guest, and test_random.py runs more of them
# Every counter is theirs, so Linux' watchdog gives its own back; and they look for addresses of the kernel.
RANDOM = {"random": "cd /proc/sys/kernel; echo 0 >nmi_watchdog; echo 0 >kptr_restrict; cd - >/dev/null; " +
          checks.random_command(1000, PROGRAMS)}
INTERRUPTS = {"nmi": "grep -E 'NMI|PMI' /proc/interrupts"}
FEW = ["quiet", "stat", "registers", "stacks", "precise branches", "group", "slots", "logged", "interrupts", "nmi"]


@dataclass
class Booted:
    preset: str
    folder: Path
    commands: list
    run: guest.Run
    program: object
    vectors: object

    def lines(self, name):
        said = self.run.said[self.commands.index(name)]
        assert said.status == 0, said.output
        return said.output.splitlines()

    def known(self, words=1):
        return known.Known(self.program, words)

    def spacing(self, period, counter="general purpose"):
        """Events from one record to the next: with precise distribution, as fixed counter 0 has it from Ice Lake on,
        and the first general-purpose one with architectural PEBS, an overflow records itself; else it arms the
        counter, and the next event is recorded."""
        precise = self.preset in checks.ARCHITECTURAL or (self.preset == "icelake" and counter == "fixed")
        return period if precise else period + 1


def longer(commands):
    """Those whose periods are such that with precise distribution records are as far apart as without it."""
    return [re.sub("-c (1008|1010)", lambda match: f"-c {int(match[1]) + 1}", line) for line in commands]


@dataclass(frozen=True)
class Machine:
    preset: str
    cpus: int = 1
    commands: str = "all"  # "few": what FEW names

    def param(self, *marks):
        name = "-".join(map(str, (self.preset, self.cpus, self.commands)))
        return pytest.param(self, marks=[*marks, pytest.mark.xdist_group(name)], id=name)


OLDER = [Machine("skylake").param(), Machine("icelake").param(pytest.mark.long)]
QUICK = [Machine("clearwaterforest", 2, "few").param()]  # of architectural PEBS: beside it the same and more is long
NEWER = [Machine(preset, cpus).param(pytest.mark.long) for preset in checks.ARCHITECTURAL for cpus in (1, 2)]


def on(*machines):
    return pytest.mark.parametrize("booted", [one for some in machines for one in some], indirect=True, scope="session")


@pytest.fixture(scope="session")
def booted(request, tmp_path_factory):
    """With two CPUs the commands take turns on them."""
    machine = request.param
    folder = tmp_path_factory.mktemp(machine.preset)
    programs = {f"bin/{name}": known.assemble(folder, name) for name in ("known", "vectors")}
    programs["bin/known32"] = known.assemble(folder, "known32", "-DLES", bits=32)
    programs["bin/known64"] = known.assemble(folder, "known64", "-DFARCALL")
    programs |= {"bin/linux-stepped": guest.BUILD / "linux-stepped", "bin/random": checks.RANDOM}
    newer = machine.preset in checks.ARCHITECTURAL
    sampling = dict(islice(SAMPLING.items(), machine.cpus)) if newer else {}
    if machine.commands == "few":
        sampling = dict([sampling.popitem()])
    commands = {**COMMANDS, **(ARCHITECTURAL_COMMANDS if newer else {}),
                **(METRICS if machine.preset == "icelake" else {}), **RANDOM, **INTERRUPTS}
    if machine.commands == "few":
        commands = {name: commands[name] for name in FEW}
    commands = {**sampling, **commands}
    lines = [line.replace("PMU/", "cpu_core/" if machine.preset == "pantherlake" else "cpu/")
             for line in commands.values()]
    lines = longer(lines) if newer else lines
    if machine.cpus > 1:
        lines = [line if name in sampling else f"taskset -p {1 + i % machine.cpus} $$ >/dev/null; {line}"
                 for i, (name, line) in enumerate(zip(commands, lines))]
    append = "pti=off nmi_watchdog=0 tsc=reliable maxcpus=1" if newer else "pti=off"
    run = guest.run(folder, lines, preset=machine.preset, kernel=checks.kernel(machine.preset),
                    smp=machine.cpus, append=append, plugin="stats=on", files=programs)
    return Booted(machine.preset, folder, list(commands), run, programs["bin/known"], programs["bin/vectors"])


@on(OLDER, QUICK, NEWER)
def test_what_the_kernel_finds(booted):
    """Where another CPU says something in between, the line goes on in another."""
    said = booted.run.dmesg
    assert f"Performance Events: {FORMATS[booted.preset]}" in said
    assert "full-width counters, Intel PMU driver." in said


@on(QUICK, NEWER)
def test_sampling_goes_on(booted):
    """Records reach the threshold while Linux counts again and has not unmasked LVTPC yet, with kernel code sampled and
    two events: there are samples each time."""
    for name in set(SAMPLING).intersection(booted.commands):
        said = "\n".join(booted.lines(name))
        assert len(re.findall(r"/tmp/data \([1-9]\d* samples\)", said)) == 2, said


@on(OLDER, QUICK, NEWER)
def test_no_warnings(booted):
    """Of NMIs without reason, lost ones, and the like. How long one took is no matter: this machine is emulated."""
    assert checks.warnings(booted.run.dmesg) == []


@on(OLDER, QUICK, NEWER)
def test_counts(booted):
    """Exactly: page faults, interrupts and context switches add nothing; exit's own SYSCALL is an instruction and a
    far branch of the program's, whatever it leads to."""
    counts = {line.split(",")[2]: int(line.split(",")[0]) for line in booted.lines("stat")}
    paper = booted.known(WORDS)
    in_loop = sum(name in known.BRANCHES for name in known.EVEN + known.ODD)
    assert counts == {"instructions:u": paper.instructions, "branches:u": paper.iterations // 2 * in_loop + 1}


@on(OLDER, NEWER)
@pytest.mark.parametrize("name", ["known32", "known64"])
def test_unusual_encodings(booted, name):
    """32-bit code (with PUSHA, BCD arithmetic, LES) and prefixes, strings, far branches and the like in 64-bit code."""
    counts = [int(line.split(",")[0]) for line in booted.lines(name)]
    paper = known.expected(booted.program.parent / name)
    prefetches = 0 if booted.preset in checks.ARCHITECTURAL else paper["prefetches"]
    assert counts == [paper["instructions"], paper["branches"], paper["loads"] + prefetches, paper["stores"]]


@on(OLDER, NEWER)
def test_instructions(booted):
    """Every sample is of the instruction that the period leads to."""
    periods, said = checks.periods_and_ips(booted.lines("instructions"))
    assert periods == {10007}
    paper = booted.known(WORDS)
    assert len(checks.samples(paper, known.ALL, 10007, booted.spacing(10007, "fixed"), said)) >= 456


@on(OLDER, NEWER)
def test_branches(booted):
    periods, said = checks.periods_and_ips(booted.lines("branches"))
    (period,) = periods
    assert booted.spacing(period) == 1011
    checks.samples(booted.known(WORDS), known.BRANCHES, period, 1011, said)


def slots(paper, others):
    """By perf's names of the events; `others`: those of an instruction in which it does not retire."""
    half = paper.iterations // 2
    branches, conditional = (half * sum(name in names for name in known.EVEN + known.ODD)
                             for names in (known.BRANCHES, ("l3", "l9")))
    branches += 1  # e2, SYSCALL
    return {"topdown-bad-spec:u": others * conditional, "topdown-fe-bound:u": others * (branches - conditional),
            "topdown-retiring:u": paper.instructions, "topdown-be-bound:u": others * (paper.instructions - branches)}


@on(QUICK)
def test_slots(booted):
    """Fixed counters 4 to 6, and a general-purpose one: all slots of the program."""
    counts = {line.split(",")[2]: int(line.split(",")[0]) for line in booted.lines("slots")}
    assert counts == slots(booted.known(), 7)


@on([one for one in OLDER if one.values[0].preset == "icelake"])
def test_metrics(booted):
    """All slots of the program exactly. Metrics are 255ths: Linux makes slots of the difference of two."""
    counts = {line.split(",")[2]: int(line.split(",")[0]) for line in booted.lines("metrics")}
    paper = booted.known(WORDS)
    assert counts.pop("slots") == 5 * paper.instructions
    assert counts == {name.removesuffix(":u"): pytest.approx(most, abs=0.01 * 5 * paper.instructions)
                      for name, most in slots(paper, 4).items()}


@on(QUICK)
def test_events_between_branches(booted):
    """How many branches (2 bits) and instructions (2 more, 3 or more as 3) there were since the entry before, but for
    the oldest, before which another thread's may have been. Counting begins anew where Linux programs the counters, as
    it does at a context switch: few are as close as that to a sample."""
    paper, stacks, logs, cut = booted.known(), [], [], 0
    for line in booted.lines("logged"):
        words = line.split()
        if "branch stack" in line:
            (logs if "counters" in line else stacks).append([])
        else:
            (stacks if "->" in words else logs)[-1].append(int(words[2], 16))
    may_be = {"l3": {0b1101}, "l5": {0b0101, 0b1110}, "f1": {0b1001}, "l9": {0b1101}}
    assert len(stacks) == len(logs) > 10 and any(len(stack) == 32 for stack in stacks)
    for stack, log in zip(stacks, logs):
        assert len(stack) == len(log)
        fewer = [(said, may_be[paper.name[at]]) for at, said in zip(stack[:-1], log)
                 if said not in may_be[paper.name[at]]]
        assert len(fewer) < 2
        assert all(any(said & 3 <= may & 3 and said >> 2 <= may >> 2 for may in those) for said, those in fewer)
        cut += len(fewer)
    assert cut < 3


@on(OLDER, NEWER)
def test_cycles(booted):
    """One for each instruction. On Skylake perf asks for INST_RETIRED with CMASK=16 and INV instead. Fixed counter 1,
    which counts them unless the NMI watchdog has it, is without precise distribution."""
    periods, said = checks.periods_and_ips(booted.lines("cycles"))
    assert periods == {10007}
    checks.samples(booted.known(WORDS), known.ALL, 10007, 10008, said)


@on(OLDER, NEWER)
def test_counters_read_by_programs(booted):
    """RDPMC at CPL 3, by perf's own test of it."""
    ends = [line.rsplit(":", 1)[1].strip() for line in booted.lines("rdpmc") if ":" in line]
    assert ends.count("Ok") == 2 and "FAILED!" not in ends


@on(OLDER, NEWER)
def test_data_breakpoints(booted):
    """One #DB for each, with a single step in the same one, and the branches until then. QEMU raises two: Linux, which
    has an IST for them, does not come back from the second."""
    said = [line.split() for line in booted.lines("stepped")]
    first = int(said[0][3])
    assert said == [[how, dr6, str(word), str(first + 10 * (word - 1))]
                    for how, dr6 in (("run", "1"), ("step", "4001")) for word in (1, 2, 3, 4)]


@on(OLDER, NEWER)
def test_tsc_frequency(booted):
    """The brand string has what the TSC does, and CPUID.15H, or else guest.py, tells Linux: it measures nothing itself.
    perf's own test wants a frequency, and finds it in the brand string alone."""
    line, *others = booted.lines("brand")
    assert set(others) <= {line}
    brand = re.search(fr"{booted.preset} @ (\d\.\d\d)GHz$", line)
    assert brand, line
    checks.tsc_rates(booted.run.dmesg)
    assert abs(float(brand[1]) * 1000000 - tsc.khz()) < 10000
    assert booted.lines("expression")[-1].endswith(": Ok")


@on(OLDER, QUICK, NEWER)
def test_interrupts(booted):
    """Without PEBS an interrupt comes at each overflow, before the next instruction: that is what it finds. One that
    Linux lets wait for an event more (see follow()) comes that much later; the next does not. Where a fault or another
    interrupt comes between the two, it finds an address of the kernel; Linux 7.3 says 0 then, 6.12 the address."""
    periods, said = checks.periods_and_ips(booted.lines("interrupts"))
    assert periods == {10007}
    paper = booted.known(WORDS)
    expected = [paper.event(known.ALL, n) for n in range(10007, paper.instructions - len(known.END), 10007)]
    assert len(said) == len(expected)
    late = [(event, ip) for event, ip in zip(expected, said) if paper.name.get(ip) != paper.after(event)]
    assert len(late) <= checks.few(said)
    for event, ip in late:
        assert not ip or ip >> 63 or paper.name[ip] == paper.after((paper.after(event), event[1]))


@on(OLDER, QUICK, NEWER)
def test_registers(booted):
    """They are those after the sampled instruction."""
    lines = [line.split() for line in booted.lines("registers")]
    ips = [int(line[0], 16) for line in lines]
    paper = booted.known(WORDS)
    samples = checks.samples(paper, known.ALL, 10007, booted.spacing(10007, "fixed"), ips)
    for (ip, _, *registers), (name, i) in zip(lines, samples):
        said = {key: int(value, 16) for key, value in (word.split(":") for word in registers)}
        assert said == {"IP": int(ip, 16)} | paper.registers(name, i), (name, i)


@on(OLDER, NEWER)
def test_load_addresses(booted):
    """The load of a word of the buffer and RET's of its return address, which is where it was called from each time."""
    lines = [[int(word, 16) for word in line.split()] for line in booted.lines("loads")]
    paper = booted.known()
    (stack,) = {address for address, ip in lines if paper.name[ip] == "f1"}
    assert stack % 16 == 8 and stack >> 40 == 0x7F

    def seen(event):
        name, i = event
        return name, paper.buffer + 8 * (i % known.WORDS) if name == "l0" else stack

    said = [(paper.name[ip], address) for address, ip in lines]
    expected, stops = paper.follow(known.LOADS, 1008, 1009, said, seen)
    assert said == [seen(event) for event in expected]
    assert stops <= checks.few(said)


@on(OLDER, QUICK, NEWER)
def test_branch_stacks(booted):
    """Each begins with the branch the record is of, where that is taken, and goes back as far as there are entries;
    after a context switch there are fewer."""
    lines = [line.split() for line in booted.lines("stacks")]
    paper = booted.known()
    samples = checks.samples(paper, known.BRANCHES, 1010, 1011, [int(line[0], 16) for line in lines])
    full = 0
    for (_, *stack), (name, i) in zip(lines, samples):
        said = [tuple(int(word, 16) for word in entry.split("/")[:2]) for entry in stack]
        assert said and said == list(islice(paper.last_taken(name, i), len(said)))
        full += len(said) == 32
    assert full > len(lines) // 2


@on(OLDER, NEWER)
def test_call_stacks(booted):
    """LBR as a call stack: there is a caller on it from when CALL has retired until RET has."""
    texts = re.split(r"^.*PERF_RECORD_SAMPLE", "\n".join(booted.lines("callers")), flags=re.M)[1:]
    ips = [int(re.search(r": (0x\w+) period", text)[1], 16) for text in texts]
    paper = booted.known()
    samples = checks.samples(paper, known.ALL, 1007, booted.spacing(1007, "fixed"), ips)
    called = [paper.address["f0"], paper.address["l5"]]
    for text, (name, _) in zip(texts, samples):
        chain = [int(ip, 16) for ip in re.findall(r"^\.{5} +[1-9]: (\w+)$", text, re.M)]
        assert (chain == called) == (name in ("l5", "f0")), text


@on(OLDER, NEWER)
def test_branch_trace_store(booted):
    """All of the program's branches in their order, and beside them only ways into the kernel."""
    paper = booted.known()
    said = [tuple(int(word, 16) for word in line.split(" => ")) for line in booted.lines("bts")]
    own = [branch for branch in said if branch[1] >> 63 == 0]
    assert own == list(paper.taken())
    assert all(start in paper.name for start, _ in said)


@on(QUICK, NEWER)
def test_precise_branches(booted):
    """Where perf asks for counters that have precise distribution."""
    checks.precise(booted.known(WORDS), known.BRANCHES, 1011, booted.lines("precise branches"))


@on(NEWER)
def test_precise_instructions(booted):
    checks.precise(booted.known(WORDS), known.ALL, 10007, booted.lines("precise instructions"))


@on(QUICK, NEWER)
def test_counters_in_records(booted):
    """A sample has what each member of the group counted since the last one: by paper, up to the sampled instruction.
    When the program goes on after others had the CPU Linux begins a whole period."""
    lines = [line.split() for line in booted.lines("group")]
    paper = booted.known(WORDS)
    counts, distances = [0] * len(GROUP), []
    for at in range(0, len(lines), len(GROUP)):
        members = lines[at:at + len(GROUP)]
        (ip,) = {int(ip, 16) for _, ip in members}
        counts = [count + int(more) for count, (more, _) in zip(counts, members, strict=True)]
        event = paper.event(known.ALL, counts[0])
        assert event and (ip, counts) == (paper.address[event[0]], [paper.count(names, event) for names in GROUP])
        distances.append(int(members[0][0]))
    assert min(distances) == 10007 and distances.count(10007) > len(distances) // 2
    assert counts[0] + 3 * 10007 > paper.instructions


@on([one for one in NEWER if one.values[0].preset != "pantherlake"])
def test_vector_registers(booted):
    """They are those after the sampled instruction, too. Of a hybrid see test_hybrid.py."""
    checks.vector_registers(booted.vectors, booted.lines("vectors"))


@on(OLDER, NEWER)
def test_random_programs(booted):
    """Beside single-stepping by ptrace: see test_random.py."""
    checks.random_programs(booted.run.said[booted.commands.index("random")], 1000, PROGRAMS, booted.folder)
    assert "flags exact" in booted.run.plugin


@on(OLDER, QUICK, NEWER)
def test_interrupts_are_the_plugins(booted):
    """None is lost, and none comes from elsewhere: what the kernel counts is what the plugin sent."""
    said = {words[0]: [int(word) for word in words[1:] if word.isdigit()]
            for words in (line.split() for line in booted.lines("nmi"))}
    pmis = [int(number) for number in re.findall(r"(\d+) PMIs", booted.run.plugin)]
    assert said["NMI:"] == said["PMI:"] == pmis and sum(pmis) > 400
