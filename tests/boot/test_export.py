# SPDX-License-Identifier: MIT
"""A boot's log in the formats of other tools, as these read them: event by event what `--to json` tells."""

import json
import subprocess

import pytest

import cairn_boot as cb
import ctf
import perfetto_equal
from cairn_log import run_and_check
from perfetto import Trace, packets_of

GROUPS = "spinlock+dispatcher+priority+interrupt+dpc+mark"


@pytest.mark.parametrize("session", [f"compact+{GROUPS}:qpc:sequential", cb.long(f"full+{GROUPS}:tsc:sequential"),
                                     cb.long(f"full+{GROUPS}:system:circular")])
def test_exports_are_equal(tmp_path, session):
    result, _ = run_and_check(tmp_path, 4, 400, "workload=mix", "spinlock.every=1", f"session.1={session}")
    command = [cb.BUILD / "cairn", "export", result.log, "--to"]
    lines = [json.loads(line) for line in subprocess.run([*command, "json"], check=True, capture_output=True)
             .stdout.decode("utf-8").splitlines()]
    assert {line["type"] for line in lines} >= {"switch", "sample", "drain", "lock", "event"}
    assert {line["cpu"] for line in lines if line["type"] == "switch"} == set(range(4))
    subprocess.run([*command, "ctf", "-o", tmp_path / "ctf"], check=True)
    ctf.equal(tmp_path / "ctf", lines, in_order=True)
    trace = subprocess.run([*command, "perfetto"], check=True, capture_output=True).stdout
    perfetto_equal.equal(lines, Trace(packets_of(trace)))
