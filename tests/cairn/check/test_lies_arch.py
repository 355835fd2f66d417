# SPDX-License-Identifier: MIT
"""Logs of architectural PEBS that lie: each a golden one with something changed; `cairn check` must say what."""

import re
import struct

import pytest

import frames
from cairn_tool import GOLDEN, TRUTH_WORDS, cairn, events, patch, text_of, truths, with_keys
from lying import EPOCH, PAYLOAD, lies

REGISTERS, RECORDS = PAYLOAD + 0x20, PAYLOAD + 0x18  # of an epoch's event; of a records event: the first record
BASE, INDEX, GP, FX = REGISTERS, REGISTERS + 8, REGISTERS + 0x10, REGISTERS + 0x110
SIZE = {"arch": 272, "fragments": 1456}


def of_kind(parts, kind, continues=None):
    return [(i, at) for i, at, hook, _ in events(parts)
            if hook == EPOCH and parts[i][1][at + PAYLOAD] == kind and
            (continues is None or parts[i][1][at + PAYLOAD + 3] == continues)]


def said_in(pattern, text):
    """Whatever line a word has come into."""
    return re.search(pattern, re.sub(r"\s+", " ", text))


def word(value):
    return struct.pack("<Q", value & (1 << 64) - 1)


def changed(at, change):
    """Patches a word of 8 bytes, by what it was."""
    def apply(parts, place, offset=at):
        value, = struct.unpack_from("<Q", parts[place[0]][1], place[1] + offset)
        patch(parts, place, offset, word(change(value)))
    return apply


def late(parts):
    """The first drain that tells of a loss."""
    return next(place for place in of_kind(parts, 1)
                if struct.unpack_from("<Q", parts[place[0]][1], place[1] + PAYLOAD + 0x10)[0])


@pytest.mark.parametrize("change, said", [
    (changed(BASE, lambda v: v + 0x1000 | 1), "IA32_PEBS_BASE gives 8192 bytes, but this CPU's buffer has 4096"),
    (changed(BASE, lambda v: v + 0x1000), "IA32_PEBS_BASE is 0x12341000, but this CPU's buffer is at 0x12340000"),
    (changed(BASE, lambda v: v | 1 | 0x1000), "is not aligned to its size of 8192 bytes"),
    (changed(BASE, lambda v: v | 1 << 55), "IA32_PEBS_BASE is 0x80000012340000: bits 0x80000000000000 of it are"),
    (changed(INDEX, lambda v: v | 1 << 27), "IA32_PEBS_INDEX is .*: bits 0x8000000 of it are reserved"),
    (changed(INDEX, lambda v: v + 16), "4080 bytes of records, but WR is 4096"),
    (changed(INDEX, lambda v: v + 0x1000), "WR, 0x1ff0, is beyond the buffer's 4096 bytes"),
    (changed(INDEX, lambda v: v + (16 << 32)), "the threshold, 0x670, is not 6 records above the base"),
    (changed(INDEX, lambda v: v | 0x2000 << 32), "the threshold, .*, is beyond the buffer's 4096 bytes"),
    (changed(INDEX, lambda v: v ^ 1 << 31), "FULL is 0, but records are lost"),
    (changed(GP, lambda v: v - 1), "CFG_C of PMC0: its reload value, 0xfffffc17, is not that of its period"),
    (changed(GP, lambda v: v & ~(1 << 63)), "CFG_C of PMC0, .*: PEBS is off, but the counter writes records"),
    (changed(GP + 8, lambda v: v | 1 << 63), "CFG_C of PMC1, .*: PEBS is on, but the counter writes no records"),
    (changed(GP + 8, lambda v: v | 7),
     "CFG_C of PMC1: its reload value, 0x7, is not that of a counter without PEBS, 0"),
    (changed(FX, lambda v: v | 1 << 44), "CFG_C of FIXED_CTR0 is .*: bits 0x100000000000 of it are reserved"),
    (changed(FX + 8, lambda v: 1), "CFG_C of FIXED_CTR1: its reload value, 0x1,"),
])
def test_wrong_registers(change, said):
    """Of the drain that came late, so that records were dropped."""
    assert said_in(f"FAIL PEBS registers.*{said}", lies("arch", lambda parts: change(parts, late(parts))))


@pytest.mark.parametrize("keys, said", [
    ({"ds.arch_groups": "0x2000000000000000"},
     "CFG_C of PMC0 asks for groups 0x2000003000000000, but it should ask for 0x2000000000000000"),
    ({"ds.detect.soft.0.2": "CPUID.23H.4:EBX groups|0x20000330|ok|groups"},
     "CFG_C of PMC0, 0xa0000038fffffc18, has bits that CPUID.23H.4 does not list, 0x800000000"),
    ({"ds.cpu.0.buffer.physical": "0x1000"}, "IA32_PEBS_BASE is 0x12340000, but this CPU's buffer is at 0x1000"),
    ({"ds.threshold": "7"}, "the threshold, 0x660, is not 7 records above the base"),
])
def test_registers_against_keys(keys, said):
    assert said_in(f"FAIL PEBS registers.*{said}", lies("arch", lambda parts: with_keys(parts, keys)))


