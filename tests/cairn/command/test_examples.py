# SPDX-License-Identifier: MIT
"""--help of each command ends with two examples, and they work. `cairn LOG` is the shortest."""

import gzip
import os
import re
import shutil
import subprocess

import pytest

import cairn_boot
from cairn_tool import CAIRN, GOLDEN, HERE, cairn, text_of

SAMPLES = cairn_boot.ROOT / "samples"
COMMANDS = ["dump", "stat", "info", "check", "ds", "bts", "profile", "locks", "probe", "capture", "export", "diff",
            "top", "decode"]
LOGS = {"bts": SAMPLES / "branches.log", "locks": GOLDEN / "locks.log", "ds": SAMPLES / "life.log",
        "probe": HERE / "cairn-machine.txt"}
ELSEWHERE = re.compile(r"/dev/tty|^sudo ")  # wants a serial line, or to be root on a processor of Intel's


def examples(command):
    text = text_of(cairn(command, "--help"))
    return re.fullmatch(r"(?:.*\n)*?Examples:\n  (.*)\n  (.*)\n", text).groups()


@pytest.fixture(scope="module", name="place")
def a_place(tmp_path_factory):
    """A folder with the files that the examples name."""
    place = tmp_path_factory.mktemp("examples")
    (place / "bin").mkdir()
    (place / "bin" / "cairn").symlink_to(CAIRN)
    shutil.copy(SAMPLES / "records.xxd", place)
    shutil.copy(HERE / "cairn-machine.txt", place)
    shutil.copy(SAMPLES / "plain.log", place / "before.log")
    shutil.copy(SAMPLES / "life.log", place / "after.log")
    (place / "t.log.gz").write_bytes(gzip.compress((SAMPLES / "plain.log").read_bytes()))
    return place


@pytest.mark.parametrize("command", COMMANDS)
def test_they_work(command, place):
    found, ran = examples(command), 0
    for line in found:
        assert f"cairn {command} " in line
        if ELSEWHERE.search(line):
            continue
        shutil.copy(LOGS.get(command, SAMPLES / "plain.log"), place / "t.log")
        done = subprocess.run(["bash", "-c", line], cwd=place, capture_output=True, check=False,
                              env={**os.environ, "PATH": f"{place}/bin:{os.environ['PATH']}"})
        made = re.search(r"(?:-o |>)(\S+)$", line) or re.search(r"-o (\S+)", line)
        assert done.returncode == 0, (line, done.stderr)
        assert done.stdout or "--lost" in line or (place / made[1]).stat().st_size, line  # plain.log lost nothing
        ran += 1
    assert ran == 2 - (command in ("capture", "top"))


def test_the_manual_has_them():
    manual = (cairn_boot.BUILD / "cairn.1").read_text(encoding="ascii").replace("\\-", "-").replace("\\(aq", "'")
    for command in COMMANDS:
        for line in examples(command):
            assert f"\n{line}\n" in manual


def test_a_log_alone(tmp_path):
    small = GOLDEN / "small.log"
    assert cairn(small).stdout == cairn("info", small).stdout and cairn(small).returncode == 0
    assert cairn("-", data=small.read_bytes()).stdout == cairn("info", small).stdout
    assert cairn(small, "--lost").returncode == 0 and cairn(small, "--next").stdout.startswith(b"dump\n")
    assert cairn(HERE / "cairn-machine.txt").stdout.startswith(b"cairn-report")
    command = tmp_path / "dump"  # a command's name stays a command's
    command.write_bytes(small.read_bytes())
    here = subprocess.run([CAIRN, "dump"], cwd=tmp_path, capture_output=True, check=False)
    assert here.returncode == 2 and b"give one LOG" in here.stderr
    for name in (tmp_path, tmp_path / "none", "small.lgo"):
        done = cairn(name)
        assert done.returncode == 2 and b"is neither a command nor a file" in b" ".join(done.stderr.split())


@pytest.mark.parametrize("command", ["profile", "bts", "locks", "ds"])
def test_an_option_of_other_commands(command):
    for words in (["--reason", "Ready"], ["--reason=Ready"]):
        done = cairn(command, *words, GOLDEN / "small.log")
        assert done.returncode == 2 and not done.stdout
        assert b"cairn: leave it out: only these commands have --reason: dump, stat, export, diff\n" in done.stderr
    needs = cairn(command, GOLDEN / "small.log", "--cpu")
    assert needs.returncode == 2 and b"only these commands" not in needs.stderr
