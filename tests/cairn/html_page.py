# SPDX-License-Identifier: MIT
"""The pages of `cairn export --to html` for their tests: where in a page things are, and what JSON says of the log."""

import pytest

import browser
from cairn_tool import GOLDEN
from cairn_tool import LOGS as LOGS_OF_ALL

LOGS = [*LOGS_OF_ALL, "bts", "grab", "life", "live", "locks", "ring", "sessions", "told"]
SAMPLES = GOLDEN.parent.parent / "samples"
MARKS = [pytest.mark.skipif(not browser.found(), reason="no Chromium: run 'make deps'"),
         pytest.mark.xdist_group("browser")]  # one browser for all of them
FACTS = """Object.fromEntries([...document.querySelectorAll("#parts [data-fact]")].map(e =>
           [e.dataset.fact, e.textContent]))"""
FIELDS = """Object.fromEntries([...document.querySelectorAll("#parts section:nth-of-type(2) [data-field]")].map(e =>
            [e.dataset.name, [e.dataset.value, e.querySelector(".means").textContent]]))"""
LIT = """[...document.querySelectorAll("#parts section:nth-of-type(2) .byte.lit")].map(e => +e.dataset.at)"""
TITLE = "document.getElementById('panel-title').textContent"
SEEN = "[+document.documentElement.dataset.from, +document.documentElement.dataset.to]"
NS = 100  # of a unit of the clock


def log_path(log):
    return log if getattr(log, "stem", None) else GOLDEN / f"{log}.log"


def of(lines, kind):
    return [line for line in lines if line["type"] == kind]


def go(it, where):
    it.run(f"location.hash = '#{where}'")
    it.settle()


def each(it, kind, count):
    """Of each thing of a kind: title, facts and fields of the panel, as a link to it shows them."""
    return it.run(f"""Array.from({{ length: {count} }}, (_, i) => {{
        const newURL = location.href.split("#")[0] + "#{kind}=" + i;
        dispatchEvent(new HashChangeEvent("hashchange", {{ newURL }}));
        return [{TITLE}, {FACTS}, {FIELDS}];
    }})""")


def called(thread):
    return "idle" if thread["tid"] == 0 else f"{thread.get('name', 'thread')}:{thread['tid']}"


def place(it, label, number, units):
    """Where on the screen a time of the so-manieth row of that kind is."""
    return it.run(f"""(() => {{
        const row = document.querySelectorAll("#labels > {label}")[{number}].getBoundingClientRect();
        const lanes = document.getElementById("lanes").getBoundingClientRect(), [from, to] = {SEEN};
        return [lanes.left + ({units} - from) / (to - from) * lanes.width, row.top + row.height / 2];
    }})()""")


def tip(it, x, y):
    it.mouse("mouseMoved", x, y)
    return it.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")


def states(lines, tid):
    """What a thread was about, one after another: (from, to, words), where the switches tell."""
    now = None
    for line in of(lines, "switch"):
        old, new = line["old"]["tid"] == tid, line.get("new", {}).get("tid") == tid
        if old or new:
            if now and now[1]:
                yield now[0], line["ns"] / NS, now[1]
            now = (line["ns"] / NS, "Running" if new else line.get("reason", line.get("state")))
