# SPDX-License-Identifier: MIT
"""Long output on a terminal goes through a pager, with its colours; in a pipe or a file nothing changes."""

import os
import pty
import re
import shutil
import signal
import subprocess

import pytest

import cairn_boot
from cairn_tool import CAIRN, GOLDEN, cairn, on_a_terminal

SAMPLES = cairn_boot.ROOT / "samples"
PLAIN, DAMAGED = SAMPLES / "plain.log", SAMPLES / "damaged.log"
COLOURED = {"TERM": "xterm", "NO_COLOR": ""}


def paged(tmp_path, *arguments, both=False, **env):
    """(status, what the pager got, what came to the terminal, errors); None: no pager ran."""
    out = tmp_path / "paged"
    out.unlink(missing_ok=True)
    done = on_a_terminal(*arguments, both=both, env={**COLOURED, "CAIRN_PAGER": f"cat >{out}", **env})
    return (done.returncode, out.read_bytes() if out.exists() else None, done.stdout, done.stderr)


@pytest.mark.parametrize("command", [["dump"], ["stat"], ["info"], ["check"], ["ds"], ["profile"], ["dump", "--help"],
                                     ["diff", PLAIN], ["export", "--to", "json"]])
def test_all_of_it_in_colour(command, tmp_path):
    status, shown, terminal, errors = paged(tmp_path, *command, PLAIN)
    whole = cairn(*command, "--color=always", PLAIN, env={"COLUMNS": "80", "TERM": "xterm"})
    assert (status, terminal, errors) == (whole.returncode, b"", b"") and status == 0
    assert shown == whole.stdout and len(shown) > 400
    assert (b"\x1b[" in shown) == (command[0] in ("dump", "stat", "info", "check", "profile") and len(command) == 1)


@pytest.mark.parametrize("command", ["dump", "check", "stat"])
def test_the_status_stays_and_errors_are_there(command, tmp_path):
    status, shown, terminal, errors = paged(tmp_path, command, DAMAGED)
    assert status == 1 and terminal == b"" and b"the trace is damaged" in re.sub(rb"\x1b\[[0-9;]*m", b"", errors)
    status, together, terminal, errors = paged(tmp_path, command, DAMAGED, both=True)
    assert status == 1 and terminal == b"" and together.startswith(shown)
    assert b"only its undamaged part is shown" in together[len(shown):] and b"\x1b[1;31m" in together[len(shown):]


def test_which_pager(tmp_path):
    """CAIRN_PAGER, else PAGER, else less, which gets LESS=FRX unless it is set."""
    got, programs = tmp_path / "got", tmp_path / "programs"
    programs.mkdir()
    (programs / "less").write_text(f"#!/bin/sh\necho less $# $LESS >{got}\nexec cat >>{got}\n", encoding="ascii")
    (programs / "less").chmod(0o755)
    path = {"PATH": f"{programs}:{os.environ['PATH']}", **COLOURED}
    text = cairn("stat", "--color=always", PLAIN, env={"COLUMNS": "80", "TERM": "xterm"}).stdout
    for env, first in (({"PAGER": f"(echo pager; cat) >{got}"}, b"pager\n"),
                       ({"PAGER": "false", "CAIRN_PAGER": f"(echo own; cat) >{got}"}, b"own\n"),
                       ({"PAGER": None, "LESS": None}, b"less 0 FRX\n"), ({"PAGER": None, "LESS": "R"}, b"less 0 R\n")):
        got.unlink(missing_ok=True)
        done = on_a_terminal("stat", PLAIN, env={"CAIRN_PAGER": None, **path, **env})
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert got.read_bytes() == first + text


def test_no_pager(tmp_path):
    """All of these print as they would without one."""
    shown = on_a_terminal("stat", PLAIN, env=COLOURED).stdout
    assert b"\x1b[1m" in shown
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    for arguments, env in ((["stat", "--no-pager", PLAIN], {}), (["--no-pager", "stat", PLAIN], {}),
                           (["stat", PLAIN], {"CAIRN_PAGER": ""}), (["stat", PLAIN], {"CAIRN_PAGER": "cat"}),
                           (["stat", PLAIN], {"CAIRN_PAGER": None, "PAGER": None, "PATH": str(nowhere)})):
        assert paged(tmp_path, *arguments, **env) == (0, None, shown, b""), arguments
    status, pager, plain, errors = paged(tmp_path, "stat", PLAIN, TERM="dumb")
    assert (status, pager, errors) == (0, None, b"") and plain == re.sub(rb"\x1b\[[0-9;]*m", b"", shown)
    pipe = cairn("stat", PLAIN, env={"CAIRN_PAGER": f"cat >{tmp_path}/paged"})
    assert pipe.stdout.startswith(b"session ") and not (tmp_path / "paged").exists()


@pytest.mark.parametrize("log", [PLAIN, DAMAGED])
def test_somebody_leaves_it_early(log, tmp_path):
    """More is to come than a pipe holds."""
    long = tmp_path / "log"
    long.write_bytes((GOLDEN / "full.log").read_bytes() if log == PLAIN else log.read_bytes())
    for pager, lines in (("head -n 3", 3), ("true", 0)):
        done = on_a_terminal("ds", "--records", "9999", "--bytes", long, both=True,
                             env={**COLOURED, "CAIRN_PAGER": pager})
        assert done.stdout.count(b"\n") == lines and done.returncode in (0, 1)
        assert b"roken pipe" not in done.stdout and b"cairn:" not in done.stdout


def test_a_pager_that_is_not_there(tmp_path):
    """The shell says so; there is nothing else to read."""
    done = on_a_terminal("dump", PLAIN, both=True, env={**COLOURED, "CAIRN_PAGER": f"{tmp_path}/pager"})
    assert b"pager: not found" in done.stdout


def test_somebody_ignores_children(tmp_path):
    """Who starts cairn may have told the kernel to forget them: the pager is waited for, and cairn ends."""
    ours, theirs = pty.openpty()
    done = subprocess.run([CAIRN, "stat", PLAIN], stdout=theirs, stderr=subprocess.PIPE, timeout=60, check=False,
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
                          env={**os.environ, **COLOURED, "CAIRN_PAGER": f"sleep 0.5; cat >{tmp_path}/paged"})
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"") and b"session " in (tmp_path / "paged").read_bytes()


def test_bytes_are_for_no_pager(tmp_path):
    status, pager, _, errors = paged(tmp_path, "export", "--to", "perfetto", PLAIN)
    assert status == 2 and not pager and b"is not text for a terminal" in b" ".join(errors.split())


@pytest.mark.skipif(not shutil.which("less"), reason="needs less")
def test_less_shows_colours_and_what_fits_without_a_key(tmp_path):
    done = on_a_terminal("check", PLAIN, env={**COLOURED, "CAIRN_PAGER": None, "PAGER": None, "LESS": None,
                                              "LINES": "100", "COLUMNS": "80"})
    assert done.returncode == 0 and b"\x1b[32mPASS\x1b[m" in done.stdout and b"\x1b[?1049h" not in done.stdout
