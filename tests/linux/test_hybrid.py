# SPDX-License-Identifier: MIT
"""Debian's Linux on a processor with two kinds of cores, as `efficient=` makes it: it has a PMU for each kind, warns of
nothing, and counts and samples on either what is known of the program. Two processors: 0 is a performance core, 1 an
efficient one."""

import re
from dataclasses import dataclass

import checks
import guest
import known
import pytest

WORDS, MOVED = 5, 10000
CODES = {  # of the efficient core
    "lunarlake": {"conditional": "event=0xc4,umask=0x7e", "taken": "event=0xc4,umask=0xc0",
                  "loads": "event=0xd0,umask=0x81"},
    "pantherlake": {"conditional": "event=0xc4,umask=0x07", "taken": "event=0xc4,umask=0xfb",
                    "loads": "event=0xd0,umask=0x81"},
}
FOUND = {"lunarlake": "Lunarlake Hybrid events", "pantherlake": "Pantherlake Hybrid events, Architectural PEBS"}
PMUS = ["==> cpu_atom/cpus <==", "1", "==> cpu_core/cpus <==", "0"]
BOTH = "perf stat --no-scale -x, -e cpu_core/instructions/u,cpu_atom/instructions/u"
MOVE = f"""({BOTH} -o stat known $(seq {MOVED - 1}); touch done) &
until [ -e done ]; do
    for mask in 1 2; do taskset -p $mask $(pidof known) >/dev/null 2>&1; usleep 20000; done
done
cat stat"""


def on(cpu, command, program=f"known $(seq {WORDS - 1})"):
    return f"taskset {cpu + 1} {command} {program}"


def record(cpu, event, period):
    return on(cpu, f"perf record -q -e {event} -c {period}") + " && perf script -F ip,period"


COMMANDS = {
    "quiet": checks.QUIET,
    "pmus": "cd /sys/devices && head -n 1 cpu_*/cpus | grep -v '^$'",
    "core": on(0, BOTH),
    "atom": on(1, BOTH),
    "moved": MOVE,
    "codes": on(1, "perf stat -x, -e CODES"),
    "core instructions": record(0, "cpu_core/instructions/upp", 10007),
    "atom instructions": record(1, "cpu_atom/instructions/upp", 10007),
    "core branches": record(0, "cpu_core/branches/upp", 1010),
    "atom branches": record(1, "cpu_atom/branches/upp", 1010),
    "interrupts": record(1, "cpu_atom/instructions/u", 10007),
}
NMI = {"nmi": "grep -E 'NMI|PMI' /proc/interrupts"}

# The kernel refuses them on the kind of core that boots (docs/how-to/qemu-ds.md).
VECTORS = {"vectors": on(1, "perf record -q -e cpu_atom/instructions/upp", checks.VECTORS) +
           " && perf script -F ip,iregs"}


@dataclass
class Booted:
    preset: str
    commands: list
    run: guest.Run
    program: object
    vectors: object

    def known(self, words=WORDS):
        return known.Known(self.program, words)

    def lines(self, name):
        return self.run.said[self.commands.index(name)].output.splitlines()

    def counts(self, name):
        """By event; one that no CPU could count is none."""
        return {event: int(count) for count, _, event, *_ in (line.split(",") for line in self.lines(name)
                                                              if re.match(r"\d+,", line))}


def of(preset, *marks):
    return pytest.param(preset, marks=[*marks, pytest.mark.xdist_group(f"hybrid-{preset}")])


@pytest.fixture(scope="module", params=[of(preset, pytest.mark.long) for preset in FOUND])
def booted(request, tmp_path_factory):
    preset = request.param
    folder = tmp_path_factory.mktemp("hybrid")
    programs = {f"bin/{name}": known.assemble(folder, name) for name in ("known", "vectors")}
    commands = {**COMMANDS, **(VECTORS if preset in checks.ARCHITECTURAL else {}), **NMI}
    codes = ",".join(f"cpu_atom/{code},name={name}/u" for name, code in CODES[preset].items())
    run = guest.run(folder, [line.replace("CODES", codes) for line in commands.values()], preset=preset,
                    kernel=checks.kernel(preset), append="tsc=reliable nmi_watchdog=0", smp=2,
                    plugin="efficient=1,stats=on", files=programs)
    assert all(said.status == 0 for said in run.said), run.said
    return Booted(preset, list(commands), run, programs["bin/known"], programs["bin/vectors"])


