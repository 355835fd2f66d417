# SPDX-License-Identifier: MIT
"""Logs of any length: neither memory nor address space grows with them, wherever they come from."""

import os
import resource
import signal
import subprocess

import pytest

import cairn_boot
from cairn_tool import CAIRN, GOLDEN, cairn, errors_of, measured, text_of

ROOM = 12 << 20
COMMANDS = [["dump"], ["info"], ["stat"], ["profile"], ["check"],
            ["export", "--to", "json"], ["export", "--to", "folded"]]


def make(path, switches):
    with open(path, "wb") as file:
        subprocess.run([cairn_boot.BUILD / "make_golden", "large", str(switches)], stdout=file, check=True)
    return path


def of(log, command):
    return [*command, log, log] if command == ["diff"] else [*command, log]


@pytest.mark.parametrize("command", [*COMMANDS, ["diff"], ["ds"]], ids=" ".join)
def test_memory(command, tmp_path_factory):
    """A log of a tenth of the length takes hardly less."""
    folder = tmp_path_factory.getbasetemp()
    logs = [folder / f"{n}.log" for n in (20000, 200000)]
    for log, n in zip(logs, (20000, 200000)):
        if not log.exists():
            make(log, n)
    small, large = (measured(of(log, command)) for log in logs)
    assert (small[0], large[0]) == (0, 0), large[1]
    assert logs[1].stat().st_size > 9 * logs[0].stat().st_size
    assert large[2] < small[2] + (8 << 20) and large[2] < 32 << 20


@pytest.mark.parametrize("noise", [b"~T00000000", b"~T00000000\n"], ids=["line", "lines"])
def test_noise(noise, tmp_path):
    """Marks of frames and nothing else, on one line or each on its own: they are counted, the first ones listed."""
    log, listed, marks = tmp_path / "log", 16384, 2400000
    log.write_bytes((GOLDEN.parent.parent / "samples" / "plain.log").read_bytes() + noise * marks)
    status, error, peak = measured(["info", log])
    assert status == 0 and peak < 32 << 20
    assert error.endswith(f"and {listed - 5} more: cairn check names each\n"
                          f"and at most {marks - listed} more damaged frames: only the first {listed} are looked at\n")
    shown = subprocess.run([cairn_boot.BUILD / "cairn", "stat", log], capture_output=True, check=False).stdout.decode()
    assert f"frames damaged          {marks}   at most (cairn check names the first)\n" in shown


@pytest.fixture(scope="module", name="limit")
def fixture_limit():
    """Address space: what the tool and this machine's libraries need before a log is opened, and a fixed room."""
    least = next(size for size in range(1 << 20, 512 << 20, 1 << 20)
                 if measured(["--version"], address_space=size)[0] == 0)
    return least + ROOM


def read_within(log, limit):
    for command in [*COMMANDS, ["diff"], ["ds"]]:
        status, error, _ = measured(of(log, command), address_space=limit)
        assert status == 0, f"{command}: {error}"


