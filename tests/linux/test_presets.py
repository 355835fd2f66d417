# SPDX-License-Identifier: MIT
"""Debian's Linux takes each preset for the processor that it is: it warns of nothing, counts what there is to count,
and samples by PEBS."""

import re

import checks
import guest
import known
import pytest
from cairn_presets import PRESETS

WORDS = 5
KNOWN = f"known $(seq {WORDS - 1})"
COMMANDS = [
    checks.QUIET,
    f"perf stat -x, -e instructions:u,branches:u {KNOWN}",
    f"perf record -q -e instructions:upp -c 10007 {KNOWN} && perf script -F ip,period",
    f"perf record -q -e cycles:upp -c 10007 {KNOWN} && perf script -F ip,period",
]
WITHOUT_PEBS = [COMMANDS[0], COMMANDS[1], COMMANDS[2].replace(":upp", ":u"), COMMANDS[2]]


def boot(folder, commands, preset, kernel):
    """What the commands behind those that count said; the program on paper."""
    program = known.assemble(folder)
    paper = known.Known(program, WORDS)
    booted = guest.run(folder, commands, preset=preset, kernel=kernel, append="pti=off nmi_watchdog=0",
                       files={"bin/known": program})
    assert checks.warnings(booted.dmesg) == []
    checks.tsc_rates(booted.dmesg)
    assert re.search("Performance Events: .*Intel PMU driver", booted.dmesg, re.S)  # others may come in between
    _, stat, *records = booted.said
    counts = {line.split(",")[2]: int(line.split(",")[0]) for line in stat.output.splitlines()}
    in_loop = sum(name in known.BRANCHES for name in known.EVEN + known.ODD)
    assert counts == {"instructions:u": paper.instructions, "branches:u": paper.iterations // 2 * in_loop + 1}
    return booted.dmesg, records, paper


@pytest.mark.long  # test_perf.py and test_hybrid.py have some of them, with more
@pytest.mark.parametrize("preset", [name for name, *_ in PRESETS])
def test_preset(tmp_path, preset):
    _, records, paper = boot(tmp_path, COMMANDS, preset, checks.kernel(preset))
    for record in records:
        periods, ips = checks.periods_and_ips(record.output.splitlines())
        assert periods == {10007} and set(ips) <= set(paper.name)
        assert abs(len(ips) - paper.instructions // 10007) <= checks.few(ips)


@pytest.mark.long
@pytest.mark.parametrize("preset", checks.ARCHITECTURAL)
def test_a_kernel_that_knows_no_architectural_pebs(tmp_path, preset):
    """It counts, samples by interrupts, and says that it has no PEBS."""
    dmesg, (interrupts, pebs), paper = boot(tmp_path, WITHOUT_PEBS, preset, guest.KERNEL)
    assert "PEBS" not in dmesg
    periods, ips = checks.periods_and_ips(interrupts.output.splitlines())
    assert periods == {10007} and len(ips) == paper.instructions // 10007
    assert pebs.status != 0 and "doesn't support sampling" in pebs.output


@pytest.mark.long
@pytest.mark.parametrize("preset", [name for name, *_ in PRESETS if name not in checks.ARCHITECTURAL])
def test_the_newest_kernel(tmp_path, preset):
    """It counts, and warns of nothing, with the processors that the older one knows, too."""
    boot(tmp_path, COMMANDS[:2], preset, guest.NEWER)
