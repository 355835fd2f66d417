#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The picture of the screen in docs/explain/boot.md: screen_picture.py FILE.png [run-qemu.sh's arguments]"""

import struct
import sys
import tempfile
import zlib
from pathlib import Path

import cairn_screen as cs


def png(picture):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + picture.line(0, y, picture.width) for y in range(picture.height))
    head = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) +
            chunk(b"IEND", b""))


def main(file, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        # a machine that was reset waits with its last picture
        with cs.Machine(Path(folder), "--raw", "end=reboot", *arguments,
                        qemu=("-device", "VGA,xres=1024,yres=768", "-no-shutdown")) as machine:
            Path(file).write_bytes(png(machine.wait_for("sum=")))


if __name__ == "__main__":
    main(*sys.argv[1:])
