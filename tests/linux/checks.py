# SPDX-License-Identifier: MIT
"""What the tests of perf have in common."""

import re
from collections import Counter

import guest

ARCHITECTURAL = ("pantherlake", "clearwaterforest")  # PEBS there; Debian 13's kernel does not know it

# perf's own measure of how long its interrupts take and what it then makes of sampling is for real time, not for this.
QUIET = "echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent"

_WARNINGS = re.compile(r"unknown reason|NMI.*(lost|spurious|stuck)|perf.*(stuck|interrupt took)|BUG: |\bOops|"
                       r"WARNING: (CPU|\S+:\d+ at )|unchecked MSR|Call Trace|PEBS (bug|disabled)|Broken PMU|"
                       "PMU(?!.*workaround).*disabled|(soft|hard) lockup", re.I)
# perf samples instructions by C0H/00H, which Intel's lists do not name for PEBS from Sandy Bridge to Skylake.
RECORD_ALL = "policy.unlisted=record"


def kernel(preset):
    return guest.NEWER if preset in ARCHITECTURAL else guest.KERNEL


def warnings(dmesg):
    return [line for line in dmesg.splitlines() if _WARNINGS.search(line)]


def few(said):
    """How often Linux may have stopped a counter right at an overflow: more often on a busy host."""
    return 4 + len(said) // 100


def samples(paper, names, period, spacing, said):
    """[(name, iteration)] of the samples that are there, [IP], and none is missing: each is of the instruction that the
    period leads to, and their distribution over the loop's instructions is the one it predicts."""
    got = [paper.name.get(ip, hex(ip)) for ip in said]
    expected, stops = paper.follow(names, period, spacing, got)
    assert got == [event and event[0] for event in expected]
    assert stops <= few(said)
    at, predicted = 0, Counter()
    while event := paper.event(names, at := at + spacing):
        predicted[event[0]] += 1
    assert set(predicted) == set(got)
    assert all(abs(predicted[name] - count) <= 2 * stops for name, count in Counter(got).items())
    return expected


def periods_and_ips(lines):
    said = [line.split() for line in lines]
    return {int(period) for period, _ in said}, [int(ip, 16) for _, ip in said]
