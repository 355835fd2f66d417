# SPDX-License-Identifier: MIT
"""Random programs in the Linux guest (random/*.c): what counters, BTS and PEBS say of them is what single-stepping by
ptrace says, branch by branch and register by register."""

import time

import checks
import guest
import pytest

pytestmark = pytest.mark.long  # test_perf.py runs some in its guests


def run(folder, preset, seed, programs, smp=1):
    done = guest.run(folder, [checks.random_command(seed, programs)], preset=preset, smp=smp,
                     kernel=checks.kernel(preset), files={"/bin/random": checks.RANDOM},
                     plugin="stats=on", append="pti=off nmi_watchdog=0")
    checks.random_programs(done.said[0], seed, programs, folder)
    assert checks.warnings(done.dmesg) == []
    assert "flags exact" in done.plugin


@pytest.mark.parametrize("preset, smp, seed, programs", [("skylake", 2, 1000, 90), ("icelake", 1, 1, 60)])
def test_programs(tmp_path, preset, smp, seed, programs):
    run(tmp_path, preset, seed, programs, smp=smp)


@pytest.mark.parametrize("preset", ["icelake", "skylake", *checks.ARCHITECTURAL])
@pytest.mark.parametrize("smp", [1, 2])
def test_new_programs(tmp_path, preset, smp):
    """Others each time; the seed is in what fails."""
    run(tmp_path, preset, int(time.time()) * 1000, 1000, smp=smp)
