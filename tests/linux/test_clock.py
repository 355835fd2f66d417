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
@pytest.mark.parametrize("preset, measured", [("skylake", False), ("haswell", True)])
def test_the_tsc_rate(tmp_path, preset, measured):
    """Also with what Linux refines later, where CPUID does not tell it. And nothing makes it doubt the TSC."""
    wait = "for i in $(seq 60); do dmesg | grep -q 'clocksource tsc$' && break; sleep 1; done; dmesg | grep -c tsc$"
    run = guest.run(tmp_path, [wait], preset=preset, smp=2, append="nmi_watchdog=0", programs=(), timeout=3600)
    checks.tsc_rates(run.dmesg)
    assert re.search("(TSC|reference) .*calibration", run.dmesg) is None or measured
    assert "unstable" not in run.dmesg
