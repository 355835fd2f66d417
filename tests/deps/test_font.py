# SPDX-License-Identifier: MIT
"""tools/font.py: console fonts of both formats become the same letters; what is no such font is refused in one line."""

import gzip
import struct
import subprocess
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "font.py"
HEIGHT = 3


def glyph(code, width=8):
    """One that no other character has; a blank for a blank."""
    line = (width + 7) // 8
    return b"".join((0 if code == 32 else code << line * 8 - 8 | row << line * 8 - width).to_bytes(line, "big")
                    for row in range(HEIGHT))


def psf1(codes=range(256), table=True):
    data = b"\x36\x04" + bytes([2 if table else 0, HEIGHT]) + b"".join(map(glyph, codes))
    if table:  # each is also a private character, and part of a sequence that counts for nothing
        data += b"".join(struct.pack("<5H", 0xE000 + c, c, 0xFFFE, 0x41, 0xFFFF) for c in codes)
    return data


def psf2(codes=range(256), width=8, table=True):
    size = len(glyph(0, width))
    data = struct.pack("<8I", 0x864AB572, 0, 36, int(table), len(codes), size, HEIGHT, width) + b"more"
    data += b"".join(glyph(c, width) for c in codes)
    if table:
        data += b"".join(chr(c).encode() + b"\xfeA\xff" for c in codes)
    return data


def convert(tmp_path, data):
    font = tmp_path / "font"
    font.write_bytes(data)
    return subprocess.run([TOOL, font], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("data", [
    psf1(), psf1(table=False), gzip.compress(psf1(), mtime=0), psf2(), psf2(table=False),
    psf1(list(range(255, -1, -1))),
    psf2(list(range(255, -1, -1))),
    ], ids=["psf1", "psf1-plain", "gzip", "psf2", "psf2-plain", "psf1-order", "psf2-order"])
def test_formats(tmp_path, data):
    result = convert(tmp_path, data)
    assert result.returncode == 0, result.stderr
    assert "    {0x0, 0x0, 0x0}, /*   */\n    {0x21, 0x21, 0x23}, /* ! */\n" in result.stdout.replace("0x20, ", "")
    lines = [line for line in result.stdout.splitlines() if line.startswith("    {")]
    assert len(lines) == 95
    for code, line in zip(range(32, 127), lines):
        rows = ", ".join(f"0x{0 if code == 32 else code | row:x}" for row in range(HEIGHT))
        assert line == f"    {{{rows}}}, /* {chr(code)} */"
    assert f"font_console = {{8, {HEIGHT}, &glyphs[0][0]}};" in result.stdout


def test_wide(tmp_path):
    """Rows of more than one byte: the left pixel is the highest of `width` bits."""
    result = convert(tmp_path, psf2(width=12))
    assert result.returncode == 0, result.stderr
    assert "    {0x410, 0x411, 0x412}, /* A */\n" in result.stdout


@pytest.mark.parametrize("data, why", [
    (b"", "no PSF font"), (b"\x36\x04", "no PSF font"), (psf2()[:31], "no PSF font"), (psf1()[:700], "ends before"),
    (psf2()[:700], "ends before"), (psf1(list(range(256)), False)[:-1], "ends before"),
    (psf1([c if c != 65 else 66 for c in range(256)]), "has no 'A'"),
    (psf2([c for c in range(200) if c != 65]), "has no 'A'"), (psf2(range(100), table=False), "has no 'd'"),
    (psf1([0] + list(range(1, 32)) + [32, 32] + list(range(34, 256))), "has no '!'"),
    (psf2()[:28] + b"\0" + psf2()[29:], "glyphs of 0 x 3 pixels"), (psf2(width=33), "glyphs of 33 x 3 pixels"),
    (psf1().replace(glyph(66), b"\0" * HEIGHT), "draws 'B' without a pixel"),
    (gzip.compress(psf1(), mtime=0)[:-20], "end-of-stream"), (gzip.compress(psf1(), mtime=0)[:40] + b"x" * 40, ""),
    ])
def test_refused(tmp_path, data, why):
    result = convert(tmp_path, data)
    assert result.returncode == 1 and not result.stdout, result
    assert result.stderr.startswith("font: ") and result.stderr.count("\n") == 1 and why in result.stderr, result.stderr
