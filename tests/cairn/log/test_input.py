# SPDX-License-Identifier: MIT
"""Every command that reads a log takes a file, standard input as `-`, and a pipe, and tells the same of it."""

import os
import subprocess
import threading

import pytest

import cairn_boot
import probe_log
from cairn_tool import CAIRN, GOLDEN, cairn, errors_of, text_of

SAMPLES = cairn_boot.ROOT / "samples"
READERS = {
    "dump": (["dump"], GOLDEN / "small.log"),
    "stat": (["stat"], GOLDEN / "small.log"),
    "info": (["info", "--all"], GOLDEN / "small.log"),
    "check": (["check"], GOLDEN / "small.log"),
    "ds": (["ds"], GOLDEN / "small.log"),
    "profile": (["profile"], GOLDEN / "small.log"),
    "export": (["export", "--to", "json"], GOLDEN / "small.log"),
    "locks": (["locks"], GOLDEN / "locks.log"),
    "bts": (["bts"], SAMPLES / "branches.log"),
    "etl": (["dump"], SAMPLES / "cairn.etl"),
    "decode": (["decode"], SAMPLES / "records.xxd"),
    "probe": (["probe"], None),  # no log that is kept has answers: probe_log makes one
}


def test_every_command_is_here():
    commands = {line.split()[0] for line in text_of(cairn("--help")).splitlines()
                if line.startswith("  ") and line[2] != " "}
    assert commands == {words[0] for words, _ in READERS.values()} | {"capture", "diff", "grab", "top"}


@pytest.mark.parametrize("name", READERS)
def test_file_and_standard_input(name, tmp_path):
    words, log = READERS[name]
    if not log:
        log = tmp_path / "log"
        log.write_bytes(probe_log.log(probe_log.ANSWERS.encode()))
    done = cairn(*words, log)
    assert done.returncode == 0 and len(done.stdout) > 200
    data = log.read_bytes()
    assert text_of(cairn(*words, "-", data=data)) == text_of(done)
    with open(log, "rb") as file:  # a file as standard input
        other = subprocess.run([CAIRN, *words, "-"], stdin=file, capture_output=True, check=False)
    assert other.stdout == done.stdout
    os.mkfifo(tmp_path / "pipe")
    feeder = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,))
    feeder.start()
    assert text_of(cairn(*words, tmp_path / "pipe")) == text_of(done)
    feeder.join()


@pytest.mark.parametrize("name", READERS)
def test_nothing_to_read(name, tmp_path):
    """One thing is said, what is wrong with which file, and the exit status is 3."""
    words, _ = READERS[name]
    for path, reason, data in ((tmp_path / "none", "No such file", None), (tmp_path, "", None),
                               ("-", "expected bytes" if name == "decode" else "not a trace", b"nothing\n")):
        done = cairn(*words, path, data=data)
        assert done.returncode == 3 and done.stdout == b"" and done.stderr.count(b"cairn: ") == 1, done.stderr
        assert reason in errors_of(done) and ("standard input" if path == "-" else str(path)) in errors_of(done)
