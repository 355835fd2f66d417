# SPDX-License-Identifier: MIT
"""Debian's perf under qemu-ds finds what known.asm does on paper: counts, which instruction each sample is of,
registers, data addresses, branches. One boot for each preset does it all."""

import re
from dataclasses import dataclass
from itertools import islice

import checks
import guest
import known
import pytest

FORMATS = {"skylake": "PEBS fmt3+, Skylake events,", "icelake": "PEBS fmt4+-baseline, Icelake events,"}

WORDS = 20
LONG = f"known $(seq {WORDS - 1})"
COMMANDS = {
    "quiet": checks.QUIET,
    "stat": f"perf stat -x, -e instructions:u,branches:u {LONG}",
    "instructions": f"perf record -q -e instructions:upp -c 10007 {LONG} && perf script -F ip,period",
    "branches": f"perf record -q -e branches:upp -c 1010 {LONG} && perf script -F ip,period",
    "interrupts": f"perf record -q -e instructions:u -c 10007 {LONG} && perf script -F ip,period",
    "cycles": f"perf record -q -e cycles:upp -c 10007 {LONG} && perf script -F ip,period",
    "rdpmc": "perf test -v 'User space counter reading' 2>&1",
    "brand": "grep 'model name' /proc/cpuinfo",
    "expression": "perf test -v 'Simple expression parser' 2>&1",
    "registers": f"perf record -q -e instructions:upp -c 10007 --intr-regs=cx,dx,bx,r8,ip {LONG} && "
                 "perf script -F ip,iregs",
    "loads": "perf record -q -d -e cpu/event=0xd0,umask=0x81/upp -c 1008 known && perf script -F ip,addr",
    "stacks": "perf record -q -b -e branches:upp -c 1010 known && perf script -F ip,brstack",
    "callers": "perf record -q --call-graph lbr -e instructions:upp -c 1007 known && "
               "perf script -D | grep -A 4 PERF_RECORD_SAMPLE",
    "bts": "perf record -q --per-thread -e intel_bts//u known && perf script --itrace=b -F ip,addr",
    "nmi": "grep -E 'NMI|PMI' /proc/interrupts",
}


@dataclass
class Booted:
    preset: str
    run: guest.Run
    program: object

    def lines(self, name):
        said = self.run.said[list(COMMANDS).index(name)]
        assert said.status == 0, said.output
        return said.output.splitlines()

    def known(self, words=1):
        return known.Known(self.program, words)

    def spacing(self, period, counter="general purpose"):
        """Events from one record to the next: with precise distribution, as fixed counter 0 has it on Ice Lake, an
        overflow records itself; else it arms the counter, and the next event is recorded."""
        return period if self.preset == "icelake" and counter == "fixed" else period + 1


def on(preset):
    return pytest.param(preset, marks=pytest.mark.xdist_group(preset))


