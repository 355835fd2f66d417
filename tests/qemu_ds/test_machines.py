# SPDX-License-Identifier: MIT
"""Every processor the plugin can be, as a machine: what docs/reference/hardware.md and presets/ show of it is what
comes out."""

import re

import pytest

import cairn_boot as cb
import machines
from cairn_log import checked


def rows_of(first, text):
    """The rows of the table whose head begins so."""
    lines = re.search(rf"^\| {first} \|.*\n(?:\|.*\n)+", text, re.M)[0].splitlines()
    return [line.strip("| ").split(" | ") for line in lines]


PRESETS = rows_of("preset", machines.PAGE.read_text(encoding="utf-8"))
ANSWERS = rows_of("question", (machines.SHOWN / "answers.md").read_text(encoding="utf-8"))


def test_all_are_shown():
    assert [row[0] for row in PRESETS[2:]] == machines.NAMES == ANSWERS[0][1:]
    assert PRESETS[0] == list(machines.HEAD)


@pytest.mark.parametrize("name", [name if name == machines.WHOLE else cb.long(name) for name in machines.NAMES])
def test_machine(tmp_path, name):
    """Its row is what `cairn info` says of it. Of one processor both outputs are in a file. That of `cairn info` is the
    same line by line; the numbers of `cairn profile` differ from run to run, what most records are of does not."""
    log = machines.boot(tmp_path, name)
    detection, profile = machines.detection(log), machines.profile(log)
    assert list(machines.row(name, detection)) == PRESETS[2 + machines.NAMES.index(name)]
    named = machines.functions(profile)
    assert named[0] == "kpart_compute" and len(named) == machines.ROWS
    if name == machines.WHOLE:
        text = (machines.SHOWN / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")
        told, _, wanted = text.rpartition("\n\n")
        assert told == detection and machines.functions(wanted)[0] == named[0]
        assert [re.sub(r"^ .*", "", line) for line in wanted.splitlines()] == [
            re.sub(r"^ .*", "", line) for line in profile.splitlines()]


@pytest.mark.long
@pytest.mark.parametrize("name", machines.NAMES)
def test_probe(tmp_path, name):
    """Its column of the table of what `cairn probe` finds."""
    column = ANSWERS[0].index(name)
    assert {row[0].strip("`"): row[column] for row in ANSWERS[2:]} == machines.answers(
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
