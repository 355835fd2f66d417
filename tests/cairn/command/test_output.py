# SPDX-License-Identifier: MIT
"""The FILE of `cairn export -o`: written whole or not at all, and what was there before stays until then."""

import os
import resource
import signal
import subprocess
import time

import pytest

from cairn_tool import CAIRN, GOLDEN, cairn, errors_of

SMALL, LOST = GOLDEN / "small.log", GOLDEN / "lost.log"
FORMATS = ["json", "html", "svg", "perfetto", "folded", "etl", "sqlite", "perf.data"]


def small_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.parametrize("form", FORMATS)
def test_the_last_good_file_stays(tmp_path, form):
    good, link = tmp_path / "good", tmp_path / "link"
    link.symlink_to("good")
    assert cairn("export", "--to", form, SMALL, "-o", link).returncode == 0  # it led nowhere
    good.chmod(0o640)
    before = good.read_bytes()
    command = [CAIRN, "export", "--to", form, LOST, "-o", link]
    done = subprocess.run(command, capture_output=True, check=False, preexec_fn=small_disk)
    assert done.returncode == 3 and f"{link}: File too large" in errors_of(done)
    assert good.read_bytes() == before and sorted(tmp_path.iterdir()) == [good, link]
    assert cairn("export", "--to", form, LOST, "-o", link).returncode == 0
    assert good.read_bytes() != before and link.is_symlink() and good.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [good, link]


def test_the_last_good_folder_stays(tmp_path):
    folder = tmp_path / "ctf"
    assert cairn("export", "--to", "ctf", SMALL, "-o", folder).returncode == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    command = [CAIRN, "export", "--to", "ctf", LOST, "-o", folder]
    done = subprocess.run(command, capture_output=True, check=False, preexec_fn=small_disk)
    assert done.returncode == 3 and "File too large" in errors_of(done)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("form", ["json", "ctf"])
def test_a_signal_leaves_what_was_there(tmp_path, form, number):
    """It comes while there is a file that is not whole."""
    out = tmp_path / "out"
    assert cairn("export", "--to", form, SMALL, "-o", out).returncode == 0

    def all_of():
        return {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    before, deadline = all_of(), time.monotonic() + 60
    status = 0
    while status == 0:  # it may be over before the signal comes
        assert time.monotonic() < deadline
        # what runs in the background of a script has SIGINT ignored, and so has what it starts
        with subprocess.Popen(["env", "--default-signal", CAIRN, "export", "--to", form, SMALL, "-o", out],
                              stderr=subprocess.DEVNULL) as running:
            while running.poll() is None and not list(tmp_path.rglob("*.partial")):
                pass
            running.send_signal(number)
            status = running.wait(timeout=60)
    assert status == -number and all_of() == before


def test_a_pipe_is_written_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([CAIRN, "export", "--to", "json", SMALL, "-o", pipe]) as running:
        text = pipe.read_bytes()
        assert running.wait(timeout=60) == 0
    assert text == cairn("export", "--to", "json", SMALL).stdout and list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("log, options, why", [
    ("nods.log", [], "this log has no PEBS records, so there are no stacks (cairn info says why)"),
    ("small.log", ["--cpu", "0", "--until", "1us"],
     "no PEBS records match --cpu 0 --until 1us, so there are no stacks"),
])
def test_no_stacks_are_no_file(tmp_path, log, options, why):
    out = tmp_path / "out"
    for before in (None, b"idle;f 1\n"):
        if before:
            out.write_bytes(before)
        done = cairn("export", "--to", "folded", *options, GOLDEN / log, "-o", out)
        assert done.returncode == 1 and errors_of(done) == f"cairn: {why}"
        assert out.read_bytes() == before if before else not list(tmp_path.iterdir())
    done = cairn("export", "--to", "folded", *options, GOLDEN / log)
    assert done.returncode == 1 and done.stdout == b"" and errors_of(done) == f"cairn: {why}"
