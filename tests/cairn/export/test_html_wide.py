# SPDX-License-Identifier: MIT
"""The page of a log with many CPUs and threads, and in narrow windows: nothing is hidden, nothing overlaps."""

import struct
import subprocess

import pytest

import cairn_boot
import etl
from cairn_tool import GOLDEN
from html_page import FACTS, MARKS, NS, SAMPLES, each, go, of, place, tip

pytestmark = MARKS
WIDE = subprocess.run([cairn_boot.BUILD / "make_golden", "wide"], capture_output=True, check=True).stdout
CPUS, THREADS = 64, 400

LABELS = """[...document.querySelectorAll("#labels > *")].map(e => {
    const { top, bottom } = e.getBoundingClientRect();
    return [e.textContent, top, bottom, e.scrollWidth <= e.clientWidth, getComputedStyle(e).display];
})"""


def test_labels_of_many_threads(chromium, pages):
    """Whole, or with an ellipsis: a TID that is cut off would be another's; and none upon another."""
    chromium.open(pages("wide", WIDE)[0], "#summary")
    labels = chromium.run(LABELS)
    assert len([label for label in labels if label[0].startswith(("sampled", "worker", "server"))]) == THREADS
    assert all(whole for _, _, _, whole, _ in labels)
    assert all(below[1] >= above[2] for above, below in zip(labels, labels[1:]))
    chromium.size(360, 800)
    chromium.settle()
    cut = [display for *_, whole, display in chromium.run(LABELS) if not whole]
    assert cut and set(cut) <= {"block", "inline-block"}  # text-overflow is not for flex
    chromium.size(1280, 800)


def test_overview_of_many_cpus(chromium, pages):
    """Rows that are thinner than a pixel would show nothing: some CPUs share one."""
    chromium.open(pages("wide", WIDE)[0], "#summary")
    rows = chromium.run("""(() => {
        const canvas = document.getElementById("overview"), { width, height } = canvas;
        const { data } = canvas.getContext("2d").getImageData(width / 2, 0, 1, height);
        return Array.from({ length: height }, (_, y) => [...data.slice(4 * y, 4 * y + 3)].join());
    })()""")
    bands = len(rows) // 4
    apart = [y for y in range(1, len(rows) - 1) if rows[y] != rows[y - 1]]
    assert len(apart) >= bands and len(set(rows)) > 2


def test_cpus_above_255(chromium, pages):
    """As files of Windows may have them."""
    data = bytearray((GOLDEN / "windows-19041-64.etl").read_bytes())
    for buffer in etl.read(bytes(data)):
        if buffer.cpu == 1:
            struct.pack_into("<H", data, buffer.at + 0x28, 300)
    path, lines = pages("cpu-300", bytes(data))
    chromium.open(path, "#summary")
    switches = of(lines, "switch")
    assert {switch["cpu"] for switch in switches} == {0, 300}
    for switch, (_, facts, _) in zip(switches, each(chromium, "switch", len(switches))):
        assert facts["time"].endswith(f" s, CPU {switch['cpu']}")


ROWS = "Object.fromEntries(['cpu', 'sub', 'thread'].map(k => [k, document.querySelectorAll(`#labels .${k}`).length]))"
OPEN = "[...document.querySelectorAll('#labels .cpu')].filter(e => e.ariaExpanded === 'true').map(e => e.textContent)"


def test_many_cpus_have_a_line_each(chromium, pages):
    """Until one, or all, are asked for; a few CPUs have all of their lanes at once."""
    chromium.open(pages("wide", WIDE)[0], "#summary")
    assert chromium.run(ROWS) == {"cpu": CPUS, "sub": 0, "thread": THREADS}
    inside = chromium.run("[...document.querySelectorAll('#labels .cpu')].filter(e => e.getBoundingClientRect().bottom"
                          " < document.getElementById('splitter').getBoundingClientRect().top).length")
    assert inside >= 12
    chromium.run("document.querySelectorAll('#labels .cpu')[2].click()")
    assert chromium.run(OPEN) == ["CPU 2"] and chromium.run(ROWS)["sub"] == 1
    chromium.key("l")
    assert chromium.run(ROWS)["sub"] == CPUS and chromium.run("document.getElementById('fold').ariaPressed") == "false"
    chromium.run("document.getElementById('fold').click()")
    assert chromium.run(OPEN) == []
    chromium.open(pages(SAMPLES / "plain.log")[0], "#summary")
    assert chromium.run(OPEN) == ["CPU 0", "CPU 1"]


