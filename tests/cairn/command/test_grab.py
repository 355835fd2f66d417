# SPDX-License-Identifier: MIT
"""`cairn grab` runs cairn-grab with all its arguments, or says how to get it; what that says of wrong arguments, and to
those who are not root. tests/linux/test_grab.py has it record."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import cairn_boot
import pytest

from cairn_tool import CAIRN

GRAB = cairn_boot.BUILD / "cairn-grab"
NOBODY = 65534


def grab(*arguments, **options):
    return subprocess.run([GRAB, *arguments], capture_output=True, text=True, check=False, **options)


def test_not_installed(tmp_path):
    program = shutil.copy(CAIRN, tmp_path / "cairn")
    done = subprocess.run([program, "grab", "--", "true"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": "/nowhere"})
    assert done.returncode == 3 and not done.stdout
    assert " ".join(done.stderr.split()) == ("cairn: cairn-grab is not installed; install the Debian package "
                                             "cairn-grab, or run 'make install-grab'")


def test_arguments_are_passed_on(tmp_path):
    """As they are, also those of the command; the program beside cairn is preferred."""
    program = shutil.copy(CAIRN, tmp_path / "cairn")
    (tmp_path / "cairn-grab").write_text('#!/bin/sh\nfor one; do echo "<$one>"; done\nexit 7\n', encoding="utf-8")
    (tmp_path / "cairn-grab").chmod(0o755)
    done = subprocess.run([program, "grab", "-o", "a b", "--nonsense", "perf", "record", "-e", "x", "--help"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 7
    assert done.stdout == "<-o>\n<a b>\n<--nonsense>\n<perf>\n<record>\n<-e>\n<x>\n<--help>\n"


def test_it_does_not_tell_where_it_was_made():
    """A package has the same bytes wherever it is made (tests/dist): BTF and debug information name files from here."""
    assert b"tools/grab/bpf/grab.bpf.c" in GRAB.read_bytes()
    assert str(cairn_boot.ROOT).encode() + b"/" not in GRAB.read_bytes()


def test_options_are_told_alike():
    """In the manual and the completions, which are made from cairn's table, as by the program itself."""
    manual = subprocess.run([cairn_boot.BUILD / "cairn-manual", "bash"], capture_output=True, text=True, check=True)
    table = set(re.findall(r"--[a-z-]+", next(line for line in manual.stdout.splitlines() if "--all-cpus" in line)))
    said = grab("--help").stdout
    assert table - {"--help"} == set(re.findall(r"--[a-z-]+", said)) - {"--help", "--version"}
    assert all(len(line) <= 80 for line in said.splitlines())
    page = (cairn_boot.ROOT / "tools/grab/cairn-grab.1").read_text(encoding="utf-8").replace("\\-", "-")
    assert all(option in page for option in table)


@pytest.mark.parametrize("arguments, what", [
    (["-c", "0", "true"], "0: -c must be a number from 1 on; see cairn grab --help"),
    (["-c", "1x", "true"], "1x: -c must be a number from 1 on"),
    (["-e", "cycels", "true"], "cycels: must be one of perf's names (cycles,"),
    (["-e", "cycles:x", "true"], "cycles:x: only u (programs)"),
    (["-e", "nothing/event=1/", "true"], "nothing/event=1/: Linux has no such PMU"),
    (["-e", "intel_bts//", "true"], "intel_bts//: its records go to perf's own memory; -e branches:u -c 1"),
    (["-e", "cpu/event=1", "true"], "cpu/event=1: the '/' at its end is missing"),
    (["-e", "cycles"], "-e: there is nothing to count in"),
    (["-a", "true"], "-a: needs -e EVENT, the event to count"),
    (["-a", "-p", "1", "-e", "cycles"], "-p: give -a or -p, not both"),
    (["-p", "me", "-e", "cycles"], "me: -p must be the number of a process"),
    (["--ring", "100", "true"], "100: --ring must be a power of 2 from 64 to 1048576"),
    (["--full", "no", "true"], "no: --full must be auto, always or never"),
    (["-c", "5", "--", "true"], "-c: needs -e EVENT; perf record has its own -c for what it samples"),
    (["--report", "true"], "--report: takes neither COMMAND nor"),
    (["--report", "-a", "-e", "cycles"], "--report: takes neither COMMAND nor"),
    (["--frob"], "cairn grab --help lists the options"),
])
def test_wrong_arguments(arguments, what):
    done = grab(*arguments)
    assert done.returncode == 2 and not done.stdout and f"cairn-grab: {what}" in done.stderr


def test_not_root():
    """What root cannot change is said first: that there is no Debug Store."""
    user = {} if os.geteuid() else {"user": NOBODY}
    with tempfile.TemporaryDirectory() as place:  # the project may be in a folder that only root may read
        os.chmod(place, 0o755)
        done = subprocess.run([shutil.copy(GRAB, place), "true"], capture_output=True, text=True, check=False, **user)
    intel = "GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="ascii")
    assert done.returncode == 3
    what = "only root may read the kernel's memory: " if intel else "this is not an Intel processor, and only "
    assert done.stderr.startswith("cairn-grab: " + what)
