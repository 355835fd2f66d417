# SPDX-License-Identifier: MIT
"""A dump's frames in Python, apart from the C code: take a log to pieces, change it, put it together again."""

import base64
import re

FRAME = re.compile(rb"~([HMNSLTEUZtu])([0-9a-f]{8}):([A-Za-z0-9+/=]*):([0-9a-f]{8})")


def _table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


_CRC = _table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def read(log):
    """[(stream, payload)] of all frames, whose checksums must be right."""
    frames = []
    for match in FRAME.finditer(log):
        assert crc32c(match.group(0)[1:-9]) == int(match.group(4), 16)
        assert int(match.group(2), 16) == len(frames)
        frames.append((match.group(1).decode(), base64.b64decode(match.group(3))))
    return frames


def write(frames):
    lines = []
    for number, (stream, payload) in enumerate(frames):
        text = b"%s%08x:%s" % (stream.encode(), number, base64.b64encode(payload))
        lines.append(b"~%s:%08x\r\n" % (text, crc32c(text)))
    return b"".join(lines)
