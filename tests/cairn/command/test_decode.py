# SPDX-License-Identifier: MIT
"""`cairn decode`: each form of text gives the bytes that it was made of; each format is found, and nothing is where
nothing is; what is wrong is said with its place, and what comes before it is shown."""

import json
import random
import struct
import subprocess

import pytest

import cairn_boot
from cairn_tool import CAIRN, cairn, errors_of, text_of

SAMPLES = cairn_boot.ROOT / "samples"
CORPUS = cairn_boot.ROOT / "tests" / "fuzz" / "corpus" / "cairn_decode"
ONE = sorted(path for path in CORPUS.iterdir() if path.name.startswith("one-"))  # of real tools: record 0 of the sample
IP, STACK = 0xFFFFFFFF81000000, 0xFFFFC90000123F00
MEMINFO, GPR, XMM, LBR, CNTR, METRICS = (1 << n for n in range(6))
LL = 1 << 32  # fixed counter 0


def decoded(data, *arguments, status=0):
    """Its head, its records or area, its end."""
    done = cairn("decode", "--json", *arguments, "-", data=data)
    assert done.returncode == status, done.stderr
    head, *middle, end = map(json.loads, done.stdout.splitlines())
    assert (head["type"], end["type"]) == ("bytes", "end")
    return head, middle, end


def words(record):
    return [int(field["value"], 16) for field in record["fields"]]


def named(record):
    return {field["name"]: int(field["value"], 16) for field in record["fields"]}


# ---- records of each format, as a processor would write them ---------------------------------------------------------

def registers(n):
    return struct.pack("<18Q", 0x246, IP + 0x10 * n + 4, *range(n, n + 7), STACK, *range(8))


def fixed(form, n):
    record = registers(n)
    if form >= 1:
        record += struct.pack("<4Q", 1 if form < 3 else LL, 0xFFFF888000001000 + 8 * n, 0x12, 7)
    if form >= 2:
        record += struct.pack("<2Q", IP + 0x10 * n, 0)
    return record + (struct.pack("<Q", 1000 * (n + 1)) if form >= 3 else b"")


def adaptive(groups, n, entries=4, counters=(2, 1)):
    body = struct.pack("<3Q", IP + 0x10 * n, LL, 1000 * (n + 1))
    if groups & MEMINFO:
        body += struct.pack("<4Q", 0xFFFF888000001000, 0x12, 7, 0)
    if groups & GPR:
        body += registers(n)
    if groups & XMM:
        body += bytes(256)
    if groups & LBR:
        body += b"".join(struct.pack("<3Q", IP + i, IP + 64 + i, i) for i in range(entries))
        groups |= entries - 1 << 24
    if groups & (CNTR | METRICS):
        gp, fixed_counters = counters if groups & CNTR else (0, 0)
        body += struct.pack("<4I", (1 << gp) - 1, (1 << fixed_counters) - 1, 3 if groups & METRICS else 0, 0)
        body += bytes(8 * (gp + fixed_counters) + (16 if groups & METRICS else 0))
    return struct.pack("<Q", len(body) + 8 << 48 | groups) + body


def arch(n, more=False):
    body = struct.pack("<6Q", IP + 0x10 * n, LL, 1000 * (n + 1), 0x10005, 0, 0) + registers(n) + bytes(16)
    first = struct.pack("<2Q", 1 << 63 | 1 << 61 | 1 << 30 | more << 31 | len(body) + 16, 0) + body
    if not more:
        return first
    history = struct.pack("<6Q", 0, 1, 8, 0, 0, 0) + b"".join(struct.pack("<3Q", IP, IP + 9, 1) for _ in range(8))
    return first + struct.pack("<2Q", 1 << 40 | len(history) + 16, 0) + history


def bts(count):
    return b"".join(struct.pack("<3Q", IP + 0x100 * n + 0x20, IP + 0x100 * (n + 1), 16 * (n & 1)) for n in range(count))


FORMATS = [
    (0, [fixed(0, n) for n in range(5)]), (1, [fixed(1, n) for n in range(5)]),
    (2, [fixed(2, n) for n in range(5)]), (3, [fixed(3, n) for n in range(5)]),
    (4, [adaptive(0, n) for n in range(5)]), (4, [adaptive(MEMINFO, n) for n in range(5)]),
    (4, [adaptive(MEMINFO | GPR | XMM | LBR, n) for n in range(5)]),
    (6, [adaptive(LBR | CNTR | METRICS, n, entries=1) for n in range(5)]),
    (15, [arch(n) for n in range(5)]), (15, [arch(n, True) for n in range(5)]),
]


