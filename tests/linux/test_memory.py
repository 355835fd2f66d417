# SPDX-License-Identifier: MIT
"""Debian's perf on a machine with memory=model: `perf c2c` finds the line that a program shares by mistake, `perf mem`
and `perf stat` say of a pointer chase what its size says on paper."""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass

import checks
import guest
import known
import pytest

TURNS = 100
HITM = "perf stat -x, -e cpu/event=0xd2,umask=4/u sharing"  # MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM
FEW = 250  # what starting, threads and moving between processors add
SHARING = {
    "quiet": checks.QUIET,
    "caches": "cd /sys/devices/system/cpu/cpu0/cache && cat index*/size && cat index*/coherency_line_size",
    "together": f"{HITM} {TURNS}",
    "apart": f"{HITM} {TURNS} apart",
    "c2c": f"perf c2c record -u -- -c 3 sharing {TURNS} && perf c2c report --stdio --no-source 2>/dev/null",
}


def output(run, commands, name):
    said = run.said[list(commands).index(name)]
    assert said.status == 0, said.output
    return said.output


@pytest.mark.long
@pytest.mark.xdist_group("memory-sharing")
def test_false_sharing(tmp_path):
    """Both threads add to the line in turns, so each finds that the other one has changed it."""
    program = guest.BUILD / "linux-sharing"
    run = guest.run(tmp_path, list(SHARING.values()), preset="skylake", smp=2, plugin="memory=model,stats=on",
                    append="pti=off nmi_watchdog=0", files={"bin/sharing": program})
    assert checks.warnings(run.dmesg) == []
    assert output(run, SHARING, "caches").split() == ["32K", "256K", "8192K", "64", "64", "64"]
    together, apart = (int(output(run, SHARING, name).split(",")[0]) for name in ("together", "apart"))
    assert 2 * TURNS - 1 <= together <= 2 * TURNS + FEW
    assert together - apart >= 1.5 * TURNS, (together, apart)

    report = output(run, SHARING, "c2c")
    shared = known.labels(program, "shared")["shared"]
    table = report[report.index("Shared Data Cache Line Table"):]
    first = re.search(r"^ +0 +0x([0-9a-f]+)", table, re.M)
    assert int(first[1], 16) == shared, table[:2000]
    pareto = table[table.index("Shared Cache Line Distribution Pareto"):]
    lines = pareto[pareto.index(f"0x{shared:x}"):].split("-" * 70)[1].splitlines()
    assert {line.split()[5] for line in lines if "work" in line} == {"0x0", "0x8"}
    assert re.search("memory=model: .*: modelled, not measured", run.plugin)
    assert run.plugin.count("modelled, not measured") == 3


@pytest.mark.long
@pytest.mark.xdist_group("memory-sharing")
def test_lab(tmp_path):
    """The solution of lab 11 finds the line in a log of cairn grab."""
    program, log = guest.BUILD / "linux-sharing", tmp_path / "my.log"
    run = guest.run(tmp_path, [f"cairn-grab -o my.log -- perf c2c record -q -u -- -c 7 sharing {TURNS}", "cat my.log"],
                    preset="skylake", smp=2, plugin="memory=model",
                    files={"bin/sharing": program, "bin/cairn-grab": guest.BUILD / "cairn-grab"})
    assert run.said[0].status == 0, run.said[0].output
    log.write_text(run.said[1].output, encoding="utf-8")
    done = subprocess.run(["make", "-s", "--no-print-directory", f"B={guest.BUILD.relative_to(guest.ROOT)}", "lab-log",
                           "N=11", "SOLUTION=1", f"LOG={log}", f"PROGRAM={program}"], cwd=guest.ROOT,
                          capture_output=True, text=True, check=False)
    shared = known.labels(program, "shared")["shared"]
    assert done.returncode == 0, done.stderr
    line = re.search(rf"^0x{shared:x} .*, (\d+) of \d+ loads from another core: (.*)\n((?: +CPU .*\n)+)", done.stdout,
                     re.M)
    assert line and int(line[1]) and line[2] == "false sharing", done.stdout
    assert {row.split()[-1] for row in line[3].splitlines()} == {"shared+0x0", "shared+0x8"}


