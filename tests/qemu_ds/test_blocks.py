# SPDX-License-Identifier: MIT
"""Random code on a bare processor: what is counted, stored by BTS and by PEBS is what the code does on paper, whether
the plugin counts by blocks or all goes through the model."""

import time

import pytest
from bare_guest import ENDED, assemble, qemu
from random_guest import Generator, steps

GP_COUNTERS = 8
COUNTER = 1 << 48
FIXED = 1 << 32  # in IA32_PERF_GLOBAL_CTRL and IA32_PEBS_ENABLE
RECORDS = 1 << 32  # Adaptive_Record of fixed counter 0
EVENTS = {"branches": 0x4300C4, "taken": 0x4320C4, "loads": 0x4381D0, "stores": 0x4382D0,
          "jumping": 0x4301C4, "staying": 0x4310C4}  # conditional branches
NO_CALL = 0x01C302C4  # INV and CMASK=1: instructions that are no near calls; all go through the model
BTS, LBR = 0xC0, 1  # in IA32_DEBUGCTL
LBR_DEPTH = 32
PERIODS = range(1, 8)


def mode(debugctl=0, events=(), period=0):
    """As guest/random.asm reads it; `period`: of PEBS by fixed counter 0."""
    sel = [*events, *[0] * (GP_COUNTERS - len(events))]
    return [debugctl, FIXED | (1 << len(events)) - 1, FIXED if period else 0, 3 | (RECORDS if period else 0),
            (COUNTER - period) % COUNTER, *sel]


FEW = {"instructions": mode(), "bts": mode(BTS), "conditional": mode(events=(EVENTS["jumping"], EVENTS["staying"])),
       **{f"pebs {n}": mode(period=n) for n in PERIODS[:2]}}
ALL = {"counts": mode(events=tuple(EVENTS.values())),
       "model": mode(events=(*EVENTS.values(), NO_CALL)),
       "lbr": mode(LBR, tuple(EVENTS.values())),
       "history": mode(LBR, (EVENTS["branches"], EVENTS["loads"])),  # taken branches are for LBR alone
       "bts": mode(BTS, tuple(EVENTS.values())),
       **{f"pebs {n}": mode(events=tuple(EVENTS.values()), period=n) for n in PERIODS}}


def expected(name, numbers, retired, taken):
    """(fixed counter 0, the others, branches, event IPs)"""
    counts = {"branches": sum(1 for step in retired if step.branch),
              "taken": sum(1 for step in retired if step.branch in ("near", "conditional") and step.to is not None),
              "jumping": sum(1 for step in retired if step.branch == "conditional" and step.to is not None),
              "staying": sum(1 for step in retired if step.branch == "conditional" and step.to is None),
              "loads": sum(step.loads for step in retired), "stores": sum(step.stores for step in retired)}
    enabled = [sel for sel in numbers[5:] if sel]
    gp = [counts[event] for event, sel in EVENTS.items() if sel in enabled]
    ips = []
    fixed = len(retired)
    if name.startswith("pebs"):
        period = int(name.split()[1])
        ips = [step.ip for step in retired[period - 1::period]]
        fixed = (fixed % period - period) % COUNTER
    return fixed, gp, {"bts": taken, "lbr": taken[-LBR_DEPTH:], "history": taken[-LBR_DEPTH:]}.get(name, []), ips


def said(line):
    counts, branches, ips = ([int(word, 16) for word in part.split()] for part in line.split(":"))
    return counts[0], counts[1:], list(zip(branches[::2], branches[1::2])), ips


def brief(value, at):
    """Of lists what stands about their first difference."""
    if not isinstance(value, list) or at is None:
        return value if at is None or not isinstance(value, list) else len(value)
    return f"{len(value)}: [{at}] " + " ".join(
        "->".join(f"{word:x}" for word in (entry if isinstance(entry, tuple) else (entry,)))
        for entry in value[max(0, at - 2):at + 3])


def differences(generator, modes, output):
    """A line for each."""
    lines = output.splitlines()
    said_first = [line.split("=") for line in lines if "=" in line]
    labels = {name: int(value, 16) for name, value in said_first}
    if "stray" in labels:
        return [f"{name} {value:x}" for name, value in labels.items()]
    lines = iter(lines[len(said_first):])
    found = []
    for number, entry in enumerate(generator.entries):
        retired, taken = steps(entry, generator.following(), labels)
        for name, numbers in modes.items():
            is_, ought = said(next(lines)), expected(name, numbers, retired, taken)
            branches = is_[2] if name == "bts" else is_[2][-len(ought[2]):]  # before them is what was there before
            is_ = (is_[0], is_[1][:len(ought[1])], branches, is_[3])
            for what, a, b in zip(("instructions", "events", "branches", "IPs"), is_, ought):
                if a != b:
                    at = None
                    if what in ("branches", "IPs"):
                        at = next((i for i, (c, d) in enumerate(zip(a, b)) if c != d), min(len(a), len(b)))
                    found.append(f"piece {number} at {entry.at:x}, {name}: {what} {brief(a, at)}, not {brief(b, at)}")
    assert not list(lines)
    return found


def boot(folder, seed, pieces, modes, cpus):
    # Where QEMU drops blocks at the moment one has stored into itself, some count twice: docs/reference/qemu-ds.md,
    # section 3.
    generator = Generator(seed, pieces, changes=cpus == 1)
    code = generator.image(folder, list(modes.values()))
    image = assemble(folder, "random", f"SMP={int(cpus > 1)}")
    image.write_bytes(code + image.read_bytes())
    # With room for few blocks, which another processor fills, QEMU drops them all the time: both wait for one another,
    # and that takes long where the host is busy.
    done = qemu(image, "stats=on", "-smp", f"{cpus}", accelerator="tcg,tb-size=1" if cpus > 1 else "tcg", timeout=600)
    assert done.returncode == ENDED, (seed, done.returncode, done.stdout[-500:], done.stderr)
    found = differences(generator, modes, done.stdout)
    assert not found, "\n".join([f"seed {seed}, {len(found)} differences, code in {folder}:", *found[:20]])


@pytest.mark.parametrize("modes", [FEW, ALL], ids=["few", "all"])
@pytest.mark.parametrize("cpus, pieces", [(1, 80), (2, 50)])
def test_random_code(tmp_path, modes, cpus, pieces):
    boot(tmp_path, 1, pieces, modes, cpus)


@pytest.mark.long
@pytest.mark.parametrize("number", range(80))
def test_new_random_code(tmp_path, number):
    """Other code each time; the seed is in what fails."""
    boot(tmp_path, int(time.time()) * 100 + number, 80, (FEW, ALL)[number % 2], 1 + number // 2 % 2)
