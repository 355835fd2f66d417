# SPDX-License-Identifier: MIT
"""Control as in Windows, in a kernel that runs: docs/reference/control.md, class by class."""

import re

import pytest

import cairn_boot as cb
from cairn_log import cairn, checked, keys


def verdicts(result):
    """The verdicts of workload `control`: what of, and how many answers."""
    lines = re.findall(r"^(PASS|FAIL): control: ([^:]+): (.*)$", result.output, re.MULTILINE)
    assert all(word == "PASS" for word, _, _ in lines), lines
    return {name: int(re.match(r"(\d+) answers as expected$", text)[1]) for _, name, text in lines}


def sparse_samples(dump):
    """Samples of CPU 0, whose ticks are the time threads sleep by, while each fourth tick was one."""
    found = re.search(r" \+ profile interval: Timer every 40000 of 100 ns, was \d+$(.*?)"
                      r" \+ profile interval: Timer every 10000 of 100 ns, was 40000$", dump, re.MULTILINE | re.DOTALL)
    return len(re.findall(r"^ *[0-9.]+ +0 \+ timer at ", found[1], re.MULTILINE))


def carrying(dump, event):
    """How many events with such a line have PMC items, and how many have none."""
    found = re.findall(rf"^ *[0-9.]+ +\d .*{event}.*\n(?: {{18}}.*\n)*( +: )?", dump, re.MULTILINE)
    return len(found) - found.count(""), found.count("")


NO_AREA = "ds.preset=clearwaterforest"


@pytest.mark.parametrize("options", [
    ("pebs=INST_RETIRED.ANY:997", "session.1=auto+full+spinlock+profile:qpc:sequential",
     "session.2=none:tsc:sequential", "session.pmc=InstructionRetired,BranchInstructionRetired"),
    *[pytest.param(options, marks=pytest.mark.long) for options in [
        ("ds=off", "session.1=full:tsc:sequential"),
        ("session.2=full:tsc:sequential", "session.restarts=50", "session.pmc=InstructionRetired"),
        ("ds.preset=nehalem", "bts=circular", "session.2=full:system:circular"),
        (NO_AREA, "bts=circular", "session.2=full:system:circular"),
        ("session.1=both:qpc:sequential", "bts=circular", "bts.rings=u", "pebs=INST_RETIRED.ANY:499:uk")]]])
def test_control(tmp_path, options):
    """Every status is what it must be, on every CPU, and the trace and its truth agree before, between and behind."""
    result = cb.boot(tmp_path / "log", "--smp", 2, "workload=control", "switches=2500", "truth=1", cb.UNHURRIED,
                     *options)
    assert result.status == cb.PASS, result.output
    checked(result.log)  # also that no switch is missing but those session 1 was told not to take
    assert keys(result.log, "E")["end.events_lost"] == "0"
    answers = verdicts(result)
    assert set(answers) == {"81H, CPU 0", "81H, CPU 1", "1FH GroupMask", "1FH TimeProfile", "1FH Spinlock",
                            "1FH PebsTracing", "1FH ProfileCounterList", "1FH ProfileEventList"}
    assert all(count > (1 if options[:1] == ("ds=off",) or NO_AREA in options else 7) for count in answers.values()), (
        answers)
    if "ds=off" in options:
        return
    status, dump = cairn("dump", result.log)
    assert status == 0
    if "session.2=none" in options[2]:  # it got counters and hooks at run time; then two of these, then none
        status, second = cairn("dump", "--session", 2, result.log)
        assert status == 0 and f"in this order:\n{18 * ' '}BranchInstructionRetired," in second
        events = [carrying(second, event) for event in (" > ", "is ready", r"\+ timer at ", r"\+ interrupt ")]
        assert all(with_items and bare for with_items, bare in events), events
        items = sum(with_items for with_items, _ in events)
        status, text = cairn("check", "--session", 2, result.log)
        assert status == 0 and int(re.search(r"PMC items: .* (\d+) +0 consistent", text)[1]) == items
        status, text = cairn("export", "--to", "etl", "--session", 2, result.log, "-o", tmp_path / "etl")
        assert status == 0, text
        assert re.search(rf"with PMC items +{items}\n", cairn("stat", tmp_path / "etl")[1])
    if "+profile:" in options[1]:
        assert 6 <= sparse_samples(dump) < 20  # in 24 ticks and a little more
        assert " + profile (rundown): Timer every 10000 of 100 ns\n" in dump
        assert " + profile (at the end): Timer every 10000 of 100 ns\n" in dump
    if NO_AREA in options:  # of PEBS in the Debug Store: class 81H is not supported, and PEBS runs on
        begun, ended = re.findall(" = architectural PEBS on, ", dump), re.findall(r"\(stop\)", dump)
        assert len(begun) == len(ended) == 2, dump[-2000:]
        return
    for cpu in range(2):  # each area was freed and made anew while the CPU ran: two set-ups, two tear-downs
        said = re.findall(rf"^ *[0-9.]+ +{cpu} = (Debug Store on|drain of epoch \d+ \(stop\))", dump, re.MULTILINE)
        assert [line.split()[0] for line in said] == ["Debug", "drain", "Debug", "drain"], said
