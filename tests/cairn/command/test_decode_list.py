# SPDX-License-Identifier: MIT
"""`cairn decode` of lists of numbers: only a declaration's own words tell a type, other text around hides no list, and
a number that cannot be right is an error."""

import struct

import pytest

import cairn_boot
from cairn_tool import cairn, errors_of, text_of

XXD = (cairn_boot.ROOT / "samples/records.xxd").read_text(encoding="ascii")
BYTES = bytes.fromhex("".join(line[10:49] for line in XXD.splitlines()))
LIST = ", ".join(f"0x{word:x}" for (word,) in struct.iter_unpack("<Q", BYTES))
OCTETS = ", ".join(f"0x{byte:x}" for byte in BYTES)
HALVES = ", ".join(f"0x{word:x}" for (word,) in struct.iter_unpack("<I", BYTES))


def read(text):
    """What it says of the bytes, if all records are there."""
    done = cairn("decode", "-", data=text.encode())
    shown = " ".join(text_of(done).split())
    assert not done.stderr and "record 2 at byte 352" in shown and shown.endswith("every byte fits"), text[:200]
    return shown.split(" PEBS records")[0]


@pytest.mark.parametrize("before", [
    "(gdb) print/x arr\n$1 = ", "Breakpoint 1, drain (ds=0x10) at d.c:12\n(gdb) p/x arr\n$1 = ",
    "Program received signal SIGINT, Interrupt.\n$1 = ", "internal = ", "character_buf = ", "/* a char */ words = ",
    "printed\n\n$1 = ", "unsigned char n;\nwords = ", "char first = 2; words = ",
])
def test_no_type_but_of_the_declaration(before):
    assert "8 bytes each (assumed)" in read(f"{before}{{{LIST}}}\n")


@pytest.mark.parametrize("declaration, items, size", [
    ("static const uint64_t rec[] = {", LIST, 8), ("const unsigned long long x[66] = {", LIST, 8),
    ("let x: [u64; 66] = [", LIST, 8), ("(u64 [66]){", LIST, 8),
    ("size_t x[] __attribute__((aligned(8))) =\n{", LIST, 8),
    ("u32 x[] = {", HALVES, 4), ("unsigned int x[] = {", HALVES, 4), ("__u32 x[] =\n{\n", HALVES, 4),
    ("let x: [u8; 528] = [", OCTETS, 1), ("unsigned char x[] = {", OCTETS, 1), ("[]byte{", OCTETS, 1),
    ("BYTE x[] = {", OCTETS, 1), ("x = [", OCTETS, 1),
])
def test_types(declaration, items, size):
    end = "]" if declaration.endswith("[") else "}"
    assert read(f"{declaration}{items}{end}\n").endswith(f", {size} byte{'s' * (size > 1)} each")


@pytest.mark.parametrize("before", [
    "5\tint main(){FILE*f=fopen(\"/tmp/rec.bin\",\"r\");fread(b,1,528,f);return 0;}\n",
    "int f(void) { return 0; }\n", "12\t    if (ds->index) {\n", "while (1) {\n  x[2] = 5;\n}\n", "{ }\n",
])
def test_other_braces(before):
    for end in ("", "return 0;\n"):
        lines = len((before + end).splitlines())
        said = read(f"{before}{end}$1 = {{{LIST}}}\n")
        assert f"; {lines} other line{'s are' if lines > 1 else ' is'} ignored" in said


@pytest.mark.parametrize("text, place, expected", [
    ("unsigned char b[] = {0x12, 0x345, 0x1}", "line 1, column 28 (byte 1)", "at most 1 byte, the size of its type"),
    ("unsigned int x[] = {1, 0x123456789}", "line 1, column 24 (byte 4)", "at most 4 bytes, the size of its type"),
    ("u16 x[] = {65535, 65536}", "line 1, column 19 (byte 2)", "at most 2 bytes, the size of its type, found '65536}'"),
    ("uint64_t x[] = {0y1, 0x2, 0x3}", "line 1, column 17 (byte 0)", "a number of at most 64 bits, found '0y1,'"),
    ("x = {oops, 0x2, 0x3}", "line 1, column 6 (byte 0)", "a number of at most 64 bits, found 'oops,'"),
    ("x = {{-1, 0x2}, 0x3}", "line 1, column 7 (byte 0)", "a number of at most 64 bits, found '-1,'"),
])
def test_a_number_that_is_wrong(text, place, expected):
    done = cairn("decode", "-", data=text.encode())
    assert done.returncode == (3 if "byte 0)" in place else 1)
    assert place in errors_of(done) and expected in errors_of(done), errors_of(done)


@pytest.mark.parametrize("text", ["[2, 0, b0]", "{ff, 0, 1}", f"[{', '.join(f'{byte:x}' for byte in BYTES)}]"])
def test_bare_hexadecimal_numbers(text):
    done = cairn("decode", "-", data=text.encode())
    assert done.returncode == 3 and not done.stdout
    assert "line 1: hexadecimal numbers in a list need 0x in front of each" in errors_of(done)


def test_another_list():
    done = cairn("decode", "-", data=f"$1 = {{{LIST}}}\n$2 = {{{LIST}}}\n".encode())
    assert "line 2: another list begins here, of 528 bytes: decode one at a time" in errors_of(done)
