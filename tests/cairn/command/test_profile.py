# SPDX-License-Identifier: MIT
"""Of which counter, and so of which event, `cairn profile` takes a record to be."""

import pytest

import frames
from cairn_tool import GOLDEN, cairn, text_of, with_keys
from lying import OLD, in_format_1


def session(events, counters, oldest=True):
    """small.log, its records of format 1 (each with bits 0, 2 and 32 of GLOBAL_STATUS) or as they are, of PMC0."""
    parts = frames.read(OLD if oldest else (GOLDEN / "small.log").read_bytes())
    if oldest:
        in_format_1(parts)
    with_keys(parts, {**{f"ds.event.{i}": event for i, event in enumerate(events)},
                      **{f"ds.cpu.{cpu}.counters": numbers for cpu, numbers in enumerate(counters)}})
    return frames.write(parts)


def profile(log, *arguments):
    """Records counted, and what it says."""
    done = cairn("profile", *arguments, "-", data=log)
    text = text_of(done)
    return sum(int(row.split()[0]) for row in text.splitlines() if row[0] != "#"), text + done.stderr.decode()


def refusal(log, *arguments):
    done = cairn("profile", *arguments, "-", data=log)
    assert done.returncode == 2 and not done.stdout
    return done.stderr.decode()


def test_files_without_names():
    """A library of a Linux is one row, also in stacks; a record of it says where in the file it was."""
    rows = [line.split()[-1] for line in text_of(cairn("profile", GOLDEN / "grab.log")).splitlines() if line[0] != "#"]
    stacks = cairn("export", "--to", "folded", GOLDEN / "grab.log", "-o", "-").stdout.decode()
    assert rows.count("libc.so.6") == 1 and not any("0x" in row for row in rows)
    assert stacks.count("libc.so.6") == 1 and "prog:188;libc.so.6 10\n" in stacks and "[unknown]" not in stacks
    assert "* libc.so.6+0x44352  " in text_of(cairn("dump", GOLDEN / "grab.log"))


def test_a_counter_without_pebs_has_no_records():
    log = session(["A:100:uk", "B:200:uk:plain", "C:300:uk:plain"], ["0 2 32"] * 2)
    assert profile(log)[0] == profile(log, "--counter", "0")[0] == profile(log, "--event", "A")[0] == 39
    assert "added up" not in profile(log)[1] and "cannot be separated" not in profile(log)[1]
    assert [profile(log, "--counter", n)[0] for n in ("2", "32")] == [0, 0]
    assert "--event B: no PEBS counter of this log counts it; give one of: A\n" in refusal(log, "--event", "B")


def test_several_that_overflowed_are_not_told_apart():
    log = session(["A:100:uk", "B:200:uk:plain", "C:300:uk"], ["0 2 1"] * 2)
    assert profile(log, "--counter", "0")[0] == 39 and not profile(log, "--counter", "1")[0]  # bit 1 is not set
    log = session(["A:100:uk", "B:200:uk", "C:300:uk:plain"], ["0 2 32"] * 2)
    count, text = profile(log)
    assert count == 39 and "# 39 records are of several counters that cannot be separated\n" in text
    for which in (["--counter", "0"], ["--counter", "2"], ["--event", "A"], ["--event", "B"]):
        count, text = profile(log, *which)
        assert not count and "39 PEBS records are of several counters that cannot be separated" in text


def test_one_that_shows_no_overflow():
    """The status word may have been cleared before it was stored: of the only PEBS counter it is all the same."""
    one = session(["A:100:uk"], ["1"] * 2)
    several = session(["A:100:uk", "B:200:uk"], ["1 3"] * 2)
    assert profile(one, "--counter", "1")[0] == 39
    assert not profile(several, "--counter", "1")[0] and not profile(several, "--counter", "3")[0]


def test_event_on_another_counter_of_each_cpu():
    log = session(["A:100:uk", "B:200:uk"], ["0 1", "1 0"], oldest=False)
    of_cpu = [profile(log, "--cpu", cpu)[0] for cpu in ("0", "1")]
    assert all(of_cpu) and sum(of_cpu) == 39
    assert [profile(log, "--event", name)[0] for name in "AB"] == of_cpu
    assert profile(log, "--counter", "0")[0] == 39
    assert "are added up (--counter N, --event NAME): PMC0=A # PMC0=B # " in " ".join(profile(log)[1].split())


def test_event_refused():
    log = session(["A:100:uk"], ["0"] * 2)
    assert "give only one" in refusal(log, "--event", "A", "--counter", "0")
    assert "--event AB: no PEBS counter" in refusal(log, "--event", "AB")
    log = session(["BR_INST_RETIRED.ALL_BRANCHES:100:uk", "B:1:uk:plain", "INST_RETIRED.ANY:300:uk"], ["0 1 32"] * 2)
    text = " ".join(refusal(log, "--event", "cycles").split())
    assert "counts it; give one of: BR_INST_RETIRED.ALL_BRANCHES, INST_RETIRED.ANY usage:" in text


@pytest.mark.parametrize("event, alias", [
    ("BR_INST_RETIRED.ALL_BRANCHES", "branches"), ("BR_INST_RETIRED.ALL_BRANCHES", "Branch-Instructions"),
    ("INST_RETIRED.ANY", "instructions"), ("MEM_TRANS_RETIRED.LOAD_LATENCY", "mem_trans_retired.load_latency"),
    ("FRONTEND_RETIRED", "frontend_retired"),
])
def test_event_by_an_alias(event, alias):
    log = session([f"{event}:100:uk"], ["0"] * 2)
    assert profile(log, "--event", alias)[0] == profile(log, "--event", event)[0] == 39


def test_a_log_without_names_says_what_has_them():
    """A kernel that is built without its symbols writes no names of functions."""
    said = "# this log has no names of functions; give them with --elf kernel.elf.full\n"
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    assert said not in profile(frames.write(parts))[1]
    nameless = frames.write([(stream, b"" if stream == "S" else payload) for stream, payload in parts])
    assert said in profile(nameless)[1] and said not in profile(nameless, "--per", "thread")[1]
