# SPDX-License-Identifier: MIT
"""The table of docs/learn/evening.md: which bits a stock Linux sets for `perf record -e cycles`, `:p`, `:pp` and
`:ppp`. A program reads the registers while perf samples it."""

import lzma
import re

import guest
import pytest

NAMES = ["cycles", "cycles:p", "cycles:pp", "cycles:ppp"]
NMI, INT, OS_USR, EN = 8, 1 << 20, 3, 1 << 22
ROW = re.compile(r"^\| `-e (cycles:?p*)` \| (.*?) \| (.*?) \|", re.M)
PAGE = guest.ROOT / "docs/learn/evening.md"


def shown():
    """{event: (the cell of Ice Lake, that of Skylake)}"""
    return {event: cells for event, *cells in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def values(cell):
    """What a cell says of registers: {name: number}; a bit is a number with that bit alone."""
    found = {name: int(value, 16) for name, value in re.findall(r"`(\w+)` = ([0-9A-F]+)H?", cell)}
    return found | {name: 1 << int(bit) for name, bit in re.findall(r"`(\w+)` bit (\d+)", cell)}


BOOTS = [pytest.mark.long, pytest.mark.xdist_group("bridge")]  # two boots


@pytest.fixture(scope="module", params=[pytest.param(name, marks=BOOTS) for name in ("icelake", "skylake")])
def booted(request, tmp_path_factory):
    """(column, {event: {register: value}})"""
    [module] = guest.DEBIAN.glob("usr/lib/modules/6.12*/kernel/arch/x86/kernel/msr.ko.xz")
    folder = tmp_path_factory.mktemp(request.param)
    driver = folder / "msr.ko"
    driver.write_bytes(lzma.decompress(module.read_bytes()))
    run = guest.run(folder, ["insmod /root/msr.ko", *(f"perf record -q -c 100003 -e {name} linux-msrs"
                                                      for name in NAMES)], preset=request.param,
                    append="nmi_watchdog=0",
                    files={"root/msr.ko": driver, "bin/linux-msrs": guest.BUILD / "linux-msrs"})
    assert not any(said.status for said in run.said), run.said
    read = [dict(re.findall(r"^(\w+)=([0-9A-F]+)$", said.output, re.M)) for said in run.said[1:]]
    assert all(len(each) >= 4 for each in read)
    return (["icelake", "skylake"].index(request.param),
            {name: {key: int(value, 16) for key, value in each.items()} for name, each in zip(NAMES, read)})


def test_the_page_has_them():
    cells = shown()
    assert list(cells) == NAMES and len(values(cells["cycles:p"][0])) == 2 and values(cells["cycles:ppp"][1])


def test_values(booted):
    column, read = booted
    cells = shown()
    for name in NAMES:
        for register, value in values(cells[name][column]).items():
            assert read[name][register] == value, (name, register)


def test_same_rows(booted):
    """Where a cell says "as `:p`" or "the same"."""
    column, read = booted
    if column:
        assert read["cycles:pp"] == read["cycles:p"]
        assert read["cycles"]["IA32_FIXED_CTR_CTRL"] == values(shown()["cycles"][0])["IA32_FIXED_CTR_CTRL"]
    else:
        assert read["cycles:ppp"] == read["cycles:pp"]


def test_interrupt_bits(booted):
    """Without `p` the counter interrupts at its overflow and there is no PEBS; with it, no counter in PEBS_ENABLE
    interrupts."""
    column, read = booted
    assert read["cycles"]["IA32_PEBS_ENABLE"] == 0 and read["cycles"]["IA32_FIXED_CTR_CTRL"] >> 4 == NMI | OS_USR
    for name in NAMES[1:]:
        enabled = read[name]["IA32_PEBS_ENABLE"]
        if column:
            select = read[name][f"IA32_PERFEVTSEL{enabled.bit_length() - 1}"]
            assert select & EN and not select & INT
        else:
            assert enabled == 1 << 33 and not read[name]["IA32_FIXED_CTR_CTRL"] & NMI << 4
