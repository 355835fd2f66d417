# SPDX-License-Identifier: MIT
"""`cairn decode` of text that something else is in: it is left out where that is safe, and named with its line where
it is not."""

import base64
import json
import re
import struct

import pytest

import cairn_boot
from cairn_tool import cairn, errors_of, text_of

XXD = (cairn_boot.ROOT / "samples/records.xxd").read_text(encoding="ascii")
BYTES = bytes.fromhex("".join(line[10:49] for line in XXD.splitlines()))
WORDS = [word for (word,) in struct.iter_unpack("<Q", BYTES)]
PLACE = 0xFFFF888000100000
GX = [f"0x{PLACE + 8 * n:x}:\t0x{WORDS[n]:016x}\t0x{WORDS[n + 1]:016x}\n" for n in range(0, len(WORDS), 2)]
BASE64 = base64.encodebytes(BYTES).decode().splitlines(True)


def read(text):
    """What it says of the bytes, if all records are there."""
    done = cairn("decode", "-", data=text.encode())
    shown = " ".join(text_of(done).split())
    assert not done.stderr and "record 2 at " in shown and shown.endswith("every byte fits"), text[:200]
    return shown.split(" PEBS records")[0]


def refused(text, said, status=3):
    done = cairn("decode", "-", data=text.encode())
    assert done.returncode == status and said in errors_of(done), errors_of(done)
    assert status == 1 or not done.stdout


# ---- base64 ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("between", ["$ \n", "\nsome words\n\n"])
def test_other_text_between_base64(between):
    line = 5 + between.startswith("\n")
    refused("".join(BASE64[:4]) + between + "".join(BASE64[4:]),
            f"line {line}: other text, and more base64 after it: remove the text, or decode one part at a time", 1)


@pytest.mark.parametrize("line, kept", [(1, 64), (5, 64), (5, 75), (8, 3)])
def test_a_short_line_of_base64(line, kept):
    lines = list(BASE64)
    lines[line - 1] = lines[line - 1][:kept] + "\n"
    refused("".join(lines),
            f"line {line}: a line of {kept} digits of base64, but other lines have 76: some digits are missing",
            3 if line == 1 else 1)


def test_lines_of_base64():
    for end in ("\n", "\r\n", "\n\n", " \n"):
        assert read("".join(line.rstrip() + end for line in BASE64)) == "528 bytes, base64"
    text = "".join(BASE64).replace("\n", "")
    assert read("\n".join(text[n:n + 100] for n in range(0, len(text), 100))) == "528 bytes, base64"


# ---- signs that are no part of it ------------------------------------------------------------------------------------

PAGERS = ["--Type <RET> for more, q to quit, c to continue without paging--",
          "---Type <return> to continue, or q <return> to quit---"]


@pytest.mark.parametrize("pager", [f"{pager}{key}" for pager in PAGERS for key in ("", "\n", "c\n", "c")])
def test_the_pager(pager):
    assert f"words of 8 bytes, starting at 0x{PLACE:x}" in read("".join(GX[:5]) + pager + "".join(GX[5:]))
    words = [f"0x{word:x}, " for word in WORDS]
    assert "8 bytes each" in read(f"$1 = {{{''.join(words[:9])}{pager}{''.join(words[9:])}}}")


@pytest.mark.parametrize("sign", ":-")
@pytest.mark.parametrize("size", [8, 16, 64])
def test_joined_bytes(sign, size):
    """%*phC and %*phD."""
    lines = [f"[   12.000000] m: {BYTES[n:n + size].hex(sign)}\n" for n in range(0, len(BYTES), size)]
    assert read("Nov 30 00:00:00 02:00:00:00:00:b0 up\n" + "".join(lines)).startswith("528 bytes, hexadecimal bytes")


@pytest.mark.parametrize("quote", "'\"")
def test_quoted_numbers(quote):
    assert "8 bytes each" in read(f"[{', '.join(f'{quote}0x{word:x}{quote}' for word in WORDS)}]")
    refused(f"x\n[{', '.join(f'{quote}{byte:02x}{quote}' for byte in BYTES)}]",
            "line 2: hexadecimal strings in a list need 0x in front of each")


def test_one_long_number():
    refused("0x" + BYTES.hex(), "line 1: more than 16 digits after 0x: remove 0x if the digits are bytes in order")
    assert "hexadecimal bytes" in read(BYTES.hex())


def test_binary_digits():
    for columns in (4, 6, 8):
        text = "".join(f"{n:08x}: {' '.join(f'{byte:08b}' for byte in BYTES[n:n + columns])}  {'.' * columns}\n"
                       for n in range(0, len(BYTES), columns))
        refused(text, "line 1: these look like binary digits (xxd -b): use xxd")
    data = bytes.fromhex("0000000001101100") * 4  # the same digits, but hexadecimal
    text = f"00000000: {data[:16].hex(' ', 4)}  {'.' * 16}\n"
    done = cairn("decode", "--json", "--format", "0", "-", data=text.encode())
    assert b'"size":16,"form":"groups of 4 bytes' in done.stdout


# ---- the page --------------------------------------------------------------------------------------------------------

PAGE = (cairn_boot.ROOT / "docs/how-to/own-records.md").read_text(encoding="utf-8")
LAYOUTS = re.findall(r"^- .*: `([^`]*)`$", PAGE.split("one of these layouts:\n\n")[1].split("\n\n")[0], re.MULTILINE)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_the_page(layout):
    """Each example has the first words of the sample, or is a DS area's."""
    done = cairn("decode", "--json", "--format", "4", "-", data=f"{layout}\n".encode())
    if "bts_buffer_base" in layout:
        assert json.loads(done.stdout.splitlines()[0])["size"] == 16
        return
    words = [int(field["value"], 16) for field in json.loads(done.stdout.splitlines()[1])["fields"]]
    assert words and words == WORDS[:len(words)]


def test_the_page_has_many_layouts():
    assert len(LAYOUTS) > 15
