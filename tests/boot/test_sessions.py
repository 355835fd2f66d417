# SPDX-License-Identifier: MIT
"""Several trace sessions at once: each has its own clock, groups, mode, buffers and loss, and each is right."""

import re

import pytest

import cairn_boot as cb
from cairn_log import cairn, checked, keys, numbers, run_and_check


def by_session(text):
    """What `cairn check` says of each session, by its number."""
    parts = re.split(r"^session (\d+): ", text, flags=re.M)
    return {int(number): part for number, part in zip(parts[1::2], parts[2::2])}


def compared(text, rule):
    """How often a rule of the truth was applied, everything verified."""
    found = re.search(rf"^truth: {rule} +(\d+) +0 verified$", text, re.M)
    return int(found[1]) if found else 0


def account(end, number, name):
    """Tried, written, lost of all CPUs of a session, from its CPUs' lines."""
    prefix = "end." if number == 1 else f"end.session.{number}."
    rows = [numbers(value) for key, value in end.items() if re.fullmatch(rf"{re.escape(prefix)}cpu\.\d+\.{name}", key)]
    return [sum(column) for column in zip(*rows)]


def clocks_and_restarts(tmp_path, cpus, switches, restarts, third, *options):
    """Three sessions of the three clock types, two of which come and go: every switch of every life equal."""
    result, end = run_and_check(
        tmp_path, cpus, switches, "workload=mix", "session.1=compact:qpc:sequential", "session.2=full:system:sequential"
        ":8:4096", f"session.3={third}:tsc:sequential:8:4096", f"session.restarts={restarts}", *options)
    assert result.lines(f"PASS: restarts: {restarts} of sessions 2 and up, 0 failed"), result.output
    text = by_session(checked(result.log))
    assert sorted(text) == [1, 2, 3]
    assert compared(text[1], "each 0525H switch equal, in order") >= switches
    assert compared(text[2], "each 0524H switch equal, in order") == account(end, 2, "full")[0] > switches / 2
    for form in ("0524H", "0525H") if third == "both" else ("0525H",):
        assert compared(text[3], f"each {form} switch equal, in order") > switches / 2
    for number in (1, 2, 3):
        tells = compared(text[number], "each start, stop, change of masks")
        lives = 1 if number == 1 else 1 + restarts // 2
        assert tells == 2 * cpus * lives, text[number]
        tried, written, lost = account(end, number, "events")
        assert tried == written and not lost
    return result


@pytest.mark.long
def test_three_clocks(tmp_path):
    clocks_and_restarts(tmp_path, 4, 4000, 10, "both")


@pytest.mark.long
def test_two_hundred_restarts(tmp_path):
    clocks_and_restarts(tmp_path, 4, 100000, 200, "compact", "trace.buffer_kib=16", "pebs=INST_RETIRED.ANY:50021")


@pytest.mark.long
def test_shared_clock_and_circular(tmp_path):
    """Two sessions share their batches, one of them circular; a third one gets nothing but what all get."""
    result, end = run_and_check(
        tmp_path, 2, 3000, "session.1=compact:qpc:sequential", "session.2=compact:qpc:circular:4:6",
        "session.3=none:qpc:sequential", "session.restarts=4")
    text = by_session(checked(result.log))
    assert int(end["end.session.2.overwritten.events"]) > 0
    tried, written, lost = account(end, 2, "compact")
    assert tried == written and lost == 0
    assert account(end, 3, "switches") == [0, 0, 0] and account(end, 3, "events")[1] > 8
    assert "each 0525H" not in text[3]
    status, dump = cairn("dump", "--session", "2", result.log)
    assert status == 0 and " ! " in dump, dump[:2000]


def test_too_few_buffers(tmp_path):
    """All sessions run out of buffers: tried - written is what each says it lost, and the truth agrees."""
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=4000", cb.UNHURRIED,
                     "session.1=both:qpc:sequential:4:4", "session.2=full:system:sequential:4:6",
                     "session.3=compact:tsc:sequential:4:2")
    assert result.status == cb.PASS, result.output
    text = by_session(checked(result.log))
    end = keys(result.log, "E")
    for number in (1, 2, 3):
        prefix = "end." if number == 1 else f"end.session.{number}."
        tried, written, lost = account(end, number, "events")
        assert lost == tried - written > 0 and int(end[prefix + "events_lost"]) == lost
        assert int(end[prefix + "buffers_lost"]) > 0
        assert compared(text[number], "switches lost = truth - recorded") >= 2
    assert account(end, 1, "full")[2] != account(end, 2, "full")[2]  # each its own


def test_absurd_sizes(tmp_path):
    """One line, a failing exit status, nothing hangs. Too few buffers are refused before: test_options.py."""
    result = cb.boot(tmp_path / "log", "--smp", 2, "switches=100", cb.UNHURRIED,
                     "session.2=compact:qpc:sequential:1024:65536")
    line = r"FAIL: setup: session 2: 65536 trace buffers of 1024 KiB need \d+ KiB, \d+ KiB are free: ask for fewer"
    assert result.status == cb.FAIL and re.search(f"^{line}", result.output, re.M), result.output
    assert len(result.lines("FAIL: ")) == 1, result.output


@pytest.mark.long
def test_panic(tmp_path):
    """All sessions that run survive it, each whole up to there."""
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=3000", cb.UNHURRIED, "panic=now",
                     "session.2=full:system:circular:4:8", "session.3=compact:tsc:sequential", "session.4=both:qpc"
                     ":sequential", "session.restarts=9")
    assert result.status == cb.FAIL and "asked for with panic=now" in result.output, result.output
    text = by_session(checked(result.log))
    assert sorted(text) == [1, 2, 3, 4] and all("PASS: every rule held" in part for part in text.values())
