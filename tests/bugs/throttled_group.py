#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Linux throttles a group of PEBS events while it drains their buffer, and forgets the events that still have records
there. On Skylake Linux warns once, and such records are lost. From Ice Lake on it follows a null pointer."""

import dataclasses
import sys

import bug

# One interrupt in each tick of the clock, and both events are stopped until the next.
COMMANDS = ("cd /proc/sys/kernel; echo 25 >perf_cpu_time_max_percent; echo 250 >perf_event_max_sample_rate; "
            "echo 0 >perf_cpu_time_max_percent",
            "perf record -q -m 2048 -c 31 -e '{cpu/event=0xc4/pp,cpu/event=0xc0/pp}' seq 400 >/dev/null",
            "perf report --stats")


def judge(boot):
    if boot.outputs is None:
        return True, boot.oops_in("intel_pmu_drain_pebs_icl")
    if "THROTTLE" not in boot.outputs[-1]:
        raise bug.Unclear("the group was not throttled")
    written, arrived = boot.number("records"), bug.samples(boot.outputs[-1])
    return arrived < written, f"the processor wrote {written} records; perf has {arrived} samples"


SKYLAKE = bug.Bug(
    fix="perf/x86: Fix NULL event access and potential PEBS record loss",
    commits="commit 7e772a93eb61, of a fault by 9734e25fbf5a; in Debian from 6.17.13 on",
    before="6.16.12", after="7.3", preset="skylake", commands=COMMANDS, judge=judge)
ICELAKE = dataclasses.replace(SKYLAKE, preset="icelake")

if __name__ == "__main__":
    sys.exit(bug.main(SKYLAKE, ICELAKE))
