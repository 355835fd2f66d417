# SPDX-License-Identifier: MIT
"""`cairn capture` agrees on a faster line: a pseudo-terminal whose other end plays the kernel (kernel/lib/line_rate.h),
or a kernel that loses its line, or one that goes another way."""

import contextlib
import os
import re
import subprocess
import termios
import time

import pytest

import cairn_boot
from cairn_tool import CAIRN, GOLDEN
from frames import NEVER

LIMIT = 300  # seconds, for what takes none: only one that hangs takes them
PATTERN = bytes(c for c in range(256) if c not in NEVER)
TEST = b"\r\nserial: test %s\r\n"
END = b"PASS: golden: it goes on\r\nSUMMARY: 3 passed, 0 failed, 0 skipped\r\nhalted: you can switch the machine off\n"
TRACE = (GOLDEN / "line8.log").read_bytes().split(b"SUMMARY")[0]


class Line:
    """The machine's end of a line that cairn capture records."""

    def __init__(self, folder):
        self.log = folder / "log"
        self.master, self.slave = os.openpty()
        self.process = subprocess.Popen([CAIRN, "capture", os.ttyname(self.slave), "-o", self.log],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait(lambda: not termios.tcgetattr(self.slave)[3] & termios.ICANON)
        self.sent = b""

    @staticmethod
    def wait(what):
        deadline = time.monotonic() + LIMIT
        while not what():
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def say(self, data):
        """Returns when capture has it."""
        while data:
            n = os.write(self.master, data[:512])
            self.sent += data[:n]
            data = data[n:]
        self.wait(lambda: self.log.exists() and self.log.stat().st_size >= len(self.sent))

    def hear(self):
        """A line from capture."""
        heard = b""
        while not heard.endswith(b"\n"):
            heard += os.read(self.master, 1)
        return heard[:-1]

    def speed(self, baud):
        """Waits until capture listens at that rate."""
        self.wait(lambda: termios.tcgetattr(self.slave)[4:6] == [getattr(termios, f"B{baud}")] * 2)

    def end(self):
        """Exit status, what is shown, what is said beside."""
        out, errors = self.process.communicate(timeout=LIMIT)
        os.close(self.master)
        os.close(self.slave)
        assert self.log.read_bytes() == self.sent
        return self.process.returncode, out.decode("ascii"), errors.decode("ascii")


@contextlib.contextmanager
def line(folder):
    it = Line(folder)
    try:
        yield it
    finally:
        it.process.kill()


def ask(to, rates="3000000 921600 460800"):
    to.say(b"Cairn 0.2.0: x\r\nserial: faster: %s baud?\r\n" % rates.encode())
    answer = to.hear()
    to.speed(115200)  # what it has tried it has put back
    return answer


def test_both_change(tmp_path):
    """Noise of the change, a pattern that comes damaged, one that comes right; then a dump with 8-bit lines."""
    with line(tmp_path) as it:
        rate = int(re.fullmatch(b"rate (3000000)", ask(it))[1])  # a pseudo-terminal can do all of them
        it.say(b"serial: tries %d baud\r\n" % rate)
        it.speed(rate)
        for pattern in (PATTERN[:-1], PATTERN[:7] + b"!" + PATTERN[8:]):
            it.say(b"\xf0\x0f\x80" + TEST % pattern)
        it.say(TEST % PATTERN)
        assert it.hear() == PATTERN  # one answer, to the one that was right
        it.say(b"serial: I/O port 0x3f8, 3000000 baud: SPCR, as tested\r\n" + TRACE + END)
        status, out, errors = it.end()
        assert status == 0 and "24 frames of 24, 0 damaged, 0 missing" in errors
        assert "supports 3000000 baud; trying it" in errors and "now at 3000000 baud" in errors
        assert "as tested" in out and "serial: test" not in out


@pytest.mark.parametrize("pattern", [cairn_boot.long(None), PATTERN[:-1], cairn_boot.long(PATTERN.replace(b"U", b"W")),
                                     PATTERN], ids=["none", "dropped", "wrong", "no more"])
def test_back(tmp_path, pattern):
    """Nothing comes at the new rate, or something else than it should, or nothing more behind the pattern."""
    with line(tmp_path) as it:
        assert ask(it, "921600") == b"rate 921600"
        it.say(b"serial: tries 921600 baud\r\n")
        it.speed(921600)
        began = time.monotonic()
        for _ in range(3 if pattern else 0):
            it.say(TEST % pattern)
        it.speed(115200)
        assert time.monotonic() - began > 3
        it.say(b"serial: the test at 921600 baud fails: back at 115200 baud\r\n" + TRACE + END)
        status, _, errors = it.end()
        assert status == 0 and "24 frames of 24, 0 damaged, 0 missing" in errors
        assert "the test at 921600 baud failed; back to 115200 baud" in errors


@pytest.mark.parametrize("said", ["serial: nobody answers: the rate stays at 115200 baud", "serial: tries 460800 baud"])
def test_kernel_that_does_not_go(tmp_path, said):
    """It has not heard the answer, or another one: the rate stays."""
    with line(tmp_path) as it:
        assert ask(it) == b"rate 3000000"
        it.say(said.encode() + b"\r\n" + TRACE + END)
        it.speed(115200)
        status, out, errors = it.end()
        assert status == 0 and said in out and "24 frames of 24" in errors and "from here on" not in errors


@pytest.mark.parametrize("rates", ["123456 7", "", "x"])
def test_none_of_these(tmp_path, rates):
    with line(tmp_path) as it:
        assert ask(it, rates) == b"rate 0"
        it.say(b"serial: tries 0 baud\r\nserial: tries 123456 baud\r\n" + TRACE + END)
        it.speed(115200)
        status, _, errors = it.end()
        assert status == 0 and "supports none of the machine's rates; 115200 baud remain" in errors


def test_standard_input_gets_no_answer(tmp_path):
    data = b"serial: faster: 921600 baud?\r\n" + TRACE + END
    done = subprocess.run([CAIRN, "capture", "-", "-o", tmp_path / "log"], input=data, capture_output=True, check=False)
    assert done.returncode == 0 and b"baud" not in done.stderr and (tmp_path / "log").read_bytes() == data
