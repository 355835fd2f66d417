# SPDX-License-Identifier: MIT
"""A CPU whose TSC is not that of the others (tsc_shift.c): the kernel measures by how much and says it, the run goes on
as ever, and who reads the trace is told."""

import re
import subprocess

import pytest

import cairn_boot as cb
from cairn_log import cairn, keys

SOURCE = cb.ROOT / "tests/qemu_ds/tsc_shift.c"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    file = tmp_path_factory.mktemp("plugin") / "tsc_shift.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-fvisibility=hidden", "-O2", "-I", cb.ROOT, "-o", file, SOURCE],
                   check=True)
    return file


@pytest.mark.parametrize("cycles", [
    -40_000_000_000,  # the time of a run that ends on another CPU than it began
    cb.long(2_000_000_000),
    ])
def test_one_is_moved(tmp_path, plugin, cycles):
    qemu = cb.with_qemu(tmp_path, "-plugin", f"{plugin},cpu=1,cycles={cycles}", qemu=str(cb.QEMU_11))
    result = cb.boot(tmp_path / "log", "--qemu", qemu, "--smp", 3, "truth=1", "switches=2000", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    machine = keys(result.log, "M")
    offset, sure, rounds = map(int, machine["cpu.1.tsc_offset"].split())
    assert abs(offset - cycles) <= sure and rounds >= 4
    other, sure_of_other, _ = map(int, machine["cpu.2.tsc_offset"].split())
    assert abs(other) <= sure_of_other
    assert f"SKIP: tsc: CPU 1's is {offset} cycles from CPU 0's, give or take {sure}; 1 of 3 differ: " \
        in result.output
    assert re.search(r"^PASS: run: \d+ switches on 3 CPUs", result.output, re.M), result.output
    for command in "info", "check":
        status, text = cairn(command, result.log)
        ahead = 1 if cycles > 0 else r"\d"  # both of the others are ahead of one that is behind
        assert status == 0 and re.search(rf"^clocks: the TSC of CPU {ahead} is up to \d+ cycles", text, re.M), text
    assert re.search(r"^truth: each 0525H switch equal, in order +[1-9]", text, re.M), text