@pytest.mark.parametrize("form, records", FORMATS)
def test_formats_are_found(form, records):
    for count in (2, 3, 5):
        head, middle, end = decoded(b"".join(records[:count]))
        assert (head["format"], len(middle), end["unknown_behind"]) == (form, count, 0)
        assert head["sure"] == ("sure" if form >= 4 or count >= 3 else "likely")
        assert b"".join(struct.pack("<Q", word) for record in middle for word in words(record)) == \
            b"".join(records[:count])
        assert {named(record).get("EventingIP", named(record).get("RIP", 0) - 4) for record in middle} == \
            {IP + 0x10 * n for n in range(count)}
    assert decoded(records[0])[0]["sure"] == "likely"


@pytest.mark.parametrize("form, records", FORMATS)
def test_what_does_not_fit_is_counted(form, records):
    data = b"".join(records)
    junk = random.Random(1).randbytes(96)
    head, middle, end = decoded(data + bytes(4096))
    assert (head["format"], len(middle), end["unknown_behind"], end["zero"]) == (form, 5, 4096, True)
    head, middle, end = decoded(junk[:40] + data)
    assert (head["format"], len(middle), end["unknown_before"], head["sure"] != "sure") == (form, 5, 40, True)
    if form >= 4:
        head, middle, end = decoded(data + junk, status=1)
        assert (head["format"], len(middle), end["unknown_behind"], end["wrong_at"]) == (form, 5, 96, len(data))
        assert "begin again" not in end["wrong"]
    for gap in (junk[:16], bytes(1024)):
        middle, end = decoded(data + gap + data, status=1)[1:]
        assert len(middle) == 5 and f"; intact records begin again at byte {len(data + gap)}" in end["wrong"]


