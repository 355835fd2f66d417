# SPDX-License-Identifier: MIT
"""Cairn's programs of which every instruction is known beforehand, counted by the plugin: numbers on paper."""

import re

import pytest

import cairn_boot as cb
from cairn_log import checked

PROGRAMS = 17
ARCHITECTURAL = ("pantherlake", "clearwaterforest")
PASSED = re.compile(r"PASS: known: CPU (\d+): (\w+): .*; counts of (\d+) events verified, (\d+) records ")


@pytest.mark.parametrize("cpus, preset", [
    (1, "icelake"),
    *[cb.long(2, preset)
      for preset in ("penryn", "nehalem", "sandybridge", "haswell", "skylake", "icelake", "sapphirerapids", "arrowlake",
                     "lunarlake", "pantherlake", "clearwaterforest")]])
def test_known(tmp_path, cpus, preset):
    """Through CPUID and MSRs alone the kernel finds a Debug Store and has it count all programs, on each CPU."""
    result = cb.boot(tmp_path / "log", "--smp", cpus, "ds=hw", "--qemu-ds", f"preset={preset},exact=flags,stats=on",
                     "workload=known", f"switches={20000 * cpus}", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    what = "architectural PEBS" if preset in ARCHITECTURAL else "a Debug Store with PEBS"
    assert result.lines(f"backend  hw: asked for with ds=hw; the processor has {what}")
    assert not result.lines("halted"), result.output  # QEMU's end has come first
    checked(result.log)
    lines = [line for line in result.output.splitlines() if re.match(r"(PASS|FAIL|SKIP): known: ", line)]
    good = [PASSED.match(line) for line in lines]
    assert all(good), result.output
    assert all(len({match[2] for match in good if int(match[1]) == cpu}) == PROGRAMS for cpu in range(cpus))
    events = {"penryn": 3, "nehalem": 4, "clearwaterforest": 6}  # no cycles; no far branches
    assert {int(match[3]) for match in good} == {events.get(preset, 7)}
    assert all(int(match[4]) for match in good) == (preset not in ("nehalem", "haswell"))  # they refuse short periods
