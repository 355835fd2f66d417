# SPDX-License-Identifier: MIT
"""A panic while something else than the session has a CPU's counters."""

import re

import cairn_boot as cb
from test_system import cairn, checked


def test_in_a_proof(tmp_path):
    """Workload `known` counts with a Debug Store of its own: what a panic drains is the session's, on every CPU."""
    result = cb.boot(tmp_path / "log", "--smp", 2, "workload=known", "ds=soft", "pebs=INST_RETIRED.ANY:1",
                     "pebs.records=1024", "pebs.threshold=1024", "bts=interrupt", "truth=1", "switches=600",
                     "panic=now")
    assert result.status == cb.FAIL and "asked for with panic=now" in result.output, result.output
    assert not result.lines("SKIP: known: "), result.output  # the proofs are not over
    text = checked(result.log)
    status, dump = cairn("dump", result.log)
    drains = re.findall(r"^ +\S+ +(\d) = drain of epoch 0 \(panic\): (\d+) records, 0 lost$", dump, re.M)
    assert status == 0 and sorted(cpu for cpu, _ in drains) == ["0", "1"] and all(int(n) for _, n in drains), drains
    records = sum(int(n) for _, n in drains)
    assert re.search(rf"truth: each PEBS record equal +{records} +0 verified\n", text), text
