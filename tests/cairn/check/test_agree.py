# SPDX-License-Identifier: MIT
"""What several commands tell of one log is the same: switches, rates, waits, losses, records and their functions."""

import collections
import json
import re

import pytest

from cairn_tool import cairn
from said import figures, path_of, rows

LOGS = ["small", "full", "nods", "circular", "lost", "panic", "hw", "live", "locks", "told", "bts", "ring", "life",
        "plain", "damaged", "arch", "fragments"]
NUMBER = r"(\d+|unknown)"


def told(command, *arguments):
    done = cairn(command, *arguments)
    assert done.returncode < 2 and b"Sanitizer" not in done.stderr, done.stderr.decode()
    return done.stdout.decode()


def number(text, pattern, default="0"):
    found = re.search(pattern, text, re.M)
    return found[1] if found else default


class Json:
    """The trace as `export --to json` has it, counted here."""

    def __init__(self, path):
        lines = [json.loads(line) for line in told("export", "--to", "json", path).splitlines()]
        of = collections.defaultdict(list)
        for line in lines:
            of[line["type"]].append(line)
        self.trace, self.end, self.switches, self.samples = of["trace"][0], of["end"][0], of["switch"], of["sample"]
        self.waits = collections.Counter(s.get("reason") or s["state"] for s in self.switches
                                         if s["old"]["tid"] and "state" in s)
        self.functions = collections.Counter(s.get("function", "[unknown]") for s in self.samples)
        self.runs = collections.Counter(s["old"]["tid"] for s in self.switches if s["old"]["tid"])
        self.records = collections.Counter(s["thread"]["tid"] for s in self.samples if "thread" in s)


pytestmark = pytest.mark.xdist_group("agree")  # one asks, for all
WHOLE, PART = range(2)
SIDES = pytest.mark.parametrize("log, side", [(log, side) for log in LOGS for side in (WHOLE, PART)])


