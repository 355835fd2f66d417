# SPDX-License-Identifier: MIT
"""`cairn export --to etl` as a command: what it refuses, and what becomes of a file of it that is cut short."""

import re

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, cairn, errors_of, text_of


@pytest.mark.parametrize("arguments, said", [
    (["-o", "x.etl"], b"--to FORMAT"),
    (["--to", "xml", "-o", "x.etl"], b"must be ctf, etl"),
    (["--to", "etl"], b"-o FILE"),
])
def test_export_says_what_it_needs(arguments, said):
    done = cairn("export", *arguments, GOLDEN / "small.log")
    assert done.returncode == 2 and said in done.stderr


def test_export_of_an_etl_file_and_to_nowhere(tmp_path):
    sample = cairn_boot.ROOT / "samples" / "cairn.etl"
    done = cairn("export", "--to", "etl", sample, "-o", tmp_path / "again.etl")
    assert done.returncode == 1 and b"already" in done.stderr and not (tmp_path / "again.etl").exists()
    done = cairn("export", "--to", "etl", GOLDEN / "small.log", "-o", tmp_path / "no" / "x.etl")
    assert done.returncode == 3 and "its folder does not exist" in errors_of(done)
    done = cairn("export", "--to", "etl", GOLDEN / "small.log", "-o", "/dev/full")
    assert done.returncode == 3 and b"No space" in done.stderr


def test_export_writes_over_etl_files_only(tmp_path):
    """Not over the log it reads, nor over another file."""
    log, text, old = tmp_path / "x.log", tmp_path / "notes", tmp_path / "x.etl"
    log.write_bytes((GOLDEN / "small.log").read_bytes())
    text.write_bytes(b"notes\n")
    for path, why in ((log, "is the log itself"), (text, "exists and is not a file of the format etl")):
        was = path.read_bytes()
        done = cairn("export", "--to", "etl", log, "-o", path)
        assert done.returncode == 2 and why in errors_of(done)
        assert path.read_bytes() == was
    old.write_bytes(b"")
    for _ in range(2):  # an empty file, then one of its own
        assert cairn("export", "--to", "etl", log, "-o", old).returncode == 0


def test_the_sample_is_what_the_command_writes(tmp_path):
    path = tmp_path / "cairn.etl"
    done = cairn("export", "--strict", "--to", "etl", cairn_boot.ROOT / "samples" / "plain.log", "-o", path)
    assert done.returncode == 0
    assert path.read_bytes() == (cairn_boot.ROOT / "samples" / "cairn.etl").read_bytes()


@pytest.mark.parametrize("log", ["small", "full", "told", "locks", "live", "circular", "lost"])
def test_what_is_counted_of_it(tmp_path, log):
    """The kernel's events and buffers, not what the writer of the file added."""
    path = GOLDEN / f"{log}.log"
    assert cairn("export", "--to", "etl", path, "-o", tmp_path / "x.etl").returncode == 0

    def counted(source):
        return re.match(r"session .*\n(?:events .*\n)(?:  .*\n)*", text_of(cairn("stat", source)))[0]
    assert counted(tmp_path / "x.etl") == counted(path)


def test_a_small_log_makes_no_huge_file(tmp_path):
    """Buffers said to be of 16 MiB, each with little in it: the file is refused before it is written."""
    parts = [(s, p.replace(b"session.1.buffer_bytes=4096\n", b"session.1.buffer_bytes=16777216\n"))
             for s, p in frames.read((GOLDEN / "circular.log").read_bytes())]
    path = tmp_path / "x.etl"
    done = cairn("export", "--to", "etl", "-", "-o", path, data=frames.write(parts))
    assert done.returncode == 1 and b"with buffers of 16777216 bytes" in done.stderr and not path.exists()
    assert done.stdout == b"" and done.stderr.count(b"cairn: ") == 1


@pytest.mark.parametrize("session", [2, 3])
def test_a_cut_file_is_still_of_its_session(tmp_path, session):
    """Of its clock and between its own starts and stops: all that fails is that something is not there."""
    path, cut = tmp_path / "whole.etl", tmp_path / "cut.etl"
    text_of(cairn("export", "--to", "etl", "--session", session, GOLDEN / "sessions.log", "-o", path))
    cut.write_bytes(path.read_bytes()[:path.stat().st_size * 2 // 3 - 100])
    text = text_of(cairn("check", cut))
    failed = set(re.findall(r"^FAIL (?!: )([^:]+):", text, re.M))
    assert failed == {"buffers"} and "is cut short" in text, text
    assert re.search(r"^session: starts, stops, masks in order +[1-9]\d* +0 consistent$", text, re.M), text
