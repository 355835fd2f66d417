# SPDX-License-Identifier: MIT
"""Golden logs with something changed, that `cairn check` has to find."""

import struct
import subprocess

import cairn_boot
import frames
from cairn_tool import GOLDEN, TRUTH_PEBS, cairn, events, patch, text_of, truths

EPOCH, HOOK_SESSION = 0xCA01, 0xCA10
PAYLOAD, AREA = 16, 16 + 0x20  # in a Debug Store event: its payload; in an epoch's: the DS area

OLD = subprocess.run([cairn_boot.BUILD / "make_golden", "old"], capture_output=True, check=True).stdout


def lies(log, change):
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    assert cairn("check", "-", data=frames.write(parts)).returncode == 0
    change(parts)
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == 1
    return text_of(done)


def in_format_1(parts):
    """The golden log's records of 176 bytes are as long as those of format 1: no EventingIP, no TSC, RIP at 08, at 90
    every overflow there is; make_golden's log "old" has the area that goes with it. The truth has what it had before
    it had words."""
    for i, (stream, payload) in enumerate(parts):
        if stream == "M":
            parts[i] = (stream, payload.replace(b"ds.format=4", b"ds.format=1"))
    for place in truths(parts, TRUTH_PEBS):
        patch(parts, place, 0x03, b"\x00")
    for frame, at, hook, size in list(events(parts)):
        if hook != EPOCH:
            continue
        kind = parts[frame][1][at + PAYLOAD]
        patch(parts, (frame, at), PAYLOAD + (3 if kind == 1 else 2), b"\x01")
        for record in range(at + PAYLOAD + 0x18, at + size if kind == 2 else 0, 176):
            rip = parts[frame][1][record + 0x28:record + 0x30]
            patch(parts, (frame, record), 0x08, rip)
            patch(parts, (frame, record), 0x90, struct.pack("<Q", 1 | 4 | 1 << 32))
