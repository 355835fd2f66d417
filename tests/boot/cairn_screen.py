# SPDX-License-Identifier: MIT
"""What is on a machine's screen: pictures by QEMU's screendump, read by the glyphs of the very font the kernel has."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import cairn_boot as cb


class Qmp:
    """QEMU's machine protocol on a socket that is there soon, if `process` goes on."""

    def __init__(self, path, process, limit=cb.LIMIT):
        until = time.monotonic() + limit
        while True:
            self.socket = socket.socket(socket.AF_UNIX)
            try:
                self.socket.connect(str(path))
                break
            except OSError:
                self.socket.close()
                if time.monotonic() > until or process.poll() is not None:
                    raise
                time.sleep(0.1)
        self.socket.settimeout(limit)
        self.stream = self.socket.makefile("rw")
        self.stream.readline()  # the greeting
        self.command("qmp_capabilities")

    def command(self, name, **arguments):
        self.stream.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
        self.stream.flush()
        while True:
            answer = json.loads(self.stream.readline())
            if "event" not in answer:
                assert "return" in answer, answer
                return answer["return"]


class Picture:
    """A binary PPM."""

    def __init__(self, data):
        width, height, most, self.pixels = re.match(rb"P6\s+(\d+)\s+(\d+)\s+(\d+)\s(.*)", data, re.S).groups()
        assert most == b"255"
        self.width, self.height = int(width), int(height)

    def line(self, x, y, width):
        """`width` pixels, of three bytes each."""
        i = 3 * (y * self.width + x)
        return self.pixels[i:i + 3 * width]


def font():
    """(width, height, {rows of bits: character}) as the kernel has it."""
    text = (cb.BUILD / "gen" / "kernel" / "screen" / "font.c").read_text(encoding="utf-8")
    width, height = map(int, re.search(r"font_console = \{(\d+), (\d+), ", text).groups())
    rows = re.findall(r"^    \{(0x.*)\}, /\* (.) \*/$", text, re.M)
    assert len(rows) == 95
    return width, height, {tuple(int(row, 16) for row in bits.split(", ")): c for bits, c in rows}


def grid(picture):
    """(scale, columns, rows, left, top): docs/explain/boot.md, "The screen"."""
    width, height, _ = font()
    scale = max(1, min(picture.width // (width * 100), picture.height // (height * 30), 16))
    columns, rows = min(picture.width // (width * scale) - 1, 240), min(picture.height // (height * scale), 129)
    return (scale, columns, rows, (picture.width - columns * width * scale) // 2,
            (picture.height - rows * height * scale) // 2)


def cell(picture, x, y, scale, glyphs):
    """(character, ink, paper) of the cell whose corner is at x, y; '' where it is none, ink None where it is blank.
    Each of its squares must be of one colour."""
    width, height, table = glyphs
    lines = [picture.line(x, y + i, width * scale) for i in range(height * scale)]
    if len(set(lines)) == 1 and lines[0] == lines[0][:3] * (width * scale):
        return " ", None, lines[0][:3]
    colours = {}
    bits = []
    for row in range(0, height * scale, scale):
        squares = [lines[row][i:i + 3] for i in range(0, 3 * width * scale, 3 * scale)]
        if any(line != b"".join(square * scale for square in squares) for line in lines[row:row + scale]):
            return "", None, None
        bits.append(sum(colours.setdefault(square, len(colours)) << (width - 1 - i)
                        for i, square in enumerate(squares)))
    names = list(colours)
    if len(names) == 2:
        if tuple(bits) in table:
            return table[tuple(bits)], names[1], names[0]
        inverse = tuple(row ^ (1 << width) - 1 for row in bits)
        if inverse in table:
            return table[inverse], names[0], names[1]
    return "", None, None


def text_columns(picture, glyphs):
    """How many columns are left of the QR code, if there is one: its corner is light, and the status does not go on
    below it."""
    scale, columns, rows, left, top = grid(picture)
    if picture.line(picture.width - 1, 0, 1) != b"\xff\xff\xff":
        return columns
    status = [cell(picture, left + column * glyphs[0] * scale, top + (rows - 1) * glyphs[1] * scale, scale, glyphs)
              for column in range(columns)]
    return next(column for column in range(columns) if status[column][2] in (None, bytes(3), b"\xff\xff\xff"))


def read(picture):
    """[(text, ink, paper)] of the rows: '' for what is no character, the ink of its first letter, the paper of its
    first cell."""
    scale, _, rows, left, top = grid(picture)
    glyphs = font()
    columns = text_columns(picture, glyphs)
    lines = []
    for row in range(rows):
        cells = [cell(picture, left + column * glyphs[0] * scale, top + row * glyphs[1] * scale, scale, glyphs)
                 for column in range(columns)]
        ink = next((c[1] for c in cells if c[1]), None)
        lines.append(("".join(c[0] or "\N{REPLACEMENT CHARACTER}" for c in cells).rstrip(), ink, cells[0][2]))
    return lines


def text(picture):
    """The rows as text, with what goes on from one in the next (four blanks in front) behind it."""
    return re.sub(r" *\n    (?=\S)", " ", "\n".join(line for line, _, _ in read(picture)))


class Machine:
    """A machine with QEMU arguments of its own, started by run-qemu.sh, whose screen is looked at while it runs."""

    def __init__(self, folder, *arguments, qemu=("-device", "VGA")):
        self.folder = folder
        wrapper = cb.with_qemu(folder, *qemu, "-qmp", f"unix:{folder}/qmp,server=on,wait=off")
        command = [cb.ROOT / "run-qemu.sh", "--log", folder / "log", "--timeout", cb.LIMIT, "--qemu", wrapper,
                   *arguments]
        with (folder / "output").open("wb") as output:
            self.process = subprocess.Popen(list(map(str, command)), cwd=cb.ROOT, stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=subprocess.STDOUT,
                                            env={**os.environ, "CAIRN_BUILD": str(cb.BUILD)})
        self.qmp = Qmp(folder / "qmp", self.process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()

    @contextlib.contextmanager
    def kept(self):
        """What judges the run ends the machine three seconds after its last line: meanwhile it does not."""
        capture = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii").split()
        for pid in capture:
            os.kill(int(pid), signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in capture:
                os.kill(int(pid), signal.SIGCONT)

    def picture(self):
        file = self.folder / "screen.ppm"
        self.qmp.command("screendump", filename=str(file))
        return Picture(file.read_bytes())

    def wait_for(self, word):
        """The first picture whose text has `word`. It does not change any more while the machine halts."""
        until = time.monotonic() + cb.LIMIT
        last = None
        while time.monotonic() < until:
            picture = self.picture()
            if last is None or picture.pixels != last.pixels:
                said = text(picture)
                if word in said:
                    return picture
            last = picture
            time.sleep(0.5)
        raise AssertionError(f"{word!r} is not on the screen:\n{said}")
