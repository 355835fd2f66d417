# SPDX-License-Identifier: MIT
"""likwid programs the PMU itself, by the kernel's module msr and, as Debian builds it, its own access daemon. It counts
what a processor does while the program runs, so likwid's own instructions there are counted, too."""

import lzma
import re

import clients
import known
import pytest

MSR = "usr/lib/modules/*/kernel/arch/x86/kernel/msr.ko.xz"
PROGRAMS = ("likwid-perfctr", "likwid-accessD", "bash", "usr/share/lua", "usr/share/likwid",
            "usr/lib/x86_64-linux-gnu/liblikwid*")
OWN = 20000  # at most: likwid's, before and after the program
EVENTS = "INSTR_RETIRED_ANY:FIXC0,BR_INST_RETIRED_ALL_BRANCHES:PMC0,MEM_INST_RETIRED_ALL_LOADS:PMC1"
COMMANDS = [
    "insmod /root/msr.ko",
    f"likwid-perfctr -M 1 -C 0 -g {EVENTS} {clients.KNOWN}",
    f"likwid-perfctr -M 0 -C 0 -g INSTR_RETIRED_ANY:FIXC0 {clients.KNOWN}",
]


@pytest.mark.long
def test_likwid(tmp_path):
    module = lzma.decompress(next(clients.ROOT.glob(MSR)).read_bytes())
    (_, daemon, direct), paper = clients.boot(tmp_path, COMMANDS, PROGRAMS, smp=2, files={"root/msr.ko": module})
    counts = {event: int(count) for event, count in re.findall(r"(\w+) +\| +\w+ +\| +(\d+) \|", daemon.output)}
    in_loop = [sum(name in names for name in known.EVEN + known.ODD) for names in (known.BRANCHES, known.LOADS)]
    expected = [paper.instructions, *(paper.iterations // 2 * count + 1 for count in in_loop)]
    for event, count in zip(EVENTS.split(","), expected):
        assert 0 <= counts[event.split(":")[0]] - count <= OWN, daemon.output
    # Without the daemon it looks for a memory controller's counters first, and there is none.
    assert direct.status != 0 and "imcbar is zero" in direct.output
