#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Branch history of user mode has addresses of the kernel: the processor's filter looks where a branch ends, and so did
Linux's, so returns to user mode stay, with the address they come from. It tells where the kernel lies (KASLR)."""

import re
import sys
from collections import Counter

import bug

COMMANDS = ("perf record -q -e branches:upp -j any,save_type,u -c 1009 "
            "sh -c 'for i in $(seq 200); do read line </proc/uptime; done'", "perf script -F brstack")
KERNEL = re.compile(r"0x[89a-f][0-9a-f]{15}")


def judge(boot):
    if boot.outputs is None:
        raise bug.Unclear(boot.oops()[0])
    entries = re.findall(r"0x[0-9a-f]+/0x[0-9a-f]+/\S+", boot.outputs[-1])
    if not entries:
        raise bug.Unclear(f"no branches: {boot.outputs[-1].strip()}")
    found = [entry for entry in entries if KERNEL.search(entry)]
    what = f"{len(found)} of {len(entries)} branches of user mode have addresses of the kernel"
    if found:
        [(most, _)] = Counter(found).most_common(1)
        what += f"\n       as in {most}"
    return bool(found), what


BUG = bug.Bug(
    fix="perf/x86/intel: Fix kernel address leakages in LBR stack",
    commits="commit e2b0575900ff; CVE-2026-89984; in Debian from 6.12.111 on",
    before="6.12.107", after="6.12.118", preset="icelake", commands=COMMANDS, judge=judge)

if __name__ == "__main__":
    sys.exit(bug.main(BUG))
