# SPDX-License-Identifier: MIT
"""Logs of two records of any format, made by hand from the manual's layouts."""

import struct

import frames

BASE = 0xFFFF800000010000
AREA_BYTES = [0x60] * 4 + [0xA0] + [0x1C0] * 2
FIXED_BYTES = [0x90, 0xB0, 0xC0, 0xC8]
GROUPS = {4: 0x0F | 1 << 24, 5: 0x02, 6: 0x32}  # all with two LBR entries; GPR; GPR, counters and metrics


def word(n):
    """A value whose bytes tell where in the record they come from."""
    return 0x0101010101010101 * (n % 256)


def record(form, salt):
    if form < 4:
        words = [word(n) for n in range(FIXED_BYTES[form] // 8)]
    else:
        groups = GROUPS[form]
        count = 4 + (4 if groups & 1 else 0) + (18 if groups & 2 else 0) + (32 if groups & 4 else 0) + \
            (6 if groups & 8 else 0)
        words = [word(n) for n in range(count)]
        if groups & 0x30:
            words += [0x100000081, 3, 7, 8, 9, 10, 11]  # PMC0, PMC7, FIXED_CTR0, then slots and PERF_METRICS
        words[0] = len(words) * 8 << 48 | groups
    words[5] ^= salt
    return struct.pack(f"<{len(words)}Q", *words)


def event(payload):
    size = 16 + len(payload)
    return struct.pack("<IHHq", 0xC0110002, size, 0xCA01, 1000) + payload + bytes(-size % 8)


def log(form, area=None, keys="", name="A_GP_EVENT"):
    """One CPU, one epoch of two records, which differ in their sixth word."""
    records = record(form, 0) + record(form, 1)
    fixed = (0x140 if form >= 5 else 0x80) // 8
    words = [0] * (AREA_BYTES[form] // 8)
    words[4:8] = [BASE, BASE + len(records), BASE + 2 * len(records) + 1, BASE + len(records)]
    words[8] = (1 << 48) - 100003
    if form >= 4:
        words[fixed] = (1 << 48) - 7
    for at, value in (area or {}).items():
        words[at // 8] = value
    epoch = struct.pack("<HBBIQQII", 1, 2, form, 0, 0, 0, len(records), 1) + struct.pack(f"<{len(words)}Q", *words)
    held = struct.pack("<HBBIQII", 2, form, 0, 0, BASE, len(records), 0) + records
    events = bytes(0x48) + event(epoch) + event(held)
    head = struct.pack("<IIHHII", 1, 0, 0, 1, 0, len(events))
    text = f"ds.record_bytes={len(records) // 2}\nds.cpu.0.counters=0 32\nds.event.0={name}:100003:uk\n" \
        f"ds.event.1=A_FIXED_EVENT:7:u\n{keys}"
    parts = [("H", b"cairn.format=1\ndump.frames=5\n"), ("M", text.encode()), ("L", b"session.1.cpus=1\n"),
             ("T", head + events), ("Z", b"dump.frames=5\n")]
    return frames.write(parts)
