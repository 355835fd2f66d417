# SPDX-License-Identifier: MIT
"""The lanes of a page: whose each stretch of time was, and where something is missing, are what JSON and `cairn stat`
say."""

import re
import struct
import subprocess

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, cairn, events, patch, text_of
from html_page import (FACTS, LOGS, MARKS, NS, SAMPLES, SEEN, TITLE, called, go, log_path, of, place, states, tip)

pytestmark = MARKS
HOOK_DS = 0xCA01
LARGE = subprocess.run([cairn_boot.BUILD / "make_golden", "large", "3000"], capture_output=True, check=True).stdout

# ---- what is missing -------------------------------------------------------------------------------------------------

REDS = """(() => {
    const lanes = document.getElementById("lanes"), pen = lanes.getContext("2d");
    const { data } = pen.getImageData(0, 0, lanes.width, lanes.height);
    const gap = getComputedStyle(document.documentElement).getPropertyValue("--gap").match(/\\w\\w/g)
        .map(h => parseInt(h, 16));
    let n = 0;
    for (let i = 0; i < data.length; i += 4)
        n += gap.every((c, k) => Math.abs(c - data[i + k]) < 6);
    return n;
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_gaps_are_drawn(chromium, pages, scheme):
    chromium.prefers(scheme)
    chromium.open(pages("small")[0], "#summary")
    assert chromium.run(REDS) == 0
    chromium.open(pages(SAMPLES / "damaged.log")[0], "#summary")
    assert chromium.run(REDS) > 500
    chromium.key("g")
    assert "missing" in chromium.run("document.querySelector('[data-fact=what]').textContent")
    chromium.prefers("light")


def gaps(it):
    """All there are: CPU, what is missing, from and to in seconds; the panel says so, one after another."""
    found, last = [], None
    go(it, "gap=0")
    while it.run("document.getElementById('panel').dataset.kind") == "gap":
        title, facts, index = it.run(f"[{TITLE}, {FACTS}, document.getElementById('panel').dataset.index]")
        if index == last:
            break
        last = index
        found.append((int(title.rsplit(" ")[-1]), facts["what"], float(facts["from"][:-2]), float(facts["to"][:-2])))
        it.key("g")
    return found


def test_gaps_lie_where_json_has_them(chromium, pages):
    """Between the last switch before them and the first behind."""
    path, lines = pages(SAMPLES / "damaged.log")
    chromium.open(path, "#summary")
    expected = []
    for i, line in enumerate(lines):
        if line["type"] == "lost":
            own = [(k, s["ns"]) for k, s in enumerate(lines) if s["type"] == "switch" and s["cpu"] == line["cpu"]]
            ends = [ns for k, ns in own if k > i]
            expected.append((line["text"], max(ns for k, ns in own if k < i), min(ends, default=None)))
    found = [(what, round(from_ * 1e9), round(to * 1e9)) for _, what, from_, to in gaps(chromium)]
    for what, since, until in expected:
        assert any(f[0] == what and f[1] == since and until in (None, f[2]) for f in found), (expected, found)


@pytest.mark.parametrize("log, cpu, seconds, words", [
    (SAMPLES / "damaged.log", 0, 1.55, "the log is damaged: this part of it is not there, or cannot be read"),
    ("lost", 0, 0.15, "events came faster than buffers were emptied"),
    ("circular", 0, None, "newer events took their place"),
])
def test_why_something_is_missing(chromium, pages, log, cpu, seconds, words):
    """Where the lane has a gap, the tip says what, why and for how long; the panel, too."""
    chromium.open(pages(log)[0], "#summary")
    if seconds is None:
        seconds = chromium.run(SEEN)[0] * NS / 1e9 + 1e-7
    said = tip(chromium, *place(chromium, ".cpu", cpu, seconds * 1e9 / NS))
    assert words in said
    x, y = place(chromium, ".cpu", cpu, seconds * 1e9 / NS)
    chromium.click(x, y)
    facts = chromium.run(FACTS)
    assert facts["why"] == words and facts["what"] in said and "missing: " not in said
    assert f"{facts['from'][:-2]} to {facts['to']}: {facts['length']}" in said
    assert float(facts["from"][:-2]) <= seconds <= float(facts["to"][:-2])


def test_nobody_knows_who_ran_in_a_gap(chromium, pages):
    """A thread that is said to wait may have run where switches are missing: the tip does not hide that."""
    path, lines = pages(SAMPLES / "damaged.log")
    chromium.open(path, "#summary")
    start, end = 1.4860035e7, 1.6146524e7  # of CPU 0: test_gaps_lie_where_json_has_them
    assert any(line["ns"] == start * NS for line in of(lines, "switch"))
    rows = range(chromium.run("document.querySelectorAll('#labels .thread').length"))
    said = [tip(chromium, *place(chromium, ".thread", row, (start + end) / 2)) for row in list(rows)[:4]]
    assert any("DelayExecution for" in words and "switches of CPU 0 are missing" in words for words in said), said


def samples_of(lines):
    return {(line["cpu"], line["epoch"], line["address"]): line for line in of(lines, "sample")}


def missing_records(it):
    return [(cpu, since, until) for cpu, what, since, until in gaps(it) if "PEBS records" in what]


def test_missing_records_lie_in_gaps(chromium, pages):
    """Of the same trace before it was damaged: each that is gone lies where the page says that some are, none that is
    there does."""
    whole, left = (samples_of(pages(SAMPLES / f"{name}.log")[1]) for name in ("plain", "damaged"))
    chromium.open(pages(SAMPLES / "damaged.log")[0], "#summary")
    marked = missing_records(chromium)
    gone = [line for place, line in whole.items() if place not in left]
    assert len(gone) > 20 and len(left) > 20
    for line in gone:
        assert any(cpu == line["cpu"] and since <= line["ns"] / 1e9 <= until for cpu, since, until in marked), line
    for line in left.values():
        assert not any(cpu == line["cpu"] and since < line["ns"] / 1e9 < until for cpu, since, until in marked), line
    assert {cpu for cpu, *_ in marked} == {0, 1}


@pytest.mark.parametrize("log", ["small", "full", "panic", "life", "sessions", "told", SAMPLES / "plain.log"])
def test_no_records_are_missing(chromium, pages, log):
    chromium.open(pages(log)[0], "#summary")
    assert not missing_records(chromium)


def test_a_drain_is_missing(chromium, pages):
    """The frame with a drain in it is torn out of a sound log: its records are missing from the drain before on, though
    the switches that are gone with it are of a shorter time."""
    _, lines = pages("large", LARGE)
    parts = frames.read(LARGE)
    drains = [i for i, at, hook, _ in events(parts) if hook == HOOK_DS and parts[i][1][at + 16:at + 18] == b"\1\0"]
    del parts[drains[len(drains) // 2]]
    path, left = pages("torn", frames.write(parts))
    chromium.open(path, "#summary")
    marked, switches = missing_records(chromium), [gap for gap in gaps(chromium) if "PEBS" not in gap[1]]
    gone = [line for place, line in samples_of(lines).items() if place not in samples_of(left)]
    assert gone and marked
    for line in gone:
        assert any(cpu == line["cpu"] and since <= line["ns"] / 1e9 <= until for cpu, since, until in marked), line
    assert any(not any(since <= line["ns"] / 1e9 <= until for _, _, since, until in switches) for line in gone)


def test_says_what_went_wrong(chromium, pages):
    """What `cairn info --lost` says; and that the guest panicked."""
    for log, words in (("lost", "--lost"), ("live", "--lost"), ("ring", "--lost")):
        chromium.open(pages(log)[0], "#summary")
        said = chromium.run("[...document.querySelectorAll('.wrong li')].map(e => e.textContent)")
        told = text_of(cairn("info", words, GOLDEN / f"{log}.log"))
        assert [" ".join(line.split()) for line in re.sub(r"\n {2,}", " ", told).splitlines()] == [
            f"lost {words}" for words in said] and said
    for log in ("panic", SAMPLES / "panic.log"):
        chromium.open(pages(log)[0], "#summary")
        assert "the guest panicked" in chromium.run("document.querySelector('.wrong').textContent")
        assert chromium.run("document.getElementById('wrong').innerText") == "the guest panicked"
    assert "page fault" in chromium.run("document.querySelector('.wrong').textContent")
    chromium.open(pages("small")[0], "#summary")
    assert chromium.run("document.querySelector('.wrong') === null && document.getElementById('wrong').hidden")


# ---- lanes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log, also", [("small", {"WrQueue"}), ("grab", {"unknown"})])
def test_lanes_of_threads(chromium, pages, log, also):
    """In the middle of each stretch the tip says what JSON does. Nobody knows why a thread of Linux waits."""
    path, lines = pages(log)
    chromium.open(path, "#summary")
    names = chromium.run("[...document.querySelectorAll('#labels .thread')].map(e => e.textContent)")
    seen = set()
    for row, name in list(enumerate(names))[:4]:
        for since, until, words in states(lines, int(name.rsplit(":")[-1])):
            if until - since < 20:
                continue
            margin = (until - since) / 10
            go(chromium, f"from={(since - margin) / 1e7}&to={(until + margin) / 1e7}")
            chromium.run(f"document.querySelectorAll('#labels .thread')[{row}].scrollIntoView()")
            said = tip(chromium, *place(chromium, ".thread", row, (since + until) / 2))
            assert said.startswith(f"{name}: {words} for ")
            seen.add(words)
    assert {"Running", "Ready"} | also <= seen, seen
    assert not chromium.complaints


def test_lanes_of_cpus(chromium, pages):
    path, lines = pages("small")
    chromium.open(path, "#summary")
    for before, after in list(zip(of(lines, "switch"), of(lines, "switch")[1:]))[:50]:
        if before["cpu"] != after["cpu"] or "new" not in before or after["ns"] - before["ns"] < 20 * NS:
            continue
        go(chromium, f"from={(before['ns'] - 500) / 1e9}&to={(after['ns'] + 500) / 1e9}")
        middle = (before["ns"] + after["ns"]) / 2 / NS
        said = tip(chromium, *place(chromium, ".cpu", before["cpu"], middle))
        assert said.startswith(f"{called(before['new'])} for ")


@pytest.mark.parametrize("log", [*LOGS, *sorted(SAMPLES.glob("*.log"))], ids=lambda log: getattr(log, "stem", log))
def test_whose_time_it_was(chromium, pages, log):
    """Shares of each CPU's time are those of `cairn stat`, to the last digit."""
    chromium.open(pages(log)[0], "#summary")
    rows = chromium.run("[...document.querySelectorAll('.cpus tbody tr')].map(r => [...r.cells].map(c => c.innerText))")
    stat = cairn("stat", log_path(log)).stdout.decode()
    told = re.findall(r"^ +(\d+) +(\d+) +(\S+ %) +(\S+ %) +(\S+ %)$", stat, re.M)
    assert told and [(cpu, switches, *shares) for cpu, *shares, switches, _ in rows] == told


