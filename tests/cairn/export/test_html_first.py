# SPDX-License-Identifier: MIT
"""The first look at a page: a record and its bytes, the summary folded; no text too small or too faint to be read."""

import json

import pytest

import looks
from html_page import FACTS, LIT, MARKS, NS, SAMPLES, SEEN, TITLE, of

pytestmark = MARKS
FOLDED = "document.getElementById('summary')"


def test_a_record_is_chosen(chromium, pages):
    """One from the middle, with its thread and function, in the time in which its buffer filled up. Its EventingIP and
    the bytes of that are lit. A click, or Esc, leads to the summary."""
    path, lines = pages(SAMPLES / "plain.log")
    chromium.open(path)
    facts, panel = chromium.run(FACTS), chromium.run("({...document.getElementById('panel').dataset})")
    samples = of(lines, "sample")
    sample = samples[int(panel["index"])]
    assert panel["kind"] == "record" and abs(int(panel["index"]) - len(samples) / 2) < 2
    assert facts["ip"] == f"0x{int(sample['ip'], 16):016x}" and facts["function"] == sample["function"]
    drains = [d["ns"] / NS for d in of(lines, "drain") if d["cpu"] == sample["cpu"]]
    before, after = (max(d for d in drains if d < sample["ns"] / NS), min(d for d in drains if d >= sample["ns"] / NS))
    start, end = chromium.run(SEEN)
    assert start < before < after < end and end - start < 1.5 * (after - before)
    assert chromium.run(LIT) == list(range(8, 16))
    assert chromium.run(f"{FOLDED}.textContent") == "Summary: 439 switches · 65 PEBS records · nothing missing"
    for leave in (lambda: chromium.run(f"{FOLDED}.click()"), lambda: chromium.key("Escape")):
        chromium.open(path)
        leave()
        assert chromium.run(TITLE) == "Summary" and chromium.run(f"{FOLDED}.hidden")


def test_a_link_comes_first(chromium, pages):
    """To a thing, to a time, or to the summary."""
    path, _ = pages("small")
    for link, title in (("#record=3", "PEBS record "), ("#summary", "Summary"), ("#from=0.001&to=0.002", "Summary")):
        chromium.open(path, link)
        assert chromium.run(TITLE).startswith(title)


@pytest.mark.parametrize("log, title, words", [
    ("branches", "Branches of ", "1322 branches · some records lost"),
    ("damaged", "PEBS record ", "missing: 3 gaps, PEBS records at 4 places, 4 frames of the log")])
def test_what_was_lost_is_told(chromium, pages, log, title, words):
    """However much is folded; and without PEBS records there are branches."""
    chromium.open(pages(SAMPLES / f"{log}.log")[0])
    assert chromium.run(TITLE).startswith(title) and words in chromium.run(f"{FOLDED}.textContent")
    assert chromium.run(f"{FOLDED}.classList.contains('lost')")


# What the canvas gets, with the size that it is drawn in; theme and width are set before.
CANVAS = """(() => {
    const sizes = [], real = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (...all) {
        sizes.push(parseFloat(this.font));
        real.apply(this, all);
    };
    dispatchEvent(new Event("resize"));
    return new Promise((done) => setTimeout(() => {
        CanvasRenderingContext2D.prototype.fillText = real;
        done(sizes);
    }, 100));
})()"""


@pytest.mark.parametrize("theme", looks.THEMES)
@pytest.mark.parametrize("size", looks.SIZES, ids=str)
def test_text_can_be_read(chromium, pages, size, theme):
    """12 pixels and 4.5:1 at least, in what the style sheet lays out and on the canvas; nothing lies over another."""
    path, _ = pages(SAMPLES / "plain.log")
    chromium.size(*size)
    chromium.prefers(theme)
    try:
        for place in ("", "#summary", "#switch=100"):
            chromium.open(path, place)
            assert not looks.faults(chromium, "header > *, #overview, #axis, #scroller, #panel, #legend"), place
            sizes = chromium.run(CANVAS)
            assert sizes and min(sizes) >= 12
    finally:
        chromium.size(1280, 800)
        chromium.prefers("light")


def test_text_on_threads_can_be_read(chromium, pages):
    """The canvas has dark text on each colour of a thread."""
    chromium.open(pages(SAMPLES / "plain.log")[0])
    colours = json.loads(chromium.run("JSON.stringify(meta.palette)"))
    ink = looks.luminance("#111111")  # --onColour
    for colour in [*colours["light"], *colours["dark"]]:
        assert (looks.luminance(colour) + 0.05) / (ink + 0.05) >= 4.5, colour
