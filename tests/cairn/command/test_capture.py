# SPDX-License-Identifier: MIT
"""`cairn capture`: from standard input, a pseudo-terminal, a pipe; what it shows, keeps and returns."""

import os
import shutil
import signal
import subprocess
import termios
import time

import pytest

from cairn_tool import CAIRN, GOLDEN, cairn, errors_of, on_a_terminal, text_of

LIMIT = 300  # seconds, for what takes none: only one that hangs takes them
LOADER = b"\x1b[2J\x1b[01;01H\x1b[=3hBdsDxe: starting\r\n"


@pytest.mark.parametrize("end, status", [
    (b"SUMMARY: 3 passed, 0 failed, 0 skipped\r\n", 0),
    (b"SUMMARY: 3 passed, 1 failed, 0 skipped\r\n", 1),
    (b"SUMMARY: 3 pass, 0 fail, 1 skip\r\n", 0),
    (b"", 3),
])
def test_capture(tmp_path, end, status):
    log = (GOLDEN / "small.log").read_bytes()
    log = LOADER + log[:log.index(b"SUMMARY")] + end
    done = cairn("capture", "-", "-o", tmp_path / "log", data=log)
    assert done.returncode == status, done.stderr
    assert (tmp_path / "log").read_bytes() == log
    text = text_of(done)
    assert "BdsDxe: starting" in text and "\x1b" not in text and "~" not in text
    assert "PASS: golden: scripted machine up" in text
    assert b"24 frames of 24, 0 damaged, 0 missing" in done.stderr


def test_long_lines_on_a_terminal(tmp_path):
    """Wrapped at words for people; whole for programs, and in the log."""
    line = b"ds: backend soft: the processor is AuthenticAMD: AMD has no Debug Store (its precise sampling is IBS)"
    log = line + b"\r\n" + (GOLDEN / "small.log").read_bytes()
    assert line in cairn("capture", "-", "-o", tmp_path / "log", data=log).stdout
    done = on_a_terminal("capture", "-", "-o", tmp_path / "log", data=log)
    shown = done.stdout.decode("ascii").splitlines()
    assert done.returncode == 0 and (tmp_path / "log").read_bytes() == log
    assert shown[:2] == ["ds: backend soft: the processor is AuthenticAMD: AMD has no Debug Store (its",
                         "      precise sampling is IBS)"]
    assert "PASS: golden: scripted machine up" in shown


def test_capture_raw(tmp_path):
    log = (GOLDEN / "small.log").read_bytes()
    done = cairn("capture", "-", "--raw", "-o", tmp_path / "log", data=log)
    assert done.stdout == log and done.returncode == 0


def test_capture_damaged(tmp_path):
    log = (GOLDEN / "small.log").read_bytes()
    start = log.index(b"~T00000009")
    done = cairn("capture", "-", "-o", tmp_path / "log", data=log[:start + 50] + b"#" + log[start + 51:])
    assert done.returncode == 1
    assert b"23 frames of 24, 1 damaged, 1 missing" in done.stderr


def test_capture_two_frames_in_one_line(tmp_path):
    log = (GOLDEN / "small.log").read_bytes()
    end = log.index(b"\r\n", log.index(b"~T00000009"))
    done = cairn("capture", "-", "-o", tmp_path / "log", data=log[:end] + log[end + 2:])
    assert done.returncode == 0
    assert b"24 frames of 24, 0 damaged, 0 missing" in done.stderr


