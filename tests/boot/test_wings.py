# SPDX-License-Identifier: MIT
"""The nucleus is a kernel by itself, and each wing (tools/wings) can be left out alone."""

import os
import re
import subprocess

import pytest

import cairn_boot as cb
from cairn_log import cairn

ROWS = [[field.strip() for field in line.split("|")]
        for line in (cb.ROOT / "tools/wings").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
WINGS = {row[0]: row[2].split() for row in ROWS}
NEEDS = {row[0]: set(row[4].split()) if len(row) > 4 else set() for row in ROWS}


def turns(count):
    """All of them; but for `count`, others at each commit, they are long."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=cb.ROOT, capture_output=True, text=True, check=False)
    first = int(commit.stdout or "0", 16)
    now = {(first + i) % len(WINGS) for i in range(count)}
    return [name if i in now else cb.long(name) for i, name in enumerate(WINGS)]


def build(folder, *wings):
    """The nucleus with these wings, for cb.boot."""
    done = subprocess.run(["make", "nucleus", f"B={os.path.relpath(cb.BUILD, cb.ROOT)}", f"WITH={' '.join(wings)}",
                           f"NUCLEUS={folder}"], cwd=cb.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def run(tmp_path, kernel, *options):
    result = cb.boot(tmp_path / "log", "--smp", 2, cb.UNHURRIED, "switches=500", *options, build=kernel)
    assert result.status == cb.PASS, result.output
    status, text = cairn("check", result.log)
    assert status == 0, text
    return text


def option_of(word):
    """An option that asks for it."""
    name, _, group = word.partition("=")
    return f"session.1={group}:tsc:sequential" if name == "session" else word if group else f"{word}=1"


def check(kernel, option):
    """(status, errors), as run-qemu.sh asks before it boots."""
    done = subprocess.run([kernel / "cairn-options", "check", option], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def refused(kernel, word):
    status, errors = check(kernel, option_of(word))
    assert status == cb.USAGE and "this kernel is built without" in errors, (word, errors)


HW = pytest.param([], "ds=hw", marks=pytest.mark.skipif(not cb.QEMU_11.exists(), reason="run 'make deps-ds'"))
UNTOLD = "cannot be known here: this log has no truth"


@pytest.mark.parametrize("wings, option", [
    HW, (["soft", "truth"], "truth=1"), cb.long(["soft"], "ds=auto"), cb.long(["soft", "bts"], "bts=interrupt"),
    cb.long(["soft"], "ds=off")])
def test_nucleus(tmp_path, wings, option):
    """With either backend, and with the truth."""
    kernel = build(tmp_path / "nucleus", *wings)
    assert (UNTOLD in run(tmp_path, kernel, option)) == (option != "truth=1")
    for name, words in WINGS.items():
        for word in words if name not in wings else ():
            refused(kernel, word)
    result = cb.boot(tmp_path / "none", "--monitor", build=kernel)
    assert result.status == cb.USAGE and "this kernel is built without" in result.output, result.output


def without(wing):
    """The others, but for those that need it."""
    left = set(WINGS) - {wing}
    while gone := {name for name in left if not NEEDS[name] <= left}:
        left -= gone
    return [name for name in WINGS if name in left]


@pytest.mark.parametrize("wing", turns(3))
def test_without(tmp_path, wing):
    """The rest is as it was: the others' options are known."""
    kept = without(wing)
    kernel = build(tmp_path / "rest", *kept)
    run(tmp_path, kernel, *(["truth=1"] if "truth" in kept else ["ds=off"] if "soft" not in kept else []),
        *(["monitor.script=none", "monitor=off"] if "monitor" in kept else []))
    said = subprocess.run([kernel / "cairn-options", "help"], capture_output=True, text=True, check=True).stdout
    listed = re.findall(r"^  ([\w.]+)=", said, re.M)
    for name, words in WINGS.items():
        for word in words:
            if name not in kept:
                refused(kernel, word)
                continue
            if word.endswith("."):  # a family: one of it
                word = next(option for option in listed if option.startswith(word))
            status, errors = check(kernel, option_of(word) if "=" in word else f"{word}=?")
            if "=" in word:
                assert status == 0
            else:  # known, but not with this value, or not without another
                assert status == cb.USAGE
                assert re.search(" must be | port is | has no effect with | not an? (known|architectural) event",
                                 errors)


SOURCES = {path: path.read_text(encoding="utf-8")
           for folder in ("arch", "ds", "kernel", "trace") for path in (cb.ROOT / folder).rglob("*.[ch]")}


def added(words):
    """How often a source adds a row by one of these words."""
    return sum(len(re.findall(rf"^(?:{words})", text, re.M)) for path, text in SOURCES.items() if path.suffix == ".c")


@pytest.mark.parametrize("table, words", [
    ("kphase", r"KPHASE\("), ("knmi", r"ROWS_ADD\(knmi,"), ("kdump", r"KDUMP_SECTION\("), ("kopt", r"ROWS_ADD\(kopt,"),
    ("kcard", r"ROWS_ADD\(kcard,"), ("kopt_rows", r"ROWS_ADD\(kopt_rows,"), ("kbackend", r"ROWS_ADD\(kbackend,"),
    ("ksession", r"ROWS_ADD\(ksession,"), ("kworkload", r"KWORKLOAD\("), ("kopt_workload", r"KOPT_WORKLOAD\("),
    ("kopt_absent", r"ROWS_ADD\(kopt_absent,"), ("kopt_check", r"KOPT_CHECK\("),
    ("ds_model_preset", r"ROWS_ADD\(ds_model_preset,"), ("ds_mechanism", r"ROWS_ADD\(ds_mechanism,"),
    ("ds_detect", r"DS_DETECT\(")])
def test_every_row_is_linked(table, words):
    """As many in the whole kernel as there are in the sources."""
    said = subprocess.run(["nm", cb.BUILD / "kernel.elf"], capture_output=True, text=True, check=True).stdout
    at = {name: int(address, 16) for address, name in re.findall(rf"^(\w+) \w (__st\w+_rows_{table})$", said, re.M)}
    assert (at[f"__stop_rows_{table}"] - at[f"__start_rows_{table}"]) // 8 == added(words)


def test_every_table_is_in_the_linker_script():
    """One that is not would be a section of its own somewhere."""
    tables = re.findall(r"^ROWS\((\w+),", "\n".join(SOURCES.values()), re.M)
    script = (cb.ROOT / "arch/kernel.ld").read_text(encoding="utf-8")
    assert sorted(tables) == sorted(re.findall(r"\*\(rows_(\w+)\)", script))


def test_a_workload_is_an_option():
    """In the same folder."""
    of = {word: sorted((path.parent.name, name) for path, text in SOURCES.items()
                       for name in re.findall(rf"^{word}\((\w+)", text, re.M))
          for word in ("KWORKLOAD", "KOPT_WORKLOAD")}
    assert of["KWORKLOAD"] == of["KOPT_WORKLOAD"] and len(of["KWORKLOAD"]) > 9


def test_the_host_has_all():
    said = subprocess.run([cb.BUILD / "cairn-options", "help"], capture_output=True, text=True, check=True).stdout
    values = dict(re.findall(r"^  ([\w.]+)=(\S+)", re.sub(r"\|\n +", "|", said), re.M))
    words = [word for found in WINGS.values() for word in found]
    assert all(value in values[name].split("|") for name, value in (word.split("=") for word in words if "=" in word)
               if name != "session")
    names = [word for word in words if "=" not in word]
    assert all(any(option.startswith(name) for option in values) if name.endswith(".") else name in values
               for name in names)
    assert added(r"ROWS_ADD\((?:kopt|kopt_rows),") == len(names)
