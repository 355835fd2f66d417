# SPDX-License-Identifier: MIT
"""The nucleus is a kernel by itself, and each wing (tools/wings) can be left out alone."""

import datetime
import os
import subprocess

import pytest

import cairn_boot as cb
from cairn_log import cairn

WINGS = {fields[0].strip(): fields[2].split()
         for fields in (line.split("|") for line in (cb.ROOT / "tools/wings").read_text(encoding="utf-8").splitlines())
         if len(fields) == 4}


def turns(count):
    """All of them; but for `count`, others each day, they are long."""
    today = datetime.date.today().toordinal()
    now = {(today + i) % len(WINGS) for i in range(count)}
    return [name if i in now else cb.long(name) for i, name in enumerate(WINGS)]


def build(folder, *wings):
    """The nucleus with these wings, for cb.boot."""
    done = subprocess.run(["make", "nucleus", f"B={os.path.relpath(cb.BUILD, cb.ROOT)}", f"WITH={' '.join(wings)}",
                           f"NUCLEUS={folder}"], cwd=cb.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def run(tmp_path, kernel, *options):
    result = cb.boot(tmp_path / "log", "--smp", 2, cb.UNHURRIED, "switches=2000", *options, build=kernel)
    assert result.status == cb.PASS, result.output
    status, text = cairn("check", result.log)
    assert status == 0, text
    return text


def refused(kernel, word):
    option = "--monitor" if word == "monitor" else word if "=" in word else f"{word}=1"
    result = cb.boot(kernel / "log", option, build=kernel)
    assert result.status == cb.USAGE and "this kernel is built without" in result.output, result.output


@pytest.mark.parametrize("option", ["truth=0", "truth=1", cb.long("bts=interrupt"), cb.long("ds=off")])
def test_nucleus(tmp_path, option):
    kernel = build(tmp_path / "nucleus")
    assert ("cannot be known here: there is no truth" in run(tmp_path, kernel, option)) == (option != "truth=1")
    for words in WINGS.values():
        for word in words:
            refused(kernel, word)


@pytest.mark.parametrize("wing", turns(3))
def test_without(tmp_path, wing):
    """The rest is as it was: the others' options are known."""
    kernel = build(tmp_path / "rest", *(name for name in WINGS if name != wing))
    run(tmp_path, kernel, "truth=1", *(["monitor.script=none", "monitor=off"] if wing != "monitor" else []))
    for word in WINGS[wing]:
        refused(kernel, word)
    for name, words in WINGS.items():
        for word in words if name != wing else ():
            done = subprocess.run([kernel / "cairn-options", "check", word if "=" in word else f"{word}="],
                                  capture_output=True, text=True, check=False)
            assert "built without" not in done.stderr


def test_the_whole_kernel_has_all(tmp_path):
    """No row is left behind by the linker: as many on the host as there are in the sources."""
    rows = sum(path.read_text(encoding="utf-8").count("ROWS_ADD(kopt,") for path in cb.ROOT.glob("kernel/*/options.c"))
    words = [word.split("=")[1] for found in WINGS.values() for word in found if "=" in word]
    said = subprocess.run([cb.BUILD / "cairn-options", "help"], capture_output=True, text=True, check=True).stdout
    assert rows == sum("=" not in word for found in WINGS.values() for word in found)
    assert all(f"\n  {word}=" in said for found in WINGS.values() for word in found if "=" not in word)
    values = said.split("\n  workload=")[1].split("what the threads")[0].replace("\n", "").replace(" ", "").split("|")
    assert set(words) <= set(values), tmp_path
