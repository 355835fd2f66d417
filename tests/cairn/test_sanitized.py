# SPDX-License-Identifier: MIT
"""Every command and every format of export on every golden log, sample and ETL file, and on damaged ones, under ASan
and UBSan. Commands are those of --help, formats those that a refusal names: new ones are here by themselves."""

import random
import re

import pytest

import cairn_boot
from cairn_tool import GOLDEN, cairn, text_of

FILES = sorted([*GOLDEN.glob("*.log"), *GOLDEN.glob("*.etl"), *(cairn_boot.ROOT / "samples").glob("*.log"),
                *(cairn_boot.ROOT / "samples").glob("*.etl")])
FEW = ["hw.log", "bts.log", "sessions.log", "windows-19041-32.etl"]
PART = ["--cpu", "0", "--from", "1ms"]


def variants(out):
    """What each command is called with; the log comes behind."""
    listed = re.findall(r"^  (\w+) ", text_of(cairn("--help")), re.M)
    refusal = cairn("export", "--to", "none", "a").stderr.decode().replace("\n  ", " ")
    formats = re.findall(r"\w+", re.search(r"must be (.*)", refusal)[1].replace(" or ", ", "))
    assert len(listed) > 9 and len(formats) > 6
    for command in listed:
        if command == "export":
            for form in formats:
                yield [command, "--to", form, "-o", out / form]
                if form != "etl":
                    yield [command, "--to", form, "-o", out / form, *PART]
        elif command not in ("capture", "diff"):
            yield [command]
            if "--cpu LIST" in text_of(cairn(command, "--help")):
                yield [command, *PART]


def damaged(data, seed):
    """Bytes changed, a piece left out, or the end."""
    rng, data = random.Random(seed), bytearray(data)
    at = rng.randrange(len(data))
    if seed % 3 == 0:
        return bytes(data[:at])
    if seed % 3 == 1:
        return bytes(data[:at] + data[at + rng.randrange(1, 5000):])
    for _ in range(rng.randrange(1, 20)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def run(words, data, path=None):
    """What a file or, without one, standard input holds. That it is refused as a usage would be this file's mistake."""
    done = cairn(*words, path or "-", data=data, timeout=600)
    assert b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, (words, done.stderr.decode())
    assert done.returncode in (0, 1, 3), (words, done.returncode)
    assert done.returncode or not done.stderr or b"note: " in done.stderr, (words, done.stderr.decode())


@pytest.mark.parametrize("path", [path if path.name in FEW else cairn_boot.long(path) for path in FILES],
                         ids=lambda path: path.name)
def test_every_command(path, tmp_path):
    run(["diff", path], path.read_bytes())
    for words in variants(tmp_path):
        run(words, path.read_bytes())


@pytest.mark.parametrize("path", [path if path.name in FEW[:2] else cairn_boot.long(path) for path in FILES],
                         ids=lambda path: path.name)
@pytest.mark.parametrize("seed", [0, 1, 2, *map(cairn_boot.long, range(3, 12))])
def test_every_command_on_damage(path, seed, tmp_path):
    data = damaged(path.read_bytes(), seed)
    file = tmp_path / "damaged"
    file.write_bytes(data)
    for i, words in enumerate(variants(tmp_path)):
        run(words, data, file if i % 2 == seed % 2 else None)
