# SPDX-License-Identifier: MIT
"""What the processor of ds.preset= cannot do is refused before QEMU starts, in the kernel's own words."""

import subprocess

import pytest

import cairn_boot as cb


def check(*words):
    process = subprocess.run([cb.BUILD / "cairn-options", "check", *words], capture_output=True, text=True, check=False)
    return process.returncode, process.stderr


@pytest.mark.parametrize("preset, word, line", [
    ("penryn", "pebs=BR_INST_RETIRED.NEAR_CALL:9", "BR_INST_RETIRED.NEAR_CALL: not an event of this processor"),
    ("penryn", "pebs=BR_INST_RETIRED.ALL_BRANCHES:9", "PEBS cannot record it on this processor"),
    ("nehalem", "pebs=INST_RETIRED.PREC_DIST:9", "INST_RETIRED.PREC_DIST: not an event of this processor"),
    ("nehalem", "pebs=INST_RETIRED.ANY:31", "option 'pebs': period 31 of INST_RETIRED.ANY: must be from 32"),
    ("nehalem", "pebs.later=31", "option 'pebs.later': period 31 of INST_RETIRED.ANY: must be from 32"),
    ("haswell", "pebs.groups=gpr,mem", "option 'pebs.groups': mem: records of this processor"),
    ("icelake", "pebs.groups=counters", "option 'pebs.groups': counters: records of this processor"),
    ("skylake", "pebs=" + ",".join(["branches:9"] * 5), "option 'pebs': no PEBS counter left"),
    ])
def test_beyond_the_preset(tmp_path, preset, word, line):
    words = [f"ds.preset={preset}", word]
    status, error = check("ds=soft", *words)
    assert status == 2 and line in error and len(error.splitlines()) == 1, error
    assert check("--emulated", *words) == (status, error)
    assert check(*words) == (0, "")  # ds=auto: the machine may have a Debug Store of its own
    assert check("ds=hw", word) == (0, "")
    if preset == "haswell":
        result = cb.boot(tmp_path / "log", *words)
        assert result.status == cb.USAGE and line in result.output and "QEMU " not in result.output, result.output
    assert check("ds=soft", "ds.preset=lunarlake", "bts=circular", "bts.rings=u", "pebs.groups=counters,lbr") == (0, "")