def test_capture_loader_failed(tmp_path):
    data = LOADER + b"cairn loader: FAILED: \\kernel.elf: not there (Not Found)\r\n"
    reader, writer = os.pipe()
    with subprocess.Popen([CAIRN, "capture", "-", "-o", tmp_path / "log"], stdin=reader, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        os.close(reader)
        os.write(writer, data)  # the line stays open: it must end by itself
        assert process.wait(timeout=LIMIT) == 1
        os.close(writer)
        assert b"the loader failed" in process.stderr.read()


def test_capture_ends_by_itself_on_a_tty(tmp_path):
    """It waits half a second behind the verdict. What comes there is written with it, when all before is in the log:
    so a test that the machine lets wait does not make the line end."""
    log = (GOLDEN / "small.log").read_bytes() + b"halted: you can switch the machine off\r\n"
    path, end = tmp_path / "log", log.index(b"~Z")
    assert len(log) - end < 1024
    master, slave = os.openpty()
    with subprocess.Popen([CAIRN, "capture", os.ttyname(slave) + ",115200", "-o", path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + LIMIT
        while termios.tcgetattr(slave)[3] & termios.ICANON:  # until it has made the line raw
            assert time.monotonic() < deadline
            time.sleep(0.01)
        sent = 0
        while sent < end:
            sent += os.write(master, log[sent:min(end, sent + 512)])
        while not path.exists() or path.stat().st_size < end:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert os.write(master, log[end:]) == len(log) - end
        assert process.wait(timeout=LIMIT) == 0
        assert b"halted" in process.stdout.read()
    os.close(slave)
    os.close(master)
    assert path.read_bytes() == log


def test_capture_timeout(tmp_path):
    reader, writer = os.pipe()
    with subprocess.Popen([CAIRN, "capture", "-", "--timeout", "1", "-o", tmp_path / "log"], stdin=reader,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(reader)
        assert process.wait(timeout=LIMIT) == 3
        os.close(writer)
        assert b"the time limit passed" in process.stderr.read()


def test_capture_counts_a_frame_once(tmp_path):
    log = (GOLDEN / "small.log").read_bytes()
    start = log.index(b"~T00000009")
    end = log.index(b"\r\n", start) + 2
    twice = log[:end] + log[start:end] + log[end:]
    done = cairn("capture", "-", "-o", tmp_path / "log", data=twice)
    assert done.returncode == 0 and b"24 frames of 24, 0 damaged, 0 missing" in done.stderr
    start = log.index(b"~T0000000a")
    end = log.index(b"\r\n", start) + 2
    done = cairn("capture", "-", "-o", tmp_path / "log", data=twice.replace(log[start:end], b""))
    assert done.returncode == 1 and b"23 frames of 24, 0 damaged, 1 missing" in done.stderr


def test_capture_interrupted_while_nobody_is_there(tmp_path):
    """Opening a line must not wait for its other end: Ctrl-C would be dead."""
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen([CAIRN, "capture", tmp_path / "fifo", "-o", tmp_path / "log"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + LIMIT
        while not (tmp_path / "log").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LIMIT) == 130


def test_capture_log_cannot_be_written(tmp_path):
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    done = cairn("capture", os.ttyname(slave), "-o", tmp_path / "no" / "log")
    assert done.returncode == 3 and "No such file" in errors_of(done)
    assert termios.tcgetattr(slave) == before
    os.close(slave)
    os.close(master)


def test_capture_keeps_the_last_trace(tmp_path):
    log, kept, trace = tmp_path / "log", tmp_path / "log.1", (GOLDEN / "small.log").read_bytes()
    log.write_bytes(trace)
    for _ in range(2):  # the second finds a log without a trace, which is not worth keeping
        assert cairn("capture", "-", "-o", log, data=LOADER).returncode == 3
        assert log.read_bytes() == LOADER and kept.read_bytes() == trace
    tail = trace[trace.index(b"~T00000009"):]  # without its first frames it is still one
    log.write_bytes(tail)
    assert cairn("capture", "-", "-o", log, data=b"").returncode == 3 and kept.read_bytes() == tail
    log.write_bytes(trace)
    kept.unlink()
    kept.mkdir()
    done = cairn("capture", "-", "-o", log, data=b"")
    assert done.returncode == 3 and "cannot be renamed to" in errors_of(done) and log.read_bytes() == trace


LATE = b"the firmware of a server, talking\r\n" * 4000
# What is there, and whether it is a log of Cairn's: then it is kept as LOG.1 (True) or overwritten (False).
THERE = [
    (b"", False),
    (b"\x1b[2J\x1b[01;01H", False),
    (b"\x1b[01;01H\x1b[=3hBdsDxe: loading Boot0001\r\n", False),
    (b"\r\n\x00\r\nCairn loader 0.1.0 on EDK II firmware\r\n", False),
    (b"\r\ncairn loader: FAILED: \\kernel.elf: not there\r\n", False),
    (b"Cairn 0.1.0: wp nx\r\n", False),
    (b"~H00000000:a frame\r\n", True),
    (b"~T00000009:a frame", True),
    (b"~T00000009=!a-frame", True),
    (b"~t00000009:a frame", True),
    (b"~T00000009;a frame", None),
    (b"~T00000009\0a frame", None),
    (LATE + b"~H00000000:a frame\r\n", True),
    (LATE[:8181] + b"\r\n~H00000000:a frame\r\n", True),
    (b"Cairn 0.1.0: wp nx ~H00000000:a frame\r\n", True),
    (b"# Cairn\n\nCairn is a small kernel\n", None),
    (b"Cairn loader\n", None),
    (b"Cairn loader . of\n", None),
    (b"notes\nCairn loader 0.1.0 on EDK II firmware\nBdsDxe: loading\n", None),
    (b"~H is how a frame begins, ~H00000000: and so on\n", None),
    (b"\x1b[31mred\x1b[0m\n", None),
    (b"\x7fELF\x02\x01\x01", None),
    (b"7", None),
]


@pytest.mark.parametrize("there, trace", THERE, ids=range(len(THERE)))
def test_capture_writes_over_logs_only(tmp_path, there, trace):
    """Any other file is refused, as run-qemu.sh does, and stays as it is."""
    log, kept = tmp_path / "log", tmp_path / "log.1"
    log.write_bytes(there)
    done = cairn("capture", "-", "-o", log, data=LOADER)
    if trace is None:
        assert done.returncode == 2 and log.read_bytes() == there and not kept.exists(), done.stderr
        words = " ".join(done.stderr.decode().split())
        assert words == f"cairn: -o {log}: this file exists and is not a serial log of Cairn; choose another name"
    else:
        assert done.returncode == 3 and b"no verdict" in done.stderr and log.read_bytes() == LOADER
        assert kept.read_bytes() == there if trace else not kept.exists()


def test_capture_refuses_behind_a_link(tmp_path):
    (tmp_path / "letter").write_bytes(b"Dear reader\n")
    (tmp_path / "log").symlink_to("letter")
    assert cairn("capture", "-", "-o", tmp_path / "log", data=LOADER).returncode == 2
    assert (tmp_path / "letter").read_bytes() == b"Dear reader\n"



def test_capture_keeps_what_cannot_be_read(tmp_path):
    """It may be the last good trace."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "log").write_bytes(b"what is it?\n")
    (folder / "log").chmod(0o200)
    folder.chmod(0o777)
    shutil.copy(CAIRN, folder / "cairn")
    nobody = {"user": 65534, "env": {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}} if os.geteuid() == 0 else {}
    done = subprocess.run(["./cairn", "capture", "-", "-o", "log"], cwd=folder, input=b"", capture_output=True,
                          timeout=LIMIT, check=False, **nobody)
    assert done.returncode == 3 and b"no verdict" in done.stderr, done.stderr
    assert (folder / "log").read_bytes() == b"" and (folder / "log.1").stat().st_size == len(b"what is it?\n")


def test_capture_interrupted(tmp_path):
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    with subprocess.Popen([CAIRN, "capture", os.ttyname(slave), "-o", tmp_path / "log"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + LIMIT
        while termios.tcgetattr(slave)[3] & termios.ICANON:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LIMIT) == 130
        errors = process.stderr.read().decode()
        assert "interrupted" in errors and f"in {tmp_path / 'log'}" in errors
    assert termios.tcgetattr(slave)[3] == before[3]
    os.close(slave)
    os.close(master)


@pytest.mark.parametrize("words, what", [
    (["--saved", "x", "-"], "--saved needs --run"),
    (["-", "more"], "give one DEV, or a COMMAND with --run"),
    (["--run"], "give one DEV"),
])
def test_capture_run_usage(tmp_path, words, what):
    done = cairn("capture", "-o", tmp_path / "log", *words)
    assert done.returncode == 2 and what in done.stderr.decode() and not (tmp_path / "log").exists()


def test_capture_runs_a_machine(tmp_path):
    """What its command prints is the line; it gets nothing to read. The rest: tests/boot/test_run.py."""
    log = (GOLDEN / "small.log").read_bytes()
    (tmp_path / "machine").write_bytes(log)
    script = f"cat; cat '{tmp_path}/machine'; exit 33"
    done = cairn("capture", "--run", "-o", tmp_path / "log", "--", "sh", "-c", script, data=b"not for it")
    assert done.returncode == 0 and (tmp_path / "log").read_bytes() == log
    assert "verdict  pass\n" in text_of(done) and f"cairn dump {tmp_path}/log\n" in text_of(done)
    done = cairn("capture", "--run", "-o", tmp_path / "log", "--", tmp_path / "none")
    assert done.returncode == 3 and "cannot be run: No such file or directory" in errors_of(done)


def test_capture_says_how_long_it_waits(tmp_path):
    """At a terminal, a machine that says nothing for a second has a line that says so, until it speaks."""
    master, slave = os.openpty()
    with subprocess.Popen([CAIRN, "capture", "-", "-o", tmp_path / "log"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=slave) as process:
        os.close(slave)
        shown = b""
        while b" s (Ctrl-C stops)" not in shown:
            shown += os.read(master, 4096)
        assert b"waiting for the machine: " in shown
        process.stdin.write(LOADER)
        process.stdin.flush()
        shown = b""
        while b"starting: " not in shown:
            shown += os.read(master, 4096)
        assert b"waiting" not in shown.rsplit(b"\x1b[K", 1)[1]  # its line was cleared
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LIMIT) == 130
    os.close(master)
