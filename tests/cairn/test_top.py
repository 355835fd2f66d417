# SPDX-License-Identifier: MIT
"""`cairn top`: a trace that comes in pieces adds up to what it is as a whole; terminal, lines, and where they end."""

import os
import pty
import re
import select
import signal
import socket
import subprocess
import termios
import threading

import pytest

import cairn_boot
from cairn_tool import CAIRN, GOLDEN, cairn, expect_text, measured, text_of

SAMPLES = GOLDEN.parent.parent / "samples"
LIVE = GOLDEN / "live.log"
PATIENCE = 120  # seconds


def path_of(log):
    return next(path for path in (GOLDEN / f"{log}.log", SAMPLES / f"{log}.log") if path.exists())


def pieces_of(data, count):
    """Cut anywhere, most of all within lines."""
    cuts = [0, *(len(data) * i // count + i % 7 for i in range(1, count)), len(data)]
    return [data[a:b] for a, b in zip(cuts, cuts[1:])]


def figures(block):
    """What a screen says of the whole trace: not of 'now'."""
    lines = block.splitlines()
    switches = re.match(r"(\d+) switches, .*; (\d+) PEBS records$", lines[1])
    lost = re.match(r"lost: (\d+) frames? missing, (\d+) damaged, (\d+) gaps? in the trace, ([\d.]+) % of time$",
                    lines[3])
    threads = {m[1]: m.groups()[1:] for m in re.finditer(r"^(\S+:\d+) +[\d.]+ +([\d.]+) +(\d+) +(\d+)$", block, re.M)}
    reasons = dict(re.findall(r"^([A-Z]\w+) +\d+ +(\d+)\b", block, re.M))
    return switches.groups(), lost.groups(), threads, reasons


def start(*arguments):
    return subprocess.Popen([CAIRN, "top", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def block(process):
    """The next screen."""
    lines = []
    while not lines or lines[-1] != b"\n" or len(lines) < 9 or lines[-2] == b"\n" or lines.count(b"\n") < 3:
        lines.append(process.stdout.readline())
        if not lines[-1]:
            break
    return b"".join(lines).decode()


def finish(process):
    out, err = process.communicate(timeout=PATIENCE)
    assert b"Sanitizer" not in err, err.decode()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("log", ["live", "plain", "lost", "small"])
def test_golden(log):
    done = cairn("top", "--once", path_of(log))
    assert done.returncode == 0
    expect_text(f"{log}.top", text_of(done))


@pytest.mark.parametrize("log", ["live", "plain", "lost", "small", "full", "bts", "sessions", "told"])
def test_as_stat(log):
    session = ["--session", "1"] if log == "sessions" else []
    (switches, records), _, threads, _ = figures(text_of(cairn("top", "--once", *session, path_of(log))))
    stat = text_of(cairn("stat", "--top", "1000", *session, path_of(log)))
    cpus = re.findall(r"^ +\d+ +(\d+)(?:  +[\d.]+ %){3}$", stat, re.M)
    assert int(switches) == sum(map(int, cpus))
    found = re.search(r"^  PEBS records +(\d+) ", stat, re.M)
    assert int(records) == int(found[1] if found else 0)
    table = {m[1]: m.groups()[1:]
             for m in re.finditer(r"^  (\S+:\d+) +[\d.]+ % +[\d.]+ \w+ +(\d+) +(\d+)$", stat, re.M)}
    assert threads
    for name, (_, runs, mine) in threads.items():
        assert table[name] == (runs, mine)


@pytest.mark.parametrize("log, count", [("live", 9), ("plain", 5), ("lost", 3)])
def test_a_file_that_grows(tmp_path, log, count):
    """Each piece is written when the one before it is on the screen; the trailer ends it."""
    path, pieces = tmp_path / "log", pieces_of(path_of(log).read_bytes(), count)
    path.write_bytes(b"")
    with start(path) as process, path.open("ab", buffering=0) as file:
        seen = []
        for piece in pieces[:-1]:
            file.write(piece)
            text = block(process)
            seen.append(int(re.search(r"^(\d+) switches", text, re.M)[1]))
            assert ": coming, " in text or ": nothing yet, " in text
        file.write(pieces[-1])
        status, out, err = finish(process)
    assert status == 0, err
    assert seen == sorted(seen) and seen[-1] > 0
    assert ": ended, " in out
    whole = text_of(cairn("top", "--once", path))
    assert figures(out)[:2] == figures(whole)[:2]
    for part in (2, 3):  # of each the rows that are on both screens, which are ordered by what is 'now'
        a, b = figures(out)[part], figures(whole)[part]
        assert set(a) & set(b) and all(a[name] == b[name] for name in set(a) & set(b))


def test_a_file_that_is_written_anew(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(path_of("plain").read_bytes()[:90000])
    with start(path) as process:
        assert ": coming, " in block(process)
        path.write_bytes(path_of("small").read_bytes())
        status, out, _ = finish(process)
    assert status == 0 and figures(out)[0] == figures(text_of(cairn("top", "--once", path_of("small"))))[0]


def test_a_pipe():
    whole = LIVE.read_bytes()
    done = cairn("top", "-", data=whole)
    assert done.returncode == 0 and b": ended, " in done.stdout
    done = cairn("top", "-", data=whole[:len(whole) // 2])
    assert done.returncode == 1 and b"the line ended before the trace did" in done.stderr
    assert b": broken off, " in done.stdout
    done = cairn("top", "-", data=b"no trace\n")
    assert done.returncode == 3 and b"not a trace" in done.stderr and done.stdout == b""


def test_a_socket(tmp_path):
    """As QEMU's -serial unix:... has one."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "line"))
    server.listen()

    def serve():
        line, _ = server.accept()
        with line:
            for piece in pieces_of(LIVE.read_bytes(), 20):
                line.sendall(piece)
    thread = threading.Thread(target=serve)
    thread.start()
    with start(tmp_path / "line") as process:
        status, out, err = finish(process)
    thread.join()
    server.close()
    assert status == 0, err
    assert figures(out)[0] == figures(text_of(cairn("top", "--once", LIVE)))[0]


def test_a_line_that_is_a_terminal():
    """A serial device, or the pseudo-terminal QEMU makes: it gets its settings back."""
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    with start(os.ttyname(slave)) as process:
        for piece in pieces_of(LIVE.read_bytes(), 40):
            while piece:
                piece = piece[os.write(master, piece):]
        status, out, err = finish(process)
    assert status == 0, err
    assert figures(out)[0] == figures(text_of(cairn("top", "--once", LIVE)))[0]
    assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)


# ---- the terminal ----------------------------------------------------------------------------------------------------

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


class Terminal:
    """A terminal of 24 rows and 80 columns, and cairn top in its foreground."""

    def __init__(self, *arguments):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(CAIRN, ["cairn", "top", *map(str, arguments)])
        self.seen = b""

    def until(self, wanted):
        while wanted not in self.seen:
            assert select.select([self.fd], [], [], PATIENCE)[0], self.seen
            self.more()
        return self.seen

    def more(self):
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        assert data, self.seen
        self.seen += data

    def end(self):
        try:
            while True:
                self.more()
        except AssertionError:
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("key, status", [(b"q", 0), (b"\x03", 128 + signal.SIGINT)])
def test_keys(tmp_path, key, status):
    path = tmp_path / "log"
    path.write_bytes(LIVE.read_bytes()[:60000])
    terminal = Terminal(path)
    before = termios.tcgetattr(terminal.fd)
    terminal.until(b"thread ")
    assert ENTER in terminal.seen and LEAVE not in terminal.seen
    assert not termios.tcgetattr(terminal.fd)[3] & termios.ICANON
    os.write(terminal.fd, key)
    terminal.until(LEAVE)
    terminal.until(b"state or reason")
    while b"\r\n\r\n" not in terminal.seen.split(LEAVE)[1][-8:]:
        terminal.more()
    assert termios.tcgetattr(terminal.fd)[3] == before[3]
    assert terminal.end() == status
    screen, left = terminal.seen.split(LEAVE)
    rows = re.sub(rb"\x1b\[\??\d*[A-Za-z]", b"", screen.split(b"\x1b[H")[1].split(b"\x1b[J")[0]).split(b"\r\n")
    assert 20 <= len(rows) <= 24 and max(map(len, rows)) <= 80
    assert b"\x1b[?25h" in screen and b"switches" in left


def test_ends_with_the_trace_on_a_terminal(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(LIVE.read_bytes())
    terminal = Terminal(path)
    assert terminal.end() == 0
    assert terminal.seen.index(ENTER) < terminal.seen.index(LEAVE)
    assert b": ended, " in terminal.seen.split(LEAVE)[1]


# ---- bounds and errors -----------------------------------------------------------------------------------------------

def test_memory_is_bounded(tmp_path):
    """Of ten times as long a trace no more is kept."""
    most = []
    for switches in (60000, 600000):
        log = tmp_path / f"{switches}.log"
        with log.open("wb") as file:
            subprocess.run([cairn_boot.BUILD / "make_golden", "large", str(switches)], stdout=file, check=True)
        status, error, peak = measured(["top", "--once", log])
        assert status == 0, error
        most.append(peak)
        log.unlink()
    assert most[1] < 1.25 * most[0] and most[1] < 64 << 20


def test_damage_is_told():
    done = cairn("top", "--once", path_of("damaged"))
    assert done.returncode == 1
    assert figures(done.stdout.decode())[1][:3] == ("4", "2", "1")  # behind the others comes no switch


def test_bad_input(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    for arguments, status in ((["--once", tmp_path / "empty"], 3), ([tmp_path / "none"], 3), ([], 2),
                              (["--interval", "0", LIVE], 2), ([f"{tmp_path}/none,123"], 2)):
        done = cairn("top", *arguments)
        assert done.returncode == status and done.stderr.count(b"cairn") >= 1, done.stderr
