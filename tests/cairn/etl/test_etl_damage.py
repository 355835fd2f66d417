# SPDX-License-Identifier: MIT
"""ETL files with damaged buffer headers: what lies behind one is read, and what is not is told."""

import json
import random
import struct

import pytest

import cairn_boot
from cairn_tool import GOLDEN, cairn, errors_of, text_of

BUFFER_HEADER = 0x48
CAIRN = cairn_boot.ROOT / "samples" / "cairn.etl"
FILES = [CAIRN, GOLDEN / "windows-10240-32.etl", GOLDEN / "windows-19041-64.etl"]


def buffers(data):
    """Where each begins, and its size."""
    at = 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        yield at, size
        at += size


def told(data):
    done = cairn("export", "--to", "json", "-", data=data)
    assert b"Sanitizer" not in done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kept = [{key: line[key] for key in ("ns", "cpu", "form", "old")} for line in lines if line["type"] == "switch"]
    return kept, [line for line in lines if line["type"] == "lost"], done


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_lies_behind_is_read(path):
    """As if only that buffer had nothing in it, but for whose it was."""
    data = path.read_bytes()
    whole = told(data)[0]
    found = list(buffers(data))
    lost_some = 0
    for seed, (at, size) in enumerate(found[1:]):
        empty, damaged = bytearray(data), bytearray(data)
        struct.pack_into("<II", empty, at + 4, BUFFER_HEADER, BUFFER_HEADER)
        struct.pack_into("<I", empty, at + 0x30, BUFFER_HEADER)
        damaged[at:at + BUFFER_HEADER] = random.Random(seed).randbytes(BUFFER_HEADER)
        left, missing, done = told(bytes(damaged))
        assert left == told(bytes(empty))[0] and done.returncode == 1
        message = f"buffer {found.index((at, size))}, at {at:#x}, has an impossible header; {size} bytes are not read"
        assert message in errors_of(done)
        assert {line["cpu"] for line in missing} >= {line["cpu"] for line in left}
        lost_some += left != whole
        check = text_of(cairn("check", "-", data=bytes(damaged)))
        assert "FAIL" in check
    assert lost_some >= 2


def test_several_and_the_last():
    data = bytearray(CAIRN.read_bytes())
    found = list(buffers(data))
    for at, _ in found[-2:]:
        data[at:at + BUFFER_HEADER] = bytes(BUFFER_HEADER)
    _, missing, done = told(bytes(data))
    both = sum(size for _, size in found[-2:])
    assert done.returncode == 1 and f"has an impossible header; {both} bytes are not read" in errors_of(done)
    assert missing


def test_a_file_that_is_cut_short_is_that():
    data = CAIRN.read_bytes()
    done = told(data[:-100])[2]
    assert "is cut short" in errors_of(done) and "no header" not in errors_of(done)
