#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Linux reads fixed counter 3, the slots, on an efficient core, which has none: RDPMC raises #GP. It takes any event
with the code of slots for one that performance metrics are read for."""

import sys

import bug

# The second event has a period, so its counter reloads itself; `:S` has it read at each record of the first.
# Linux throttles again, as it does by itself: with each sample there is an NMI, and on a busy host nothing else.
COMMANDS = ("echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent",
            "taskset 2 perf record -q -e '{cpu_atom/branches,period=101/pp,cpu_atom/event=0,umask=4,period=1000/pp}:S' "
            "seq 100 >/dev/null", "perf report --stats")


def judge(boot):
    if boot.outputs is None:
        return True, boot.oops_in("native_read_pmc", "icl_update_topdown_event")
    return False, f"{bug.samples(boot.outputs[-1])} samples"


BUG = bug.Bug(
    fix="perf/x86/intel: Fix crash in icl_update_topdown_event()",
    commits="commit b0823d5fbacb, of a fault by f9bdf1f95339; CVE-2025-38322; in Debian from 6.12.57 on",
    before="6.12.43", after="6.12.118", preset="lunarlake", commands=COMMANDS, judge=judge)

if __name__ == "__main__":
    sys.exit(bug.main(BUG))