# ---- a pointer chase: sizes in KiB, and the latency of each of its loads ---------------------------------------------

@dataclass(frozen=True)
class Machine:
    preset: str
    sizes: dict  # {KiB: cycles}: as tools/qemu-ds/modelled/memory_options.c has them; pages beyond the DTLB take longer
    pmu: str = "cpu"


MACHINES = [
    Machine("skylake", {16: 4, 64: 12, 1024: 42 + 9, 16384: 230 + 9}),
    Machine("icelake", {16: 5, 128: 13, 2048: 45 + 7, 16384: 240 + 7}),
    Machine("sapphirerapids", {16: 5, 1024: 15 + 7, 4096: 70 + 7, 65536: 330 + 7}),
    Machine("lunarlake", {16: 4, 1024: 17 + 7, 4096: 68 + 7, 32768: 400 + 7}, "cpu_core"),
]


def times(kib):
    return max(2, 32768 // kib)


def chase(machine):
    commands = {"quiet": checks.QUIET}
    for kib in machine.sizes:
        events = ",".join(f"{machine.pmu}/{name}/u" for name in ("cycles", "instructions", "cache-misses"))
        commands[f"stat {kib}"] = f"perf stat -x, -e {events} chase {kib} {times(kib)}"
        # On a hybrid, perf 6.12's own command asks for an event that the other core's PMU does not have.
        record = "perf mem record -t load --ldlat 3" if machine.pmu == "cpu" else \
            f"perf record -dW -e {machine.pmu}/mem-loads,ldlat=3/P"
        commands[f"mem {kib}"] = (f"{record} -c 1009 chase {kib} {times(kib)} 2>/dev/null && "
                                  "perf script -F ip,sym,weight")
        commands[f"cycles {kib}"] = (f"perf record -q -e {machine.pmu}/cycles/upp -c 100003 chase {kib} {times(kib)} "
                                     "&& perf script -F ip,sym")
    return commands


@pytest.mark.long
@pytest.mark.parametrize("machine", [pytest.param(m, id=m.preset, marks=pytest.mark.xdist_group(f"chase-{m.preset}"))
                                     for m in MACHINES])
def test_pointer_chase(tmp_path, machine):
    commands = chase(machine)
    run = guest.run(tmp_path, list(commands.values()), preset=machine.preset, plugin="memory=model",
                    append="pti=off nmi_watchdog=0", files={"bin/chase": guest.BUILD / "linux-chase"})
    assert checks.warnings(run.dmesg) == []
    for at, (kib, latency) in enumerate(machine.sizes.items()):
        samples = map(str.split, output(run, commands, f"mem {kib}").splitlines())
        weights = Counter(int(weight) for weight, _, symbol, *_ in samples if symbol == "chase_loop")
        ((most, often),) = weights.most_common(1)
        assert most == latency and often > 0.6 * weights.total(), (kib, weights.most_common(5))

        # Three instructions a line, ten to lay it, and all that a load takes beyond a hit.
        cycles, instructions, misses = (int(line.split(",")[0]) for line in
                                        output(run, commands, f"stat {kib}").splitlines()[-3:])
        lines = kib * 16
        loads = lines * (times(kib) + 1)
        hit = machine.sizes[16]
        assert instructions == pytest.approx(3 * loads + 10 * lines, rel=0.02, abs=30000)
        assert cycles == pytest.approx(instructions + loads * (latency - hit), rel=0.15, abs=60000)
        if at == len(machine.sizes) - 1:  # lines lie in pages of any colour: some sets have room
            assert misses > 0.85 * loads
        else:
            assert misses < 0.05 * loads + 500

        samples = Counter(line.split()[1] for line in output(run, commands, f"cycles {kib}").splitlines() if line)
        assert samples["chase_loop"] > 0.8 * samples.total() > 0
