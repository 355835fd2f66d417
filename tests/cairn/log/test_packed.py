# SPDX-License-Identifier: MIT
"""Packed dumps tell what the same dump tells that is not packed; damaged in every way they tell nothing else."""

import re
import subprocess

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, cairn, text_of

FEW = ["full", "fragments", "locks", "sessions"]


def size(info, letter, head):
    """Bytes of this stream without the heads of its frames, as `cairn info` has them."""
    number, payloads = map(int, re.search(rb"\n  %s \S+ +(\d+) +(\d+)\n" % letter, info).groups())
    return payloads - head * number


def unpacked(info):
    return int(re.search(rb"(\d+)   trace and truth, unpacked\n", info)[1])


def made(kind):
    return subprocess.run([cairn_boot.BUILD / "make_golden", kind], capture_output=True, check=True).stdout


@pytest.mark.parametrize("kind", [*FEW, *map(cairn_boot.long, ["small", "nods", "circular", "lost", "panic", "bts",
                                                               "ring", "hw", "life", "told", "arch"])])
def test_packed_is_the_same(kind):
    plain, packed = made(kind), made(f"packed-{kind}")
    assert b"~t" in packed and b"~T" not in packed and b"~U" not in packed and 2 * len(packed) < 1.2 * len(plain)
    for command in ("dump", "stat", "ds"):
        assert text_of(cairn(command, "-", data=packed)) == text_of(cairn(command, "-", data=plain))
    streams = cairn("info", "-", data=packed).stdout
    assert b"\n  t trace " in streams and b"\n  T trace " not in streams
    plainly = cairn("info", "-", data=plain).stdout
    assert unpacked(streams) == size(plainly, b"T", 0x14) + size(plainly, b"U", 8)


@pytest.mark.parametrize("log", ["full", "live"])
@pytest.mark.parametrize("kind, amount", [("random", 20), cairn_boot.long("random", 300), cairn_boot.long("each", 997)])
def test_damage(tmp_path, log, kind, amount):
    (tmp_path / "log").write_bytes(made(f"packed-{log}"))
    done = subprocess.run([cairn_boot.BUILD / "cairn-damage-san", kind, tmp_path / "log", str(amount)],
                          capture_output=True, timeout=1200, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


def test_what_is_behind_a_lost_line_of_a_unit():
    """It cannot be read, is counted, and the line is named as the cause."""
    lines = (GOLDEN / "packed-full.log").read_bytes().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line[:2] == b"~t")
    done = cairn("check", "-", data=b"".join(lines[:first] + lines[first + 1:]))
    number = int(lines[first][2:10], 16)
    errors = " ".join(done.stderr.decode().split())
    assert done.returncode == 1 and f"missing: frame {number} of " in errors, errors
    assert "packed behind a missing one, and cannot be read without it" in errors, errors


def test_another_coder_is_refused():
    """By name; nothing is guessed."""
    parts = [(s, p.replace(b"cairn.format=1\n", b"cairn.format=1\ndump.pack=2\n") if s == "H" else p)
             for s, p in frames.read((GOLDEN / "packed-full.log").read_bytes())]
    done = cairn("dump", "-", data=frames.write(parts))
    assert done.returncode == 3 and b"packed by version 2 of the coder" in done.stderr