def test_no_warnings(booted):
    """Nor an MSR that a CPU does not have."""
    assert checks.warnings(booted.run.dmesg) == []


def test_two_pmus(booted):
    assert booted.lines("pmus") == PMUS
    assert re.search(f"Performance Events: .*{FOUND[booted.preset]}", booted.run.dmesg)
    assert all(f"core: cpu_{kind} PMU driver:" in booted.run.dmesg for kind in ("core", "atom"))


@pytest.mark.parametrize("kind", ["core", "atom"])
def test_counts(booted, kind):
    """Where the program runs on one kind all along, that kind's PMU counts all of it."""
    assert booted.counts(kind) == {f"cpu_{kind}/instructions/u": booted.known().instructions}


def test_counts_of_a_program_that_moves(booted):
    """Between the kinds: each counts its part, and together they count each instruction once."""
    parts = booted.counts("moved")
    assert len(parts) == 2 and min(parts.values()) > 0
    assert sum(parts.values()) == booted.known(MOVED).instructions


def test_codes_of_the_efficient_core(booted):
    paper = booted.known()
    loop = known.EVEN + known.ODD
    half = paper.iterations // 2
    assert booted.counts("codes") == {
        "conditional": half * (loop.count("l3") + loop.count("l9")),
        "taken": len(list(paper.taken())),
        "loads": half * (loop.count("l0") + loop.count("f1")) + 1,
    }


@pytest.mark.parametrize("kind, what, names, period, more", [
    ("core", "instructions", known.ALL, 10007, 1),  # Lion Cove's fixed counter 0 has no precise distribution
    ("atom", "instructions", known.ALL, 10007, 0),
    ("core", "branches", known.BRANCHES, 1010, 0),
    ("atom", "branches", known.BRANCHES, 1010, 0),
])
def test_samples(booted, kind, what, names, period, more):
    """By PEBS: each sample is of the instruction that the period leads to."""
    periods, said = checks.periods_and_ips(booted.lines(f"{kind} {what}"))
    assert periods == {period}
    if booted.preset in checks.ARCHITECTURAL:
        more = 0
    checks.samples(booted.known(), names, period, period + more, said)


@pytest.mark.parametrize("booted", [of("pantherlake", pytest.mark.long)], indirect=True)
def test_vector_registers(booted):
    checks.vector_registers(booted.vectors, booted.lines("vectors"))


def test_interrupts(booted):
    """Without PEBS an interrupt comes at each overflow; all are of the efficient core, and the plugin's."""
    _, said = checks.periods_and_ips(booted.lines("interrupts"))
    assert len(said) == booted.known().instructions // 10007
    by_cpu = {line.split()[0]: [int(n) for n in line.split()[1:3]] for line in booted.lines("nmi")}
    assert by_cpu["NMI:"] == by_cpu["PMI:"] == [int(n) for n in re.findall(r"(\d+) PMIs", booted.run.plugin)]


@pytest.mark.long
@pytest.mark.parametrize("preset", ["arrowlake", "lunarlake"])
def test_the_newest_kernel(tmp_path, preset):
    """It warns of nothing either, and each kind counts. No third PMU takes the same samples once more."""
    program = known.assemble(tmp_path)
    cycles = on(0, "perf record -q -e cycles:upp -c 10007") + " && perf script -F ip,period"
    commands = [*(COMMANDS[name] for name in ("core", "atom", "pmus")), cycles]
    run = guest.run(tmp_path, commands, preset=preset, kernel=guest.NEWER, append="nmi_watchdog=0", smp=2,
                    plugin="efficient=1", files={"bin/known": program})
    assert checks.warnings(run.dmesg) == []
    for said, kind in zip(run.said, ("core", "atom")):
        assert f"{known.Known(program, WORDS).instructions},,cpu_{kind}/instructions/u," in said.output, said.output
    assert run.said[2].output.splitlines() == PMUS
    most = known.Known(program, WORDS).instructions // 10007  # fewer where Linux stops a counter right at an overflow
    assert 0.9 * most < len(run.said[3].output.splitlines()) <= most
