# SPDX-License-Identifier: MIT
"""Debian's Linux on a processor with two kinds of cores, as `efficient=` makes it: it has a PMU for each kind, warns of
nothing, and counts and samples on either what is known of the program. Two processors: 0 is a performance core, 1 an
efficient one."""

import re

import checks
import guest
import known
import pytest

WORDS, MOVED = 5, 10000
CODES = {"conditional": "event=0xc4,umask=0x7e", "taken": "event=0xc4,umask=0xc0", "loads": "event=0xd0,umask=0x81"}
BOTH = "perf stat --no-scale -x, -e cpu_core/instructions/u,cpu_atom/instructions/u"
MOVE = f"""({BOTH} -o stat known $(seq {MOVED - 1}); touch done) &
until [ -e done ]; do
    for mask in 1 2; do taskset -p $mask $(pidof known) >/dev/null 2>&1; usleep 20000; done
done
cat stat"""


def on(cpu, command):
    return f"taskset {cpu + 1} {command} known $(seq {WORDS - 1})"


def record(cpu, event, period):
    return on(cpu, f"perf record -q -e {event} -c {period}") + " && perf script -F ip,period"


COMMANDS = {
    "quiet": checks.QUIET,
    "pmus": "cd /sys/devices && head -n 1 cpu_core/cpus cpu_atom/cpus | grep -v '^$'",
    "core": on(0, BOTH),
    "atom": on(1, BOTH),
    "moved": MOVE,
    "codes": on(1, "perf stat -x, -e " + ",".join(f"cpu_atom/{code},name={name}/u" for name, code in CODES.items())),
    "core instructions": record(0, "cpu_core/instructions/upp", 10007),
    "atom instructions": record(1, "cpu_atom/instructions/upp", 10007),
    "core branches": record(0, "cpu_core/branches/upp", 1010),
    "atom branches": record(1, "cpu_atom/branches/upp", 1010),
    "interrupts": record(1, "cpu_atom/instructions/u", 10007),
    "nmi": "grep -E 'NMI|PMI' /proc/interrupts",
}

pytestmark = pytest.mark.xdist_group("hybrid")


@pytest.fixture(scope="module")
def booted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hybrid")
    program = known.assemble(folder)
    run = guest.run(folder, COMMANDS.values(), preset="lunarlake", append="tsc=reliable nmi_watchdog=0", smp=2,
                    plugin="efficient=1,stats=on", files={"bin/known": program})
    assert all(said.status == 0 for said in run.said), run.said
    return run, program


def lines(booted, name):
    return booted[0].said[list(COMMANDS).index(name)].output.splitlines()


def counts(booted, name):
    """By event; one that no CPU could count is none."""
    return {event: int(count) for count, _, event, *_ in (line.split(",") for line in lines(booted, name)
                                                          if re.match(r"\d+,", line))}


def test_no_warnings(booted):
    """Nor an MSR that a CPU does not have."""
    assert checks.warnings(booted[0].dmesg) == []


def test_two_pmus(booted):
    assert lines(booted, "pmus") == ["==> cpu_core/cpus <==", "0", "==> cpu_atom/cpus <==", "1"]
    assert re.search("Performance Events: .*Lunarlake Hybrid events.*Intel PMU driver", booted[0].dmesg)
    assert all(f"core: cpu_{kind} PMU driver:" in booted[0].dmesg for kind in ("core", "atom"))


@pytest.mark.parametrize("kind", ["core", "atom"])
def test_counts(booted, kind):
    """Where the program runs on one kind all along, that kind's PMU counts all of it."""
    assert counts(booted, kind) == {f"cpu_{kind}/instructions/u": known.Known(booted[1], WORDS).instructions}


def test_counts_of_a_program_that_moves(booted):
    """Between the kinds: each counts its part, and together they count each instruction once."""
    parts = counts(booted, "moved")
    assert len(parts) == 2 and min(parts.values()) > 0
    assert sum(parts.values()) == known.Known(booted[1], MOVED).instructions


def test_codes_of_the_efficient_core(booted):
    paper = known.Known(booted[1], WORDS)
    loop = known.EVEN + known.ODD
    half = paper.iterations // 2
    assert counts(booted, "codes") == {
        "conditional": half * (loop.count("l3") + loop.count("l9")),
        "taken": len(list(paper.taken())),
        "loads": half * (loop.count("l0") + loop.count("f1")) + 1,
    }


@pytest.mark.parametrize("kind, what, names, period, more", [
    ("core", "instructions", known.ALL, 10007, 1),
    ("atom", "instructions", known.ALL, 10007, 0),  # fixed counter 0 has precise distribution there
    ("core", "branches", known.BRANCHES, 1010, 0),
    ("atom", "branches", known.BRANCHES, 1010, 0),
])
def test_samples(booted, kind, what, names, period, more):
    """By PEBS: each sample is of the instruction that the period leads to."""
    periods, said = checks.periods_and_ips(lines(booted, f"{kind} {what}"))
    assert periods == {period}
    checks.samples(known.Known(booted[1], WORDS), names, period, period + more, said)


def test_interrupts(booted):
    """Without PEBS an interrupt comes at each overflow; all are of the efficient core, and the plugin's."""
    _, said = checks.periods_and_ips(lines(booted, "interrupts"))
    assert len(said) == known.Known(booted[1], WORDS).instructions // 10007
    by_cpu = {line.split()[0]: [int(n) for n in line.split()[1:3]] for line in lines(booted, "nmi")}
    assert by_cpu["NMI:"] == by_cpu["PMI:"] == [int(n) for n in re.findall(r"(\d+) PMIs", booted[0].plugin)]
