# SPDX-License-Identifier: MIT
"""Which writes of MSRs raise #GP: in the guest, each bit of each alone (guest/reserved.asm), against what the manual
says of the generation, written down here once more."""

import pytest
from bare_guest import run

ALL = (1 << 64) - 1
NONE = "not there"
READ_ONLY = "read-only"
CANONICAL, CANONICAL_57 = (1 << 47) - 1, (1 << 56) - 1  # of single bits
STATUS = 1 << 63 | 1 << 62  # COND_CHGD, OVF_BUF; further down those of later versions
DEBUGCTL = 0x1FC3  # LBR, BTF, TR, BTS, BTINT, BTS_OFF_OS, BTS_OFF_USR, FREEZE_LBRS_ON_PMI, FREEZE_PERFMON_ON_PMI
ANY = 1 << 21  # AnyThread: from version 3 on
EVENT = 0xFFFFFFFF ^ ANY
ADAPTIVE = 1 << 34
INFO = 0xE00000000000FFFF

# MSR: bits that may be 1.
COMMON = {0xC1: ALL, 0x345: READ_ONLY, 0x38E: READ_ONLY, 0x600: CANONICAL, 0x1D9: DEBUGCTL}
PENRYN = {
    0x1A6: NONE, 0x1A7: NONE,
    0xC5: NONE, 0x186: EVENT, 0x18A: NONE, 0x309: (1 << 40) - 1, 0x30C: NONE, 0x329: NONE, 0x38D: 0xBBB,
    0x38F: 0x3 | 7 << 32, 0x390: 0x3 | 7 << 32 | STATUS, 0x391: NONE, 0x392: NONE, 0x3F1: 1, 0x3F2: NONE, 0x3F6: NONE,
    0x3F7: NONE, 0x4C1: NONE, 0x1C8: NONE, 0x1C9: 3, 0x40: CANONICAL, 0x680: NONE, 0x69F: NONE, 0x6C0: NONE,
    0xDC0: NONE, 0x14CE: NONE, 0x14CF: NONE, 0x1200: NONE, 0x1500: NONE, 0x1600: NONE,
}
HASWELL = {
    **PENRYN, 0x1A6: ALL, 0x1A7: ALL,
    0x186: EVENT | ANY, 0x309: (1 << 48) - 1, 0x38D: 0xFFF, 0x38F: 0xF | 7 << 32,
    0x390: 0xF | 7 << 32 | STATUS | 1 << 61, 0x3F1: 0xF | 0xF << 32, 0x3F6: 0xFFFF, 0x4C1: (1 << 48) - 1, 0x1C8: 0x3FF,
    0x1C9: 0xF, 0x40: NONE, 0x680: CANONICAL | 1 << 63, 0x6C0: CANONICAL,
}
V4 = 1 << 61 | 1 << 60 | 1 << 59 | 1 << 58
SKYLAKE = {
    **HASWELL, 0x390: 0xF | 7 << 32 | STATUS | V4, 0x391: 0xF | 7 << 32 | STATUS | V4, 0x392: READ_ONLY,
    0x3F7: 0xFFFFFF, 0x1C9: 0x1F, 0x680: CANONICAL, 0x69F: CANONICAL, 0xDC0: INFO,
}
COUNTERS = 0xFF | 0xF << 32
ICELAKE = {
    **SKYLAKE, 0xC5: ALL, 0x186: EVENT | ANY | ADAPTIVE, 0x18A: EVENT | ANY | ADAPTIVE, 0x30C: (1 << 48) - 1,
    0x329: (1 << 32) - 1, 0x38D: 0xFFFF | 0x1111 << 32, 0x38F: COUNTERS | 1 << 48,
    0x390: COUNTERS | 1 << 48 | STATUS | V4, 0x391: COUNTERS | 1 << 48 | STATUS | V4,
    0x3F1: COUNTERS, 0x3F2: 0xFF00000F,
}
SAPPHIRE_RAPIDS = {
    **ICELAKE, 0x329: ALL, 0x1C8: NONE, 0x1C9: NONE, 0x680: NONE, 0x69F: NONE, 0x6C0: NONE, 0xDC0: NONE,
    0x14CE: 0x7F000F, 0x14CF: 8 | 16 | 32, 0x1200: ALL, 0x600: CANONICAL_57, 0x1500: CANONICAL_57, 0x1600: CANONICAL_57,
}
NO_ZERO = {0x14CF}


@pytest.mark.parametrize("preset, own", [("penryn", PENRYN), ("haswell", HASWELL), ("skylake", SKYLAKE),
                                         ("icelake", ICELAKE), ("sapphirerapids", SAPPHIRE_RAPIDS)])
def test_reserved_bits(tmp_path, preset, own):
    said, _ = run(tmp_path, "reserved", f"preset={preset}")
    assert said["wrong"] == 0  # RCX and RDX as before, #GP(0), at the WRMSR
    assert said["wrmsr_cpl_3"] == said["rdmsr_cpl_3"] == 13
    for msr, legal in {**COMMON, **own}.items():
        faults, zero, read = (said[f"{what}_{msr:08x}"] for what in "wzr")
        if legal in (NONE, READ_ONLY):
            assert (msr, hex(faults), zero, read) == (msr, hex(ALL), 1, legal == NONE)
        else:
            assert (msr, hex(faults), zero, read) == (msr, hex(ALL & ~legal), msr in NO_ZERO, 0)
    assert len([name for name in said if name.startswith("w_")]) == len({**COMMON, **own})
