# SPDX-License-Identifier: MIT
"""The page without a pointer: what can be reached by keys, what they are told to do, and what a screen reader hears."""

import re

import pytest

import cairn_boot
from cairn_tool import GOLDEN
from html_page import MARKS, NS, SAMPLES, SEEN, TITLE, called, go, of, states

pytestmark = MARKS
PLAIN = SAMPLES / "plain.log"
CHOSEN = "[document.getElementById('panel').dataset.kind, +document.getElementById('panel').dataset.index]"
SAID = "document.getElementById('said').textContent"
ONLY = "[...document.querySelectorAll('#labels .only')].map(e => e.textContent)"


def test_along_a_lane(chromium, pages):
    """Shift and an arrow: switches and records of a CPU, one after another, and none of another CPU."""
    path, lines = pages(PLAIN)
    for kind, what in (("switch", "switch"), ("record", "sample")):
        mine = [i for i, line in enumerate(of(lines, what)) if line["cpu"] == 1]
        chromium.open(path, f"#{kind}={mine[3]}")
        for expected in mine[4:9]:
            chromium.key("Shift+ArrowRight")
            assert chromium.run(CHOSEN) == [kind, expected]
        for expected in mine[7:1:-1]:
            chromium.key("Shift+ArrowLeft")
            assert chromium.run(CHOSEN) == [kind, expected]


def test_from_lane_to_lane(chromium, pages):
    """Down from a CPU: its PEBS buffer, the other CPU, its buffer, the threads; there along a thread's stretches."""
    path, lines = pages(PLAIN)
    start = next(i for i, s in enumerate(of(lines, "switch")) if s["cpu"] == 0 and s["ns"] > 1e9)
    time = of(lines, "switch")[start]["ns"]
    chromium.open(path, f"#switch={start}")
    for kind, cpu in (("record", 0), ("switch", 1), ("record", 1)):
        chromium.key("Shift+ArrowDown")
        found, index = chromium.run(CHOSEN)
        assert found == kind
        mine = [line for line in of(lines, "switch" if kind == "switch" else "sample") if line["cpu"] == cpu]
        now = of(lines, "switch" if kind == "switch" else "sample")[index]
        assert abs(now["ns"] - time) == min(abs(line["ns"] - time) for line in mine)
    names = chromium.run("[...document.querySelectorAll('#labels .thread')].map(e => e.textContent)")
    chromium.key("Shift+ArrowDown")
    while chromium.run(CHOSEN)[0] != "switch":  # the first thread may have no record, but each has switches
        chromium.key("Shift+ArrowDown")
    row = next(i for i, name in enumerate(names) if chromium.run(SAID).startswith(name))
    times = {round(since * NS) for since, _, _ in states(lines, int(names[row].rsplit(":")[-1]))}
    before = of(lines, "switch")[chromium.run(CHOSEN)[1]]["ns"]
    for _ in range(3):
        chromium.key("Shift+ArrowRight")
        now = of(lines, "switch")[chromium.run(CHOSEN)[1]]["ns"]
        assert now in times and now > before and chromium.run(SAID).startswith(names[row])
        before = now
    chromium.key("Shift+ArrowUp", "Shift+ArrowUp", "Shift+ArrowUp", "Shift+ArrowUp", "Shift+ArrowUp")
    assert not chromium.complaints


def test_one_thread_alone(chromium, pages):
    path, lines = pages(PLAIN)
    n, sample = next((n, s) for n, s in enumerate(of(lines, "sample")) if "thread" in s)
    chromium.open(path, f"#record={n}")
    chromium.key("o")
    name = called(sample["thread"])
    assert chromium.run(ONLY) == [name] and chromium.run(SAID) == f"{name} alone."
    chromium.key("o")
    assert chromium.run(ONLY) == [] and chromium.run(SAID) == "All threads."


def test_to_the_threads_and_back(chromium, pages):
    chromium.open(pages(PLAIN)[0], "#summary")
    top = "document.getElementById('scroller').scrollTop"
    title = ("document.querySelector('#labels .title').getBoundingClientRect().top - "
             "document.getElementById('scroller').getBoundingClientRect().top")
    chromium.key("m")
    assert chromium.run(top) > 100 and chromium.run(title) == pytest.approx(0, abs=2)
    chromium.key("m")
    assert chromium.run(top) == 0


