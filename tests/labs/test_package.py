# SPDX-License-Identifier: MIT
"""The installed course: `cairn-labs` copies it, and there `make lab` compiles the student's file alone."""

import subprocess

import pytest

import cairn_boot as cb

pytestmark = [pytest.mark.skipif(cb.BUILD != cb.ROOT / "build", reason="the installed course looks into build"),
              pytest.mark.xdist_group("course")]  # which is installed once


def run(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", name="command")
def fixture_command(tmp_path_factory):
    """`cairn-labs`, installed as it is built: nothing is made anew below the feet of the other tests."""
    root = tmp_path_factory.mktemp("root")
    done = run("make", "--no-print-directory", "-o", "all", "-o", "labs", "install-labs", f"B={cb.BUILD}",
               f"DESTDIR={root}", "PREFIX=/usr", cwd=cb.ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{root}/usr/lib/cairn-labs\n{root}/usr/bin/cairn-labs\n"
    return root / "usr/bin/cairn-labs"


def test_only_the_students_file_is_compiled(command, tmp_path):
    copy = tmp_path / "course"
    assert run(command, copy).returncode == 0
    program = ("make", "--no-print-directory", "lab-program", "SOLUTION=1")
    for number in ("1", "4", "5"):
        done = run(*program, f"N={number}", cwd=copy)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    assert (copy / "build/lab/01-first-record/solution/kernel.elf").is_file()
    assert (copy / "build/lab/05-two-bytes/solution/score").is_file()
    (copy / "labs/04-records/task.h").touch()
    done = run(*program, "N=4", cwd=copy)  # what is older than it is made anew
    assert done.returncode == 0 and "CC      build/host/labs/04-records/" in done.stdout


def test_what_is_in_it(command, tmp_path):
    assert run(command, tmp_path / "copy").returncode == 0
    assert not (tmp_path / "copy/tools/teacher").exists()
    named = run("grep", "-rl", "--exclude-dir=docs", str(cb.ROOT), tmp_path / "copy")
    assert named.stdout == ""  # packages of two clones are the same


@pytest.mark.parametrize("arguments, status, said", [
    ((), 2, "usage: cairn-labs FOLDER"), (("a", "b"), 2, "usage: cairn-labs FOLDER"),
    (("--version",), 2, "usage: cairn-labs FOLDER"), (("",), 2, "usage: cairn-labs FOLDER"),
    ((".",), 2, "cairn-labs: . exists: give a folder that does not"),
    (("my course",), 2, "cairn-labs: my course: make takes no folder with a blank")])
def test_refusals(command, arguments, status, said):
    done = run(command, *arguments)
    assert (done.returncode, done.stdout) == (status, "") and said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_help(command):
    assert run(command, "--help").stdout.startswith("usage: cairn-labs FOLDER")


def test_not_installed(tmp_path):
    done = run(cb.ROOT / "labs/cairn-labs", tmp_path / "copy")
    assert done.returncode == 3 and "install the package cairn-labs" in done.stderr
