# SPDX-License-Identifier: MIT
"""The same programs on one CPU, once stepped by the kernel (ds=soft, stock QEMU), once with the Debug Store that the
plugin is: what each thread does in ring 3 is the same to both, branch by branch and register by register. How far a
thread gets until it is told to stop is not: that is what either of the two ends with."""

import re
import struct
from collections import defaultdict

import pytest

import cairn_boot as cb
import frames
from cairn_log import cairn, checked
from cairn_tool import events

PAYLOAD, TID, HEAD = 16, 0x40, 0x18  # of an event; of an epoch of BTS; of records
# Words of a record, and where it has its instruction and its registers: RFLAGS, RIP and the others.
LAYOUT = {"icelake": (4 + 18, 1, 4), "pantherlake": (2 + 6 + 20, 2, 8)}
GPR = 18
IP, RFLAGS, RIP = 0, 1, 2            # of what states() gives
KERNEL = 1 << 63
ARITHMETIC = 0x8D5                   # CF PF AF ZF SF OF
STOPPING = 12                        # branches at most of a thread that has been told to stop; as many instructions


def run(tmp_path, name, period, switches, *options):
    """A boot with the workload whose programs in ring 3 do nothing by the clock, unless they are told to stop."""
    result = cb.boot(tmp_path / name, "--smp", 1, "workload=user", "truth=1", f"switches={switches}", cb.UNHURRIED,
                     "trace.buffers=1024", f"pebs=INST_RETIRED.ANY:{period}:u", "pebs.records=1024",
                     "pebs.threshold=512", "bts=interrupt", "bts.rings=u", "dump.pack=0", *options)
    assert result.status == cb.PASS, result.output
    checked(result.log)
    assert not re.search(r"^(lost|throttled): ", cairn("check", result.log)[1], re.M)
    return result.log


def payloads(parts, hook):
    return [parts[frame][1][at + PAYLOAD:at + size] for frame, at, number, size in events(parts) if number == hook]


def branches(log):
    """All branches of each thread, in order."""
    of, tid = defaultdict(list), None
    for event in payloads(frames.read(log.read_bytes()), 0xCA02):
        if event[0] == 1:  # an epoch; its records follow
            tid, = struct.unpack_from("<I", event, TID)
        else:
            size, = struct.unpack_from("<I", event, 16)
            of[tid] += [struct.unpack_from("<QQ", event, HEAD + at) for at in range(0, size, 24)]
    return of


def states(log, preset):
    """Of each thread, in order, what each PEBS record has of it: its instruction, RFLAGS, RIP and all registers."""
    words, ip, registers = LAYOUT[preset]
    records = []
    for event in payloads(frames.read(log.read_bytes()), 0xCA01):
        if event[0] == 2:
            size, = struct.unpack_from("<I", event, 16)
            for at in range(HEAD, HEAD + size, 8 * words):
                record = struct.unpack_from(f"<{words}Q", event, at)
                records.append((record[ip],) + record[registers:registers + GPR])
    threads = re.findall(r"(?m)^ *[\d.]+ +0 \* \S+ +(\S+)$", cairn("dump", log)[1])
    assert len(threads) == len(records)
    of = defaultdict(list)
    for thread, record in zip(threads, records):
        of[thread].append(record)
    return of


def of_programs(found, system):
    """Without interrupts and exceptions, which are branches for a processor, and not for ds=soft
    (docs/explain/ds.md): they
    lead into the kernel, but not where SYSCALL does."""
    return [branch for branch in found if branch[1] < KERNEL or branch[1] == system]


def as_qemu_does(state):
    """SYSCALL clears no arithmetic flag but those in IA32_FMASK; QEMU's clears all, and ds=soft tells of a processor's.
    So they are not compared there."""
    if state[RIP] < KERNEL:
        return state
    return state[:RFLAGS] + (state[RFLAGS] & ~ARITHMETIC,) + state[RIP:]


@pytest.mark.parametrize("preset", ["icelake", cb.long("pantherlake")])
def test_programs(tmp_path, preset):
    soft = run(tmp_path, "soft", 1, 60, "ds=soft", f"ds.preset={preset}")
    hw = run(tmp_path, "hw", 13, 120, "ds=hw", "--qemu-ds", f"preset={preset},exact=flags")

    theirs, ours = branches(soft), branches(hw)
    system, = {to for found in theirs.values() for _, to in found if to >= KERNEL}
    assert set(theirs) == set(ours) and len(ours) == 6
    assert any(len(of_programs(found, system)) < len(found) for found in ours.values())  # interrupts
    compared = 0
    for tid, found in ours.items():
        found = of_programs(found, system)
        equal = next((i for i, both in enumerate(zip(found, theirs[tid])) if both[0] != both[1]),
                     min(len(found), len(theirs[tid])))
        assert min(len(found), len(theirs[tid])) - equal <= STOPPING, (tid, found[equal], theirs[tid][equal])
        compared += equal
    assert compared > 500

    theirs, ours = states(soft, preset), states(hw, preset)
    compared = 0
    for thread, found in ours.items():
        known = {as_qemu_does(state) for state in theirs[thread]}
        equal = [as_qemu_does(state) in known for state in found[:-STOPPING]]
        assert all(equal[:sum(equal)]), (thread, found[equal.index(False)])  # then this one got farther
        compared += sum(equal)
    assert compared > 100
