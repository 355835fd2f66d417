# SPDX-License-Identifier: MIT
"""Random programs in the Linux guest (random/*.c): what counters, BTS and PEBS say of them is what single-stepping by
ptrace says, branch by branch and register by register."""

import re
import subprocess
import time

import checks
import guest
import pytest

RANDOM = guest.BUILD / "linux-random"
STEP = re.compile(r"^(.) +\d+ +([0-9a-f]+) ((?: [0-9a-f]{2})+)")


def disassembled(said, folder):
    """What the guest said, with the instructions of its steps in words, where this host has objdump for that."""
    lines = said.splitlines()
    steps = {number: step for number, line in enumerate(lines) if (step := STEP.match(line))}
    if not steps:
        return said
    code = folder / "code"
    code.write_bytes(b"".join(bytes.fromhex(step[3]) for step in steps.values()))
    words = subprocess.run(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-w", "--no-show-raw-insn", code],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    words = [line.split(":\t")[1] for line in words if ":\t" in line]
    if len(words) == len(steps):
        for number, word in zip(steps, words):
            lines[number] += f"   {word}"
    return "\n".join(lines)


def run(folder, preset, seed, programs, smp=1):
    done = guest.run(folder, [f"random --seed {seed} --programs {programs}"], preset=preset, smp=smp,
                     kernel=checks.kernel(preset), files={"/bin/random": RANDOM},
                     plugin="stats=on", append="pti=off nmi_watchdog=0")
    (said,) = done.said
    assert said.status == 0, disassembled(said.output, folder)
    total = f"^{programs} programs from seed {seed}: .* [1-9][0-9]* BTS records, [1-9][0-9]* PEBS samples$"
    assert re.search(total, said.output, re.M)
    assert checks.warnings(done.dmesg) == []
    assert "flags exact" in done.plugin


@pytest.mark.parametrize("preset, smp, seed, programs", [
    ("skylake", 2, 1000, 15), ("clearwaterforest", 1, 2000, 10),
    *(pytest.param(*more, marks=pytest.mark.long) for more in (("skylake", 2, 1015, 75), ("icelake", 1, 1, 60)))])
def test_programs(tmp_path, preset, smp, seed, programs):
    run(tmp_path, preset, seed, programs, smp=smp)


@pytest.mark.long
@pytest.mark.parametrize("preset", ["icelake", "skylake", *checks.ARCHITECTURAL])
@pytest.mark.parametrize("smp", [1, 2])
def test_new_programs(tmp_path, preset, smp):
    """Others each time; the seed is in what fails."""
    run(tmp_path, preset, int(time.time()) * 1000, 1000, smp=smp)
