# SPDX-License-Identifier: MIT
"""Debian's Linux under kvm=on: it takes itself for a guest of KVM, has PEBS without the groups, and warns of nothing
but of BTS, as users of real guests have reported: IA32_MISC_ENABLE does not deny it, IA32_DEBUGCTL refuses it."""

import re

import checks
import guest
import known

WORDS = 5
KNOWN = f"known $(seq {WORDS - 1})"
COMMANDS = [
    checks.QUIET,
    f"perf stat -x, -e instructions:u,branches:u {KNOWN}",
    f"perf record -q -e instructions:upp -c 10007 {KNOWN} && perf script -F ip,period",
    "dmesg",
    f"perf record -q --per-thread -e intel_bts//u {KNOWN}",
]


def test_a_guest_of_kvm(tmp_path):
    program = known.assemble(tmp_path)
    paper = known.Known(program, WORDS)
    booted = guest.run(tmp_path, COMMANDS, preset="sapphirerapids", plugin="kvm=on", append="pti=off nmi_watchdog=0",
                       files={"bin/known": program})
    _, stat, record, before, _ = booted.said
    assert "Hypervisor detected: KVM" in before.output
    assert "Performance Events: PEBS fmt4+, Sapphire Rapids events, full-width counters" in before.output
    assert checks.warnings(before.output) == []
    counts = {line.split(",")[2]: int(line.split(",")[0]) for line in stat.output.splitlines()}
    assert counts["instructions:u"] == paper.instructions
    periods, ips = checks.periods_and_ips(record.output.splitlines())
    assert periods == {10007} and set(ips) <= set(paper.name)
    assert abs(len(ips) - paper.instructions // 10007) <= checks.few(ips)
    assert re.search(r"unchecked MSR access error: WRMSR to 0x1d9 \(tried to write 0x0{13}[13]c0\)", booted.dmesg)