def whose(lines):
    """(CPU, from, to, who) of each stretch between two switches; nobody where something is missing between them."""
    since, gap = {}, set()
    for line in lines:
        if line["type"] == "lost":
            gap.add(line["cpu"])
        if line["type"] == "switch":
            if line["cpu"] in since:
                yield (line["cpu"], since[line["cpu"]], line["ns"] / NS,
                       "unknown" if line["cpu"] in gap else called(line["old"]))
            since[line["cpu"]] = line["ns"] / NS
            gap.discard(line["cpu"])


@pytest.mark.parametrize("log", ["lost", "live", "sessions", SAMPLES / "damaged.log"])
def test_whose_a_stretch_is(chromium, pages, log):
    """The tip says it, in the middle of each stretch that is wide enough."""
    path, lines = pages(log)
    chromium.open(path, "#summary")
    shown, said = chromium.run(SEEN), set()
    least = (shown[1] - shown[0]) / 200
    for cpu, since, until, who in whose(lines):
        if until - since >= least:
            words = tip(chromium, *place(chromium, ".cpu", cpu, (since + until) / 2))
            assert words.startswith(f"{who} for "), (cpu, since, until)
            said.add(who)
    assert len(said) > 2 and ("unknown" in said or log in ("lost", "sessions"))  # these at their ends alone


