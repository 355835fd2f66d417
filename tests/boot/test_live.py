# SPDX-License-Identifier: MIT
"""What happens between the switches: threads made ready, priorities, interrupts, DPCs, samples, marks."""

import re
import subprocess

import pytest

import cairn_boot as cb
import frames as dump
from cairn_tool import events, patch
from test_system import cairn, checked, keys, per_cpu, run_and_check

GROUPS = "dispatcher+priority+interrupt+dpc+profile+pmc_profile+mark"
NAMES = {"ready thread": 0x0532, "set priority": 0x0530, "set base priority": 0x0531, "interrupt": 0x0F43,
         "DPC": 0x0F44, "timer DPC": 0x0F45, "sampled profile": 0x0F2E, "PMC interrupt": 0x0F2F, "mark": 0x0F22}
UNTOLD = ("mark",)  # of these the truth does not tell


def counted(log):
    """`cairn stat`: events of each kind."""
    status, text = cairn("stat", log)
    assert status == 0, text
    rows = {name: int(n) for name, n, _ in re.findall(r"^  (\S.*?) +(\d+)   ([0-9A-F]{4})H$", text, re.M)}
    assert set(rows) <= set(NAMES), text
    return rows


def lines(log):
    status, text = cairn("dump", log)
    assert status == 0, text
    assert all(len(line) <= 80 for line in text.splitlines())
    return re.sub(r"\n {18}(?=\S)", " ", text).splitlines()  # what was wrapped


def priorities_chain(log):
    """Each priority of a thread is the one its next event, or switch, says it had: told by nothing but the trace.
    Returns the number of events and switches."""
    now, events_seen, switches_seen = {}, 0, 0
    for line in lines(log):
        change = re.search(r" \+ priority of (\S+): (\d+), was (\d+)$", line)
        left = re.match(r" *\d+\.\d+ +\d+   (\S+) +\S+ +(\d+) > ", line)
        if change:
            thread, new, old = change[1], int(change[2]), int(change[3])
            assert new != old and now.get(thread, old) == old, line
            now[thread] = new
            events_seen += 1
        elif left and left[1] in now:
            assert now[left[1]] == int(left[2]), line
            switches_seen += 1
    return events_seen, switches_seen


def test_all_events(tmp_path):
    """Every kind at once: each event equal to the truth, in order, none missing; and the trace agrees with itself."""
    result, _ = run_and_check(tmp_path, 2, 2000, "workload=mix", f"session.1=compact+{GROUPS}:qpc:sequential",
                              "pebs=INST_RETIRED.ANY:5003,branches:3001:plain")
    found = counted(result.log)
    assert set(found) == set(NAMES), found
    text = checked(result.log)
    compared = int(re.search(r"truth: each event between the switches +(\d+) +0 verified", text)[1])
    assert compared == sum(n for name, n in found.items() if name not in UNTOLD)
    changes, switches = priorities_chain(result.log)
    assert changes == found["set priority"] and switches > 500
    told = "\n".join(lines(result.log))
    for what in (r"\+ \w+\S* is ready, its wait has ended, \+1", r"is ready, its wait has ended, by a DPC", r"is ready$",
                 r"\+ base priority of \S+: \d+, was \d+, it runs at \d+", r"\+ interrupt E0H, tick: ",
                 r"\+ interrupt E1H, rescheduled: ", r"\+ interrupt EEH, pmi: ", r"\+ DPC work: ",
                 r"\+ timer DPC end_waits: ", r"\+ timer at \w+\+0x\w+: \S+, priority \d+",
                 r"\+ BranchInstructionRetired at \w+\+0x\w+: ", r"\+ mark: workload mix begins",
                 r"\+ mark: workload mix ends"):
        assert re.search(what, told, re.M), what


def test_ticks(tmp_path):
    """One sample a timer interrupt; and a PMC interrupt for each PMI, where a plain counter's overflow is all that
    raises one."""
    result, end = run_and_check(tmp_path, 1, 600, "ds=soft", "pebs=branches:1009:plain,INST_RETIRED.ANY:1000003",
                                f"session.1=full+{GROUPS}:qpc:circular")
    found = counted(result.log)
    told = lines(result.log)
    ticks = sum(" + interrupt E0H, tick: " in line for line in told)
    assert ticks == found["sampled profile"] > 20
    _, drains, pmis, _, _ = per_cpu(end, "ds")[0]
    assert drains == 1 and found["PMC interrupt"] == found["DPC"] == pmis > 20


def test_not_asked_for(tmp_path):
    """A session has none of it unless it says so, and just what it says."""
    result, _ = run_and_check(tmp_path, 1, 300)
    assert not counted(result.log)
    assert "between the switches" not in checked(result.log)
    result, _ = run_and_check(tmp_path, 1, 300, "session.1=compact+dpc+mark:qpc:sequential", "pebs.threshold=2")
    assert set(counted(result.log)) == {"timer DPC", "DPC", "mark"}


def test_programs_mark(tmp_path):
    result, _ = run_and_check(tmp_path, 1, 400, "workload=user", "session.1=compact+mark:qpc:sequential")
    marks = [re.sub(r".* \+ mark: ", "", line) for line in lines(result.log) if " + mark: " in line]
    assert marks == ["workload user begins", "good night from ring 3", "workload user ends"]


LIES = [  # hook, offset in the payload, what check says of it
    (0x0532, 0, "is ready"), (0x0532, 4, "is ready"), (0x0532, 5, "is ready"), (0x0532, 6, "is ready"),
    (0x0530, 5, "priority of"), (0x0531, 4, "base priority of"), (0x0F43, 0, "interrupt"), (0x0F43, 8, "interrupt"),
    (0x0F43, 0x11, "interrupt"), (0x0F45, 8, "timer DPC"), (0x0F2E, 0, "timer at"), (0x0F2E, 8, "timer at"),
    (0x0F2E, 0xE, "timer at"),
]


@pytest.fixture(scope="module", name="whole_log")
def whole(tmp_path_factory):
    result, _ = run_and_check(tmp_path_factory.mktemp("live"), 1, 200, f"session.1=compact+{GROUPS}:qpc:sequential")
    return dump.read(result.log.read_bytes())


@pytest.mark.parametrize("hook, offset, word", LIES)
def test_no_lie_is_believed(whole_log, hook, offset, word):
    """Any field of any of them that is changed, and check names the event."""
    parts = list(whole_log)
    place = next(e[:2] for e in events(parts) if e[2] == hook)
    was = parts[place[0]][1][place[1] + 16 + offset]
    patch(parts, place, 16 + offset, bytes([was ^ 8]))
    done = subprocess.run([cb.BUILD / "cairn", "check", "-"], input=dump.write(parts), capture_output=True, check=False)
    text = done.stdout.decode()
    assert done.returncode == 1, text
    assert re.search(rf"FAIL truth: each event between the switches\n  CPU 0 at .*{word}.*; in truth: ", text), text


def test_one_is_missing(whole_log):
    """An event that becomes another one, and one whose size is not its kind's."""
    parts = list(whole_log)
    place = next(e[:2] for e in events(parts) if e[2] == 0x0532)
    patch(parts, place, 6, b"\x22\x0f")
    done = subprocess.run([cb.BUILD / "cairn", "check", "-"], input=dump.write(parts), capture_output=True, check=False)
    assert done.returncode == 1, done.stdout.decode()
