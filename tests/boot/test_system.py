# SPDX-License-Identifier: MIT
"""The whole way of the data: boots Cairn, then reads the log as a user would, with `cairn`."""

import re
from itertools import zip_longest

import pytest

import cairn_boot as cb
from cairn_log import attributed, cairn, checked, frames, keys, per_cpu, run_and_check, unwrapped

# ---- every switch equal, every record attributed

@pytest.mark.parametrize("cpus, switches", [cb.long(1, 3000), cb.long(2, 4000), (8, 1500)])
def test_truth(tmp_path, cpus, switches):
    run_and_check(tmp_path, cpus, switches, "workload=mix")


def test_mix_uses_everything(tmp_path):
    """4 CPUs: all record forms, the flush conditions but the rarest, drains, and at least 99 % attributed."""
    result, end = run_and_check(tmp_path, 4, 5000, "workload=mix")
    good, ambiguous, wrong = attributed(checked(result.log))
    assert wrong == 0 and good >= 0.99 * (good + ambiguous) and good > 100
    batches = [sum(column) for column in zip(*per_cpu(end, "batches"))]
    tids, age, _space, _delta, _stop, drain, panic = batches
    assert tids and age and drain and not panic, batches  # space only where the host is fast
    assert sum(counts[1] for counts in per_cpu(end, "ds")) > 4  # drains by PMI, not only the one at each CPU's stop
    status, text = cairn("stat", result.log)
    assert status == 0
    for form in ("IDLE_SHORT", "IDLE", "LITE", "FULL"):
        row = re.search(rf"^\s*{form}\s+([\d,]+)", text, re.M)
        assert row and int(row[1].replace(",", "")) > 0, text


