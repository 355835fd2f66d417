# SPDX-License-Identifier: MIT
"""The guest's clock on a host that is busy: Linux does not measure how fast the TSC runs, it is told. Skylake's leaves
of CPUID tell it; an older processor has none, so guest.py does."""

import os
import re
import subprocess
import sys

import checks
import guest
import pytest

BUSY = 10  # processes that never wait, on one of the host's CPUs, where the guest runs, too


@pytest.fixture(name="busy_host", scope="module")
def fixture_busy_host():
    free = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(free)})
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()
    os.sched_setaffinity(0, free)


@pytest.mark.long
@pytest.mark.usefixtures("busy_host")
@pytest.mark.xdist_group("busy host")
@pytest.mark.parametrize("preset", ["skylake", "haswell"])
def test_the_tsc_rate(tmp_path, preset):
    """Nothing makes Linux doubt the TSC in ten seconds, in which its watchdog compares it each half second. How often
    it does so, and whether haswell's rate is refined by then, depends on the load: if it is, it is checked, too."""
    run = guest.run(tmp_path, ["sleep 10"], preset=preset, smp=2, append="nmi_watchdog=0", programs=(), timeout=3600)
    checks.tsc_rates(run.dmesg)
    assert "unstable" not in run.dmesg
    if preset == "skylake":  # CPUID tells all
        assert not re.search("(TSC|reference) .*calibration", run.dmesg)
