# SPDX-License-Identifier: MIT
"""The whole way of the data: boots Cairn, then reads the log as a user would, with `cairn`."""

import base64
import os
import re
import shutil
import socket
import stat
import subprocess
import threading
import time

import pytest

import cairn_boot as cb
import frames as dump
from cairn_tool import events, patch


def cairn(*arguments):
    done = subprocess.run([cb.BUILD / "cairn", *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def checked(log):
    """`cairn check` must find nothing; its text."""
    status, text = cairn("check", log)
    assert status == 0, text
    return text


def frames(log, streams):
    """Payloads of the frames of some streams, in the order of the file."""
    for match in re.finditer(rb"~([A-Z])[0-9a-f]{8}:([A-Za-z0-9+/=]*):[0-9a-f]{8}", log.read_bytes()):
        if match[1].decode() in streams:
            yield base64.b64decode(match[2])


def keys(log, streams):
    text = b"".join(frames(log, streams)).decode()
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def numbers(value):
    return [int(word) for word in value.split()]


def per_cpu(found, name):
    """The values of end.cpu.N.NAME, by CPU."""
    out = []
    while f"end.cpu.{len(out)}.{name}" in found:
        out.append(numbers(found[f"end.cpu.{len(out)}.{name}"]))
    return out


def with_qemu(folder, *extra):
    """A QEMU that gets these arguments as well, for run-qemu.sh --qemu."""
    wrapper = folder / "qemu-with-more"
    words = " ".join(f"'{word}'" for word in extra)
    wrapper.write_text(f'#!/bin/sh\nexec "{shutil.which("qemu-system-x86_64")}" "$@" {words}\n', encoding="ascii")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return wrapper


# ---- every switch equal, every record attributed

def run_and_check(tmp_path, cpus, switches, *options, timeout=300):
    result = cb.boot(tmp_path / "log", "--smp", cpus, "truth=1", f"switches={switches}", "seconds=280", *options,
                     timeout=timeout)
    assert result.status == cb.PASS, result.output
    assert f"PASS: cpus: {cpus} of {cpus}" in result.output
    checked(result.log)
    end = keys(result.log, "E")
    assert sum(tried for tried, _, _ in per_cpu(end, "switches")) >= switches
    assert end["end.events_lost"] == "0"
    return result, end


@pytest.mark.parametrize("cpus, switches", [(1, 3000), (2, 4000), (8, 6000)])
def test_truth(tmp_path, cpus, switches):
    run_and_check(tmp_path, cpus, switches, "workload=mix")


def attributed(text):
    """(attributed, ambiguous, wrong) as `cairn check` counts them."""
    match = re.search(r"(\d+) attributed[^,]*, (\d+) ambiguous, (\d+) wrong", text)
    assert match, text
    return [int(n) for n in match.groups()]


def test_mix_uses_everything(tmp_path):
    """4 CPUs: all record forms, the flush conditions but the rarest, drains, and at least 99 % attributed."""
    result, end = run_and_check(tmp_path, 4, 20000, "workload=mix")
    good, ambiguous, wrong = attributed(checked(result.log))
    assert wrong == 0 and good >= 0.99 * (good + ambiguous) and good > 100
    batches = [sum(column) for column in zip(*per_cpu(end, "batches"))]
    tids, age, space, _delta, _stop, drain, panic = batches
    assert tids and age and space and drain and not panic, batches
    assert sum(counts[1] for counts in per_cpu(end, "ds")) > 4  # drains by PMI, not only the one at each CPU's stop
    status, text = cairn("stat", result.log)
    assert status == 0
    for form in ("IDLE_SHORT", "IDLE", "LITE", "FULL"):
        row = re.search(rf"^\s*{form}\s+([\d,]+)", text, re.M)
        assert row and int(row[1].replace(",", "")) > 0, text


@pytest.mark.long
def test_two_hundred_thousand(tmp_path):
    result, _ = run_and_check(tmp_path, 4, 200000, "workload=mix", timeout=600)
    good, ambiguous, wrong = attributed(checked(result.log))
    assert wrong == 0 and good >= 0.99 * (good + ambiguous)


@pytest.mark.parametrize("workload", ["pingpong", "prodcons", "lockfight", "hogs", "sleepers", "user"])
def test_workloads(tmp_path, workload):
    run_and_check(tmp_path, 2, 300, f"workload={workload}")


@pytest.mark.parametrize("rings", ["u", "k", pytest.param("uk", marks=pytest.mark.long)])
def test_rings(tmp_path, rings):
    """What pebs=...:u and :k count: the programs' instructions, SYSCALL included, and the kernel's own."""
    result, end = run_and_check(tmp_path, 2, 1500, "workload=user", f"pebs=INST_RETIRED.ANY:97:{rings}")
    status, dump = cairn("dump", result.log)
    assert status == 0, dump
    where = re.findall(r"^ +[0-9.]+ +\d+ \* ([a-z_]+)\+0x", dump, re.MULTILINE)
    user = [name for name in where if name.startswith("user_")]
    assert len(where) == sum(records for records, *_ in per_cpu(end, "ds")) > 100
    assert (len(user) > 0) == ("u" in rings) and (len(user) < len(where)) == ("k" in rings), set(where)
    if rings == "k":
        assert "kpart_compute" in where  # what CALL_SPIN does for a program
    names = b"".join(frames(result.log, "N")).decode()
    assert re.search(r"^\d+ 8 u computer/0$", names, re.MULTILINE), names
    assert len(result.lines("user: napper/")) == 2, result.output


@pytest.mark.parametrize("model, backend", [
    ("max", "soft"),
    *[pytest.param(*other, marks=pytest.mark.long) for other in [("max", "off"), ("Nehalem", "soft")]]])
def test_hostile(tmp_path, model, backend):
    """Programs that try what they may not: each is stopped, with one line, and the trace stays right."""
    result, _ = run_and_check(tmp_path, 2, 4000, "--cpu", model, "workload=hostile", f"ds={backend}")
    assert ("smep smap umip" in result.output) == (model == "max")
    verdict = re.search(r"PASS: hostile: (\d+) attempts, each ended as it must; (\d+) switches", result.output)
    assert verdict and not result.lines("FAIL: "), result.output
    attempts, since = map(int, verdict.groups())
    assert attempts > 190 and since >= 100
    ended = re.findall(r"^user: hostile/(\d+) \(thread \d+\) ended at [^:]+: .+$", result.output, re.MULTILINE)
    assert sorted(map(int, ended)) == list(range(attempts))
    status, dump = cairn("dump", result.log)
    assert status == 0
    last = dump.rindex(f" hostile/{attempts - 1}:")
    assert len(re.findall(r"^ +[0-9.]+ +\d+   \S", dump[last:], re.MULTILINE)) >= 100


def known(result, cpus):
    """The verdicts of workload `known`: how many programs, of how many lines that are not PASS."""
    lines = [line for line in result.output.splitlines() if re.match(r"(PASS|FAIL|SKIP): known: ", line)]
    passed = re.compile(r"PASS: known: CPU (\d+): (\w+): .*; counts of (\d+) events verified, (\d+) records verified")
    good = [passed.match(line) for line in lines]
    programs = [[match[2] for match in good if match and int(match[1]) == cpu] for cpu in range(cpus)]
    return programs, [line for line, match in zip(lines, good) if not match], good


@pytest.mark.parametrize("cpus, preset", [
    (1, "icelake"),
    *[pytest.param(2, preset, marks=pytest.mark.long)
      for preset in ("penryn", "nehalem", "sandybridge", "haswell", "skylake", "icelake", "sapphirerapids", "arrowlake",
                     "lunarlake")]])
def test_known(tmp_path, cpus, preset):
    """Counting is exact: counters and the places of PEBS records equal what is known of seventeen programs."""
    result, _ = run_and_check(tmp_path, cpus, 1500 * cpus, "workload=known", "ds=soft", f"ds.preset={preset}",
                              "bts=interrupt")
    programs, others, good = known(result, cpus)
    assert not others and all(names == programs[0] for names in programs), result.output
    assert len(set(programs[0])) == 17 and {"loop", "calls", "rep", "fault", "system_call"} <= set(programs[0])
    assert {int(match[3]) for match in good} == {{"penryn": 4, "nehalem": 5}.get(preset, 8)}
    assert all(int(match[4]) for match in good)  # records there were


@pytest.mark.long
def test_known_can_fail(tmp_path):
    """A paper that is wrong by one fails for each program and event."""
    build = cb.build_with(tmp_path / "build", kernel_elf=cb.BUILD / "mutant6" / "kernel.elf")
    result = cb.boot(tmp_path / "log", "--smp", 1, "workload=known", "ds=soft", "switches=1500", build=build)
    assert result.status == cb.FAIL
    programs, others, _ = known(result, 1)
    assert programs == [[]] and len(others) == 17, result.output
    assert "FAIL: known: CPU 0: loop: INST_RETIRED.ANY: 24 counted, on paper 25" in others


def test_stepping_traps(tmp_path):
    """What is hard to single-step counts as it should, on each CPU and with interrupts between the steps."""
    result, _ = run_and_check(tmp_path, 2, 300, "workload=traps")
    lines = result.lines("PASS: traps: ")
    assert len(lines) == 2 and not result.lines("FAIL: "), result.output
    for line in lines:
        rounds, ticks = re.search(r"(\d+) times each, (\d+) timer ticks in between", line).groups()
        assert int(rounds) >= 100 and int(ticks) > 0, line


# ---- what sessions write

@pytest.mark.parametrize("options", [
    ["session.1=full:qpc:sequential"],
    ["session.1=compact+full:qpc:sequential"],
    ["pebs.groups=none", "pebs=BR_INST_RETIRED.ALL_BRANCHES:997"],
    ["pebs.records=2", "pebs.threshold=1", "pebs=INST_RETIRED.ANY:2003"],
    ["ds=off"],
    ])
def test_sessions(tmp_path, options):
    result, end = run_and_check(tmp_path, 2, 2000, *options)
    session = keys(result.log, "L")
    assert session["session.1.pebs"] == ("0" if "ds=off" in options else "1")
    assert ("end.cpu.0.ds" in end) == ("ds=off" not in options)


# ---- every processor the model can be

ICELAKE = ("INST_RETIRED.ANY:499,cycles:601,branches:151,BR_INST_RETIRED.CONDITIONAL:103,"
           "BR_INST_RETIRED.NEAR_TAKEN:101,BR_INST_RETIRED.NEAR_CALL:31,BR_INST_RETIRED.NEAR_RETURN:37,"
           "BR_INST_RETIRED.FAR_BRANCH:3")
SANDYBRIDGE = ("INST_RETIRED.ANY:499,BR_INST_RETIRED.CONDITIONAL:103,BR_INST_RETIRED.NEAR_TAKEN:101,"
               "BR_INST_RETIRED.NEAR_RETURN:31,cycles:5003:plain")
PRESETS = [  # name, record format, form of the DS area, bytes of a record, events
    ("penryn", 0, "60H", 144, "INST_RETIRED.ANY:199,BR_INST_RETIRED.NEAR_TAKEN:5003:plain,cycles:9001:plain"),
    ("nehalem", 1, "60H", 176, "INST_RETIRED.ANY:499,branches:151,BR_INST_RETIRED.CONDITIONAL:103,"
                               "BR_INST_RETIRED.NEAR_CALL:37"),
    ("sandybridge", 1, "60H", 176, SANDYBRIDGE),
    ("haswell", 2, "60H", 192, SANDYBRIDGE),
    ("skylake", 3, "60H", 200, SANDYBRIDGE),
    ("icelake", 4, "A0H", 624, ICELAKE),
    ("sapphirerapids", 4, "A0H", 176, ICELAKE),
    ("arrowlake", 5, "1C0H", 944, ICELAKE),
    ("lunarlake", 6, "1C0H", 432, ICELAKE),
]
GROUPS = {"icelake": "gpr,lbr:8,xmm", "arrowlake": "lbr,gpr", "lunarlake": "gpr,mem,lbr:4,counters"}


def run_preset(tmp_path, preset, cpus, switches, *options):
    """Every record of every event equal to the truth; none blamed on the wrong thread. There is room beyond the
    threshold for what a thread does with interrupts off: spin, while the host runs another CPU."""
    name, form, area, size, events = preset
    result, end = run_and_check(tmp_path, cpus, switches, "ds=soft", f"ds.preset={name}", f"pebs={events}",
                                "pebs.records=512", "pebs.threshold=48",
                                *([f"pebs.groups={GROUPS[name]}"] if name in GROUPS else []), *options)
    text = checked(result.log)
    found = keys(result.log, "M")
    assert [found[f"ds.{key}"] for key in ("preset", "format", "area_form", "record_bytes")] \
        == [name, str(form), area, str(size)]
    assert keys(result.log, "L")["session.1.events"] == ("full" if form < 3 else "compact")
    records, _, pmis, lost, _ = [sum(column) for column in zip(*per_cpu(end, "ds"))]
    assert lost == 0 and records > 300 and pmis > 2
    compared, failed = re.search(r"truth: each PEBS record equal +(\d+) +(\d+)", text).groups()
    assert int(compared) == records and failed == "0"
    good, ambiguous, wrong = attributed(text)
    assert wrong == 0 and good >= 0.98 * records, text
    assert ("  by index (no TSC)" in text) == (form < 3)
    return result


ONE_OF_A_KIND = [preset for preset in PRESETS if preset[0] in ("penryn", "haswell", "icelake", "lunarlake")]


@pytest.mark.parametrize("preset", ONE_OF_A_KIND, ids=[preset[0] for preset in ONE_OF_A_KIND])
def test_presets(tmp_path, preset):
    """All of them: test_presets_long."""
    result = run_preset(tmp_path, preset, 2, 400)
    if preset[0] == "lunarlake":
        no_lie_in_a_group(result.log)


def no_lie_in_a_group(log):
    """A word that is changed in any group of the first record, and check names it."""
    whole = dump.read(log.read_bytes())
    for offset, name in [(0x20, "MEMINFO data address"), (0x40, "GPR RFLAGS"), (0xC8, "GPR R15"), (0xD0, "LBR 0.from"),
                         (0x120, "LBR 3.to"), (0x128, "LBR 3.info"), (0x140, "CNTR PMC0"), (0x1A8, "CNTR FIXED_CTR3")]:
        parts = list(whole)
        place = next(e[:2] for e in events(parts) if e[2] == 0xCA01 and parts[e[0]][1][e[1] + 16] == 2)
        at = 16 + 0x18 + offset
        was = parts[place[0]][1][place[1] + at]
        patch(parts, place, at, bytes([was ^ 1]))
        done = subprocess.run([cb.BUILD / "cairn", "check", "-"], input=dump.write(parts), capture_output=True,
                              check=False)
        text = done.stdout.decode()
        assert done.returncode == 1 and re.search(rf"word by word\n.*: {name} is 0x\w+, in truth 0x", text), text


def test_records_without_time_in_batches(tmp_path):
    """Batches alone do not tell apart what their threads did between two stamps: said, and never guessed."""
    result, _ = run_and_check(tmp_path, 2, 300, "ds=soft", "ds.preset=nehalem", "pebs=INST_RETIRED.ANY:499",
                              "session.1=compact:qpc:sequential")
    text = checked(result.log)
    good, ambiguous, wrong = attributed(text)
    assert wrong == 0 and ambiguous > good and "several in batch" in text, text


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS, ids=[preset[0] for preset in PRESETS])
def test_presets_long(tmp_path, preset):
    run_preset(tmp_path, preset, 4, 5000)


def test_policies(tmp_path):
    """Where no manual says, the log says what the model did, and it did so: buffers of one record overflow. The periods
    change on the way, with a drain."""
    policies = {"fit": "start_lt", "bystander": "swapped", "drop_reload": "no", "masked_pmi": "latched"}
    result, end = run_and_check(tmp_path, 2, 200, "ds=soft", "ds.preset=skylake", "pebs.records=1", "pebs.threshold=1",
                                "pebs=INST_RETIRED.ANY:23,BR_INST_RETIRED.NEAR_TAKEN:13", "pebs.later=31,17",
                                *[f"ds.policy.{name}={value}" for name, value in policies.items()])
    found = keys(result.log, "M")
    status, text = cairn("info", result.log)
    assert status == 0
    for name, value in policies.items():
        assert found[f"ds.policy.{name}"].split("|")[0] == value
        assert re.search(rf"^  {name} +{value} ", text, re.M)
    assert sum(counts[3] for counts in per_cpu(end, "ds")) > 0  # lost, and each of them in the truth
    for cpu in range(2):
        text = cairn("dump", "--cpu", str(cpu), result.log)[1]
        epoch = int(re.search(r"drain of epoch (\d+) \(new configuration\)", text)[1])
        for number, period in (epoch, 23), (epoch + 1, 31):
            text = cairn("ds", "--cpu", str(cpu), "--epoch", str(number), "--records", "0", result.log)[1]
            assert f"-{period} in 48 bits" in text


@pytest.mark.long
def test_storm(tmp_path):
    """Period, buffers and threshold of 1, in both stores: counting stops again and again, and each loss is exact."""
    result, end = run_and_check(tmp_path, 2, 200, "ds=soft", "pebs=INST_RETIRED.ANY:1", "pebs.records=1",
                                "pebs.threshold=1", "bts=interrupt", "bts.records=1", "ds.throttle=5")
    assert sum(int(end[f"end.cpu.{n}.throttled"].split()[0]) for n in range(2)) > 10
    assert all(len(counts) == 5 for counts in per_cpu(end, "ds"))  # none is 'unknown'
    _, text = cairn("stat", result.log)
    assert re.search(r"throttled +\d+   times", text)


def test_impossible_event(tmp_path):
    """What a processor cannot count is refused by name, before anything runs."""
    result = cb.boot(tmp_path / "log", "--smp", 1, "ds=soft", "ds.preset=nehalem", "pebs=BR_INST_RETIRED.FAR_BRANCH:9")
    assert result.status == cb.FAIL
    assert "BR_INST_RETIRED.FAR_BRANCH: not an event of this processor" in result.output


# ---- loss is exact

def test_sequential_loss(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=6000", "trace.buffers=2", "trace.buffer_kib=4",
                     "session.1=compact+full:qpc:sequential")
    assert result.status == cb.PASS, result.output
    checked(result.log)
    end = keys(result.log, "E")
    for events, switches, truth in zip(per_cpu(end, "events"), per_cpu(end, "switches"), per_cpu(end, "truth")):
        assert events[0] == events[1] + events[2] and events[2] > 0
        assert switches[0] == switches[1] + switches[2] and switches[2] > 0
    compact, truth = per_cpu(end, "compact"), per_cpu(end, "truth")
    for (tried, written, lost), (real, _, _) in zip(compact, truth):
        assert tried == real and lost == real - written
    assert int(end["end.events_lost"]) == sum(events[2] for events in per_cpu(end, "events"))


def test_circular(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=8000", "trace.buffers=4", "trace.buffer_kib=4",
                     "session.1=compact:qpc:circular")
    assert result.status == cb.PASS, result.output
    checked(result.log)
    end = keys(result.log, "E")
    assert end["end.events_lost"] == "0" and int(end["end.overwritten.buffers"]) > 0
    kept = sum(written for _, written, _ in per_cpu(end, "compact")) - int(end["end.overwritten.compact"])
    status, text = cairn("stat", result.log)
    assert status == 0 and re.search(rf"\b{kept}\b", text.replace(",", "")), (kept, text)


# ---- the same again

@pytest.mark.parametrize("cpus", [pytest.param(1, marks=pytest.mark.long), 4])
def test_icount_repeats(tmp_path, cpus):
    """The same options, the same trace bytes."""
    streams = []
    for turn in "ab":
        result = cb.boot(tmp_path / turn, "--icount", "--smp", cpus, "switches=1500", "seed=7")
        assert result.status == cb.PASS, result.output
        streams.append(list(frames(result.log, "T")))
    assert streams[0] and streams[0] == streams[1]


# ---- check notices

@pytest.mark.parametrize("mutant, lie", [
    (1, r"0525H.*\n.*the outgoing thread is \d+, in truth"),
    (2, r"0525H.*\n.*the time in clock units is"),
    (3, r"0525H.*\n.*the time in clock units is"),
    (4, r"PebsIndex grows within.*\n.* of this CPU's epoch"),
    (5, r"each PEBS record, word by word\n.*: GPR RBX is 0x\w+, in truth 0x"),
    ])
def test_mutants(tmp_path, mutant, lie):
    build = cb.build_with(tmp_path / "build", kernel_elf=cb.BUILD / f"mutant{mutant}" / "kernel.elf")
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=1500", build=build)
    assert result.status == cb.PASS, result.output  # the kernel itself does not notice
    status, text = cairn("check", result.log)
    assert status == 1 and re.search("FAIL .*" + lie, text), text


# ---- panics

@pytest.mark.parametrize("kind, line, function", [
    ("now", "asked for with panic=now", "controller"),
    ("null", "write to 0x0000000000000000 (null pointer)", "controller"),
    ("stack", "is in the guard page", "overflow_stack"),
    ("double", "double fault", "controller"),
    ])
def test_panic(tmp_path, kind, line, function):
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=2000", f"panic={kind}")
    assert result.status == cb.FAIL, result.output
    console = result.console()
    assert f"PANIC: CPU" in console and line in console
    assert re.search(rf"^  0x[0-9a-f]{{16}} {function}", console, re.M), console
    assert re.search(r"^R15 .* RIP ffffffff8[0-9a-f]{7} RFLAGS ", console, re.M) and "CR2 " in console, console
    status, text = cairn("dump", result.log)
    assert status == 0 and len(text.splitlines()) > 500, text[-2000:]
    checked(result.log)


def test_nmi(tmp_path):
    """The NMI button: the lines the MADT names lead to every CPU at once; one panics, the others stop for it."""
    monitor = tmp_path / "monitor"
    qemu = with_qemu(tmp_path, "-monitor", f"unix:{monitor},server=on,wait=off")

    def press():
        deadline = time.monotonic() + 100
        while b"run: workload" not in (tmp_path / "log").read_bytes():
            assert time.monotonic() < deadline
            time.sleep(0.2)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(monitor))
            connection.sendall(b"nmi\n")
            while connection.recv(4096):  # to the end of QEMU: it may drop what one has sent who hangs up
                pass

    (tmp_path / "log").touch()
    button = threading.Thread(target=press)
    button.start()
    result = cb.boot(tmp_path / "log", "--smp", 4, "--qemu", qemu, "truth=1", "switches=1000000")
    button.join()
    assert result.status == cb.FAIL, result.output
    console = result.console()
    assert len(re.findall(r"^PANIC: CPU \d, thread .*: unexpected NMI$", console, re.M)) == 1, console
    assert "did not answer" not in console and "RIP " in console
    checked(result.log)


