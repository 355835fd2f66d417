# SPDX-License-Identifier: MIT
"""Text in ETL files: whatever the file has, what is shown is UTF-8, and nothing that moves a terminal's cursor."""

import json
import re
import struct

import pytest

from cairn_tool import cairn, text_of
from make_etl import NAMES, PROCESSES, Maker
from make_events import ANSI, MANIFEST, TRACELOGGING, UINT8, UINT16, UTF16, Events, field, schema, wide
from make_profile import Profile

NOT_SHOWN = "\ufffd"
MANY = "Gr\u00f6\u00dfe \u20ac \u65e5\u672c\u8a9e \U0001f642"


def alone(event):
    """A file with one event of its own."""
    maker = Events(19041, 64)
    maker.buffer_bytes = 16384
    maker.events = lambda: [event(maker)]
    return maker.make()


def value(data):
    done = cairn("export", "--to", "json", "-", data=data)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-2])["fields"][0]["value"]


def logged(kind, payload, out=None):
    return alone(lambda maker: maker.event(TRACELOGGING, 0, payload, [(11, schema("Text", field("t", kind, out)))]))


@pytest.mark.parametrize("text, shown", [
    (MANY, MANY),
    ("a\tb\r\nc\x1b[31m\x7f\x85", "a?b??c?[31m??"),
    ("\u202eevil\u2066\u200f", "?evil??"),
    ("\u2028", "?"),
])
def test_text_of_either_width(text, shown):
    shown = shown.replace("?", NOT_SHOWN) if text != MANY else shown
    assert value(logged(UTF16, wide(text))) == shown
    assert value(logged(ANSI, text.encode() + b"\0", 35)) == shown


def test_what_is_no_text():
    """Halves of pairs; bytes of some code page."""
    for units in ([0xD83D], [0xDE42], [0xDE42, 0xD83D], [0xD83D, 0x41]):
        shown = "".join("A" if unit == 0x41 else NOT_SHOWN for unit in units)
        assert value(logged(UTF16, struct.pack(f"<{len(units)}HH", *units, 0))) == shown
    for data in (b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"):
        assert value(logged(ANSI, data + b"\0")) == NOT_SHOWN * len(data)


def test_long_text_is_cut_between_characters():
    for text, size in ("\u20ac", 3), ("\u00fc", 2), ("\U0001f642", 4):
        for before in range(4):
            found = value(logged(UTF16, wide("x" * before + text * 600)))
            assert found == "x" * before + text * ((1020 - before) // size) + "..."
    for before in range(4):
        fields = schema("L" + "x" * before, *(field("n", UTF16) for _ in range(12)))
        payload = wide("\u20ac" * 300) * 12
        data = alone(lambda maker, of=fields, bytes_=payload: maker.event(TRACELOGGING, 0, bytes_, [(11, of)]))
        text = json.loads(cairn("export", "--to", "json", "-", data=data).stdout.splitlines()[-2])["text"]
        assert text.endswith("\u20ac...") and 8188 <= len(text.encode()) <= 8191


@pytest.mark.parametrize("kind, data, shown", [
    (UINT8, b"B", "'B'"), (UINT8, b"\xe4", "0xe4"), (UINT8, b"\7", "0x7"), (UINT16, b"\xac\x20", "'\u20ac'"),
    (UINT16, b"\0\0", "0x0"), (UINT16, b"\0\xd8", "0xd800"), (UINT16, b"\x2e\x20", "0x202e"), (UINT16, b" \0", "' '"),
])
def test_a_character_is_one(kind, data, shown):
    assert value(logged(kind, data, 2)) == shown


def test_names_of_threads_and_providers(monkeypatch, tmp_path):
    """In every output; the names of two are wider than their column."""
    monkeypatch.setitem(NAMES, 908, MANY)
    monkeypatch.setitem(NAMES, 904, "\u65e5\u672c\u8a9e" * 30)
    monkeypatch.setitem(PROCESSES, 1400, "\u00fc.exe")
    path = tmp_path / "x.etl"
    path.write_bytes(Maker(19041, 64).make())
    for command in ("dump", "stat", "info", "check", "locks"):
        text_of(cairn(command, path))
    assert "\u65e5\u672c\u8a9e" in text_of(cairn("stat", path)) and "\u00fc.exe:1404" in text_of(cairn("stat", path))
    for form in ("json", "html", "ctf", "sqlite", "perfetto", "svg"):
        out = tmp_path / form
        assert cairn("export", "--to", form, path, "-o", out).returncode == 0
        if form != "ctf":
            assert MANY.encode() in out.read_bytes() or form == "svg"
    names = {line["name"] for line in map(json.loads, (tmp_path / "json").read_text().splitlines())
             if line["type"] == "thread"}
    assert {MANY, "\u00fc.exe"} <= names
    assert re.search("\u00fc.exe", (tmp_path / "svg").read_text())


@pytest.mark.parametrize("character", ["x", "\u00fc", "\u65e5", "\U0001f642"])
@pytest.mark.parametrize("length", [3, 9, 26])
def test_columns_hold_characters_of_any_width(monkeypatch, character, length):
    """Where the columns are does not depend on the bytes of a name, and no name has bytes that are not its own."""
    def lines(name):
        for tid in (904, 908, 1404):
            monkeypatch.setitem(NAMES, tid, name)
        monkeypatch.setitem(PROCESSES, 900, name)
        maker = Maker(19041, 64)
        for command in ("dump", "stat"):
            yield from text_of(cairn(command, "-", data=maker.make())).splitlines()
        yield from text_of(cairn("stat", "-", data=Profile().make())).splitlines()

    assert [line.replace(character, "x") for line in lines(character * length)] == list(lines("x" * length))


def test_wrapped_lines_are_cut_between_characters():
    data = alone(lambda maker: maker.event(MANIFEST, 9, wide("\u65e5" * 200), flags=4))
    done = cairn("dump", "-", data=data, env={"COLUMNS": "80"})
    lines = done.stdout.decode().splitlines()
    assert max(map(len, lines)) <= 80 and sum(line.count("\u65e5") for line in lines) == 200
