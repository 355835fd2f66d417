# SPDX-License-Identifier: MIT
"""`cairn decode` of text as people have it: out of a terminal, a mail or a log, with what is around it."""

import base64
import json
import struct
import subprocess

import pytest

import cairn_boot
from cairn_tool import cairn, errors_of, text_of

XXD = (cairn_boot.ROOT / "samples/records.xxd").read_text(encoding="ascii")
BYTES = bytes.fromhex("".join(line[10:49] for line in XXD.splitlines()))  # xxd -r
WORDS = struct.unpack(f"<{len(BYTES) // 8}Q", BYTES)
IP = 0xFFFFFFFF81000000
PLACE = 0xFFFF888000100000
GX = "".join(f"0x{PLACE + 8 * n:x}:\t0x{WORDS[n]:016x}\t0x{WORDS[n + 1]:016x}\n" for n in range(0, len(WORDS), 2))
ROWS = [BYTES[n:n + 16].hex(" ") for n in range(0, len(BYTES), 16)]


def blanks(width, words, per_line):
    """gdb's x, as a terminal copies it that has made blanks of tabs."""
    rows = [words[n:n + per_line] for n in range(0, len(words), per_line)]
    return "".join("".join(f"{column}:".ljust(24) if not n else column.ljust(width) for n, column in
                           enumerate([hex(PLACE + len(BYTES) // len(words) * per_line * row), *columns])) + "\n"
                   for row, columns in enumerate(rows))


def escaped(data):
    return "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02x}" for byte in data)


PASTED = {
    "blanks-gx": (blanks(24, [f"0x{word:016x}" for word in WORDS], 2), 0),
    "blanks-wx": (blanks(16, [f"0x{word:08x}" for word in struct.unpack(f"<{len(BYTES) // 4}I", BYTES)], 4), 0),
    "blanks-bx": (blanks(8, [f"0x{byte:02x}" for byte in BYTES], 8), 0),
    "markdown": (f"```\n{GX}```\n", 2),
    "quoted": ("".join(f"> {line}\n" for line in GX.splitlines()), 0),
    "shell": (f"root@box:~# hexdump -C r\n{XXD}root@box:~# \n", 2),
    "typescript": (f"Script started on 2026-11-30 03:00:00+00:00\n\x1b[?2004h(gdb) x/66gx b\n\x1b[?2004l\r{GX}"
                   "\x1b[?2004h(gdb) quit\nScript done on 2026-11-30 03:01:00+00:00\n", 4),
    "quit": (GX + "(gdb) quit\nA debugging session is active.\n\nQuit anyway? (y or n) y\n", 3),
    "bpftool": ("key:\n00 00 00 00\nvalue:\n" + "".join(f"{row}\n" for row in ROWS) + "Found 1 element\n", 4),
    "dmesg": ("".join(f"[  1.{n:06d}] pebs: {16 * n:08x}: {row}\n" + "[  1.5] usb 1-1: new device\n" * (n == 9)
                      for n, row in enumerate(ROWS)), 1),
    "prompt": ("user@box:~ \u276f gdb\n" + GX, 1),
    "quotation marks": (f"\u201c\n{GX}\u201d\n", 2),
    "no-break spaces": (GX.replace("\t", "\u00a0"), 0),
    "dashboard": (f"\u2500\u2500\u2500 Memory \u2500\u2500\u2500\n{GX}", 1),
    "gef": ("".join(f"{PLACE + 8 * n:#x}\u2502+0x{8 * n:04x}: 0x{word:016x}\n" for n, word in enumerate(WORDS)), 0),
    "bpftrace": ("".join(f"cpu 0 {escaped(BYTES[n:n + 176])}\n" for n in range(0, len(BYTES), 176)), 0),
    "bpftrace-=": (f"Attaching 1 probe...\nrecords={escaped(BYTES)}\n^C\n", 2),
    "base64": (f"$ base64 r\n{base64.encodebytes(BYTES).decode()}$ \n", 2),
    "armour": (f"-----BEGIN PEBS-----\n{base64.encodebytes(BYTES).decode()}-----END PEBS-----\n", 2),
    "structs": ("$1 = {" + ", ".join(f"{{head = {WORDS[n]:#x}, regs = {{{', '.join(map(hex, WORDS[n + 1:n + 22]))}}}}}"
                                     for n in range(0, len(WORDS), 22)) + "}\n(gdb) ", 0),
}


@pytest.mark.parametrize("kind", PASTED)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_pasted(kind, eol):
    """All records are found, with both ends of lines, and lines of other text are counted."""
    text, others = PASTED[kind]
    done = cairn("decode", "--json", "-", data=text.replace("\n", eol).encode())
    assert not done.stderr and done.returncode == 0
    head, *records, _ = map(json.loads, done.stdout.splitlines())
    assert (head["size"], head["sure"]) == (len(BYTES), "sure")
    assert [int(field["value"], 16) for record in records for field in record["fields"]] == list(WORDS)
    shown = " ".join(text_of(cairn("decode", "--records", 0, "-", data=text.encode())).split())
    assert f"; {others} other line" in shown if others else "left out" not in shown


NAMES = ("bts_buffer_base", "bts_index", "bts_absolute_maximum", "bts_interrupt_threshold", "pebs_buffer_base",
         "pebs_index", "pebs_absolute_maximum", "pebs_interrupt_threshold")
AREA = [0xFFFFFE780F1A7000, 0xFFFFFE780F1A7018, 0xFFFFFE780F1B7000, 0xFFFFFE780F1B6000,
        0xFFFFFE780F1B7000, 0xFFFFFE780F1B7E40, 0xFFFFFE780F1C7000, 0xFFFFFE780F1C6E80]
RESETS = [0] * 32 + [0xFFFFD8F1] + [0] * 15


@pytest.mark.parametrize("text", [
    "(gdb) p/x *cpuc->ds\n$1 = {" + ", ".join(f"{name} = {value:#x}" for name, value in zip(NAMES, AREA))
    + ", pebs_event_reset = {0x0 <repeats 32 times>, 0xffffd8f1, 0x0 <repeats 15 times>}}\n",
    "struct debug_store {\n  " + ",\n  ".join(f"{name} = {value}" for name, value in zip(NAMES, AREA))
    + ",\n  pebs_event_reset = {0 <repeats 32 times>, 4294957297, 0 <repeats 15 times>}\n}\n",
    "(struct debug_store){\n" + "".join(f"\t.{name} = (u64){value},\n" for name, value in zip(NAMES, AREA))
    + f"\t.pebs_event_reset = (u64 [48]){{ {', '.join(map(str, RESETS))} }},\n}}\n",
], ids=["gdb", "crash", "drgn"])
def test_a_struct(text):
    """The DS area as debuggers print Linux' struct debug_store."""
    done = cairn("decode", "--json", "-", data=text.encode())
    assert not done.stderr
    head, area, end = map(json.loads, done.stdout.splitlines())
    assert (head["is"], head["format"], head["sure"], end["unknown_behind"]) == ("a DS area", 5, "sure", 0)
    assert [int(field["value"], 16) for field in area["fields"][:8]] == AREA
    assert any(int(field["value"], 16) == 0xFFFFD8F1 for field in area["fields"][8:])


def test_a_32_bit_kernel():
    """A processor with 64-bit mode writes the 64-bit layout under it, too (CPUID.01H:ECX[2])."""
    area = [address - AREA[0] + 0xF5A00000 for address in AREA] + [0xFFFFFFD8F1, 0, 0, 0]
    text = "".join(f"{0xF7A00000 + 8 * n:#x}:\t0x{area[n]:016x}\t0x{area[n + 1]:016x}\n" for n in range(0, 12, 2))
    head, shown, _ = map(json.loads, text_of(cairn("decode", "--json", "-", data=text.encode())).splitlines())
    assert (head["is"], head["sure"], head["address"]) == ("a DS area", "sure", "0xf7a00000")
    assert [int(field["value"], 16) for field in shown["fields"][:8]] == area[:8]


def test_repeated_lines():
    """All that '*' stands for is filled in."""
    for rows in (2, 3, 100, 999):
        data = struct.pack("<2Q", IP, IP + 1) * rows * 3
        text = subprocess.run(["od", "-Ax", "-tx1"], input=data, capture_output=True, check=True).stdout
        assert b"\n*\n" in text
        lines = text_of(cairn("decode", "--json", "--bts", "-", data=text)).splitlines()[1:-1]
        words = [int(field["value"], 16) for line in lines for field in json.loads(line)["fields"]]
        assert struct.pack(f"<{len(words)}Q", *words) == data


@pytest.mark.parametrize("behind, place, found", [
    ("00000210: zz\n", "line 34, column 1", "'00000210:'"),
    (f"0x{PLACE:x}"[:10], "line 34, column 1", "'0xffff8880'"),
])
def test_bytes_are_missing(behind, place, found):
    """A line with an address is no other text: bytes were to be there."""
    done = cairn("decode", "-", data=(GX + behind).encode())
    said = errors_of(done)
    assert done.returncode == 1 and place in said and f"found {found}" in said


UNREAD = f"Cannot access memory at address {PLACE + len(BYTES):#x}\n"


@pytest.mark.parametrize("text, line, there", [
    (GX + UNREAD, 34, len(BYTES)),
    (f"{GX}{PLACE + len(BYTES):#x}:\t{UNREAD}(gdb) x/2gx 0\n", 34, len(BYTES)),
    ("".join(GX.splitlines(True)[:20]) + f"{PLACE + 320:#x}:\t0x{WORDS[40]:016x}\t{UNREAD}", 21, 328),
    ("".join(GX.splitlines(True)[:22]) + f"error: memory read failed for {PLACE + 352:#x}\n", 23, 352),
])
def test_memory_that_a_debugger_could_not_read(text, line, there):
    """What is before it is shown."""
    done = cairn("decode", "-", data=text.encode())
    assert done.returncode == 1 and text_of(done, refused=True).startswith(f"{there} bytes, words of 8 bytes")
    assert f"line {line}: the debugger could not read the bytes that follow" in errors_of(done)


def test_a_debugger_could_read_nothing():
    """Bytes of another command count, where there are any."""
    failed = "(gdb) x/64gx 0\n0x0:\tCannot access memory at address 0x0\n(gdb) "
    done = cairn("decode", "-", data=failed.encode())
    assert done.returncode == 3 and "line 2: the debugger could not read any bytes" in errors_of(done)
    assert cairn("decode", "-", data=f"{failed}x/66gx b\n{GX}".encode()).returncode == 0


def decimal(form, per_line, address="{:#x}:"):
    """As gdb's x/gd, x/gu, x/wd and x/bd print them."""
    size, numbers = struct.calcsize(form), [number for number, in struct.iter_unpack(f"<{form}", BYTES)]
    return "".join("\t".join([address.format(PLACE + size * n, size * n), *map(str, numbers[n:n + per_line])]) + "\n"
                   for n in range(0, len(numbers), per_line))


def od(*arguments):
    return subprocess.run(["od", "-v", *arguments], input=BYTES, capture_output=True, check=True).stdout.decode()


@pytest.mark.parametrize("text", [
    decimal("q", 2), decimal("Q", 2), decimal("q", 1), decimal("i", 4), decimal("b", 8),
    decimal("q", 2, "{:#x} <buffer+{}>:"), "(gdb) x/66gd b\n" + decimal("q", 2) + "(gdb) ",
    od("-Ax", "-tu8"), od("-An", "-td8"), od("-td8"), od("-td4"),
], ids=["gd", "gu", "one", "wd", "bd", "symbols", "session", "tu8", "An", "td8", "td4"])
def test_decimal_numbers(text):
    """They are not taken for hexadecimal ones; the line says what to print instead."""
    done = cairn("decode", "-", data=text.encode())
    assert done.returncode == 3 and not done.stdout
    assert "decimal numbers" in errors_of(done) and "use " in errors_of(done)


def test_a_decimal_number_in_front():
    """It is a line of other text."""
    done = cairn("decode", "-", data=f"528\n{GX}".encode())
    assert done.returncode == 0 and "1 other line is ignored" in " ".join(text_of(done).split())


def array(name, words):
    return f"static const uint64_t {name}[] = {{\n" + "".join(f"    {word:#x},\n" for word in words) + "};\n"


@pytest.mark.parametrize("text, first, line, second", [
    (array("a", WORDS) + array("b", WORDS[:22]), 528, 69, 176),
    (array("a", WORDS[:22]) + array("b", WORDS), 176, 25, 528),
    (array("a", WORDS).replace("};", "};\nint f(void) { return g(1, 2); }") + array("b", WORDS[:22]), 528, 70, 176),
    (f"$1 = {{{', '.join(map(hex, WORDS))}}}\n(gdb) p/x b\n$2 = {{0x0 <repeats 22 times>, 0x1000}}\n", 528, 3, 184),
])
def test_a_second_array(text, first, line, second):
    """The first is read; how much is behind it is said."""
    done = cairn("decode", "-", data=text.encode())
    assert done.returncode == 1 and text_of(done, refused=True).startswith(f"{first} bytes, a list of numbers")
    assert f"line {line}: another list begins here, of {second} bytes: decode one at a time" in errors_of(done)


def test_no_second_array():
    source = array("a", WORDS) + "int n[4] = {7};\nint main(void) { if (n[0]) { f(1, 2); } return 0; }\n"
    assert cairn("decode", "-", data=source.encode()).returncode == 0


def test_a_byte_that_is_no_character():
    done = cairn("decode", "-", data=f"rec: {escaped(BYTES[:24])}\u00e9\n".encode())
    assert "(byte 24): expected \\x and two digits for each byte" in errors_of(done)


def test_text_within_bytes():
    """Without addresses nobody knows whether bytes are missing."""
    done = cairn("decode", "-", data="\n".join([*ROWS[:11], "and more", *ROWS[11:]]).encode())
    assert done.returncode == 1 and "line 12, column 1 (byte 176): expected bytes, found 'and'" in errors_of(done)


def test_base64_with_0x():
    """Within its lines that begins no number."""
    data = BYTES + base64.b64decode("0x" + "0" * 74)
    lines = base64.b64encode(BYTES).decode() + "\n0x" + "0" * 74 + "\n"
    head = json.loads(text_of(cairn("decode", "--json", "--bts", "-", data=lines.encode())).splitlines()[0])
    assert (head["form"], head["size"]) == ("base64", len(data))


def test_base64_twice():
    """Of two such parts nobody knows which is meant."""
    lines = base64.encodebytes(BYTES).decode().splitlines(True)
    done = cairn("decode", "-", data="".join([*lines[:5], "and more\n", *lines[5:]]).encode())
    assert done.returncode == 1 and "line 6: other text, and more base64 after it" in errors_of(done)