SHADE = """((x, y) => {
    const { left, top } = document.getElementById("lanes").getBoundingClientRect();
    return [...document.getElementById("lanes").getContext("2d").getImageData(x - left, y - top, 1, 1).data].join();
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("log, cpu, idle, unknown", [("panic", 1, 0.001, 0.08), ("damaged", 0, 2.4, 2.65)])
def test_unknown_is_not_drawn_as_idle(chromium, pages, scheme, log, cpu, idle, unknown):
    chromium.prefers(scheme)
    chromium.open(pages(SAMPLES / f"{log}.log")[0], "#summary")
    shades = []
    for time, words in ((idle, "idle for"), (unknown, "unknown for")):
        x, y = place(chromium, ".cpu", cpu, time * 1e9 / NS)
        assert tip(chromium, x, y).startswith(words)
        chromium.mouse("mouseMoved", x, 3)
        chromium.settle()
        shades.append(chromium.run(f"{SHADE}({x}, {y - 8})"))
    chromium.prefers("light")
    assert shades[0] != shades[1]


def test_readied_threads(chromium, pages):
    """From its 0532H on a thread that waited is ready. No golden log has any: an interrupt becomes one."""
    parts = frames.read((GOLDEN / "told.log").read_bytes())
    _, lines = pages("told")
    origin = int(re.search(rb"session.1.origin=(\d+)", b"".join(p for s, p in parts if s == "L"))[1])
    assert origin == 0
    waits = [(tid, since, until) for tid in {line["tid"] for line in of(lines, "thread")} - {0}
             for since, until, words in states(lines, tid) if words not in ("Running", "Ready")]
    for frame, at, hook, size in events(parts):
        time = struct.unpack_from("<q", parts[frame][1], at + 8)[0]
        found = [tid for tid, since, until in waits if since < time < until - 40]
        if hook == 0x0F43 and size == 36 and found:
            break
    tid = found[0]
    marker = struct.unpack_from("<I", parts[frame][1], at)[0] & ~0xFF
    patch(parts, (frame, at), 0, struct.pack("<IHHqQ", marker | 2, 24, 0x0532, time, tid) +
          struct.pack("<IHHq", marker, 16, 0x0FFF, time))  # and what is left of it: an event nobody knows
    path, lines = pages("readied", frames.write(parts))
    assert any(line.get("hook") == "0532H" for line in lines)
    chromium.open(path, "#summary")
    names = chromium.run("[...document.querySelectorAll('#labels .thread')].map(e => +e.dataset.tid)")
    row = names.index(tid)
    chromium.run(f"document.querySelectorAll('#labels .thread')[{row}].scrollIntoView()")
    go(chromium, f"from={(time - 100) / 1e7}&to={(time + 100) / 1e7}")
    assert ": Ready for " in tip(chromium, *place(chromium, ".thread", row, time + 10))
    assert ": Ready for " not in tip(chromium, *place(chromium, ".thread", row, time - 10))
