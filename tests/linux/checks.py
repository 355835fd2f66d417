# SPDX-License-Identifier: MIT
"""What the tests of perf have in common."""

import re
import subprocess
from collections import Counter

import guest
import known
import tsc

ARCHITECTURAL = ("pantherlake", "clearwaterforest")  # PEBS there; Debian 13's kernel does not know it

# The rate is also a limit for each tick: at 1000 four samples, which is enough where perf chooses the period. Where a
# program has its own period and each sample is compared, none may be left out. Linux refuses another rate while the
# percentage is 0, as the guest has it. Without the kernel's symbols, which nothing here is about, `perf record` takes a
# fifth of its time.
RATE = ("cd /proc/sys/kernel; echo 25 >perf_cpu_time_max_percent; echo {} >perf_event_max_sample_rate; "
        "echo 0 >perf_cpu_time_max_percent; cd - >/dev/null")
QUIET, BY_FREQUENCY = (f"{RATE.format(rate)}; echo 2 >/proc/sys/kernel/kptr_restrict" for rate in (100000, 1000))

_WARNINGS = re.compile(r"unknown reason|NMI.*(lost|spurious|stuck)|perf.*(stuck|interrupt took)|BUG: |\bOops|"
                       r"WARNING: (CPU|\S+:\d+ at )|unchecked MSR|Call Trace|PEBS (bug|disabled)|Broken PMU|"
                       "PMU(?!.*workaround).*disabled|(soft|hard) lockup", re.I)
LEAST = 128  # spr_limit_period() in Linux' arch/x86/events/intel/core.c
VECTORS = "-c 997 --intr-regs=cx,xmm0,xmm15 vectors"
RANDOM = guest.BUILD / "linux-random"
_STEP = re.compile(r"^(.) +\d+ +([0-9a-f]+) ((?: [0-9a-f]{2})+)")


def kernel(preset):
    return guest.NEWER if preset in ARCHITECTURAL else guest.KERNEL


def warnings(dmesg):
    return [line for line in dmesg.splitlines() if _WARNINGS.search(line)]


def tsc_rates(dmesg):
    """Linux knows how fast the TSC runs: each rate that it prints is the host's, measured here."""
    rates = [float(mhz) for mhz in re.findall(r"tsc: (?:Detected|Refined .*calibration:) (\d+\.\d+) MHz", dmesg)]
    mhz = tsc.khz() / 1000
    assert rates and all(abs(rate - mhz) < mhz / 100 for rate in rates), (rates, mhz)


def few(said):
    """How often Linux may have stopped a counter right at an overflow: more often on a busy host."""
    return 4 + len(said) // 100


def samples(paper, names, period, spacing, said):
    """[(name, iteration)] of the samples that are there, [IP], and none is missing: each is of the instruction that the
    period leads to, and their distribution over the loop's instructions is the one it predicts."""
    got = [paper.name.get(ip, hex(ip)) for ip in said]
    expected, stops = paper.follow(names, period, spacing, got)
    assert got == [event and event[0] for event in expected]
    assert stops <= few(said)
    at, predicted = 0, Counter()
    while event := paper.event(names, at := at + spacing):
        predicted[event[0]] += 1
    assert set(predicted) == set(got)
    assert all(abs(predicted[name] - count) <= 2 * stops for name, count in Counter(got).items())
    return expected


def precise(paper, names, period, lines):
    """Samples with :ppp, as "period ip ABI:... CX:...": each comes with the event that the period leads to, which RCX
    tells from those of other iterations, and none is missing. Where Linux has stopped such a counter, to switch
    contexts, it starts it with LEAST events left or more, so that the next sample may be later. Where it stops it again
    before that, it takes the sample for one that has been: x86_perf_event_set_period() begins the next period with what
    was left, not with LEAST."""
    at, stops = 0, 0
    for said, ip, _, cx in map(str.split, lines):
        name = paper.name.get(int(ip, 16), ip)
        assert int(said) == period and name in names
        n = paper.count(names, (name, paper.iteration(name, int(cx.removeprefix("CX:"), 16))))
        periods, late = divmod(n - at, period)
        assert periods and late < LEAST, (name, n, at)
        stops += periods - 1 + (late != 0)
        at = n
    assert not paper.event(names, at + 2 * period + LEAST)
    assert stops <= few(lines)


def periods_and_ips(lines):
    said = [line.split() for line in lines]
    return {int(period) for period, _ in said}, [int(ip, 16) for _, ip in said]


def vector_registers(program, said):
    """Lines of samples of vectors.asm with VECTORS: registers are those after the sampled instruction."""
    name_of = {address: name for name, address in known.labels(program, "v[0-9]").items()}
    names = set()
    for ip, _, *registers in (line.split() for line in said):
        values = [(key, int(value, 16)) for key, value in (word.split(":") for word in registers)]
        left = dict(values)["CX"]
        halves = [tuple(value for key, value in values if key == name) for name in ("XMM0", "XMM15")]
        name = name_of.get(int(ip, 16))
        names.add(name)
        if name:  # else before or behind the loop
            assert tuple(halves) == known.vectors(name, left), (name, left)
    assert len(said) >= 98 and names >= {"v0", "v1", "v2", "v3", "v4"}


def _disassembled(said, folder):
    """What the guest said, with the instructions of its steps in words, where this host has objdump for that."""
    lines = said.splitlines()
    steps = {number: step for number, line in enumerate(lines) if (step := _STEP.match(line))}
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


def random_command(seed, programs):
    return f"random --seed {seed} --programs {programs}"


def random_programs(said, seed, programs, folder):
    """None differed from what single-stepping says, and both BTS and PEBS had records of them."""
    assert said.status == 0, _disassembled(said.output, folder)
    total = f"^{programs} programs from seed {seed}: .* [1-9][0-9]* BTS records, [1-9][0-9]* PEBS samples$"
    assert re.search(total, said.output, re.M)