def test_what_is_chosen_stays_in_sight(chromium, pages):
    """Wherever its CPU is, folded or not; a drain, which has no place in one line, opens its CPU."""
    path, lines = pages("wide", WIDE)
    last = [i for i, line in enumerate(of(lines, "sample")) if line["cpu"] == CPUS - 2][-1]
    chromium.open(path, f"#record={last}")
    seen = """(name => {
        const row = [...document.querySelectorAll("#labels .cpu")].find(e => e.textContent === name)
            .getBoundingClientRect(), { top, bottom } = document.getElementById("scroller").getBoundingClientRect();
        return row.top >= top - 1 && row.bottom <= bottom + 1;
    })"""
    name = f"CPU {CPUS - 2}"
    assert chromium.run(f"{seen}('{name}')")
    chromium.key("u")
    assert chromium.run(OPEN) == [name]
    chromium.key("l", "l")
    assert chromium.run(OPEN) == [] and chromium.run(f"{seen}('{name}')")
    drain = next(i for i, line in enumerate(of(lines, "drain")) if line["cpu"] == 7)
    go(chromium, f"drain={drain}")
    assert chromium.run(OPEN) == ["CPU 7"]
    chromium.key("Shift+ArrowDown")
    assert chromium.run("document.getElementById('panel-title').textContent").endswith("CPU 8")
    assert not chromium.complaints


def test_a_line_has_records_and_gaps(chromium, pages):
    """A folded CPU's dots can be pointed at and clicked, and what is missing of its records is told."""
    path, lines = pages(SAMPLES / "damaged.log")
    chromium.open(path, "#summary")
    chromium.key("l")
    sample = next(s for s in of(lines, "sample") if s["cpu"] == 1 and s["ns"] > 1.3e9)
    x, y = place(chromium, ".cpu", 1, sample["ns"] / NS)
    assert tip(chromium, x, y).count("PEBS record:") == 0
    assert f"PEBS record: {sample['function']}" in tip(chromium, x, y + 7)
    chromium.click(x, y + 7)
    assert chromium.run(FACTS)["ip"] == f"0x{int(sample['ip'], 16):016x}"
    x, y = place(chromium, ".cpu", 1, 0.9e9 / NS)
    assert "missing: 1232 bytes of PEBS records" in tip(chromium, x, y + 7)
    assert "missing" not in tip(chromium, x, y)


@pytest.mark.parametrize("width, height", [(480, 700), (700, 500)])
@pytest.mark.parametrize("what", ["", "record=3", "switch=50", "drain=1", "gap=0"])
def test_narrow_windows(chromium, pages, width, height, what):
    """Buttons are in the window, and nothing has to be scrolled sideways to be read."""
    chromium.size(width, height)
    try:
        chromium.open(pages(SAMPLES / "damaged.log")[0], "#summary")
        go(chromium, what)
        over = chromium.run("""[...document.querySelectorAll("header > *:not([hidden]), header button, #words")]
            .filter(e => e.getBoundingClientRect().right > innerWidth || e.getBoundingClientRect().left < 0)
            .map(e => e.id)""")
        assert over == []
        assert chromium.run("document.documentElement.scrollWidth") <= width
        assert chromium.run("(e => e.scrollWidth - e.clientWidth)(document.getElementById('panel'))") <= 0
        assert chromium.run("document.getElementById('scroller').clientHeight") >= 60
    finally:
        chromium.size(1280, 800)
