#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the font of the kernel's screen at build time, from a console font of the system (PSF, of Linux' console).

    tools/font.py --which             prints which font would be used; fails if there is none
    tools/font.py FILE.psfu.gz        prints C text with the glyphs of ASCII's printable characters
"""

import gzip
import struct
import sys
import zlib
from pathlib import Path

# Spleen first: it is under the BSD licence, so a kernel with it may be passed on. The others are what other systems
# bring with their keyboard tools.
PLACES = [
    "/usr/share/consolefonts/spleen-8x16.psfu.gz",
    "/usr/lib/kbd/consolefonts/ter-116n.psf.gz",
    "/usr/share/kbd/consolefonts/ter-116n.psf.gz",
    "/usr/lib/kbd/consolefonts/default8x16.psfu.gz",
    "/usr/share/kbd/consolefonts/default8x16.psfu.gz",
]
FIRST, LAST = 0x20, 0x7E
MOST_WIDTH, MOST_HEIGHT = 32, 64  # kernel/screen/pixels.h


class FontError(Exception):
    """The file is no font that can be used: one line why."""


def header(data):
    """(width, height, bytes of a glyph, where glyphs begin, their number, the characters of each or None)"""
    if data[:2] == b"\x36\x04" and len(data) >= 4:  # PSF 1
        mode, height = data[2], data[3]
        count = 512 if mode & 1 else 256
        return 8, height, height, 4, count, psf1_table(data[4 + count * height:]) if mode & 6 else None
    if data[:4] == b"\x72\xb5\x4a\x86" and len(data) >= 32:  # PSF 2
        _, start, flags, count, size, height, width = struct.unpack_from("<7I", data, 4)
        return width, height, size, start, count, psf2_table(data[start + count * size:]) if flags & 1 else None
    raise FontError("no PSF font")


def psf1_table(data):
    """Per glyph a list of 16-bit characters, ended by FFFFH; sequences of several begin with FFFEH and do not count."""
    table, single = [set()], True
    for (code,) in struct.iter_unpack("<H", data[:len(data) & ~1]):
        if code == 0xFFFF:
            table.append(set())
            single = True
        elif code == 0xFFFE:
            single = False
        elif single:
            table[-1].add(code)
    return table


def psf2_table(data):
    """The same in UTF-8, with FFH and FEH."""
    table = []
    for entry in data.split(b"\xff"):
        table.append({ord(c) for c in entry.split(b"\xfe")[0].decode("utf-8", errors="ignore")})
    return table


def read(path):
    """(width, height, {character: rows of the glyph, each a number whose highest of `width` bits is the left pixel})"""
    try:
        data = Path(path).read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise FontError(str(error)) from None
    width, height, size, start, count, table = header(data)
    line = (width + 7) // 8
    if not (1 <= width <= MOST_WIDTH and 1 <= height <= MOST_HEIGHT and size == line * height):
        raise FontError(f"glyphs of {width} x {height} pixels in {size} bytes")
    if start + count * size > len(data):
        raise FontError(f"ends before its {count} glyphs do")
    glyphs = {}
    for code in range(FIRST, LAST + 1):
        at = code if table is None else next((i for i, codes in enumerate(table[:count]) if code in codes), None)
        if at is None or at >= count:
            raise FontError(f"has no '{chr(code)}'")
        bits = data[start + at * size:start + (at + 1) * size]
        glyphs[code] = [int.from_bytes(bits[i:i + line], "big") >> (line * 8 - width) for i in range(0, size, line)]
    for code, rows in glyphs.items():
        if (code == FIRST) == any(rows):
            raise FontError(f"draws '{chr(code)}' {'with' if code == FIRST else 'without'} a pixel")
    return width, height, glyphs


def c_text(path):
    width, height, glyphs = read(path)
    rows = [f"    {{{', '.join(f'0x{row:x}' for row in glyphs[code])}}}, /* {chr(code)} */"
            for code in range(FIRST, LAST + 1)]
    return "\n".join([f"/* Made by tools/font.py from {path} */", '#include "kernel/screen/font.h"', "",
                      f"static const uint32_t glyphs[FONT_GLYPHS][{height}] = {{", *rows, "};", "",
                      f"const struct font font_console = {{{width}, {height}, &glyphs[0][0]}};", ""])


def main(arguments):
    if arguments == ["--which"]:
        found = next((place for place in PLACES if Path(place).exists()), None)
        if found is None:
            sys.exit("font: no console font found: run 'make deps' (package fonts-spleen), or make FONT=FILE.psf")
        print(found)
    elif len(arguments) == 1 and not arguments[0].startswith("-"):
        try:
            print(c_text(arguments[0]), end="")
        except FontError as error:
            sys.exit(f"font: {arguments[0]}: {error}")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
