# SPDX-License-Identifier: MIT
"""`cairn decode` of text that something else is in: it is left out where that is safe, and named with its line where
it is not."""

import base64

import pytest

import cairn_boot
from cairn_tool import LEAKS, cairn, errors_of, text_of

XXD = (cairn_boot.ROOT / "samples/records.xxd").read_text(encoding="ascii")
BYTES = bytes.fromhex("".join(line[10:49] for line in XXD.splitlines()))
BASE64 = base64.encodebytes(BYTES).decode().splitlines(True)


def read(text):
    """What it says of the bytes, if all records are there."""
    done = cairn("decode", "-", data=text.encode(), env=LEAKS)
    shown = " ".join(text_of(done).split())
    assert not done.stderr and "record 2 at " in shown and shown.endswith("every byte fits"), text[:200]
    return shown.split(" PEBS records")[0]


def refused(text, said, status=3):
    done = cairn("decode", "-", data=text.encode(), env=LEAKS)
    assert done.returncode == status and said in errors_of(done), errors_of(done)
    assert status == 1 or not done.stdout


# ---- base64 ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("between", ["$ \n", "\nsome words\n\n"])
def test_other_text_between_base64(between):
    line = 5 + between.startswith("\n")
    refused("".join(BASE64[:4]) + between + "".join(BASE64[4:]),
            f"line {line}: other text, and more base64 behind it: take it out, or give one at a time", 1)


@pytest.mark.parametrize("line, kept", [(1, 64), (5, 64), (5, 75), (8, 3)])
def test_a_short_line_of_base64(line, kept):
    lines = list(BASE64)
    lines[line - 1] = lines[line - 1][:kept] + "\n"
    refused("".join(lines), f"line {line}: a line of {kept} digits of base64, where others have 76: some are missing",
            3 if line == 1 else 1)


def test_lines_of_base64():
    for end in ("\n", "\r\n", "\n\n", " \n"):
        assert read("".join(line.rstrip() + end for line in BASE64)) == "528 bytes, base64"
    text = "".join(BASE64).replace("\n", "")
    assert read("\n".join(text[n:n + 100] for n in range(0, len(text), 100))) == "528 bytes, base64"
