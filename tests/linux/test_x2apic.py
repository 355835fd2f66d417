# SPDX-License-Identifier: MIT
"""Two processors in x2APIC mode, which Linux takes where there is interrupt remapping: LVTPC is an MSR then, the second
APIC has another ID. The other tests' machine is in xAPIC mode. Sapphire Rapids, with architectural LBR."""

import re

import checks
import guest
import known
import pytest

WORDS = 10
RECORD = "taskset 2 perf record -q -c 10007 {} " + f"known $(seq {WORDS - 1}) && perf script -F ip,period"
COMMANDS = [checks.QUIET, RECORD.format("-e instructions:u"), RECORD.format("-b -e instructions:upp"),
            "grep -E 'NMI|PMI' /proc/interrupts", "suite/part/print; whoami", "sleep 5"]

pytestmark = [pytest.mark.xdist_group("x2apic"), pytest.mark.long]


@pytest.fixture(scope="module")
def booted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("x2apic")
    program = known.assemble(folder)
    (folder / "suite/part").mkdir(parents=True)
    (folder / "suite/part/print").write_text("#!/bin/sh\ncat $(dirname $0)/../link\n")
    (folder / "suite/part/print").chmod(0o755)
    (folder / "suite/file").write_text("read\n")
    (folder / "suite/link").symlink_to("file")
    run = guest.run(folder, COMMANDS, preset="sapphirerapids", append="tsc=reliable nmi_watchdog=0", plugin="stats=on",
                    smp=2, machine=("-machine", "q35", "-device", "intel-iommu,intremap=on,eim=on"),
                    files=guest.copies([program, folder / "suite"]))
    assert all(said.status == 0 for said in run.said), run.said
    return run, known.Known(program, WORDS)


def test_what_the_kernel_finds(booted):
    run, _ = booted
    assert "x2apic enabled" in run.dmesg
    assert "Brought up 1 node, 2 CPUs" in run.dmesg
    assert "Architectural LBR, PEBS fmt4+-baseline, Sapphire Rapids events" in run.dmesg
    assert checks.warnings(run.dmesg) == []


def test_samples(booted):
    run, paper = booted
    periods, said = checks.periods_and_ips(run.said[2].output.splitlines())
    assert periods == {10007}
    checks.samples(paper, known.ALL, 10007, 10008, said)


def test_interrupts(booted):
    """All on the second processor: with PEBS at its buffer's threshold, and without it at each overflow."""
    run, paper = booted
    _, said = checks.periods_and_ips(run.said[1].output.splitlines())
    assert len(said) == paper.instructions // 10007
    by_cpu = {line.split()[0]: [int(n) for n in line.split()[1:3]] for line in run.said[3].output.splitlines()}
    pmis = [int(n) for n in re.findall(r"(\d+) PMIs", run.plugin)]
    assert by_cpu["NMI:"] == by_cpu["PMI:"] == pmis
    assert pmis[0] == 0 and pmis[1] >= len(said)


def test_a_folder_is_copied(booted):
    """As it is, for suites whose scripts look for each other; many of them ask whether they are root."""
    run, _ = booted
    assert run.said[4].output.split() == ["read", "root"]


def test_light_when_idle(booted):
    """Nothing has counted for some seconds when the guest ends: blocks are without all that again."""
    run, _ = booted
    assert re.search(r"^qemu-ds: translated anew \d+ times, idle at the end$", run.plugin, re.M)