class Debugger:
    """Just enough of GDB's remote protocol; the machine stands still as long as nothing lets it go on."""

    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(100)
        self.connection.connect(str(path))
        self.stream = self.connection.makefile("rb")
        self.send("Hg0")
        while self.answer() != "OK":  # that connecting has stopped the machine
            pass

    def send(self, packet):
        self.connection.sendall(f"${packet}#{sum(packet.encode()) % 256:02x}".encode())

    def answer(self):
        while self.stream.read(1) != b"$":  # acknowledgements
            pass
        text = b"".join(iter(lambda: self.stream.read(1), b"#"))
        self.stream.read(2)
        self.connection.sendall(b"+")
        return text.decode()

    def ask(self, packet):
        self.send(packet)
        return self.answer()


@pytest.mark.parametrize("symbol, offset, steps", [
    ("arch_syscall_entry", 0, 0),  # at CPL 0, but GS base and stack are still the program's
    pytest.param("arch_syscall_entry", 3, 0, marks=pytest.mark.long),  # behind SWAPGS: the stack still is
    pytest.param("leave.pop", -3, 1, marks=pytest.mark.long),  # on the way back, GS base is the program's again
])
def test_nmi_between_the_rings(tmp_path, symbol, offset, steps):
    """An NMI where the kernel has the program's GS base or stack: it must find its own all the same."""
    symbols = subprocess.run(["nm", cb.BUILD / "kernel.elf"], capture_output=True, text=True, check=True).stdout
    address = int(re.search(rf"^([0-9a-f]+) . {re.escape(symbol)}$", symbols, re.M)[1], 16) + offset
    monitor, gdb = tmp_path / "monitor", tmp_path / "gdb"
    qemu = with_qemu(tmp_path, "-monitor", f"unix:{monitor},server=on,wait=off", "-gdb",
                     f"unix:{gdb},server=on,wait=off")
    stops = []

    def interrupt():
        deadline = time.monotonic() + 100
        while b"run: workload" not in (tmp_path / "log").read_bytes():
            assert time.monotonic() < deadline
            time.sleep(0.2)
        debugger = Debugger(gdb)
        stops.append(debugger.ask(f"Z1,{address:x},1"))
        stops.append(debugger.ask("c"))
        stops.append(debugger.ask(f"z1,{address:x},1"))
        stops.extend(debugger.ask("s") for _ in range(steps))
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(monitor))
            connection.sendall(b"nmi\n")
            time.sleep(0.5)
            debugger.send("c")
            while connection.recv(4096):
                pass

    (tmp_path / "log").touch()
    thread = threading.Thread(target=interrupt)
    thread.start()
    result = cb.boot(tmp_path / "log", "--smp", 1, "--qemu", qemu, "workload=user", "ds=off", "switches=1000000")
    thread.join()
    assert [stop[:3] for stop in stops] == ["OK", "T05", "OK"] + steps * ["T05"], stops
    assert result.status == cb.FAIL, result.output
    console = result.console()
    program = "(yielder|napper|computer|vector|player)"
    assert re.search(rf"^PANIC: CPU 0, thread \d+ \({program}/\d\): unexpected NMI$", console, re.M), console
    assert f" RIP {address + 3 * steps:016x} " in console, console