def test_full_without_loss():
    def change(parts):
        for place in of_kind(parts, 1):
            lost, = struct.unpack_from("<Q", parts[place[0]][1], place[1] + PAYLOAD + 0x10)
            if not lost and parts[place[0]][1][place[1] + PAYLOAD + 2] != 1:
                changed(INDEX, lambda v: v | 1 << 31)(parts, place)
                return
    assert said_in("FAIL PEBS registers.*FULL is 1, but no record is lost", lies("arch", change))


def test_loss_unknown():
    """The model counts what it drops; only where it was off, nobody did."""
    def unknown(parts, off):
        for place in of_kind(parts, 1):
            lost, = struct.unpack_from("<Q", parts[place[0]][1], place[1] + PAYLOAD + 0x10)
            if lost:
                patch(parts, place, PAYLOAD + 0x10, word(-1))
                changed(INDEX, lambda v: v & ~(off << 32))(parts, place)
    said = "the number of lost records is unknown, but the model counts them"
    assert said_in(f"FAIL PEBS registers.*{said}", lies("arch", lambda parts: unknown(parts, 0)))
    parts = frames.read((GOLDEN / "arch.log").read_bytes())
    unknown(parts, 1)
    assert said not in text_of(cairn("check", "-", data=frames.write(parts)))


def test_index_that_does_not_go_back():
    """A processor that refuses it is believed: the next drain holds what came since then."""
    parts = frames.read((GOLDEN / "fragments.log").read_bytes())
    cpu0 = [place for place in of_kind(parts, 1) if parts[place[0]][1][8] == 0]
    first, = struct.unpack_from("<Q", parts[cpu0[1][0]][1], cpu0[1][1] + INDEX)
    wr = first & 0x7FFFFF0
    changed(INDEX, lambda v: v + wr)(parts, cpu0[2])
    text = text_of(cairn("check", "-", data=frames.write(parts)))
    assert "bytes of records, but WR" not in text


@pytest.mark.parametrize("log, place, offset, value, said", [
    ("arch", 0, 0x00, lambda v: v | 1 << 42, "its header, .*, has reserved bits, 0x40000000000"),
    ("arch", 0, 0x00, lambda v: v | 1 << 40, "272 bytes are too few for the groups in its header"),
    ("arch", 0, 0x00, lambda v: v | 1 << 62, "272 bytes are too few for the groups in its header"),
    ("arch", 0, 0x00, lambda v: v & ~(1 << 63), "its first fragment has no basic group"),
    ("arch", 0, 0x00, lambda v: v & ~(7 << 36), "48 bytes that belong to no group"),
    ("arch", 0, 0x08, lambda v: 5, "the reserved word at 0x8 is 0x5, not 0"),
    ("arch", 0, 0x30, lambda v: 1, "the reserved word at 0x30 is 0x1, not 0"),
    ("arch", 0, 0x108, lambda v: 9, "the padding word at 0x108 is 0x9, not 0"),
    ("arch", 0, 0x18, lambda v: 2, "it names PMC1, whose CFG_C has PEBS off"),
    ("arch", 0, 0x18, lambda v: 0, "counters 0x0 are not among 0x1"),
    ("arch", 0, 0xe0, lambda v: 1 << 32 | 5, "it shows counters 0x100000005, but CFG_C asks for 0x100000003"),
    ("arch", 0, 0xe8, lambda v: 3, "272 bytes are too few for the groups in its header"),
    ("arch", 0, 0x20, lambda v: 1, r"TSC 1 is before its epoch, \d+"),
    ("fragments", 0, 0x160, lambda v: 6, "XSTATE components 0x6, but areas 0x2"),
    ("fragments", 0, 0x10, lambda v: v & ~(1 << 63), "its first fragment has no basic group"),
])
def test_impossible_record(log, place, offset, value, said):
    text = lies(log, lambda parts: changed(RECORDS + offset, value)(parts, of_kind(parts, 2, 0)[place]))
    assert said_in(f"FAIL PEBS records.*{said}", text), text


def test_groups_that_nobody_asked_for():
    def change(parts):
        for place in of_kind(parts, 1):
            changed(GP, lambda v: v & ~(1 << 61))(parts, place)
    assert said_in("FAIL PEBS records.*groups 0xa000003000000000, but CFG_C asks for 0x8000003000000000",
                   lies("arch", change))


