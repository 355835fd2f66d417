# SPDX-License-Identifier: MIT
"""A dump's frames in Python, apart from the C code: take a log to pieces, change it, put it together again."""

import base64
import re

FRAME = re.compile(rb"~([HMNSLTEUZtu])([0-9a-f]{8})(:[A-Za-z0-9+/=]*|=[^:~\r\n]*):([0-9a-f]{8})")
NEVER = b"\0\t\n\r\x11\x13\x1a\x1b :=~\x7f\xff"  # characters of no 8-bit line's payload


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


def from_line8(text):
    assert not set(text.replace(b"=", b"")) & set(NEVER)
    return b"".join(bytes(c ^ run[0] for c in run[1:]) for run in text.split(b"=")[1:])


def to_line8(payload):
    """With keys of its own: a run goes on as long as its key can carry what comes."""
    text, key = b"", None
    for byte in payload:
        if key is None or byte ^ key in NEVER:
            key = next(k for k in range(255, -1, -1) if k not in NEVER and byte ^ k not in NEVER)
            text += b"=" + bytes([key])
        text += bytes([byte ^ key])
    return text


def payload_of(text):
    """Of what is between a frame's number and its checksum."""
    return from_line8(text) if text[:1] == b"=" else base64.b64decode(text[1:])


def read(log):
    """[(stream, payload)] of all frames, whose checksums must be right."""
    frames = []
    for match in FRAME.finditer(log):
        assert crc32c(match.group(0)[1:-9]) == int(match.group(4), 16)
        assert int(match.group(2), 16) == len(frames)
        frames.append((match.group(1).decode(), payload_of(match.group(3))))
    return frames


def write(frames, eight_bit=False):
    lines = []
    for number, (stream, payload) in enumerate(frames):
        text = b"%s%08x" % (stream.encode(), number)
        text += to_line8(payload) if eight_bit else b":" + base64.b64encode(payload)
        lines.append(b"~%s:%08x\r\n" % (text, crc32c(text)))
    return b"".join(lines)