# ---- small and odd machines

def test_small_machine(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 1, "--mem", "128M", "switches=1000", "truth=1")
    assert result.status == cb.PASS, result.output
    checked(result.log)


@pytest.mark.parametrize("model", ["EPYC", "Skylake-Client"])
def test_microcode(tmp_path, model):
    """AMD and Intel keep its revision in different halves of one MSR. Neither is 0 in QEMU."""
    result = cb.boot(tmp_path / "log", "--smp", 1, "--cpu", model, "ds=off", "switches=50")
    assert result.status == cb.PASS, result.output
    assert int(keys(result.log, "M")["cpu.0.microcode"], 16) != 0


def test_fewer_cpus_than_there_are(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 4, "cpus=2", "switches=500")
    assert result.status == cb.PASS, result.output
    assert "2 of 4 processors run, 2 left out (option cpus=)" in result.output
    checked(result.log)


@pytest.mark.long
def test_more_cpus_than_supported(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 66, "ds=off", "switches=1000", "truth=1", timeout=600)
    assert result.status == cb.PASS, result.output
    assert "64 of 66 processors run, 2 left out (more than are supported)" in result.output
    checked(result.log)


@pytest.mark.parametrize("options, word", [
    (["ds=hw"], "ds=hw: CPU 0:"),
    (["trace.buffers=65536", "trace.buffer_kib=1024"], "lower trace.buffers or trace.buffer_kib"),
    (["trace.buffers=1"], "too few for 2 CPUs"),
    ])