def test_a_screen_reader_hears_it(chromium, pages):
    """What was chosen, what is in sight, and that there is nothing of a kind."""
    path, lines = pages("small")
    chromium.open(path, "#record=3")
    sample = of(lines, "sample")[3]
    said = chromium.run(SAID)
    assert chromium.run(TITLE) in said and sample["function"] in said and called(sample["thread"]) in said
    chromium.key("ArrowUp")
    found = re.match(r"From (\S+) to (\S+) s\.$", chromium.run(SAID))
    assert [float(time) * 1e9 / NS for time in found.groups()] == pytest.approx(chromium.run(SEEN), rel=0.02, abs=1000)
    chromium.key("x")
    assert chromium.run(SAID) == "There is no drain of branches."
    assert chromium.run("document.getElementById('said').getAttribute('aria-live')") == "polite"
    named = chromium.run("""[...document.querySelectorAll("button, input, [tabindex='0']")].filter(e =>
        !(e.getAttribute("aria-label") || e.title || e.textContent.trim())).map(e => e.outerHTML)""")
    assert named == []


def test_focus_can_be_seen(chromium, pages):
    for where in ("record=3", "switch=8", "drain=2"):
        chromium.open(pages("small")[0], f"#{where}")
        for _ in range(9):
            chromium.key("Tab")
            assert chromium.run("""document.activeElement === document.body || (({ outlineStyle, outlineWidth }) =>
                outlineStyle !== "none" && parseFloat(outlineWidth) >= 2)(getComputedStyle(document.activeElement))""")


def test_keys_where_the_focus_is(chromium, pages):
    """On the edge of the panel arrows move it; other keys do what they do elsewhere. Behind the list of keys nothing
    happens."""
    chromium.open(pages("small")[0], "#record=3")
    height = "document.getElementById('panel').offsetHeight"
    chromium.run("document.getElementById('splitter').focus()")
    seen, before = chromium.run(SEEN), chromium.run(height)
    chromium.key("ArrowDown")
    assert chromium.run(height) == before - 30 and chromium.run(SEEN) == seen
    share = chromium.run("+document.getElementById('splitter').getAttribute('aria-valuenow')")
    assert share == pytest.approx(100 * (before - 30) / 800, abs=1)
    chromium.key("r")
    assert chromium.run(CHOSEN) == ["record", 4]
    chromium.key("?", "r")
    assert chromium.run(CHOSEN) == ["record", 4] and chromium.run("document.getElementById('keys').open")
    chromium.key("Escape")
    assert not chromium.run("document.getElementById('keys').open")


def test_all_keys_are_told(chromium, pages):
    """In the list of keys, which has room in a small window, and is in docs/how-to/export.md as far as that names
    keys."""
    chromium.open(pages("small")[0], "#summary")
    chromium.key("?")
    told = chromium.run("document.getElementById('keys').innerText")
    bound = chromium.run("KEYS.flatMap(k => k.keys)")
    assert len(bound) == len(set(bound))
    for key in bound:
        shown = {"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓", "Escape": "Esc",
                 "-": "−", "PageUp": "Page Up", "PageDown": "Page Down", "=": "+"}
        shown = shown.get(key.removeprefix("Shift+"), key)
        assert shown.removeprefix("Shift+") in told, key
    assert chromium.run("(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.getElementById('keys')"
                        ".getBoundingClientRect())")
    docs = (GOLDEN.parent.parent / "docs" / "how-to" / "export.md").read_text().split("## The page")[1]
    assert set(re.findall(r"`([a-zA-Z?/])`", docs)) <= set(bound)


@pytest.mark.parametrize("log", ["small", *map(cairn_boot.long, ["hw", "locks", "told"])])
def test_every_key(chromium, pages, log):
    """Without a complaint, whatever is chosen."""
    chromium.open(pages(log)[0], "#summary")
    keys = [key for key in chromium.run("KEYS.flatMap(k => k.keys)") if key not in ("?", "/")]
    chromium.key(*keys, *keys)
    for kind in ("switch", "lock", "event", "drain", "gap", "btsdrain"):
        go(chromium, f"{kind}=0")
        chromium.key("Shift+ArrowRight", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowUp", "Shift+ArrowLeft", "o")
    assert not chromium.complaints