@pytest.mark.parametrize("form, records", FORMATS)
@pytest.mark.parametrize("cut", [1, 8, 24])
def test_a_record_that_is_cut_off(form, records, cut):
    data = b"".join(records)
    head, middle, end = decoded(data[:-cut], status=1)
    assert (head["format"], len(middle), end["wrong_at"]) == (form, 5, len(data) - len(records[4]))
    assert f"the record is cut off after {len(records[4]) - cut} of {len(records[4])} bytes" in end["wrong"] \
        or (len(records[4]) > 500 and "where a record of format 15 begins" in end["wrong"])
    assert words(middle[4]) == words(decoded(data)[1][4])[:(len(records[4]) - cut) // 8]


def test_branches_are_found():
    head, middle, end = decoded(bts(20))
    assert (head["is"], head["sure"], len(middle), end["unknown_behind"]) == ("BTS records", "sure", 20, 0)
    assert named(middle[1]) == {"from": IP + 0x120, "to": IP + 0x200, "flags": 16}
    pairs = b"".join(struct.pack("<3Q", random.Random(n).randrange(1 << 40), 0x7000000 + n, 0) for n in range(20))
    assert decoded(pairs)[0]["sure"] == "a weak guess"  # no path of execution


@pytest.mark.parametrize("form, size, counters", [(0, 0x60, 4), (4, 0xA0, 12), (5, 0x1C0, 48)])
def test_an_area_is_found(form, size, counters):
    data = struct.pack("<8Q", 0xFFFF888000010000, 0xFFFF888000010048, 0xFFFF888000020000, 0xFFFF88800001F000,
                       0xFFFF888000030000, 0xFFFF888000030160, 0xFFFF888000040000, 0xFFFF88800003F000)
    data += struct.pack("<Q", (1 << 48) - 2003) + bytes(size - 0x48)
    head, (area,), end = decoded(data)
    assert (head["is"], head["format"], head["sure"], end["unknown_behind"]) == ("a DS area", form, "sure", 0)
    fields = {field["name"]: field.get("means") for field in area["fields"]}
    assert fields["BtsIndex"] == "next: base + 3 records" and fields["PebsIndex"] == "next: base + 352"
    assert "-2003 in 48 bits" in fields.values()
    text = text_of(cairn("decode", "--format", form, "--area", "-", data=data))
    assert f"DS area, {size:X}H form for record format {form}" in text and "PEBS buffer" in text
    assert data[:0x28] == struct.pack("<5Q", *(int(field["value"], 16) for field in area["fields"][:5]))
    head = decoded(data[:0x40])[0]
    assert head["sure"] == "likely" and "the format is unknown" in head["why"]
    broken = bytearray(data)
    broken[0x10:0x18] = struct.pack("<Q", 0xFFFF888000000000)  # the maximum is below the base
    assert b"no known record format and no DS area fits" in cairn("decode", "-", data=bytes(broken)).stderr
    assert counters * 8 + 0x40 == size


# ---- nothing is invented ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, make", [
    ("zeros", lambda r, n: bytes(n)), ("ones", lambda r, n: b"\xff" * n), ("random", lambda r, n: r.randbytes(n)),
    ("small numbers", lambda r, n: b"".join(struct.pack("<Q", r.randrange(100)) for _ in range(n // 8))),
    ("sparse", lambda r, n: b"".join(struct.pack("<Q", r.choice((0, 0, 0, r.getrandbits(64)))) for _ in range(n // 8))),
    ("letters", lambda r, n: bytes(r.choice(b"abcdefghij \0") for _ in range(n))),
    ("pointers", lambda r, n: b"".join(struct.pack("<Q", 0xFFFF888000000000 + r.randrange(1 << 30) * 8)
                                       for _ in range(n // 8))),
])
def test_nothing_is_invented(name, make, tmp_path):
    chance = random.Random(name)
    for size in (8, 24, 144, 176, 200, 448, 1000, 4096, 30000):
        data = make(chance, size)
        (tmp_path / "data").write_bytes(data + b"\0")  # no text
        done = cairn("decode", tmp_path / "data")
        assert done.returncode == 1 and not done.stdout and b"fits" in done.stderr, (size, done.stdout[:300])


# ---- text ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("path", ONE, ids=lambda path: path.name[4:])
def test_text(path):
    """What gdb, xxd, hexdump, od and base64 printed of one record; dmesg, crash, WinDbg and bpftrace by their rules."""
    want = json.loads(text_of(cairn("decode", "--json", SAMPLES / "records.xxd")).splitlines()[1])
    done = cairn("decode", "--json", path)
    head, record, end = map(json.loads, done.stdout.splitlines())
    assert not done.stderr and head["size"] == 176 and end["unknown_behind"] == 0
    assert record["fields"] == want["fields"]
    placed = {"crash": 0xFFFF888012340000, "db": 0xFFFFF80312340000, "dq": 0xFFFFF80312340000, "lldb": 0x1000,
              "qemu": 0x1000, "gdb-gx": 0x404010, "gdb-bx": 0x404010, "gdb-hx": 0x404010, "gdb-wx": 0x404010}
    assert int(head.get("address", "0"), 16) == placed.get(path.name[4:], 0)
    crlf = path.read_bytes().replace(b"\n", b"\r\n")
    if path.name != "one-pybytes":
        assert json.loads(cairn("decode", "--json", "-", data=crlf).stdout.splitlines()[1]) == record


def test_there_are_many_forms():
    assert len(ONE) > 30


@pytest.mark.parametrize("text, size", [
    ("00000000  02 00 00 00  00 00 20 00  00 00 00 81 ff ff ff ff\n*\n00000030\n", 48),
    ("0000: 0200 0000 0000 2000\n0008: 0000 0081 ffff ffff\n", 16),
    ("\x1b[33m0x10\x1b[m:\t0x02\t0x00\t0x00\t0x00\t0x00\t0x00\t0x20\t0x00\n", 8),
    ("(gdb) x/2gx 0x10\n0x10:\t0x0020000000000002\t0xffffffff81000000\n(gdb) \n", 16),
    ("a line\n\n[  1.0] x: 00000000: 02 00 00 00 00 00 20 00\n[  1.1] x: 00000008: 00 00 00 81 ff ff ff ff\n", 16),
])
def test_lines(text, size):
    done = cairn("decode", "--json", "--format", "4", "-", data=text.encode())
    head = json.loads(done.stdout.splitlines()[0])
    assert head["size"] == size and b"column" not in done.stderr, done.stderr


def test_the_order_of_a_word():
    """xxd prints groups as they lie in memory, xxd -e as values: the characters behind them tell which; else what
    fits."""
    record = adaptive(GPR, 0)
    for word in (2, 4, 8):
        groups = [record[i:i + word] for i in range(0, len(record), word)]
        for printed in ([group.hex() for group in groups], [group[::-1].hex() for group in groups]):
            text = "".join(f"{16 * n:08x}: {' '.join(printed[16 // word * n:][:16 // word])}\n"
                           for n in range(len(record) // 16))
            head, middle, _ = decoded(text.encode())
            assert (head["format"], named(middle[0])["EventingIP"]) == (4, IP), text


# ---- text among other text -------------------------------------------------------------------------------------------

PLACE = 0xFFFF888000100000
BYTES = b"".join(adaptive(GPR, n) for n in range(3))
WORDS = struct.unpack(f"<{len(BYTES) // 8}Q", BYTES)
GX = "".join(f"0x{PLACE + 8 * n:x}:\t0x{WORDS[n]:016x}\t0x{WORDS[n + 1]:016x}\n" for n in range(0, len(WORDS), 2))
SESSION = [
    "Breakpoint 1, intel_pmu_drain_pebs_icl (iregs=0x0, data=0xffff888000) at arch/x86/events/intel/ds.c:2100\n",
    "2100\t\tstruct debug_store *ds = cpuc->ds;\n", "2100\t{\n", "$1 = 0xffff888000100000\n",
    "$1 = 0xffff888000100000\n$2 = 0xffff888000101000\n", "$1 = 0x5\n", "$1 = {bts_buffer_base = 0, bts_index = 0}\n",
    "$1 = {\n  bts_buffer_base = 0x0,\n  bts_index = 0,\n  reset = {0 <repeats 47 times>}}\n", "$1 = {0x1, 0x2, 0x3}\n",
    "0xffffffff81000000 in foo ()\n", "[Switching to Thread 1.2]\n", "(gdb) x/66gx buf\n",
    "   0xffffffff81000000 <+0>:\t0f 1f 44 00 00\tnopl   0x0(%rax,%rax,1)\n"
    "   0xffffffff81000005 <+5>:\t55\tpush   %rbp\n", "0xffffffff81000000:\t0xffffffff81000000\n",
]


@pytest.mark.parametrize("before", SESSION + ["".join(SESSION[n:n + 3]) for n in range(len(SESSION) - 2)]
                         + ["".join(SESSION)], ids=str)
def test_a_session_in_front(before):
    done = cairn("decode", "-", data=(before + GX).encode())
    left_out, text = before.count("\n"), " ".join(text_of(done).split())
    assert not done.stderr and f"starting at 0x{PLACE:x}; {left_out} other line" in text, text[:300]
    assert text.endswith("every byte fits")


def printed():
    """Bytes as the kernel prints them."""
    rows = [(n, BYTES[n:n + 16]) for n in range(0, len(BYTES), 16)]
    shown = ["".join(chr(byte) if 32 <= byte < 127 else "." for byte in row) for _, row in rows]
    return {
        "words": [f"{word:016x}" for word in WORDS], "0x": [f"0x{word:016x}" for word in WORDS],
        "four": [" ".join(f"{word:016x}" for word in WORDS[n:n + 4]) for n in range(0, len(WORDS), 4)],
        "offsets": [f"raw: {n:08x}: {row.hex(' ')}  {text}" for (n, row), text in zip(rows, shown)],
        "addresses": [f"{PLACE + n:016x}: {row.hex(' ')}  {text}" for (n, row), text in zip(rows, shown)],
        "neither": [f"raw: {row.hex(' ')}  {text}" for (n, row), text in zip(rows, shown)],
        "plain": [BYTES[n:n + 30].hex() for n in range(0, len(BYTES), 30)],
    }


@pytest.mark.parametrize("kind", printed())
@pytest.mark.parametrize("stamp", ["[   12.000000] ", "[  T123] ", "[Mon Nov 30 00:00:00 2026] ", "<6>", "",
                                   "<6>[   12.000000][  T123] ", "[   12.000000] [  T123] ",
                                   "Nov 30 00:00:00 host kernel: "])
def test_stamps_of_a_log(stamp, kind):
    head, middle, end = decoded("".join(f"{stamp}{line}\n" for line in printed()[kind]).encode())
    assert (head["size"], head["sure"], len(middle), end["unknown_behind"]) == (len(BYTES), "sure", 3, 0)


@pytest.mark.parametrize("tool", ["od", "od -b", "od -c", "od -d", "od -i", "hexdump -b", "hexdump -c", "hexdump -d",
                                  "hexdump -o"])
def test_octal_numbers(tool, tmp_path):
    (tmp_path / "data").write_bytes(BYTES)
    text = subprocess.run([*tool.split(), tmp_path / "data"], capture_output=True, check=True).stdout
    done = cairn("decode", "-", data=text)
    assert done.returncode == 3 and not done.stdout
    assert "line 1: these look like od's octal or decimal numbers: use od -Ax -tx8 -v (or xxd)" in errors_of(done)
    text = subprocess.run(["od", "-Ax", "-tx8", "-v", tmp_path / "data"], capture_output=True, check=True).stdout
    assert decoded(text)[0]["size"] == len(BYTES)


def test_words_without_leading_zeros():
    with_symbols = [f"0x{PLACE + 8 * n:x}:\t0x{word:x} <do_it(int, long)+{n}>\n" for n, word in enumerate(WORDS)]
    for text in ("".join(with_symbols), "".join(SESSION + with_symbols), "\n".join(map(hex, WORDS)),
                 " ".join(map(hex, WORDS))):
        head, middle, _ = decoded(text.encode())
        assert (head["size"], head["sure"], len(middle)) == (len(BYTES), "sure", 3)
    for text in ("0x10:\t0x1\t0x22\n0x20:\t0x3\t0x4\n", "0x1 0x2 0x3\n"):
        done = cairn("decode", "-", data=text.encode())
        assert done.returncode == 3 and "line 1: words need leading zeros" in errors_of(done)


def test_encodings():
    assert decoded(b"\xef\xbb\xbf" + GX.encode())[0]["size"] == len(BYTES)
    for text in (b"\xff\xfe" + GX.encode("utf-16-le"), b"\xfe\xff" + GX.encode("utf-16-be")):
        done = cairn("decode", "-", data=text)
        assert done.returncode == 3 and "UTF-16 text, as PowerShell writes it" in errors_of(done)
    escapes = "".join(f"\\{byte:03o}" for byte in BYTES)
    octal = f"(gdb) print buffer\n$1 = \"{escapes}\", '\\000' <repeats 15 times>\n"
    done = cairn("decode", "-", data=octal.encode())
    assert done.returncode == 3 and "line 2: octal escapes, as gdb prints strings: use print/x" in errors_of(done)


@pytest.mark.parametrize("between", ["", "(gdb) x/66gx other\n"])
def test_another_dump_behind(between):
    for other in (GX, GX.replace("0xffff8880001", "0xffff8880002")):
        done = cairn("decode", "-", data=(GX + between + other).encode())
        line = GX.count("\n") + between.count("\n") + 1
        assert done.returncode == 1
        assert f"line {line}: another dump begins here: decode one at a time" in errors_of(done)
        assert "record 2 at" in text_of(done) and "record 3 at" not in text_of(done)


def test_no_records_but_a_log():
    done = cairn("decode", SAMPLES / "plain.log")
    assert done.returncode == 3
    assert f"this is a log; read it with: cairn dump {SAMPLES / 'plain.log'}" in errors_of(done)


def test_too_large(tmp_path):
    with open(tmp_path / "data", "wb") as data:
        data.truncate((1 << 30) + 1)
    done = cairn("decode", tmp_path / "data")
    assert done.returncode == 3 and "has more than 1 GiB" in errors_of(done)


# ---- what is wrong ---------------------------------------------------------------------------------------------------

XXD = (SAMPLES / "records.xxd").read_text(encoding="ascii")


@pytest.mark.parametrize("change, place, expected, records", [
    (lambda t: t.replace("ea17 7727", "ea17 77zz"), "line 2, column 36 (byte 26)", "4 hexadecimal digits, found '77zz'",
     1),
    (lambda t: "".join(t.splitlines(True)[:14] + t.splitlines(True)[15:]), "line 15, column 1 (byte 224)",
     "address e0, found '000000f0:'", 2),
    (lambda t: t + "00000210: zz\n", "line 34, column 1 (byte 528)", "an address and bytes after it", 3),
    (lambda t: t.replace("00000020: ", "*\n00000010: "), "line 4, column 1 (byte 32)", "address 20, found '00000010:'",
     1),
    (lambda t: "*\n" + t, "line 1, column 1 (byte 0)", "a line of bytes", 0),
])
def test_a_damaged_dump(change, place, expected, records):
    done = cairn("decode", "-", data=change(XXD).encode())
    said = errors_of(done)
    assert done.returncode == (1 if records else 3) and place in said and expected in said, said
    assert len(set(line for line in text_of(done).splitlines() if line.startswith("record "))) == records


@pytest.mark.parametrize("text, place, expected", [
    ("nothing of the kind\n", "line 1, column 1 (byte 0)", "bytes as xxd, hexdump or gdb's x print them"),
    ("{ 0x12, 0x34, oops }", "line 1, column 15 (byte 2)", "a number of at most 64 bits, found 'oops'"),
    ("$1 = {0x1, 0x0 <repeats 9 times>, 0x2...}", "(byte 11)", "set print elements unlimited"),
    ("{1, 2 3}", "line 1, column 7 (byte 2)", "a comma, or the end of the list, found '3}'"),
    ("{1, 0x11223344556677889}", "(byte 1)", "a number of at most 64 bits"),
    ("x: \\x02\\x0\n", "line 1, column 8 (byte 1)", "two hexadecimal digits after \\x"),
    ("AgAAAAAAsAAYsgGA//////==x\n", "line 1, column 25", "nothing after the padding"),
    ("AgAAAAAAsAAYsgGA/////\n", "line 2, column 1 (byte 15)", "four digits of base64 at a time"),
    ("0x1000:\t0x0000000000000001\t0x01\n", "line 1, column 28 (byte 8)", "0x and 16 hexadecimal digits, found '0x01'"),
])
def test_damaged_text(text, place, expected):
    done = cairn("decode", "-", data=text.encode())
    assert done.returncode == (3 if "byte 0)" in place else 1), errors_of(done)
    assert place in errors_of(done) and expected in errors_of(done), errors_of(done)


def test_an_impossible_size():
    records = [adaptive(GPR, n) for n in range(3)]
    for size, said in ((0, "the head gives the record 0 bytes"), (31, "31 bytes"), (8, "8 bytes")):
        broken = bytearray(b"".join(records))
        broken[182:184] = struct.pack("<H", size)
        head, middle, end = decoded(bytes(broken), status=1)
        assert (head["format"], len(middle), end["wrong_at"]) == (4, 1, 176) and said in end["wrong"]
        _, middle, end = decoded(bytes(broken), "--format", 4, status=1)
        assert (len(middle), end["wrong_at"]) == (1, 176) and "32 or more" in end["wrong"]


# ---- what the options say --------------------------------------------------------------------------------------------

def test_options_win():
    data = b"".join(adaptive(GPR, n) for n in range(3))
    for words_, form in ((("--format", 5), 5), (("--preset", "sapphirerapids"), 4), (("--preset", "lunarlake"), 6),
                         (("--preset", "pantherlake"), 15)):
        done = cairn("decode", "--json", *words_, "-", data=data)
        head = json.loads(done.stdout.splitlines()[0])
        assert (head["format"], head["sure"]) == (form, "told")
    head, middle, end = decoded(data, "--format", 0, status=1)
    assert (head["format"], len(middle), end["wrong_at"]) == (0, 4, 0x90 * 3)  # 528 bytes: three, and a part
    assert len(decoded(bytes(0x90 * 2), "--format", 0)[1]) == 2
    assert len(decoded(data, "--bts")[1]) == 22
    assert len(decoded(data, "--records", 1)[1]) == 1
    assert "and 2 more records (--records N)" in text_of(cairn("decode", "--records", 1, "-", data=data))


def test_a_note_where_something_else_fits():
    data = b"".join(adaptive(GPR, n) for n in range(3))
    for told in (("--format", 2), ("--preset", "nehalem"), ("--bts",), ("--area",)):
        assert b"without this option the guess is certain: format 4" in cairn("decode", *told, "-", data=data).stderr
    for told in (("--format", 4), ("--format", 5), ("--preset", "icelake")):
        assert not cairn("decode", *told, "-", data=data).stderr


def test_preset_tells_more():
    """Where data came from differs from one generation to the next; and of which event it is, nobody says."""
    data = adaptive(MEMINFO, 0)
    for preset, means in (("icelake", "if of load latency: pending fill, STLB miss"),
                          ("lunarlake", "if of load latency: ")):
        fields = {field["name"]: field.get("means", "") for field in decoded(data, "--preset", preset)[1][0]["fields"]}
        assert fields["data source"].startswith(means), fields
    assert "means" not in next(field for field in decoded(data)[1][0]["fields"] if field["name"] == "data source")


def test_data_cfg():
    data = b"".join(adaptive(GPR | LBR, n) for n in range(3))
    assert len(decoded(data, "--data-cfg", hex(GPR | LBR | 3 << 24))[1]) == 3
    for wrong in (GPR, GPR | LBR | 4 << 24, GPR | LBR | XMM | 3 << 24):
        _, middle, end = decoded(data, "--data-cfg", hex(wrong), status=1)
        assert not middle and end["wrong_at"] == 0 and f"--data-cfg makes records of groups {wrong:X}H" in end["wrong"]
        text = " ".join(text_of(cairn("decode", "--data-cfg", hex(wrong), "-", data=data)).split())
        assert "a weak guess: its records do not have the groups of --data-cfg" in text
    assert b"no known record format and no" in cairn("decode", "--data-cfg", 2, "-", data=fixed(3, 0)).stderr


def test_at():
    text = text_of(cairn("decode", "--at", "0xffff888000001000", SAMPLES / "records.xxd"))
    assert "record 1 at 0xffff8880000010b0, 176 bytes" in text
    gdb = text_of(cairn("decode", CORPUS / "one-gdb-gx"))
    assert "starting at 0x404010" in gdb and "record 0 at 0x0000000000404010, 176 bytes" in gdb
    assert "record 0 at 0x0000000000001000" in text_of(cairn("decode", "--at", "4096", CORPUS / "one-gdb-gx"))
    done = cairn("decode", "--at", "0x1000", "--format", 4, "-", data=adaptive(GPR, 0)[:-1])
    assert "byte 0 (0x1000): the record is cut off" in errors_of(done)


def test_functions(tmp_path):
    kernel = cairn_boot.BUILD / "kernel.elf.full"
    symbols = subprocess.run(["nm", kernel], capture_output=True, text=True, check=True).stdout
    address = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T kpart_compute"))
    record = bytearray(adaptive(GPR, 0))
    record[8:16] = struct.pack("<Q", address + 5)
    (tmp_path / "record").write_bytes(record)
    text = text_of(cairn("decode", "--elf", kernel, tmp_path / "record"))
    assert f"EventingIP   {address + 5:016x}  kpart_compute+0x5" in text
    record[8:16] = struct.pack("<Q", 0xFFFFFFFFC0123456)  # of a module, beyond _end
    (tmp_path / "record").write_bytes(record)
    text = text_of(cairn("decode", "--elf", kernel, tmp_path / "record"))
    assert "EventingIP   ffffffffc0123456  0xffffffffc0123456" in text
    assert cairn("decode", "--elf", "/dev/null", tmp_path / "record").returncode == 3


# ---- as the other commands -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("log, form", [("plain", 4), ("arch", 15)])
def test_same_as_the_log_says(log, form):
    """Each record of a log, as bytes, is decoded into the same fields."""
    exported = text_of(cairn("export", "--to", "json", SAMPLES / f"{log}.log"))
    records = [json.loads(line) for line in exported.splitlines() if '"type":"sample"' in line]
    values = [list(record["record"].values()) for record in records]
    data = b"".join(struct.pack("<Q", int(value, 16)) for record in values for value in record)
    head, middle, _ = decoded(data)
    assert len(middle) == len(records) > 8 and (head["format"], head["sure"]) == (form, "sure")
    assert [[field["value"] for field in record["fields"]] for record in middle] == values


def test_page():
    """What docs/how-to/own-records.md shows of a dump that is cut off."""
    page = (cairn_boot.ROOT / "docs/how-to/own-records.md").read_text(encoding="utf-8")
    done = cairn("decode", "-", data="".join(XXD.splitlines(True)[:30]).encode())
    assert page.split("build/cairn decode - >/dev/null\n")[1].startswith(done.stderr.decode())


def test_golden():
    """The page of three records, and JSON of them."""
    expected = cairn_boot.ROOT / "tests/cairn/expected/decode"
    for name, words_ in (("text", []), ("json", ["--json"])):
        assert text_of(cairn("decode", *words_, SAMPLES / "records.xxd")) == \
            (expected / name).read_text(encoding="ascii"), name


def test_large():
    """A hundred thousand records are read at once."""
    data = b"".join(adaptive(0, n) for n in range(1000)) * 100
    done = subprocess.run([CAIRN, "decode", "--records", "1", "-"], input=data, capture_output=True, check=True,
                          timeout=60)
    assert b"and 99999 more records" in done.stdout
