# SPDX-License-Identifier: MIT
"""The scripts beside this file: each shows a bug of Linux's PMU driver and its fix (long), and prints what
docs/how-to/kernel-bugs.md shows. How they judge is tried on what a kernel may say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
import bug  # noqa: E402
import kernel_addresses  # noqa: E402
import missing_counter  # noqa: E402
import throttled_group  # noqa: E402

PAGE = HERE.parents[1] / "docs/how-to/kernel-bugs.md"
OOPS = """[    1.0] BUG: kernel NULL pointer dereference, address: 00000000000000f0
[    1.0] RIP: 0010:{}+0x41/0x680
[    1.0] Call Trace:
[    1.0]  ? ktime_get.part.0+0x38/0xd0
[    1.0]  {}+0x48b/0x810
[    1.0] ---[ end trace 0000000000000000 ]---
[    1.0] Kernel panic - not syncing: Fatal exception in interrupt
"""
PLUGIN = "qemu-ds: vCPU 0: {} records, 245 dropped, 7 branch records, 0 dropped, 25 PMIs, 1 steps, flags exact\n"
STATS = "            THROTTLE events:         25\n              SAMPLE events:       {}  (97.2%)\n"


def shape(text):
    """The lines, without numbers."""
    return [re.sub(r"0x[0-9a-f]+|\d+", "N", line.rstrip()) for line in text.splitlines()]


@pytest.mark.long
@pytest.mark.parametrize("script", ["missing_counter.py", "kernel_addresses.py", "throttled_group.py"])
def test_fault_and_fix(script):
    """The page shows what it prints."""
    done = subprocess.run([HERE / script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [shown] = re.findall(rf"^```\n\$ tests/bugs/{script}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert shape(shown) == shape(done.stdout)


def ended(*functions):
    return bug.Boot(None, OOPS.format(*functions), "")


def test_functions_of_an_oops():
    """Without those that only lie on the stack."""
    assert ended("one", "two.isra.0").oops()[1] == ["one", "two.isra.0"]


def went(output, records=0):
    return bug.Boot(["", output], "", PLUGIN.format(records))


@pytest.mark.parametrize("judge, boot, fault, what", [
    (missing_counter.judge, ended("native_read_pmc", "icl_update_topdown_event"), True, "BUG: kernel NULL pointer"),
    (missing_counter.judge, went(STATS.format(213)), False, "213 samples"),
    (kernel_addresses.judge, went("0xffffffffac2001c8/0x4ae3f7/P/-  0x401000/0x401010/P/-"), True, "1 of 2 branches"),
    (kernel_addresses.judge, went("0x401000/0x401010/P/-"), False, "0 of 1 branches"),
    (throttled_group.judge, ended("setup_pebs_adaptive_sample_data", "intel_pmu_drain_pebs_icl"), True, "BUG: kernel"),
    (throttled_group.judge, went(STATS.format(2159), 8883), True, "the processor wrote 8883 records; perf has 2159"),
    (throttled_group.judge, went(STATS.format(11249), 11186), False, "the processor wrote 11186 records"),
])
def test_judged(judge, boot, fault, what):
    found, said = judge(boot)
    assert found is fault and said.startswith(what)


@pytest.mark.parametrize("judge, boot, why", [
    (missing_counter.judge, ended("native_read_pmc", "x86_perf_event_update"), "another fault: BUG: kernel NULL"),
    (missing_counter.judge, went("perf: not found"), "perf has no samples: perf: not found"),
    (missing_counter.judge, bug.Boot(None, "Kernel panic - not syncing: Timeout", ""), "the kernel ended without an "),
    (kernel_addresses.judge, ended("a", "b"), "BUG: kernel NULL pointer"),
    (kernel_addresses.judge, went("\n"), "no branches: "),
    (throttled_group.judge, ended("a", "b"), "another fault: "),
    (throttled_group.judge, went(STATS.format(2).replace("THROTTLE", "EXIT")), "the group was not throttled"),
    (throttled_group.judge, went("LOST_SAMPLES events: 1\n" + STATS.format(2), 3), "perf lost samples"),
])
def test_what_says_nothing(judge, boot, why):
    with pytest.raises(bug.Unclear) as unclear:
        judge(boot)
    assert str(unclear.value).startswith(why)


@pytest.mark.parametrize("before, after, status, last", [
    (True, False, 0, "PASS: the fault is seen without the fix, and not with it"),
    (True, True, 1, "FAIL: the fault is seen with the fix, too"),
    (False, False, 1, "FAIL: the fault is not seen without the fix"),
])
def test_verdict(monkeypatch, capsys, tmp_path, before, after, status, last):
    monkeypatch.setattr(bug, "ROOT", tmp_path)
    monkeypatch.setattr(bug, "try_kernel", lambda _, kernel: {"6.12.43": before, "6.12.118": after}[kernel])
    monkeypatch.setattr(sys, "argv", ["missing_counter.py"])
    assert bug.main(missing_counter.BUG) == status
    assert capsys.readouterr().out.splitlines()[-1] == last


@pytest.mark.parametrize("verdict, status", [(False, 0), (True, 1), (bug.Unclear("no"), 125)])
def test_status_for_git_bisect(monkeypatch, tmp_path, verdict, status):
    def judge(_):
        if isinstance(verdict, bug.Unclear):
            raise verdict
        return verdict, ""
    monkeypatch.setattr(bug, "ROOT", tmp_path)
    monkeypatch.setattr(bug, "boot", lambda *_: None)
    (tmp_path / "bzImage").touch()
    monkeypatch.setattr(sys, "argv", ["x.py", "--kernel", str(tmp_path / "bzImage")])
    assert bug.main(bug.Bug("", "", "", "", "", (), judge)) == status


def test_without_deps_bugs(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bug, "ROOT", tmp_path / "bugs/root")
    monkeypatch.setattr(sys, "argv", ["x.py"])
    assert bug.main(missing_counter.BUG) == 1
    assert capsys.readouterr().err == f"x.py: {tmp_path}/bugs/root is not there: run 'make deps-bugs all'\n"
