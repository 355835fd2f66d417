# SPDX-License-Identifier: MIT
"""Branch tracing on the software model: what each thread did, branch by branch, equals the truth."""

import re

import pytest

import cairn_boot as cb
from cairn_log import cairn, checked, keys, per_cpu
from cairn_presets import PRESETS

QUICK = ("truth=1", cb.UNHURRIED)


def run(tmp_path, *options, cpus=2, switches=150, status=cb.PASS):
    result = cb.boot(tmp_path / "log", "--smp", cpus, f"switches={switches}", *QUICK, *options)
    assert result.status == status, result.output
    text = checked(result.log)
    match = re.search(r"truth: each branch, and those lost +(\d+) +0 verified\n", text)
    return result, keys(result.log, "E"), int(match[1]) if match else 0


def sums(end):
    return [sum(column) for column in zip(*per_cpu(end, "bts"))]


MODES = [("interrupt", 1024, False), ("circular", 1024, False), ("circular", 7, True), ("circular", 1, True)]


QUICK_MODES = [("lunarlake", *MODES[2])]
EACH = [(preset, *mode) for preset, *_ in PRESETS for mode in (MODES[0], MODES[2])]
OTHERS = [(preset, *mode) for preset in ("penryn", "lunarlake") for mode in (MODES[1], MODES[3])]


@pytest.mark.parametrize("preset, mode, records, wraps", [
    *QUICK_MODES, *[cb.long(*case) for case in EACH + OTHERS if case not in QUICK_MODES]])
def test_modes(tmp_path, preset, mode, records, wraps):
    result, end, compared = run(tmp_path, f"bts={mode}", f"bts.records={records}", f"ds.preset={preset}", cpus=4)
    stored, drains, lost = sums(end)
    assert compared == stored + drains and stored > 0
    assert (lost > 0) >= wraps and (mode == "circular" or lost == 0)
    assert stored <= drains * records
    lines = result.lines("PASS: branch trace: ")
    assert lines == [f"PASS: branch trace: {stored} records in {drains} drains, {lost} lost"], result.output
    status, text = cairn("bts", result.log)
    assert status == 0
    heads = re.findall(r"^(\S+): (\d+) branch\w* in (\d+) drains?, lost: (\d+)$", text, re.M)
    assert sum(int(head[1]) for head in heads) == stored and sum(int(head[3]) for head in heads) == lost
    shown = sum(int(m[1] or 1) for m in re.finditer(r"^  [ ~] +\S+ [<>-] \S+(?:  x (\d+))?$", text, re.M))
    assert shown == stored
    assert " > kpart_compute\n" in text or records < 1024  # symbols, calls


@pytest.mark.long
def test_smallest_buffers(tmp_path):
    """A PMI at every branch and at every second instruction: slow, but it goes on, and loss is exact."""
    _, end, compared = run(tmp_path, "bts=interrupt", "bts.records=1", "pebs=INST_RETIRED.ANY:1", "pebs.records=1",
                           "pebs.threshold=1", "trace.buffers=1024", cpus=1, switches=10)
    stored, drains, _ = sums(end)
    assert end["end.events_lost"] == "0"
    assert compared == stored + drains and stored > 100


@pytest.mark.parametrize("options", [
    ("trace.buffers=2", "trace.buffer_kib=4"),
    cb.long(("trace.buffers=4", "trace.buffer_kib=4", "session.1=compact+full:qpc:circular")),
    cb.long(("ds.policy.bts_full=wrap", "ds.policy.fit=start_lt", "ds.policy.bts_ovf_buf=yes")),
])
def test_loss_and_policies(tmp_path, options):
    run(tmp_path, "bts=interrupt", "bts.records=16", *options, switches=300)


@pytest.mark.long
@pytest.mark.parametrize("rings", ["u", "k"])
def test_rings(tmp_path, rings):
    """The branches of programs alone, or of the kernel alone; what a program's SYSCALL leads to is the program's. PEBS
    is not needed for that."""
    pebs = ["pebs=none"] if rings == "u" else []
    result, end, compared = run(tmp_path, "bts=interrupt", f"bts.rings={rings}", "workload=user", *pebs, switches=300)
    stored, drains, _ = sums(end)
    assert compared == stored + drains and stored > 100
    assert ("end.cpu.0.ds" in end) == (not pebs)
    assert result.lines("SKIP: debug store: ") == (["SKIP: debug store: no PEBS, as asked for"] if pebs else [])
    status, text = cairn("bts", result.log)
    assert status == 0
    lines = re.findall(r"^  [ ~]( +)(\S+) [<>-] \S+(?:  x \d+)?$", text, re.M)
    sources = {name for _, name in lines}
    assert sources and all(name.startswith("user_") == (rings == "u") for name in sources), sources
    assert f"records on each CPU, {'ring 3' if rings == 'u' else 'the kernel'} only\n" in text
    assert "\n  ~ " in text
    if rings == "u":  # a system call's way back has no record: it ends where the program is seen again
        assert max(len(indent) for indent, _ in lines) <= 1 + 2 * 3


def test_panic(tmp_path):
    """What the threads of the other CPUs, which do nothing but compute, have left in their buffers gets out as well."""
    result, _, compared = run(tmp_path, "bts=interrupt", "panic=now", "workload=hogs", cpus=3, switches=20,
                              status=cb.FAIL)
    assert compared > 0
    assert re.search(r"\(panic\), CPU \d+, epoch", cairn("bts", result.log)[1])


@pytest.mark.parametrize("preset", ["icelake", "sapphirerapids"])  # history by DEBUGCTL, by IA32_LBR_CTL
@pytest.mark.long
def test_history_while_throttled(tmp_path, preset):
    """The branches of a time that is not counted are in nobody's history: not in the records', not in the truth's."""
    result, _, _ = run(tmp_path, f"ds.preset={preset}", "pebs.groups=gpr,lbr:8", "bts=interrupt", "bts.records=16",
                       "ds.throttle=2", "pebs=INST_RETIRED.ANY:101", "pebs.records=2", "pebs.threshold=1", cpus=1)
    assert re.search(r"throttled +[1-9]", cairn("stat", result.log)[1])


def test_without_a_debug_store(tmp_path):
    result = cb.boot(tmp_path / "log", "ds=off", "bts=circular")
    assert result.status == cb.USAGE
    assert "option 'bts=circular': has no effect with ds=off" in result.output
