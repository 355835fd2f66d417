# SPDX-License-Identifier: MIT
"""`cairn top`: a trace that comes in pieces adds up to what it is as a whole; terminal, lines, and where they end."""

import base64
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import threading
import time

import pytest

import cairn_boot
import frames
from cairn_tool import CAIRN, GOLDEN, cairn, errors_of, expect_text, measured, patch, text_of
from said import figures, path_of

SAMPLES = GOLDEN.parent.parent / "samples"
LIVE = GOLDEN / "live.log"
PATIENCE = 120  # seconds


def pieces_of(data, count):
    """Cut anywhere, most of all within lines."""
    cuts = [0, *(len(data) * i // count + i % 7 for i in range(1, count)), len(data)]
    return [data[a:b] for a, b in zip(cuts, cuts[1:])]


def start(*arguments):
    return subprocess.Popen([CAIRN, "top", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def block(process):
    """The next screen."""
    lines = []
    while not lines or lines[-1] != b"\n" or (lines.count(b"\n") < 3 and b": nothing yet" not in lines[0]):
        lines.append(process.stdout.readline())
        if not lines[-1]:
            break
    return b"".join(lines).decode()


def finish(process):
    out, err = process.communicate(timeout=PATIENCE)
    assert b"Sanitizer" not in err, err.decode()
    return process.returncode, out.decode(), err.decode()


def last(out):
    """The screen that is left: others may stand before it."""
    return out[out.rfind("\n", 0, out.rindex(": ended, ")) + 1:]


@pytest.mark.parametrize("log", ["live", "plain", "lost", "small"])
def test_golden(log):
    done = cairn("top", "--once", path_of(log))
    assert done.returncode == 0
    expect_text(f"{log}/top", text_of(done))


def busy(block):
    return {int(cpu): float(share) for cpu, share in re.findall(r" CPU (\d+) +([\d.]+)", block.splitlines()[2])}


@pytest.mark.parametrize("log", ["live", "plain", "lost", "small", "full", "bts", "sessions", "told", "circular",
                                 "damaged", "life", "panic", "locks", "hw", "ring", "nods"])
def test_as_stat(log):
    """Of a trace that has ended, all figures that both tell: what is missing is missing in both."""
    session = ["--session", "1"] if log == "sessions" else []
    text = cairn("top", "--once", *session, path_of(log)).stdout.decode()
    (switches, records), _, threads, _ = figures(text)
    stat = cairn("stat", "--top", "1000", *session, path_of(log)).stdout.decode()
    cpus = re.findall(r"^ +(\d+) +(\d+) +([\d.]+) % +[\d.]+ % +[\d.]+ %$", stat, re.M)
    assert int(switches) == sum(int(count) for _, count, _ in cpus)
    assert busy(text) == pytest.approx({int(cpu): float(share) for cpu, _, share in cpus}, abs=0.0501)
    found = re.search(r"^  PEBS records +(\d+) ", stat, re.M)
    assert int(records) == int(found[1] if found else 0)
    table = {m[1]: m.groups()[1:]
             for m in re.finditer(r"^  (\S+:\d+) +([\d.]+) % +[\d.]+ \w+ +(\d+) +(\d+)$", stat, re.M)}
    assert threads
    for name, figure in threads.items():
        assert table[name] == figure


@pytest.mark.parametrize("log, count", [pytest.param("live", 9, marks=pytest.mark.long), ("plain", 5), ("lost", 3)])
def test_a_file_that_grows(tmp_path, log, count):
    """Each piece is written when the one before it is on the screen; the trailer ends it."""
    path, pieces = tmp_path / "log", pieces_of(path_of(log).read_bytes(), count)
    path.write_bytes(b"")
    with start(path) as process, path.open("ab", buffering=0) as file:
        seen = []
        for piece in pieces[:-1]:
            file.write(piece)
            text = block(process)
            counted = re.search(r"^(\d+) switches", text, re.M)
            assert ": coming, " in text if counted else ": nothing yet: " in text
            seen.append(int(counted[1]) if counted else 0)
        file.write(pieces[-1])
        status, out, err = finish(process)
    assert status == 0, err
    assert seen == sorted(seen) and seen[-1] > 0
    assert ": ended, " in out
    whole = text_of(cairn("top", "--once", path))
    assert figures(last(out))[:2] == figures(whole)[:2]
    for part in (2, 3):  # of each the rows that are on both screens, which are ordered by what is 'now'
        a, b = figures(last(out))[part], figures(whole)[part]
        assert set(a) & set(b) and all(a[name] == b[name] for name in set(a) & set(b))


def seen_in_two(path, data, cut):
    """What is left in the end, where a screen was drawn of what comes before `cut`."""
    path.write_bytes(data[:cut])
    with start(path) as process, path.open("ab", buffering=0) as file:
        assert ": coming, " in block(process)
        file.write(data[cut:])
        status, out, err = finish(process)
    assert status == 0, err
    return last(out)


def test_the_beginning_is_told_at_the_end(tmp_path):
    """A live dump tells when its session began in its second part only: the time before the first switch counts."""
    parts = frames.read(LIVE.read_bytes())
    last = max(i for i, (stream, payload) in enumerate(parts) if stream == "L" and b"start_tsc=" in payload)
    told = re.search(rb"start_tsc=(\d+)", parts[last][1])
    earlier = b"%d" % (int(told[1]) - 240000000)
    assert len(earlier) == len(told[1])
    patch(parts, (last, told.start(1)), 0, earlier)
    data = frames.write(parts)
    second = max(match.start() for match in re.finditer(rb"^~H", data, re.M))
    out, whole = seen_in_two(tmp_path / "log", data, second), text_of(cairn("top", "--once", tmp_path / "log"))
    assert out.split("\n")[0] == whole.split("\n")[0]
    assert re.search(r"[\d.]+/s in all", out)[0] == re.search(r"[\d.]+/s in all", whole)[0]
    for a, b in zip(figures(out), figures(whole)):
        if isinstance(a, dict):
            assert set(a) & set(b) and all(a[name] == b[name] for name in set(a) & set(b))
        else:
            assert a == b


def rate_now(text):
    return float(re.search(r" ([\d.]+)/s now, ", text)[1])


def test_now_is_each_cpus_own(tmp_path):
    """One CPU's whole trace comes while the other's had come before: the rate is by its time, not by how far the newest
    time has moved."""
    data = path_of("plain").read_bytes()
    lines = list(re.finditer(rb"^~.*\n", data, re.M))
    cpus = [(m, struct.unpack_from("<H", base64.b64decode(m[0][11:].split(b":")[0]), 8)[0])
            for m in lines if m[0].startswith(b"~T")]
    cut = next(m.start() for m, cpu in cpus if cpu)
    out = seen_in_two(tmp_path / "log", data, cut)
    whole = rate_now(text_of(cairn("top", "--once", tmp_path / "log")))
    assert 0 < rate_now(out) < 1.5 * whole


def test_a_file_that_is_written_anew(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(path_of("plain").read_bytes()[:90000])
    with start(path) as process:
        assert ": coming, " in block(process)
        path.write_bytes(path_of("small").read_bytes())
        status, out, _ = finish(process)
    assert status == 0 and figures(last(out))[0] == figures(text_of(cairn("top", "--once", path_of("small"))))[0]


def test_another_file_of_its_name(tmp_path):
    """As logs are rotated; and one that was written anew and is longer than it was when that is seen."""
    path, plain, live = tmp_path / "log", path_of("plain").read_bytes(), LIVE.read_bytes()
    path.write_bytes(plain[:90000])
    with start(path) as process:
        assert ": coming, " in block(process)
        path.rename(tmp_path / "log.1")
        path.write_bytes(live[:100000])
        while not block(process).splitlines()[1].endswith(" PEBS records"):
            pass
        path.write_bytes(plain)
        status, out, _ = finish(process)
    assert status == 0 and figures(last(out))[0] == figures(text_of(cairn("top", "--once", path_of("plain"))))[0]


def test_the_last_of_several_traces(tmp_path):
    """As every command reads it, wherever in the file it begins."""
    path = tmp_path / "log"
    path.write_bytes(path_of("small").read_bytes() + b"console text\n" * 20000 + path_of("plain").read_bytes())
    alone = figures(text_of(cairn("top", "--once", path_of("plain"))))
    assert figures(text_of(cairn("top", "--once", path))) == alone
    assert figures(text_of(cairn("top", path))) == alone


def test_frames_out_of_place(tmp_path):
    """One that comes again or late is no loss."""
    lines = path_of("plain").read_bytes().splitlines(keepends=True)
    trace = [i for i, line in enumerate(lines) if line.startswith(b"~T")]
    first, second = trace[3], trace[4]

    def told(*order):
        path = tmp_path / "log"
        path.write_bytes(b"".join(lines[:first] + [lines[i] for i in order] + lines[second + 1:]))
        done = cairn("top", "--once", path)
        return done.returncode, figures(done.stdout.decode())[1][1:]
    assert told(first, second) == (0, ("0", "0", "0"))
    assert told(first, second, first, second) == (0, ("0", "0", "0"))
    assert told(second, first) == (0, ("0", "0", "0"))
    assert told(second) == (1, ("1", "1", "0"))


def test_frames_that_say_what_cannot_be(tmp_path):
    parts = frames.read(path_of("plain").read_bytes())
    i = next(i for i, (stream, _) in enumerate(parts) if stream == "T")
    for offset, value in ((8, b"\xff\xff"), (10, b"\0\0"), (10, b"\xff\xff"), (12, b"\xff\xff\xff\xff")):
        wrong = list(parts)
        patch(wrong, (i, 0), offset, value)
        (tmp_path / "log").write_bytes(frames.write(wrong))
        done = cairn("top", "--once", tmp_path / "log")
        assert done.returncode == 1 and figures(done.stdout.decode())[1][2:4] == ("0", "1")


def test_a_pipe():
    whole = LIVE.read_bytes()
    done = cairn("top", "-", data=whole)
    assert done.returncode == 0 and b": ended, " in done.stdout
    done = cairn("top", "-", data=whole[:len(whole) // 2])
    assert done.returncode == 1 and b"the line ended before the end of the trace" in done.stderr
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
    assert figures(last(out))[0] == figures(text_of(cairn("top", "--once", LIVE)))[0]


def test_a_signal_ends_it_while_it_reads(tmp_path):
    """There is always more in this file, so that it never waits."""
    (tmp_path / "log").touch()
    os.truncate(tmp_path / "log", 1 << 40)
    with start("--once", tmp_path / "log") as process:
        time.sleep(1)
        process.terminate()
        try:
            assert process.wait(PATIENCE) in (128 + signal.SIGTERM, -signal.SIGTERM)  # the latter: it had not begun
        finally:
            process.kill()


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
    assert figures(last(out))[0] == figures(text_of(cairn("top", "--once", LIVE)))[0]
    assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)


# ---- the terminal ----------------------------------------------------------------------------------------------------

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


class Terminal:
    """A terminal of 24 rows and 80 columns, or another size, and cairn top in its foreground."""

    def __init__(self, *arguments, size=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            if size:
                termios.tcsetwinsize(0, size)
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

    def screens(self):
        """The rows of each it has drawn; the last may not be whole."""
        drawn = self.seen.split(LEAVE)[0].split(b"\x1b[H")[1:]
        return [re.sub(rb"\x1b\[\??\d*[A-Za-z]", b"", screen.split(b"\x1b[J")[0]).split(b"\r\n") for screen in drawn]

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
    while not any(len(rows) >= 20 for rows in terminal.screens()):
        terminal.more()
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
    assert all(len(rows) <= 24 and max(map(len, rows)) <= 80 for rows in terminal.screens())
    assert b"\x1b[?25h" in screen and b"switches" in left


def test_ends_when_the_terminal_is_gone(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(LIVE.read_bytes()[:60000])
    terminal = Terminal(path)
    terminal.until(b"thread, ")
    os.close(terminal.fd)
    for _ in range(10 * PATIENCE):
        pid, status = os.waitpid(terminal.pid, os.WNOHANG)
        if pid:
            break
        time.sleep(0.1)
    else:
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
        pytest.fail("it goes on")
    assert os.waitstatus_to_exitcode(status) in (3, 128 + signal.SIGHUP)  # its last figures went nowhere


def test_ends_with_the_trace_on_a_terminal(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(LIVE.read_bytes())
    terminal = Terminal(path)
    assert terminal.end() == 0
    assert terminal.seen.index(ENTER) < terminal.seen.index(LEAVE)
    left = terminal.seen.split(LEAVE)[1]
    assert b": ended, " in left
    assert left.count(b"\r\n") < 24  # with the prompt below, all of it can be seen


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
    assert figures(done.stdout.decode())[1] == ("22.7", "3", "4", "2")
    assert "\nlost: 64 of 439 switches\n" in done.stdout.decode()


def test_bad_input(tmp_path):
    """What is wrong is told with the path as it was given, in one line."""
    (tmp_path / "empty").write_bytes(b"")
    etl = SAMPLES / "cairn.etl"
    for arguments, status, words in ((["--once", tmp_path / "empty"], 3, f"{tmp_path}/empty is empty"),
                                     ([tmp_path / "none"], 3, f"{tmp_path}/none: No such file"),
                                     ([], 2, "LOG"), (["--interval", "0", LIVE], 2, "--interval"),
                                     ([f"{tmp_path}/none,123"], 2, "123: not a baud rate"),
                                     (["--once", tmp_path], 3, f"{tmp_path}: is a folder"),
                                     ([etl], 3, f"{etl}: this is an ETL file, ")):
        done = cairn("top", *arguments)
        assert done.returncode == status and done.stdout == b""
        assert errors_of(done).startswith("cairn") and words in errors_of(done)


def test_nothing_yet(tmp_path):
    """No figures of nothing: what has not come is not 0."""
    parts = frames.read(path_of("plain").read_bytes())
    begun = [part for part in parts if part[0] in "HMNSL"]
    (tmp_path / "log").write_bytes(frames.write(begun))
    done = cairn("top", "--once", tmp_path / "log")
    assert done.returncode == 0 and b": coming, " in done.stdout
    assert done.stdout.splitlines()[2] == b"busy now, %: CPU 0     - CPU 1     -"


def test_a_small_terminal(tmp_path):
    """Threads first; a line that is cut says so."""
    path = tmp_path / "log"
    path.write_bytes(LIVE.read_bytes()[:60000])
    terminal = Terminal(path, size=(12, 50))
    terminal.until(b"thread, ")
    screen = terminal.until(b"\x1b[J")
    os.write(terminal.fd, b"q")
    assert terminal.end() == 0
    rows = re.sub(rb"\x1b\[\??\d*[A-Za-z]", b"", screen.split(b"\x1b[H")[1].split(b"\x1b[J")[0]).split(b"\r\n")
    assert len(rows) <= 12 and max(map(len, rows)) == 50
    assert rows[3].startswith(b"unknown: ") and rows[3].endswith(b">")
    assert not any(row.startswith(b"state or reason") for row in rows)