def test_cannot_be_had(tmp_path, options, word):
    result = cb.boot(tmp_path / "log", "--smp", 2, *options)
    assert result.status == cb.FAIL, result.output
    assert len([line for line in result.lines("FAIL: ") if word in line]) == 1, result.output


def test_bad_option_in_the_guest(tmp_path):
    """run-qemu.sh would refuse it: so from an image, as on a stick."""
    image = cb.make_image(tmp_path / "image", "end=exit", "no.such=option")
    result = cb.boot(tmp_path / "log", "--image", image)
    assert result.status == cb.FAIL, result.output
    line = r"^FAIL: options: cairn.cfg line \d+: option 'no.such=option': "
    assert re.search(line, result.output, re.M), result.output


def test_no_acpi(tmp_path):
    qemu = with_qemu(tmp_path, "-no-acpi") if "-no-acpi" in subprocess.run(
        ["qemu-system-x86_64", "-help"], capture_output=True, text=True, check=True).stdout \
        else with_qemu(tmp_path, "-machine", "acpi=off")
    result = cb.boot(tmp_path / "log", "--smp", 1, "--qemu", qemu)
    assert result.status == cb.FAIL, result.output
    assert len(result.lines("ACPI")) == 1, result.output


@pytest.mark.skipif(not os.path.exists("/usr/share/OVMF/OVMF_CODE_4M.fd"), reason="needs Debian's OVMF at its place")
def test_no_uart(tmp_path):
    """Without a serial port the run ends all the same: QEMU's debug-exit says it passed."""
    image = cb.make_image(tmp_path / "image", "end=exit", "switches=300")
    variables = shutil.copy("/usr/share/OVMF/OVMF_VARS_4M.fd", tmp_path / "vars")
    done = subprocess.run(
        ["qemu-system-x86_64", "-machine", "q35", "-cpu", "max", "-smp", "2", "-m", "256M", "-nodefaults",
         "-display", "none", "-no-reboot",
         "-drive", "if=pflash,format=raw,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd",
         "-drive", f"if=pflash,format=raw,file={variables}", "-device", "qemu-xhci",
         "-drive", f"if=none,id=stick,format=raw,file={image}", "-device", "usb-storage,drive=stick",
         "-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-serial", "none"],
        capture_output=True, timeout=120, check=False)
    assert done.returncode == 33, done


def test_image_on_usb(tmp_path):
    image = cb.make_image(tmp_path / "image", "end=exit", "switches=1000", "truth=1")
    result = cb.boot(tmp_path / "log", "--image", image)
    assert result.status == cb.PASS, result.output
    checked(result.log)
