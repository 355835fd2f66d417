# SPDX-License-Identifier: MIT
"""The branches of a page: those of the log's own bytes, with the names of its symbols."""

import re
import struct
from collections import Counter

import pytest

import frames
from cairn_tool import GOLDEN, cairn, events, text_of
from html_page import FACTS, MARKS, SAMPLES, SEEN, TITLE, go, place, tip

pytestmark = MARKS
HOOK_BTS, EPOCH, RECORDS = 0xCA02, 1, 2
# of each drain: title, facts; of each of its branches: where from and to in words, and bytes
ALL = """Array.from({ length: COUNT }, (_, i) => {
    const newURL = location.href.split("#")[0] + "#btsdrain=" + i;
    dispatchEvent(new HashChangeEvent("hashchange", { newURL }));
    for (const more of document.querySelectorAll("#parts div > .link"))
        more.click();
    return [TITLE, FACTS, [...document.querySelectorAll(".branches tr")].map(row => {
        row.querySelector("button").click();
        return [row.cells[1].innerText, row.cells[3].innerText,
                [...document.querySelectorAll("#parts section:nth-of-type(3) .byte")].map(e => e.innerText).join("")];
    })];
})""".replace("TITLE", TITLE).replace("FACTS", FACTS)


def raw(parts):
    """(epoch, bytes of a branch): how many of each, as they lie in the log."""
    found = Counter()
    for i, at, hook, size in events(parts):
        payload = parts[i][1][at + 16:at + size]
        if hook == HOOK_BTS and struct.unpack_from("<H", payload)[0] == RECORDS:
            epoch = struct.unpack_from("<I", payload, 4)[0]
            found.update((epoch, payload[k:k + 24].hex()) for k in range(0x18, len(payload), 24))
    return found


def named(symbols, address):
    return next((f"{name}+{address - start:#x}" for start, size, name in symbols if start <= address < start + size),
                f"{address:#018x}")


@pytest.mark.parametrize("log", ["bts", "ring"])
def test_every_branch(chromium, pages, log):
    path, _ = pages(log)
    chromium.open(path, "#summary")
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    symbols = [(int(start, 16), int(size, 16), name) for start, size, name in
               (line.split() for s, p in parts if s == "S" for line in p.decode().splitlines())]
    facts = chromium.run(FACTS)["branches"]
    stat = text_of(cairn("stat", GOLDEN / f"{log}.log"))
    assert facts == re.sub(" +", " ", re.search(r"branch records +(\d+ +in \d+ drains?)", stat)[1])
    drains = chromium.run(ALL.replace("COUNT", facts.split()[2]))
    found, shown = Counter(), text_of(cairn("bts", GOLDEN / f"{log}.log"))
    for title, about, branches in drains:
        thread, epoch, cpu = re.fullmatch(r"Branches of (\S+), drain (\d+), CPU (\d)", title).groups()
        line = rf"to {about['drained']} \({about['reason']}\), CPU {cpu}, epoch {epoch}: {len(branches)} branch"
        assert not branches or re.search(line, shown) and f"\n{thread}: " in shown
        assert about["branches"] == str(len(branches))
        for since, until, data in branches:
            address = struct.unpack("<QQ", bytes.fromhex(data)[:16])
            assert [since, until] == [named(symbols, each) for each in address]
            found[int(epoch), data] += 1
    assert found == raw(parts) and len(drains) > 5
    assert not chromium.complaints


def test_click_a_drain(chromium, pages):
    chromium.open(pages(SAMPLES / "branches.log")[0], "#summary")
    assert chromium.run(FACTS)["branches"] == "1322 in 92 drains"
    assert "branch records" in chromium.run("document.querySelector('.wrong').textContent")
    go(chromium, "from=0.088&to=0.107")
    middle = sum(chromium.run(SEEN)) / 2
    assert tip(chromium, *place(chromium, ".sub", 0, middle)).startswith("160 branches of computer/0:36, up to here")
    chromium.click(*place(chromium, ".sub", 0, middle))
    assert chromium.run(TITLE).startswith("Branches of computer/0:36, drain ")
    before = chromium.run(TITLE)
    chromium.key("x")
    assert chromium.run(TITLE).startswith("Branches of ") and chromium.run(TITLE) != before