def test_log_larger_than_the_address_space(tmp_path, limit):
    read_within(make(tmp_path / "log", limit // 200), limit)
    assert (tmp_path / "log").stat().st_size >= limit


@pytest.mark.parametrize("command, words", [("locks", "no spin lock events in this "),
                                            ("bts", "no branch records in this ")])
def test_locks_and_branches_keep_what_they_show(command, words, tmp_path, limit):
    """Which is nothing here."""
    status, error, _ = measured([command, make(tmp_path / "log", 120000)], address_space=limit)
    assert (status, error.split("log (")[0].split("(")[0]) == (1, f"cairn: {words}")


def test_a_page_has_a_limit(tmp_path):
    """Above 256 MiB one line says what to do; a part of such a log is a page all the same."""
    log = tmp_path / "log"
    log.write_bytes((GOLDEN / "small.log").read_bytes())
    os.truncate(log, (256 << 20) + (1 << 20))
    done = cairn("export", "--to", "html", log, "-o", tmp_path / "page")
    assert done.returncode == 1
    assert "a page can show logs of up to 256 MiB; choose a part with --from" in errors_of(done)
    assert not (tmp_path / "page").exists()
    done = cairn("export", "--to", "html", "--cpu", "0", log, "-o", tmp_path / "page")
    assert (tmp_path / "page").exists(), errors_of(done)


@pytest.mark.long
@pytest.mark.parametrize("command", [["dump"], ["stat"], ["check"], ["info"], ["export", "--to", "etl", "-o", "OUT"]],
                         ids=" ".join)
def test_a_gigabyte(command, tmp_path_factory):
    """64 MB are enough."""
    log = tmp_path_factory.getbasetemp() / "gigabyte"
    if not log.exists():
        make(log, 4300000)
        assert log.stat().st_size > 10**9
    out = tmp_path_factory.mktemp("out") / "out"
    status, error, peak = measured([*(out if word == "OUT" else word for word in command), log])
    assert status == 0 and peak < 64 << 20, (error, peak)


@pytest.mark.long
def test_log_ten_times_larger_than_the_address_space(tmp_path, limit):
    read_within(make(tmp_path / "log", 10 * limit // 200), limit)
    assert (tmp_path / "log").stat().st_size >= 10 * limit


@pytest.mark.parametrize("command", [*COMMANDS, ["check"], ["ds"]], ids=" ".join)
def test_pipe_and_file(command):
    """Through a pipe, as standard input and by its name: the same."""
    log = GOLDEN / "small.log"
    by_name = cairn(*command, log)
    with open(log, "rb") as file:
        as_input = subprocess.run([CAIRN, *command, "-"], stdin=file, capture_output=True, check=False)
    by_pipe = cairn(*command, "-", data=log.read_bytes())
    with open(log, "rb") as file:  # somebody has read its first line
        file.readline()
        os.lseek(file.fileno(), file.tell(), os.SEEK_SET)
        rest = subprocess.run([CAIRN, *command, "-"], stdin=file, capture_output=True, check=False)
    for other in (as_input, by_pipe, rest):
        assert text_of(other) == text_of(by_name) and other.returncode == by_name.returncode == 0


def test_named_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen([CAIRN, "stat", tmp_path / "pipe"], stdout=subprocess.PIPE) as process:
        (tmp_path / "pipe").write_bytes((GOLDEN / "small.log").read_bytes())
        assert process.stdout.read() == cairn("stat", GOLDEN / "small.log").stdout
    assert process.returncode == 0


def test_no_room_for_a_copy(tmp_path):
    """What comes through a pipe is read twice: it says where it wanted to keep it, and what to do."""
    log = (GOLDEN / "small.log").read_bytes()
    done = subprocess.run([CAIRN, "stat", "-"], input=log, capture_output=True, check=False,
                          env={**os.environ, "TMPDIR": str(tmp_path / "nowhere")})
    assert done.returncode == 3 and not done.stdout
    assert errors_of(done) == (
        f"cairn: standard input: cannot be copied to {tmp_path}/nowhere, as a pipe must be: "
        "No such file or directory; set TMPDIR to another folder, or give a file")

    empty = subprocess.run([CAIRN, "stat", "-"], input=b"", capture_output=True, check=False,
                           env={**os.environ, "TMPDIR": str(tmp_path / "nowhere")})
    (tmp_path / "empty").touch()
    file = cairn("stat", tmp_path / "empty", env={"TMPDIR": str(tmp_path / "nowhere")})
    for done in (empty, file):  # there is nothing to copy
        assert done.returncode == 3 and "TMPDIR" not in done.stderr.decode()
    (tmp_path / "empty").unlink()

    def little_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    # pylint: disable-next=subprocess-popen-preexec-fn
    done = subprocess.run([CAIRN, "stat", "-"], input=log, capture_output=True, check=False, preexec_fn=little_room,
                          env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 3 and not done.stdout
    assert "File too large; set TMPDIR to another folder, or give a file" in errors_of(done)
    assert not list(tmp_path.iterdir())