@pytest.mark.parametrize("offset, value, said", [
    (0x00, lambda v: v ^ 1 << 30, "HEADER header is 0xa000003000000110, in truth 0xa000003040000110"),
    (0x40, lambda v: v ^ 1, "GPR RFLAGS is 0x203, in truth 0x202"),
    (0xd0, lambda v: 8, "GPR SSP is 0x8, in truth 0x0"),
    (0xf8, lambda v: v ^ 1, "CNTR PMC1 is "),
    (0x28, lambda v: 0x30001, "BASIC retire is 0x30001, in truth 0x10001"),  # of latencies the truth knows nothing
])
def test_wrong_word(offset, value, said):
    text = lies("arch", lambda parts: changed(RECORDS + offset, value)(parts, of_kind(parts, 2, 0)[0]))
    assert said_in(f"FAIL truth: each PEBS record, word by word.*{said}", text), text


@pytest.mark.parametrize("offset, value, said", [
    (0x00, lambda v: 32, ""),  # a null header of another size: what follows is no header
    (0x10, lambda v: v ^ 1 << 30, "HEADER header is 0x80000000.*, in truth 0x80000000c0000040"),
    (0x50, lambda v: v | 1 << 61, "HEADER header is "),
    (0x288, lambda v: 1, "LBR LBR_CTL is 0x1, in truth 0x7f0007"),
    (0x168, lambda v: 1, "XER reserved is 0x1, in truth 0x0"),
    (0x170, lambda v: v ^ 4, "XMM XMM0.low is "),
    (0x2b8, lambda v: v ^ 4, "LBR 0.to is "),
])
def test_wrong_word_of_a_fragment(offset, value, said):
    text = lies("fragments", lambda parts: changed(RECORDS + offset, value)(parts, of_kind(parts, 2, 0)[0]))
    assert said_in(f"FAIL .*{said}", text), text


def test_policy_of_fragments():
    """By the policies the model's records are whole, or not."""
    parts = frames.read((GOLDEN / "fragments.log").read_bytes())
    with_keys(parts, {"ds.policy.arch_fragments": "cont|do they?"})
    text = text_of(cairn("check", "-", data=frames.write(parts)))
    assert said_in("word by word.*HEADER header is 0x10, in truth 0xc0000010", text)
    parts = frames.read((GOLDEN / "arch.log").read_bytes())
    with_keys(parts, {"ds.policy.arch_padding": "apart|does it?"})
    text = text_of(cairn("check", "-", data=frames.write(parts)))
    assert said_in("HEADER header is 0xa000003040000110, in truth 0xa000003040000108", text)


def test_truth_of_another_record():
    """What the truth has of headers counts for each of them."""
    def change(parts):
        for frame, at in truths(parts, TRUTH_WORDS):
            if parts[frame][1][at + 2] == 4 and parts[frame][1][at + 3] == 0:  # architectural, from its first word on
                patch(parts, (frame, at), 8 + 8, word(7))  # masks
                return
    assert said_in("word by word.*CNTR masks is 0x100000003, in truth 0x7", lies("arch", change))


@pytest.mark.parametrize("index, said", [
    (8, "PebsIndex 0x.* is not at the end of a record"),
    (0x4000, "0x4000 is not within 0x0..0x1000 of this CPU's epoch 0"),
])
def test_wrong_stamp(index, said):
    def change(parts):
        for frame, at, hook, _ in events(parts):
            if hook == 0x525:
                changed(16, lambda v: v + index if index == 8 else index)(parts, (frame, at))
                return
    assert said_in(f"FAIL .*{said}", lies("arch", change))


@pytest.mark.parametrize("log, change, said", [
    ("fragments", lambda parts: patch(parts, of_kind(parts, 2, 1)[0], PAYLOAD + 3, b"\x00"), ""),
    ("fragments", lambda parts: patch(parts, of_kind(parts, 2, 1)[1], PAYLOAD + 8, word(0x12340000)),
     "of 1 record of epoch 0 only parts are present"),
    ("arch", lambda parts: patch(parts, of_kind(parts, 2, 0)[1], PAYLOAD + 3, b"\x01"),
     "of 1 record of epoch 0 only parts are present"),
    ("fragments", lambda parts: patch(parts, of_kind(parts, 2, 1)[1], PAYLOAD + 0x14, struct.pack("<I", 77)),
     "part 77 of a drain's records, but 3 was expected"),
])
def test_wrong_parts(log, change, said):
    assert said_in(f"FAIL (PEBS records|events).*{said}", lies(log, change))


def test_model_log():
    """IA32_PEBS_INDEX of the model's log, record by record."""
    def change(parts):
        for frame, at, hook, size in events(parts):
            if hook == 0xCA03:
                for action in range(at + PAYLOAD + 0x38, at + size, 24):
                    if parts[frame][1][action] == 3:
                        patch(parts, (frame, action), 16, word(0x120))
                        return
    assert said_in("FAIL model's log.*a record of 272 bytes, but PebsIndex moves by 288", lies("arch", change))
