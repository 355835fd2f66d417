# SPDX-License-Identifier: MIT
"""Every command and every format of export on every golden log, sample and ETL file, and on damaged ones, under ASan
and UBSan; where the kernel's file can be given, with it, too. Commands are those of --help, formats those that a
refusal names: new ones are here by themselves."""

import functools
import random
import re

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, KERNEL, LEAKS, build_id, cairn, text_of, with_keys

FILES = sorted([*GOLDEN.glob("*.log"), *GOLDEN.glob("*.etl"), *(cairn_boot.ROOT / "samples").glob("*.log"),
                *(cairn_boot.ROOT / "samples").glob("*.etl")])
FEW = ["hw.log", "bts.log", "sessions.log", "fragments.log", "live.log", "windows-compressed.etl"]
WHOLE, PART = [], ["--cpu", "0", "--from", "1ms"]
PARTS = [WHOLE, cairn_boot.long(PART)]
STACKS = ["bts.log", "ring.log", "hw.log"]  # logs whose branches tell who called


@functools.cache
def takes(command, option):
    return option in text_of(cairn(command, "--help"))


@functools.cache
def names():
    """Commands and formats."""
    listed = re.findall(r"^  (\w+) ", text_of(cairn("--help")), re.M)
    refusal = cairn("export", "--to", "none", "a").stderr.decode().replace("\n  ", " ")
    formats = re.findall(r"[\w.]+", re.search(r"must be (.*)", refusal)[1].replace(" or ", ", "))
    assert len(listed) > 9 and len(formats) > 6
    return listed, formats


def variants(out, part):
    """What each command is called with; the log comes behind."""
    listed, formats = names()
    for command in listed:
        if command == "export":
            for form in formats:
                if form != "etl" or not part:
                    yield [command, "--to", form, "-o", out / form, *part]
        elif command not in ("capture", "diff") and (not part or takes(command, "--cpu LIST")):
            yield [command, *part]


def each(files, few):
    """Parameters: a file, and what is shown of it; with `make test`, the whole of a few files, a part of the first."""
    return [pytest.param(path, part, id=f"{path.name}{'-part' * bool(part)}",
                         marks=[] if path.name in few[:1 if part else None] else pytest.mark.long)
            for part in (WHOLE, PART) for path in files]


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
    done = cairn(*words, path or "-", data=data, timeout=600, env=LEAKS)
    assert b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, (words, done.stderr.decode())
    assert done.returncode in (0, 1, 3), (words, done.returncode)
    assert done.returncode or not done.stderr or b"note: " in done.stderr, (words, done.stderr.decode())


@pytest.mark.parametrize("path, part", each(FILES, FEW))
def test_every_command(path, part, tmp_path):
    if not part:
        run(["diff", path], path.read_bytes())
    for words in variants(tmp_path, part):
        run(words, path.read_bytes())


@pytest.mark.parametrize("path", [path if path.name in FEW[:1] else cairn_boot.long(path) for path in FILES],
                         ids=lambda path: path.name)
@pytest.mark.parametrize("seed", [0, 1, 2, *map(cairn_boot.long, range(3, 12))])
@pytest.mark.parametrize("part", PARTS, ids=["whole", "part"])
def test_every_command_on_damage(path, seed, part, tmp_path):
    data = damaged(path.read_bytes(), seed)
    file = tmp_path / "damaged"
    file.write_bytes(data)
    for i, words in enumerate(variants(tmp_path, part)):
        run(words, data, file if i % 2 == seed % 2 and words[0] != "top" else None)  # a file may grow yet: top waits


# ---- with the kernel's file ------------------------------------------------------------------------------------------

def hostile(path, seed):
    """A log that says it is of the kernel there is. But for seed 0, what its trace holds is not what a kernel wrote:
    words changed, repeated and moved among each other, in frames whose checksums are right."""
    rng, parts = random.Random(seed), frames.read(path.read_bytes())
    with_keys(parts, {"kernel.build_id": build_id()})
    for i, (stream, payload) in enumerate(parts):
        changed = bytearray(payload)
        for _ in range(rng.randrange(1, 5) if seed and stream == "T" and rng.random() < 0.5 else 0):
            at, other = (8 * rng.randrange(max(len(payload) // 8, 1)) + 4 for _ in range(2))
            words = [changed[other:other + 8], bytes(8), b"\xff" * 8, rng.randbytes(1) + payload[at + 1:at + 8]]
            word = rng.choice(words)
            changed[at:at + len(word)] = word
        parts[i] = (stream, bytes(changed[:len(payload)]))
    return frames.write(parts)


def with_elf(out, part):
    """What each command that takes --elf is called with."""
    for words in variants(out, part):
        if takes(words[0], "--elf FILE"):
            yield [*words, "--elf", KERNEL]
            if words == ["profile"]:
                yield [*words, "--per", "line", "--elf", KERNEL]


@pytest.mark.parametrize("log", STACKS)
def test_stacks_of_the_kernel(log):
    """The logs below are ones whose branches are looked at: some tell who called."""
    done = cairn("export", "--to", "folded", "--elf", KERNEL, "-", data=hostile(GOLDEN / log, 0))
    assert any(line.count(";") > 1 for line in text_of(done).splitlines())


@pytest.mark.parametrize("log", [*STACKS[:2], *map(cairn_boot.long, STACKS[2:])])
@pytest.mark.parametrize("seed", [1, *map(cairn_boot.long, range(2, 12))])
@pytest.mark.parametrize("part", PARTS, ids=["whole", "part"])
def test_every_command_on_damage_with_the_kernel(log, seed, part, tmp_path):
    data = hostile(GOLDEN / log, seed)
    calls = list(with_elf(tmp_path, part))
    assert {words[0] for words in calls} >= {"dump", "profile", "export"}
    for words in calls:
        run(words, data)