@pytest.fixture(scope="module", name="of")
def fixture_of(tmp_path_factory):
    """What each command tells of a log, and of a part of it: of its trace every third frame and the end are missing."""
    known, folder = {}, tmp_path_factory.mktemp("parts")

    def ask(log, side):
        if log not in known:
            whole, part = path_of(log), folder / f"{log}.log"
            lines = whole.read_bytes().splitlines(keepends=True)
            trace = [i for i, line in enumerate(lines) if line.startswith(b"~T")]
            gone = {*trace[2::3], *trace[len(trace) - len(trace) // 4:]}
            part.write_bytes(b"".join(line for i, line in enumerate(lines) if i not in gone))
            both = told("diff", "--top", "1000", whole, part)
            known[log] = [{"json": Json(path), "stat": told("stat", "--top", "1000", path),
                           "top": told("top", "--once", path), "diff": both,
                           "profile": told("profile", "--per", "function", "--top", "1000", path)}
                          for path in (whole, part)]
        return known[log][side]
    return ask


def of_side(text, pattern, side):
    """The figure of that side, in a row of diff's."""
    found = re.search(rf"{pattern} +(\S+) +(\S+)", text, re.M)
    return found[1 + side] if found else "0"


@SIDES
def test_switches_and_records(of, log, side):
    told_by = of(log, side)
    trace, (switches, records) = told_by["json"], figures(told_by["top"])[0]
    cpus = re.findall(r"^ +\d+ +(\d+) +[\d.]+ % +[\d.]+ % +[\d.]+ %$", told_by["stat"], re.M)
    compared = re.findall(r"^   \d+ CPUs?, .*?, (\d+) switch\w*, (\d+) PEBS records?", told_by["diff"], re.M)[side]
    assert {len(trace.switches), trace.end["switches"], int(switches), sum(map(int, cpus)), int(compared[0])} == \
        {len(trace.switches)}
    profiled = number(told_by["profile"], r"^# (\d+) records?; ")
    assert {len(trace.samples), trace.end["samples"], int(records), int(profiled), int(compared[1]),
            int(number(told_by["stat"], r"^  PEBS records +(\d+) "))} == {len(trace.samples)}


@SIDES
def test_losses(of, log, side):
    told_by = of(log, side)
    [lost] = re.findall(r"^lost: (.*)$", told_by["top"], re.M)
    by_processor = {
        "stat": number(told_by["stat"], rf"^  lost by processor +{NUMBER}"),
        "top": number(lost, r"PEBS records: (unknown)") if "unknown" in lost else number(lost, r"(\d+) PEBS record"),
        "profile": number(told_by["profile"], rf"^# lost by the processor: {NUMBER}"),
        "diff": of_side(told_by["diff"], "^  PEBS records lost by the processor", side),
    }
    assert len(set(by_processor.values())) == 1, by_processor
    kind = told_by["json"].trace["switches_from"]
    gone = re.search(rf"^  missing, {kind} +(\d+)   of (\d+) ", told_by["stat"], re.M)
    switches = re.match(r"(\d+) of (\d+) switches", lost)
    if gone or switches[1] != "0":
        assert switches.groups() == gone.groups()
    events = number(told_by["stat"], rf"^  events lost +{NUMBER}")
    assert of_side(told_by["diff"], "^  events lost", side) == events


@SIDES
def test_missing_frames(of, log, side):
    told_by = of(log, side)
    missing = {number(told_by["stat"], r"^  frames missing +(\d+) "),
               number(told_by["top"], r", (\d+) frames? missing"),
               str(told_by["json"].end["missing_frames"])}
    assert len(missing) == 1
    assert (of_side(told_by["diff"], "^  the log is damaged", side) == "yes") == (missing != {"0"})


@SIDES
def test_times_and_rates(of, log, side):
    told_by = of(log, side)
    found = rows(told_by["diff"])
    busy, idle, unknown = map(sum, zip(*[map(float, row) for row in re.findall(
        r"^ +\d+ +\d+ +([\d.]+) % +([\d.]+) % +([\d.]+) %$", told_by["stat"], re.M)]))
    assert found["whole run", "CPUs busy, %"][side] == pytest.approx(100 * busy / (busy + idle), abs=2 / (busy + idle))
    share = 100 * unknown / (busy + idle + unknown)
    assert float(number(told_by["top"], r"^unknown: ([\d.]+) %")) == pytest.approx(share, abs=0.06)
    compared = re.findall(r"^   \d+ CPUs?, [^;\n]*(?:; ([\d.]+) % of time unknown)?$", told_by["diff"], re.M)[side]
    assert float(compared or 0) == pytest.approx(share, abs=0.06)
    assert float(number(told_by["top"], r", ([\d.]+)/s in all; ")) == \
        pytest.approx(found["whole run", "switches a second"][side], abs=0.06)


@SIDES
def test_functions(of, log, side):
    told_by = of(log, side)
    counted = told_by["json"].functions
    profile = re.findall(r"^ +(\d+) +([\d.]+) %   (.+)$", told_by["profile"], re.M)
    assert {name: int(count) for count, _, name in profile} == counted
    shares = {name: row[side] for (title, name), row in rows(told_by["diff"]).items() if title == "functions"}
    for _, share, name in profile:
        assert shares.get(name, float(share)) == float(share)
    top = re.findall(r" {3}(\w\S*) +\d+ +(\d+)$", told_by["top"].partition("records in function")[2], re.M)
    assert all(counted[name] == int(count) for name, count in top) and bool(top) == bool(counted)


@SIDES
def test_waits(of, log, side):
    told_by = of(log, side)
    counted, reasons = told_by["json"].waits, figures(told_by["top"])[3]
    assert all(counted[name] == int(count) for name, count in reasons.items()) and bool(reasons) == bool(counted)
    found = rows(told_by["diff"])
    rate = found["whole run", "switches a second"][side] / max(1, len(told_by["json"].switches))
    rates = {name: row[side] for (title, name), row in found.items() if title.startswith("states")}
    assert rates == {name: pytest.approx(counted[name] * rate, abs=0.02, rel=1e-4) for name in rates}


@SIDES
def test_threads(of, log, side):
    told_by = of(log, side)
    trace, threads = told_by["json"], figures(told_by["top"])[2]
    stat = {int(tid): (float(share), int(runs), int(records)) for tid, share, runs, records in re.findall(
        r"^  \S+:(\d+) +([\d.]+) % +[\d.]+ \w+ +(\d+) +(\d+)$", told_by["stat"], re.M)}
    assert {tid: runs for tid, (_, runs, _) in stat.items() if runs} == trace.runs
    assert {tid: records for tid, (_, _, records) in stat.items() if records} == trace.records
    assert bool(threads) == bool(stat)
    assert all(stat[int(name.split(":")[1])] == (float(share), int(runs), int(records))
               for name, (share, runs, records) in threads.items())
