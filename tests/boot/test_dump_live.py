# SPDX-License-Identifier: MIT
"""dump=live: the trace goes out while the run goes on; what does not fit is lost, and counted."""

import re

import pytest

import cairn_boot as cb
from cairn_log import cairn, checked, keys, numbers


def of_session(end, number, name):
    return int(end[("end." if number == 1 else f"end.session.{number}.") + name])


def account(end, number):
    """Events tried, written and lost on all CPUs, by their own lines; the session must say the same."""
    prefix = "end." if number == 1 else f"end.session.{number}."
    rows = [numbers(value) for key, value in end.items() if re.fullmatch(rf"{re.escape(prefix)}cpu\.\d+\.events", key)]
    sums = [sum(column) for column in zip(*rows)]
    assert sums == [of_session(end, number, f"events_{what}") for what in ("tried", "written", "lost")]
    return sums


def live(tmp_path, cpus, switches, *options, paced=False):
    """A boot with session 1 too small and session 2 large enough, both live, and 3 circular: each is right. At a baud
    rate a short run may be over before a whole buffer of session 2 is out."""
    result = cb.boot(tmp_path / "log", "--smp", cpus, "truth=1", f"switches={switches}", cb.UNHURRIED, "dump=live",
                     f"session.1=both:qpc:sequential:4:{cpus}", "session.2=full:system:sequential:4:8192",
                     "session.3=compact:tsc:circular:4:16", *options)
    assert result.status == cb.PASS, result.output
    text = checked(result.log)
    end = keys(result.log, "E")
    for number, loses in ((1, True), (2, False), (3, False)):
        tried, written, lost = account(end, number)
        assert lost == tried - written and (lost > 0) == loses
        assert (of_session(end, number, "buffers_lost") > 0) == loses
    assert int(end["end.live.frames"]) > 0 and (paced or of_session(end, 2, "live.buffers") > 0)
    assert text.count("truth: switches lost = truth - recorded") == 3
    assert text.count(" buffers came during the run\n") == 2
    return result, end


def test_falling_behind(tmp_path):
    """As fast as the port goes; the logger's own switches are in the trace. Some comes while the run goes on, even
    where this machine is slow; at 115200 baud that takes the long test below. In 8-bit lines, which the others are
    not."""
    result, _ = live(tmp_path, 2, 3000, "workload=sleepers", "dump.pace=0", "dump.line=8bit")
    assert re.search(rb"^~t[0-9a-f]{8}=", result.log.read_bytes(), re.M)
    status, dump = cairn("dump", "--session", "2", result.log)
    assert status == 0 and len(re.findall(r" logger:\d+ +(?:Executive|Ready) ", dump)) > 2, dump[:2000]
    assert "lost here: no empty buffer was left" in cairn("dump", "--session", "1", result.log)[1]


@pytest.mark.long
@pytest.mark.parametrize("pace, workload", [(0, "mix"), (1, "sleepers")])  # who paces needs time nobody else wants
def test_many_switches(tmp_path, pace, workload):
    """At 115200 baud, which the emulator's port knows nothing of, and as fast as that goes."""
    live(tmp_path, 4, 20000, f"dump.pace={pace}", f"workload={workload}", "session.restarts=40", paced=pace == 1)


@pytest.mark.long
@pytest.mark.parametrize("kind, speed", [("now", "dump.pace=0"), ("stack", "serial=com1,9600")])
def test_panic(tmp_path, kind, speed):
    """In the middle of whatever the logger was at, at 9600 baud most likely a line: its frame comes again, and nothing
    is missing."""
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=4000", cb.UNHURRIED, "dump=live",
                     "session.1=both:qpc:sequential:4:64", speed, "workload=sleepers", f"panic={kind}")
    assert result.status == cb.FAIL and "PANIC: CPU" in result.console(), result.output
    assert int(keys(result.log, "E")["end.live.frames"]) > 0
    assert "PASS: every rule held" in checked(result.log)