@pytest.fixture(scope="session", params=[on(preset) for preset in FORMATS])
def booted(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    program = known.assemble(folder)
    return Booted(request.param, guest.run(folder, COMMANDS.values(), preset=request.param, append="pti=off",
                                           plugin=checks.RECORD_ALL + ",stats=on",
                                           files={"bin/known": program}), program)


def test_what_the_kernel_finds(booted):
    (line,) = [line for line in booted.run.dmesg.splitlines() if "Performance Events:" in line]
    assert f"Performance Events: {FORMATS[booted.preset]}" in line
    assert line.endswith("full-width counters, Intel PMU driver.")


def test_no_warnings(booted):
    """Of NMIs without reason, lost ones, and the like. How long one took is no matter: this machine is emulated."""
    assert checks.warnings(booted.run.dmesg) == []


def test_counts(booted):
    """Exactly: page faults, interrupts and context switches add nothing; exit's own SYSCALL is an instruction and a
    far branch of the program's, whatever it leads to."""
    counts = {line.split(",")[2]: int(line.split(",")[0]) for line in booted.lines("stat")}
    paper = booted.known(WORDS)
    in_loop = sum(name in known.BRANCHES for name in known.EVEN + known.ODD)
    assert counts == {"instructions:u": paper.instructions, "branches:u": paper.iterations // 2 * in_loop + 1}


def test_instructions(booted):
    """Every sample is of the instruction that the period leads to."""
    periods, said = checks.periods_and_ips(booted.lines("instructions"))
    assert periods == {10007}
    paper = booted.known(WORDS)
    assert len(checks.samples(paper, known.ALL, 10007, booted.spacing(10007, "fixed"), said)) >= 456


def test_branches(booted):
    periods, said = checks.periods_and_ips(booted.lines("branches"))
    assert periods == {1010}
    checks.samples(booted.known(WORDS), known.BRANCHES, 1010, booted.spacing(1010), said)


def test_cycles(booted):
    """One for each instruction. On Skylake perf asks for INST_RETIRED with CMASK=16 and INV instead."""
    periods, said = checks.periods_and_ips(booted.lines("cycles"))
    assert periods == {10007}
    checks.samples(booted.known(WORDS), known.ALL, 10007, booted.spacing(10007), said)


def test_counters_read_by_programs(booted):
    """RDPMC at CPL 3, by perf's own test of it."""
    ends = [line.rsplit(":", 1)[1].strip() for line in booted.lines("rdpmc") if ":" in line]
    assert ends.count("Ok") == 2 and "FAILED!" not in ends


def test_tsc_frequency(booted):
    """The brand string has what the TSC does: what Linux has measured when it boots, but that a busy host disturbs it.
    perf's own test wants a frequency, and finds it there alone."""
    (line,) = booted.lines("brand")
    brand = re.search(fr"{booted.preset} @ (\d\.\d\d)GHz$", line)
    assert brand, line
    said = float(brand[1]) * 1000
    measured = [float(mhz) for mhz in re.findall(r"tsc: (?:Detected|Refined .*calibration:) (\d+\.\d+) MHz",
                                                booted.run.dmesg)]
    assert measured and min(abs(said - mhz) / mhz for mhz in measured) < 0.02
    assert booted.lines("expression")[-1].endswith(": Ok")


def test_interrupts(booted):
    """Without PEBS an interrupt comes at each overflow, before the next instruction: that is what it finds. One that
    Linux lets wait for an event more (see follow()) comes that much later; the next does not. Where a fault or another
    interrupt comes between the two, it finds an address of the kernel."""
    periods, said = checks.periods_and_ips(booted.lines("interrupts"))
    assert periods == {10007}
    paper = booted.known(WORDS)
    expected = [paper.event(known.ALL, n) for n in range(10007, paper.instructions - len(known.END), 10007)]
    assert len(said) == len(expected)
    late = [(event, ip) for event, ip in zip(expected, said) if paper.name.get(ip) != paper.after(event)]
    assert len(late) <= checks.few(said)
    for event, ip in late:
        assert ip >> 63 or paper.name[ip] == paper.after((paper.after(event), event[1]))


def test_registers(booted):
    """They are those after the sampled instruction."""
    lines = [line.split() for line in booted.lines("registers")]
    ips = [int(line[0], 16) for line in lines]
    paper = booted.known(WORDS)
    samples = checks.samples(paper, known.ALL, 10007, booted.spacing(10007, "fixed"), ips)
    for (ip, _, *registers), (name, i) in zip(lines, samples):
        said = {key: int(value, 16) for key, value in (word.split(":") for word in registers)}
        assert said == {"IP": int(ip, 16)} | paper.registers(name, i), (name, i)


def test_load_addresses(booted):
    """The load of a word of the buffer and RET's of its return address, which is where it was called from each time."""
    lines = [[int(word, 16) for word in line.split()] for line in booted.lines("loads")]
    paper = booted.known()
    (stack,) = {address for address, ip in lines if paper.name[ip] == "f1"}
    assert stack % 16 == 8 and stack >> 40 == 0x7F

    def seen(event):
        name, i = event
        return name, paper.buffer + 8 * (i % known.WORDS) if name == "l0" else stack

    said = [(paper.name[ip], address) for address, ip in lines]
    expected, stops = paper.follow(known.LOADS, 1008, booted.spacing(1008), said, seen)
    assert said == [seen(event) for event in expected]
    assert stops <= checks.few(said)


def test_branch_stacks(booted):
    """Each begins with the branch the record is of, where that is taken, and goes back as far as there are entries;
    after a context switch there are fewer."""
    lines = [line.split() for line in booted.lines("stacks")]
    paper = booted.known()
    samples = checks.samples(paper, known.BRANCHES, 1010, booted.spacing(1010), [int(line[0], 16) for line in lines])
    full = 0
    for (_, *stack), (name, i) in zip(lines, samples):
        said = [tuple(int(word, 16) for word in entry.split("/")[:2]) for entry in stack]
        assert said and said == list(islice(paper.last_taken(name, i), len(said)))
        full += len(said) == 32
    assert full > len(lines) // 2


def test_call_stacks(booted):
    """LBR as a call stack: there is a caller on it from when CALL has retired until RET has."""
    texts = re.split(r"^.*PERF_RECORD_SAMPLE", "\n".join(booted.lines("callers")), flags=re.M)[1:]
    ips = [int(re.search(r": (0x\w+) period", text)[1], 16) for text in texts]
    paper = booted.known()
    samples = checks.samples(paper, known.ALL, 1007, booted.spacing(1007, "fixed"), ips)
    called = [paper.address["f0"], paper.address["l5"]]
    for text, (name, _) in zip(texts, samples):
        chain = [int(ip, 16) for ip in re.findall(r"^\.{5} +[1-9]: (\w+)$", text, re.M)]
        assert (chain == called) == (name in ("l5", "f0")), text


def test_branch_trace_store(booted):
    """All of the program's branches in their order, and beside them only ways into the kernel."""
    paper = booted.known()
    said = [tuple(int(word, 16) for word in line.split(" => ")) for line in booted.lines("bts")]
    own = [branch for branch in said if branch[1] >> 63 == 0]
    assert own == list(paper.taken())
    assert all(start in paper.name for start, _ in said)


def test_interrupts_are_the_plugins(booted):
    """None is lost, and none comes from elsewhere: what the kernel counts is what the plugin sent."""
    said = {line.split()[0]: int(line.split()[1]) for line in booted.lines("nmi")}
    (pmis,) = re.findall(r"(\d+) PMIs", booted.run.plugin)
    assert said["NMI:"] == said["PMI:"] == int(pmis) > 400
