# SPDX-License-Identifier: MIT
"""Packed dumps tell what the same dump tells that is not packed; damaged in every way they tell nothing else."""

import re
import struct
import subprocess

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, cairn, text_of, without
from unpack import unpack

FEW = ["full", "fragments", "locks", "sessions"]
OTHERS = ["small", "nods", "circular", "lost", "panic", "bts", "ring", "hw", "life", "told", "arch"]


def size(info, letter, head):
    """Bytes of this stream without the heads of its frames, as `cairn info` has them."""
    number, payloads = map(int, re.search(rb"\n  %s \S+ +(\d+) +(\d+)\n" % letter, info).groups())
    return payloads - head * number


def unpacked(info):
    return int(re.search(rb"(\d+)   trace and truth, unpacked\n", info)[1])


def made(kind):
    return subprocess.run([cairn_boot.BUILD / "make_golden", kind], capture_output=True, check=True).stdout


@pytest.mark.parametrize("kind", [*FEW, *map(cairn_boot.long, OTHERS)])
def test_packed_is_the_same(kind):
    plain, packed = made(kind), made(f"packed-{kind}")
    assert b"~t" in packed and b"~T" not in packed and b"~U" not in packed and 2 * len(packed) < 1.2 * len(plain)
    for command in ("dump", "stat", "ds"):
        assert text_of(cairn(command, "-", data=packed)) == text_of(cairn(command, "-", data=plain))
    streams = cairn("info", "-", data=packed).stdout
    assert b"\n  t trace " in streams and b"\n  T trace " not in streams
    plainly = cairn("info", "-", data=plain).stdout
    assert unpacked(streams) == size(plainly, b"T", 0x14) + size(plainly, b"U", 8)


def contents(parts):
    """Whole buffers and truth, by what their frames' heads say, and the text but for the header's."""
    trace, truth = {}, {}
    for stream, payload in parts:
        if stream == "T":
            offset, = struct.unpack_from("<I", payload, 0x0C)
            buffer = trace.setdefault((payload[:0x0C], payload[0x10:0x14]), bytearray())
            assert offset == len(buffer)
            buffer += payload[0x14:]
        elif stream == "U":
            cpu, count, first = struct.unpack_from("<HHI", payload)
            records = truth.setdefault(cpu, bytearray())
            assert (first * 0x30, count * 0x30) == (len(records), len(payload) - 8)
            records += payload[8:]
    return trace, truth, [part for part in parts if part[0] not in "HTUZ"]


@pytest.mark.parametrize("packed, plain", [("packed-line8", "small"), *(
    cairn_boot.long(f"packed-{kind}", kind) for kind in ["line8", *FEW, *OTHERS])])
def test_second_decoder(packed, plain):
    """The decoder in Python, unpack.py, finds what is in the dump that is not packed."""
    parts = unpack(frames.read(made(packed)))
    assert contents(parts) == contents(frames.read(made(plain)))
    assert any(stream == "T" for stream, _ in parts)


@pytest.mark.long
def test_second_decoder_live():
    """The line is faster than that of a dump that is not packed: less is lost. The tool reads what the second decoder
    finds as it reads the dump."""
    packed = made("packed-live")
    parts = unpack(frames.read(packed))
    assert contents(parts)[1] == contents(frames.read(made("live")))[1]
    without(parts, lambda i, stream: False)
    for command in ("dump", "stat", "ds"):
        assert text_of(cairn(command, "-", data=frames.write(parts))) == text_of(cairn(command, "-", data=packed))


@pytest.mark.parametrize("log", ["full", "live"])
@pytest.mark.parametrize("kind, amount", [("random", 20), cairn_boot.long("random", 300), cairn_boot.long("each", 997)])
def test_damage(tmp_path, log, kind, amount):
    (tmp_path / "log").write_bytes(made(f"packed-{log}"))
    done = subprocess.run([cairn_boot.BUILD / "cairn-damage-san", kind, tmp_path / "log", str(amount)],
                          capture_output=True, timeout=3600, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


def test_what_is_behind_a_lost_line_of_a_unit():
    """It cannot be read, is counted, and the line is named as the cause."""
    lines = (GOLDEN / "packed-full.log").read_bytes().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line[:2] == b"~t")
    done = cairn("check", "-", data=b"".join(lines[:first] + lines[first + 1:]))
    number = int(lines[first][2:10], 16)
    errors = " ".join(done.stderr.decode().split())
    assert done.returncode == 1 and f"missing: frame {number} of " in errors, errors
    assert "packed after a missing one, and cannot be read without it" in errors, errors


def test_another_coder_is_refused():
    """By name; nothing is guessed."""
    parts = [(s, p.replace(b"cairn.format=1\n", b"cairn.format=1\ndump.pack=2\n") if s == "H" else p)
             for s, p in frames.read((GOLDEN / "packed-full.log").read_bytes())]
    done = cairn("dump", "-", data=frames.write(parts))
    assert done.returncode == 3 and b"packed by coder version 2; this cairn unpacks only 1" in done.stderr