def test_board_and_bios(tmp_path):
    """As SMBIOS names them; its serial numbers are not in the log."""
    qemu = cb.with_qemu(tmp_path, "-smbios", "type=0,vendor=Some Maker,version=R2.07,date=12/24/2025", "-smbios",
                        "type=2,manufacturer=Other Maker,product=Board 1,version=rev. 3,serial=S-12345")
    result = cb.boot(tmp_path / "log", "--smp", 1, "--qemu", qemu, "switches=100", "ds=off", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    said = {key: value for key, value in keys(result.log, "M").items() if key.startswith(("bios.", "board."))}
    assert said == {"bios.vendor": "Some Maker", "bios.version": "R2.07", "bios.date": "12/24/2025",
                    "board.vendor": "Other Maker", "board.product": "Board 1", "board.version": "rev. 3"}
    status, text = cairn("info", result.log)
    assert status == 0 and "S-12345" not in text
    assert re.search(r"^  BIOS +R2.07\n  of +Some Maker\n  date +12/24/2025\nboard +Board 1\n  of +Other Maker\n"
                     r"  version +rev. 3$", text, re.M), text


@pytest.mark.long
def test_two_hundred_thousand(tmp_path):
    result, _ = run_and_check(tmp_path, 4, 200000, "workload=mix")
    good, ambiguous, wrong = attributed(checked(result.log))
    assert wrong == 0 and good >= 0.99 * (good + ambiguous)


@pytest.mark.long
@pytest.mark.parametrize("workload", ["lockfight", "sleepers", "pingpong", "prodcons", "hogs", "user"])
def test_workloads(tmp_path, workload):
    run_and_check(tmp_path, 2, 300, f"workload={workload}")


@pytest.mark.parametrize("rings", ["u", cb.long("k"), cb.long("uk")])
def test_rings(tmp_path, rings):
    """What pebs=...:u and :k count: the programs' instructions, SYSCALL included, and the kernel's own."""
    switches = 600 if "u" in rings else 6000  # how long the kernel works between two of them, the host says
    result, end = run_and_check(tmp_path, 2, switches, "workload=user", f"pebs=INST_RETIRED.ANY:97:{rings}")
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


def assert_tried(result, places):
    """The last CPU's own, each of them read by a program that ended of it."""
    told = keys(result.log, "M")
    for place in places:
        assert f": read of {told[f'ds.cpu.1.{place}']}\n" in result.output, place


@pytest.mark.parametrize("model, backend", [
    ("max", "soft"),
    cb.long("max", "off"), cb.long("Nehalem", "soft")])
def test_hostile(tmp_path, model, backend):
    """Programs that try what they may not: each is stopped, with one line, and the trace stays right."""
    result, _ = run_and_check(tmp_path, 2, 4000, "--cpu", model, "workload=hostile", f"ds={backend}")
    assert ("smep smap umip" in result.output) == (model == "max")
    verdict = re.search(r"PASS: hostile: (\d+) attempts, each ended as it must; (\d+) switches", result.output)
    assert verdict and not result.lines("FAIL: "), result.output
    attempts, since = map(int, verdict.groups())
    assert attempts > (240 if backend == "soft" else 190) and since >= 100  # the Debug Store's places
    assert_tried(result, () if backend == "off" else ("area", "buffer"))
    ended = re.findall(r"^user: hostile/(\d+) \(thread \d+\) ended at [^:]+: .+$", result.output, re.MULTILINE)
    assert sorted(map(int, ended)) == list(range(attempts))
    status, dump = cairn("dump", result.log)
    assert status == 0
    last = dump.rindex(f" hostile/{attempts - 1}:")
    assert len(re.findall(r"^ +[0-9.]+ +\d+   \S", dump[last:], re.MULTILINE)) >= 100


@pytest.mark.long
def test_hostile_with_branches(tmp_path):
    """The BTS buffer, too. Without the truth, which has every branch; the smallest buffer of them will do."""
    result = cb.boot(tmp_path / "log", "--smp", "2", "switches=4000", cb.UNHURRIED, "workload=hostile", "ds=soft",
                     "bts=circular", "bts.records=1")
    assert result.status == cb.PASS and result.lines("PASS: hostile: "), result.output
    assert_tried(result, ("area", "buffer", "bts.buffer"))


def known(result, cpus):
    """The verdicts of workload `known`: how many programs, of how many lines that are not PASS."""
    lines = [line for line in result.output.splitlines() if re.match(r"(PASS|FAIL|SKIP): known: ", line)]
    passed = re.compile(r"PASS: known: CPU (\d+): (\w+): .*; counts of (\d+) events verified, (\d+) records verified")
    good = [passed.match(line) for line in lines]
    programs = [[match[2] for match in good if match and int(match[1]) == cpu] for cpu in range(cpus)]
    return programs, [line for line, match in zip(lines, good) if not match], good


@pytest.mark.parametrize("cpus, preset", [
    (1, "icelake"),
    cb.long(1, "pantherlake"),
    *[cb.long(2, preset)
      for preset in ("penryn", "nehalem", "sandybridge", "haswell", "skylake", "icelake", "sapphirerapids", "arrowlake",
                     "lunarlake", "pantherlake", "clearwaterforest")]])
def test_known(tmp_path, cpus, preset):
    """Counting is exact: counters and the places of PEBS records equal what is known of seventeen programs."""
    result, _ = run_and_check(tmp_path, cpus, 1500 * cpus, "workload=known", "ds=soft", f"ds.preset={preset}",
                              "bts=interrupt")
    programs, others, good = known(result, cpus)
    assert not others and all(names == programs[0] for names in programs), result.output
    assert len(set(programs[0])) == 17 and {"loop", "calls", "rep", "fault", "system_call"} <= set(programs[0])
    assert {int(match[3]) for match in good} == {{"penryn": 4, "nehalem": 5, "clearwaterforest": 7}.get(preset, 8)}
    assert all(int(match[4]) for match in good)  # records there were


@pytest.mark.long
def test_known_can_fail(tmp_path):
    """A count that is wrong by one fails for each program and event."""
    build = cb.build_with(tmp_path / "build", kernel_elf=cb.BUILD / "mutant6" / "kernel.elf")
    result = cb.boot(tmp_path / "log", "--smp", 1, "workload=known", "ds=soft", "switches=1500", cb.UNHURRIED,
                     build=build)
    assert result.status == cb.FAIL
    programs, others, _ = known(result, 1)
    assert programs == [[]] and len(others) == 17, result.output
    assert "FAIL: known: CPU 0: loop: INST_RETIRED.ANY: 23 counted, on paper 24" in others


def test_stepping_traps(tmp_path):
    """What is hard to single-step counts as it should, on each CPU and with interrupts between the steps."""
    result, _ = run_and_check(tmp_path, 2, 300, "workload=traps")
    lines = result.lines("PASS: traps: ")
    assert len(lines) == 2 and not result.lines("FAIL: "), result.output
    for line in lines:
        rounds, ticks = re.search(r"(\d+) times each, (\d+) timer ticks in between", line).groups()
        assert int(rounds) >= 10 and int(ticks) > 0, line  # how many: as fast as the machine


# ---- what sessions write

@pytest.mark.parametrize("options", [
    cb.long(["pebs.groups=none", "pebs=BR_INST_RETIRED.ALL_BRANCHES:997"]),
    cb.long(["ds=off"]),
    cb.long(["session.1=full:qpc:sequential"]),
    cb.long(["session.1=compact+full:qpc:sequential"]),
    cb.long(["pebs.records=2", "pebs.threshold=1", "pebs=INST_RETIRED.ANY:2003"]),
    ])
def test_sessions(tmp_path, options):
    result, end = run_and_check(tmp_path, 2, 2000, *options)
    session = keys(result.log, "L")
    assert session["session.1.pebs"] == ("0" if "ds=off" in options else "1")
    assert ("end.cpu.0.ds" in end) == ("ds=off" not in options)


# ---- loss is exact

def test_sequential_loss(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=6000", "trace.buffers=2", "trace.buffer_kib=4",
                     "session.1=compact+full:qpc:sequential", cb.UNHURRIED)
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
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=6000", "trace.buffers=4", "trace.buffer_kib=4",
                     "session.1=compact:qpc:circular", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    checked(result.log)
    end = keys(result.log, "E")
    assert end["end.events_lost"] == "0" and int(end["end.overwritten.buffers"]) > 0
    kept = sum(written for _, written, _ in per_cpu(end, "compact")) - int(end["end.overwritten.compact"])
    status, text = cairn("stat", result.log)
    assert status == 0 and re.search(rf"\b{kept}\b", text.replace(",", "")), (kept, text)


# ---- the same again

def first_difference(*logs):
    """The first lines of `cairn dump` that are not the same in two logs."""
    lines = zip_longest(*(cairn("dump", log)[1].splitlines() for log in logs))
    different = [f"{number}: {one}\n{number}: {two}" for number, (one, two) in enumerate(lines, 1) if one != two]
    return "\n".join(["the traces differ; lines of cairn dump, first run and second:", *different[:5]])


@pytest.mark.long
@pytest.mark.parametrize("cpus", [1, 2, 4])
def test_icount_repeats(tmp_path, cpus):
    """The same options, the same trace bytes."""
    streams = []
    for turn in "ab":
        result = cb.boot(tmp_path / turn, "--icount", "--smp", cpus, "switches=500", "seed=7", cb.UNHURRIED)
        assert result.status == cb.PASS, result.output
        streams.append(list(frames(result.log, "t")))
    assert streams[0]
    assert streams[0] == streams[1], first_difference(tmp_path / "a", tmp_path / "b")


# ---- check notices

@pytest.mark.parametrize("mutant, lie", [
    cb.long(1, r"0525H.*\n.*the outgoing thread is \d+, in truth"),
    cb.long(2, r"0525H.*\n.*the time in clock units is"),
    cb.long(3, r"0525H.*\n.*the time in clock units is"),
    cb.long(4, r"PebsIndex grows within.*\n.* of this CPU's epoch"),
    (5, r"each PEBS record, word by word\n.*: GPR RBX is 0x\w+, in truth 0x"),
    ])
def test_mutants(tmp_path, mutant, lie):
    build = cb.build_with(tmp_path / "build", kernel_elf=cb.BUILD / f"mutant{mutant}" / "kernel.elf")
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=700", cb.UNHURRIED, build=build)
    assert result.status == cb.PASS, result.output  # the kernel itself does not notice
    status, text = cairn("check", result.log)
    assert status == 1 and re.search("FAIL .*" + lie, unwrapped(text)), text
