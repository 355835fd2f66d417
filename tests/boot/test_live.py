# SPDX-License-Identifier: MIT
"""What happens between the switches: threads made ready, priorities, interrupts, DPCs, samples, marks."""

import re
import subprocess

import pytest

import cairn_boot as cb
import frames as dump
from cairn_tool import events, patch
from cairn_log import cairn, checked, per_cpu, run_and_check

GROUPS = "dispatcher+priority+interrupt+dpc+profile+pmc_profile+mark"
NAMES = {"ready thread": 0x0532, "set priority": 0x0530, "set base priority": 0x0531, "interrupt": 0x0F43,
         "DPC": 0x0F44, "timer DPC": 0x0F45, "sampled profile": 0x0F2E, "PMC interrupt": 0x0F2F, "mark": 0x0F22,
         "profile (rundown)": 0x0F49, "profile (at the end)": 0x0F4A}
UNTOLD = ("mark", "profile (rundown)", "profile (at the end)")  # of these the truth does not tell


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


def refused(parts):
    """What `cairn check` says of a log that lies, in one line."""
    done = subprocess.run([cb.BUILD / "cairn", "check", "-"], input=dump.write(parts), capture_output=True, check=False)
    text = " ".join(done.stdout.decode().split())
    assert done.returncode == 1, text
    return text


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
    result, _ = run_and_check(tmp_path, 2, 1000, "workload=mix", f"session.1=compact+{GROUPS}:qpc:sequential",
                              "pebs=INST_RETIRED.ANY:5003,branches:3001:plain")
    found = counted(result.log)
    assert set(found) == set(NAMES), found
    text = checked(result.log)
    compared = int(re.search(r"truth: each event between the switches +(\d+) +0 verified", text)[1])
    assert compared == sum(n for name, n in found.items() if name not in UNTOLD)
    changes, switches = priorities_chain(result.log)
    assert changes == found["set priority"] and switches > 20  # of 1000, as many as the host lets come to it
    told = "\n".join(lines(result.log))
    for what in (r"\+ \w+\S* is ready, its wait has ended, \+1", r"is ready, its wait has ended, by a DPC",
                 r"is ready$", r"\+ base priority of \S+: \d+, was \d+, it runs at priority \d+",
                 r"\+ interrupt E0H, tick: ",
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
    assert ticks == found["sampled profile"] > 5  # on a fast host the run is short
    _, drains, pmis, _, _ = per_cpu(end, "ds")[0]
    assert drains == 1 and found["PMC interrupt"] == found["DPC"] == pmis > 5


@pytest.mark.long
def test_not_asked_for(tmp_path):
    """A session has just what it says; none of it where it says nothing: test_counts_of_threads."""
    result, _ = run_and_check(tmp_path, 1, 300, "session.1=compact+dpc+mark:qpc:sequential", "pebs.threshold=2")
    assert set(counted(result.log)) == {"timer DPC", "DPC", "mark"}


@pytest.mark.long
def test_programs_mark(tmp_path):
    result, _ = run_and_check(tmp_path, 1, 400, "workload=user", "session.1=compact+mark:qpc:sequential")
    marks = [re.sub(r".* \+ mark: ", "", line) for line in lines(result.log) if " + mark: " in line]
    assert marks == ["workload user begins", "good night from ring 3", "workload user ends"]


@pytest.mark.parametrize("cpus, options", [
    (2, ["session.1=full:qpc:sequential", "session.2=both:tsc:sequential",
         "session.pmc=BranchInstructions,UnhaltedCoreCycles,InstructionRetired,TotalCycles"]),
    cb.long(1, ["session.1=full:system:circular", "workload=user", "ds.preset=skylake",
                "pebs=INST_RETIRED.ANY_P:1009,branches:701,cycles:3001:plain",
                "session.pmc=BranchInstructionRetired,InstructionRetired"]),
    ])
def test_counts_of_threads(tmp_path, cpus, options):
    """0524H with PMC items: what each thread has counted, switch by switch, is what was stepped of it. PEBS and plain
    counters beside them reload as they like."""
    result, _ = run_and_check(tmp_path, cpus, 1500, *options, "dump.pack=0")
    assert "between the switches" not in checked(result.log)  # none of what was not asked for
    names = options[-1].partition("=")[2].split(",")
    for session in range(1, 1 + sum(option.startswith("session.") for option in options[:2])):
        status, text = cairn("check", "--session", session, result.log)
        assert status == 0, text
        compared = int(re.search(r"PMC counts, by switch +(\d+) +0 verified", text)[1])
        switches = int(re.search(r"each 0524H switch equal, in order +(\d+) +0 verified", text)[1])
        assert compared >= len(names) * (switches - 2 * cpus) > 2000  # every item
    told = lines(result.log)
    row = r" {15} : " + ", ".join(rf"(\d+) {name}" for name in names)
    counts = [tuple(map(int, match.groups())) for match in (re.match(row, line) for line in told) if match]
    assert len(counts) > 1000 and sum(row[0] for row in counts) > 1000
    assert all(row[names.index("InstructionRetired")] >= row[0] for row in counts)  # a branch is an instruction
    patched = list(dump.read(result.log.read_bytes()))
    later = [e[:2] for e in events(patched) if e[2] == 0x0524][40]
    for i, name in enumerate(names):
        at = 24 + 8 * i  # behind the header and PebsIndex
        value = int.from_bytes(patched[later[0]][1][later[1] + at:later[1] + at + 4], "little")
        patch(patched, later, at, (value + 1).to_bytes(4, "little"))
        assert f"of {name}, in truth " in refused(patched)
        patch(patched, later, at, value.to_bytes(4, "little"))


LIES = [  # hook, offset in the payload, what check says of it
    (0x0532, 0, "is ready"), (0x0532, 4, "is ready"), (0x0532, 5, "is ready"), (0x0532, 6, "is ready"),
    (0x0530, 5, "priority of"), (0x0531, 4, "base priority of"), (0x0F43, 0, "interrupt"), (0x0F43, 8, "interrupt"),
    (0x0F43, 0x11, "interrupt"), (0x0F45, 8, "timer DPC"), (0x0F2E, 0, "timer at"), (0x0F2E, 8, "timer at"),
    (0x0F2E, 0xE, "timer at"),
]


def test_no_lie_is_believed(tmp_path):
    """Any field of any of them that is changed, and check names the event; likewise one that becomes a mark, of which
    the truth does not tell."""
    result, _ = run_and_check(tmp_path, 1, 200, f"session.1=compact+{GROUPS}:qpc:sequential", "dump.pack=0")
    whole = dump.read(result.log.read_bytes())
    for hook, offset, word in LIES:
        parts = list(whole)
        place = next(e[:2] for e in events(parts) if e[2] == hook)
        was = parts[place[0]][1][place[1] + 16 + offset]
        patch(parts, place, 16 + offset, bytes([was ^ 8]))
        text = refused(parts)
        told = rf"FAIL truth: each event between the switches CPU 0 at \S+ s: .*{word}.*; in truth: "
        assert re.search(told, text), (hook, offset, text)
    parts = list(whole)
    patch(parts, next(e[:2] for e in events(parts) if e[2] == 0x0532), 6, b"\x22\x0f")
    assert "FAIL truth: each event between the switches" in refused(parts)
