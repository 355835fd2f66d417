# SPDX-License-Identifier: MIT
"""Spin locks of all kinds in a fight of four CPUs: every release with every=1, else those the sampling wants, equal to
a replay of the truth."""

import re

import pytest

import cairn_boot as cb
from cairn_log import cairn, checked, keys, per_cpu

SESSION = "session.1=compact+spinlock:qpc:sequential:64:1024"
KINDS = {"ordinary", "queued", "shared", "exclusive", "converted"}


def run(tmp_path, *options, session=SESSION, switches=400):
    result = cb.boot(tmp_path / "log", "--smp", 4, "workload=locks", f"switches={switches}", "truth=1", cb.UNHURRIED,
                     session, *options)
    assert result.status == cb.PASS, result.output
    text = checked(result.log)
    compared = int(re.search(r"each lock's release, sampled or not +(\d+) +0 verified\n", text)[1])
    end = keys(result.log, "E")
    return result, compared, [sum(column) for column in zip(*per_cpu(end, "locks"))]


def shown(result):
    """{(lock, mode): (events, contended)}, and the text."""
    status, text = cairn("locks", "--top", 1000, result.log)
    assert status == 0 and all(len(line) <= 80 for line in text.splitlines())
    rows = re.findall(r"^(\S+), (\w+)\n  (?:about )?\d+ acquired; (\d+) events?, (\d+) contended$", text, re.M)
    return {(lock, mode): (int(n), int(contended)) for lock, mode, n, contended in rows}, text


def test_every_release(tmp_path):
    result, compared, (contended, uncontended, released, wanted, untracked) = run(tmp_path, "spinlock.every=1")
    assert compared == released == wanted  # each is an event, and each event is its
    assert contended > 0 and untracked > 0 and released <= contended + uncontended - untracked
    rows, text = shown(result)
    assert sum(n for n, _ in rows.values()) == released
    assert {mode for _, mode in rows} == KINDS and "about " not in text
    assert {"locks_ordinary", "locks_queued", "locks_executive", "dispatcher"} <= {lock for lock, _ in rows}
    # where they are let go of: the functions that do it, the dispatcher lock by whoever runs by then
    where = dict(re.findall(r"^(\S+), \w+\n(?:  .*\n)*?  events released in: (.*\n(?:    .*\n)*)", text, re.M))
    assert set(re.findall(r"([a-z]\w*)\+", where["locks_queued"])) == {"queued"}
    assert "kernel_irq_exit+" in where["dispatcher"]
    lines = re.findall(r" released by ([^,:]+:\d+|idle)(, in a DPC|, in an interrupt)?: depth ",
                       " ".join(cairn("dump", result.log)[1].split()))
    assert len(lines) == released
    at = {where for _, where in lines}
    assert at == {"", ", in a DPC", ", in an interrupt"}  # waits end in a DPC, ticks are counted in an interrupt


@pytest.mark.long
@pytest.mark.parametrize("options", [
    [],
    ["spinlock.hold_threshold=0"],
    ["spinlock.spin_threshold=20", "spinlock.contention_sample_rate=3", "spinlock.acquire_sample_rate=1500"]])
def test_sampled(tmp_path, options):
    """With the defaults, with 1/1000/1, with other rates: what is not an event was sampled out."""
    result, compared, (contended, uncontended, released, wanted, _) = run(tmp_path, *options, switches=1200)
    assert compared == released and 0 < wanted < released and contended > 0 and uncontended > 4000
    rows, text = shown(result)
    assert sum(n for n, _ in rows.values()) == wanted
    assert ("held long" in text) == ("spinlock.hold_threshold=0" not in options)
    if "spinlock.spin_threshold=20" not in options:
        assert sum(n for _, n in rows.values()) > 0.5 * contended


@pytest.mark.long
def test_two_sessions(tmp_path):
    """Each gets the events of its own life, and the sampling at both ends of it."""
    result, *_ = run(tmp_path, "spinlock.every=1", "session.2=spinlock:tsc:circular:16:40", "session.restarts=10")
    status, text = cairn("check", "--session", 2, result.log)
    assert status == 0 and re.search(r"each lock's release, sampled or not +[1-9]\d* +0 verified\n", text), text
    dump = cairn("dump", "--session", 2, result.log)[1]
    assert " spin locks from here: " in dump and " spin locks to here: " in dump


@pytest.mark.long
@pytest.mark.parametrize("session", ["compact+spinlock:qpc:circular:4:8", "compact+spinlock:qpc:sequential:4:6"])
def test_loss(tmp_path, session):
    """What was overwritten, or lost, is missing, and nothing else."""
    result, compared, counts = run(tmp_path, "spinlock.every=1", "ds=off", session=f"session.1={session}")
    rows, _ = shown(result)
    assert 0 < sum(n for n, _ in rows.values()) < counts[2] and compared >= counts[2]


@pytest.mark.long
@pytest.mark.parametrize("options", [["ds.log=1", "bts=interrupt"], ["ds=off"]])
def test_beside_the_debug_store(tmp_path, options):
    """Threads take locks while they are stepped, and every step may write, too."""
    run(tmp_path, "spinlock.every=1", *options, switches=150)


@pytest.mark.long
def test_panic(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 4, "workload=locks", "switches=600", "truth=1", cb.UNHURRIED, SESSION,
                     "spinlock.every=1", "panic=now")
    assert result.status == cb.FAIL
    status, text = cairn("check", result.log)
    assert status == 0 and re.search(r"each lock's release, sampled or not +[1-9]\d* +0 verified\n", text), text


@pytest.mark.long
def test_nobody_wants_them(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 2, "workload=locks", "switches=300", "truth=1", cb.UNHURRIED)
    assert result.status == cb.PASS
    assert "spin locks" not in checked(result.log)
    assert all(numbers == [0] * 5 for numbers in per_cpu(keys(result.log, "E"), "locks"))
    status, text = cairn("locks", "--top", 1000, result.log)
    assert status == 1 and "boot with session.1=auto+spinlock:qpc:sequential" in text
