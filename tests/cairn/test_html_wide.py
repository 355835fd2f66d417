# SPDX-License-Identifier: MIT
"""The page of a log with many CPUs and threads, and in narrow windows: nothing is hidden, nothing overlaps."""

import subprocess

import pytest

import cairn_boot
from html_page import MARKS, SAMPLES, go

pytestmark = MARKS
WIDE = subprocess.run([cairn_boot.BUILD / "make_golden", "wide"], capture_output=True, check=True).stdout
CPUS, THREADS = 64, 400

LABELS = """[...document.querySelectorAll("#labels > *")].map(e => {
    const { top, bottom } = e.getBoundingClientRect();
    return [e.textContent, top, bottom, e.scrollWidth <= e.clientWidth, getComputedStyle(e).display];
})"""


def test_labels_of_many_threads(chromium, pages):
    """Whole, or with an ellipsis: a TID that is cut off would be another's; and none upon another."""
    chromium.open(pages("wide", WIDE)[0])
    labels = chromium.run(LABELS)
    assert len([label for label in labels if label[0].startswith(("sampled", "worker", "server"))]) == THREADS
    assert all(whole for _, _, _, whole, _ in labels)
    assert all(below[1] >= above[2] for above, below in zip(labels, labels[1:]))
    chromium.size(420, 800)
    chromium.settle()
    cut = [display for *_, whole, display in chromium.run(LABELS) if not whole]
    assert cut and set(cut) <= {"block", "inline-block"}  # text-overflow is not for flex
    chromium.size(1280, 800)


def test_overview_of_many_cpus(chromium, pages):
    """Rows that are thinner than a pixel would show nothing: some CPUs share one."""
    chromium.open(pages("wide", WIDE)[0])
    rows = chromium.run("""(() => {
        const canvas = document.getElementById("overview"), { width, height } = canvas;
        const { data } = canvas.getContext("2d").getImageData(width / 2, 0, 1, height);
        return Array.from({ length: height }, (_, y) => [...data.slice(4 * y, 4 * y + 3)].join());
    })()""")
    bands = len(rows) // 4
    apart = [y for y in range(1, len(rows) - 1) if rows[y] != rows[y - 1]]
    assert len(apart) >= bands and len(set(rows)) > 2


@pytest.mark.parametrize("width, height", [(480, 700), (700, 500)])
@pytest.mark.parametrize("what", ["", "record=3", "switch=50", "drain=1", "gap=0"])
def test_narrow_windows(chromium, pages, width, height, what):
    """Buttons are in the window, and nothing has to be scrolled sideways to be read."""
    chromium.size(width, height)
    try:
        chromium.open(pages(SAMPLES / "damaged.log")[0])
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
