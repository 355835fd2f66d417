# SPDX-License-Identifier: MIT
"""Pages of architectural PEBS: registers and headers bit by bit, the buffer by what IA32_PEBS_BASE says."""

import json
import re

import pytest

from cairn_tool import GOLDEN, cairn, text_of
from html_page import MARKS, TITLE, go

pytestmark = MARKS

SECTION = "#parts section:nth-of-type(%d)"
ROWS = """[...document.querySelectorAll('%s tr[data-name]')].map(
    (row) => [row.dataset.name, row.dataset.value, row.querySelector(".means").innerText])""" % SECTION
TEXT = f"document.querySelector('{SECTION}').innerText"


@pytest.mark.parametrize("log", ["arch", "fragments"])
def test_every_word_of_a_record(chromium, pages, log):
    """In the order of memory, as JSON has them; behind a header the bits of it that are set."""
    path, lines = pages(log)
    chromium.open(path, "#summary")
    samples = [line for line in lines if line["type"] == "sample"]
    for n in (0, len(samples) - 1):
        go(chromium, f"record={n}")
        rows = chromium.run(ROWS % 2)
        record = samples[n]["record"]
        words = [(name, value) for name, value, _ in rows if len(value) == 16]
        assert words == [(name.split("@")[0], f"{int(value, 16):016x}") for name, value in record.items()]
        headers = [int(value, 16) for name, value in record.items() if name.startswith("header@")]
        bits = [(name, value) for name, value, _ in rows if len(value) != 16]
        shown = [(name, int(value, 0)) for name, value in bits]
        fields = {"BASIC": (63, 1), "AUX": (62, 1), "GPR": (61, 1), "XMM": (49, 1), "LBR": (40, 2), "FIXED": (37, 1),
                  "GP": (36, 1), "CONT": (31, 1), "MODE64": (30, 1), "size": (0, 16)}
        assert shown == [(name, header >> low & (1 << count) - 1) for header in headers
                         for name, (low, count) in fields.items() if header >> low & (1 << count) - 1]


def test_registers(chromium, pages):
    """Those that `cairn ds` has, bit by bit; the buffer is drawn by them."""
    path, lines = pages("arch")
    chromium.open(path, "#record=0")
    sample = next(line for line in lines if line["type"] == "sample")
    shown = text_of(cairn("ds", "--cpu", sample["cpu"], "--epoch", sample["epoch"], "--records", 0,
                          GOLDEN / "arch.log"))
    rows = chromium.run(ROWS % 3)
    registers = {name: value for name, value, _ in rows if name.startswith("IA32_")}
    pattern = r"^ *[0-9a-f]+ (IA32_\w+(?:\.\.\d+_CFG_C)?) +([0-9a-f]{16})  [dp]"
    assert registers == dict(re.findall(pattern, shown, re.M))
    assert len(registers) == 7
    bits = [name for name, value, _ in rows if len(value) != 16]
    assert bits[:5] == ["address", "THRESH", "EN", "WR", "EN"] and bits.count("ALLOW") == 3 and "RELOAD" in bits
    text = chromium.run(TEXT % 3)
    assert "REGISTERS OF ARCHITECTURAL PEBS" in text.upper()
    assert "The Debug Store holds branch records (BTS) only" in text
    assert "IA32_PEBS_INDEX pointed 272 bytes behind the base" in text
    slots = chromium.run("document.querySelectorAll('.slot').length")
    held = chromium.run("document.querySelectorAll('.slot.held').length")
    own = chromium.run("[...document.querySelectorAll('.slot')].findIndex((e) => e.classList.contains('own'))")
    records = [line for line in lines if line["type"] == "sample" and line["cpu"] == sample["cpu"] and
               line["epoch"] == sample["epoch"]]
    assert slots == 4096 // 272 and held == len(records) and own == 0


def test_no_debug_store_area(chromium, pages):
    """Nothing of a DS area is said where there is none."""
    path, _ = pages("fragments")
    chromium.open(path, "#drain=2")
    assert re.match(r"Drain of epoch \d+, CPU \d", chromium.run(TITLE))
    text = chromium.run("document.querySelector('#parts').innerText")
    assert "PebsBufferBase" not in text and "DS AREA" not in text.upper()
    assert not chromium.complaints
    meta = json.loads(re.search(r'id="meta">(.*?)</script>', path.read_text(encoding="utf-8"), re.S)[1])
    assert meta["arch"] == 15
    header = chromium.run("document.querySelector('header').innerText")
    assert "PEBS emulated" in header and "Debug Store" not in header
