# SPDX-License-Identifier: MIT
"""Colours: on a terminal, or where --color=always asks for them; never else, and they change no column."""

import re

import pytest

import cairn_boot
from cairn_tool import GOLDEN, cairn, on_a_terminal, text_of

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
SAMPLES = cairn_boot.ROOT / "samples"
COMMANDS = [["dump", SAMPLES / "damaged.log"], ["dump", GOLDEN / "lost.log"], ["stat", GOLDEN / "lost.log"],
            ["check", GOLDEN / "small.log"], ["check", SAMPLES / "damaged.log"], ["profile", GOLDEN / "small.log"],
            ["bts", SAMPLES / "branches.log"], ["locks", GOLDEN / "locks.log"], ["info", GOLDEN / "small.log"],
            ["ds", GOLDEN / "small.log"]]


def name(words):
    return "-".join(getattr(word, "stem", word) for word in words)


def on_terminal(*words, **environment):
    """What the tool writes on a terminal, both streams."""
    done = on_a_terminal(*words, both=True, env={"TERM": "xterm", **environment})
    assert done.returncode in (0, 1)
    assert b"Sanitizer" not in done.stdout
    return done.stdout.decode("ascii")


@pytest.mark.parametrize("words", COMMANDS, ids=name)
def test_on_a_terminal(words):
    shown = on_terminal(*words)
    plain = cairn(*words)
    assert b"\x1b" not in plain.stdout + plain.stderr
    bare = ESCAPES.sub("", shown)
    assert "\x1b" not in bare and max(map(len, bare.splitlines())) <= 80
    lines = bare.splitlines()
    assert sorted(lines) == sorted((plain.stdout + plain.stderr).decode("ascii").splitlines())
    assert bool(ESCAPES.search(shown)) == (words[0] != "ds")
    for line in shown.splitlines():  # pagers take a line for itself
        marks = ESCAPES.findall(line)
        assert all(mark == "\x1b[m" for mark in marks[1::2]) and len(marks) % 2 == 0, line


@pytest.mark.parametrize("words, environment", [([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"}),
                                                (["--color=never"], {}), (["--color", "never"], {"NO_COLOR": ""})])
def test_none_where_not_wanted(words, environment):
    shown = on_terminal("dump", *words, GOLDEN / "lost.log", **environment)
    assert "\x1b" not in shown and len(shown) > 1000


def test_empty_no_color_says_nothing():
    assert "\x1b[" in on_terminal("dump", GOLDEN / "lost.log", NO_COLOR="")


@pytest.mark.parametrize("words", COMMANDS, ids=name)
def test_always_in_a_pipe(words):
    done, plain = cairn(*words, "--color=always"), cairn(*words)
    assert ESCAPES.sub("", done.stdout.decode()) == plain.stdout.decode()
    assert ESCAPES.sub("", done.stderr.decode()) == plain.stderr.decode()
    assert (b"\x1b[" in done.stdout) == (words[0] != "ds")


def test_what_is_lost_is_red():
    shown = text_of(cairn("dump", "--color=always", SAMPLES / "damaged.log"))
    gaps = [line for line in shown.splitlines() if "! " in line]
    assert gaps and all("\x1b[1;31m! " in line for line in gaps)
    assert b"\x1b[1;31mmissing\x1b[m: " in cairn("dump", "--color=always", SAMPLES / "damaged.log").stderr


@pytest.mark.parametrize("form", ["json", "folded", "svg", "html", "perfetto"])
def test_never_in_what_is_exported(form, tmp_path):
    plain = cairn("export", "--to", form, GOLDEN / "small.log").stdout
    assert plain == cairn("export", "--color=always", "--to", form, GOLDEN / "small.log").stdout
    assert cairn("export", "--color=always", "--to", form, GOLDEN / "small.log", "-o", tmp_path / "x").returncode == 0
    assert (tmp_path / "x").read_bytes() == plain


def test_refusal():
    done = cairn("dump", "--color=blue", GOLDEN / "small.log")
    assert done.returncode == 2 and b"--color blue: must be auto, always or never" in done.stderr
