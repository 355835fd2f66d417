# SPDX-License-Identifier: MIT
"""Every processor the plugin can be, as a machine: what docs/how-to/hardware.md shows of it is what comes out."""

import re

import pytest

import cairn_boot as cb
import machines
from cairn_log import checked


def shown(name):
    """The two blocks of the page: detection, profile."""
    text = machines.PAGE.read_text(encoding="utf-8")
    return re.search(rf"^### {name}\n```\n(.*?)\n```\n```\n(.*?)\n```\n", text, re.M | re.S).groups()


def test_the_page_has_them_all():
    text = machines.PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^### (\w+)$", text, re.M) == machines.NAMES
    assert all(" ".join(("./run-qemu.sh", *options)) in text for options in (machines.OPTIONS, machines.PROBE))


@pytest.mark.parametrize("name", [name if name == "skylake" else cb.long(name) for name in machines.NAMES])
def test_machine(tmp_path, name):
    """Line by line what `cairn info` says of it; the numbers of `cairn profile` differ from run to run, what most
    records are of does not."""
    detection, profile = shown(name)
    log = machines.boot(tmp_path, name)
    assert machines.detection(log) == detection
    real = machines.cairn("profile", log)
    assert [line for line in profile.splitlines() if line.startswith("#")] == \
        [line for line in real.splitlines() if line.startswith("#")][:profile.count("#")]
    named = machines.functions(profile)
    assert len(named) == machines.ROWS and set(named) <= set(machines.functions(real))
    assert named[0] == machines.functions(real)[0]


@pytest.mark.long
@pytest.mark.parametrize("name", machines.NAMES)
def test_probe(tmp_path, name):
    """Its column of the table of what `cairn probe` finds."""
    text = machines.PAGE.read_text(encoding="utf-8")
    lines = re.search(r"^\| question \|(?:.*\n)+?(?=\n)", text, re.M)[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines]
    column = rows[0].index(name)
    assert {row[0].strip("`"): row[column] for row in rows[2:]} == machines.answers(
        machines.boot(tmp_path, name, machines.PROBE))


@pytest.mark.long
def test_two_kinds_of_cores(tmp_path):
    """The efficient ones have fewer counters, so their records, with counters in them, are shorter: each CPU's are
    read, and checked, by its own."""
    result = cb.boot(tmp_path / "log", "--smp", 3, "ds=hw", "--qemu-ds", "preset=lunarlake,efficient=1,exact=flags",
                     "workload=mix", "switches=1000", "pebs.groups=gpr,counters", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    checked(result.log)
    info = machines.cairn("info", result.log)
    assert re.search(r"^  CPU 1\.\.2 +format 6, \d+ bytes, .* core type 20H$", info, re.M)
    assert re.findall(r"CPUID\.1AH:EAX core type\[31:24\] +(0x\d+)", info) == ["0x40", "0x20"]
    for cpu in "012":
        assert machines.functions(machines.cairn("profile", "--cpu", cpu, result.log)), cpu
