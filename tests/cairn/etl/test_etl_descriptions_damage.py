# SPDX-License-Identifier: MIT
"""Descriptions of events that are damaged, or made to be slow: the reader ends, in time that grows with the file, and
in 64 MiB more than the file has."""

import random
import struct
import subprocess

import pytest

import cairn_boot
from cairn_tool import SANITIZED, cairn, measured
from make_descriptions import (EVENT_INFO, MAP_INFO, METADATA, SOURCE, STRUCT, UINT8, UINT32, UTF16, XML, Described,
                               Property, chunks, event_info, map_info)
from make_etl import Maker
from make_events import MANIFEST

ROOM = 64 << 20
BUFFER = 65536


def bent(data, seed):
    """The file with some bytes of its descriptions changed: those behind the first one."""
    made, rng = bytearray(data), random.Random(seed)
    begins = data.index(METADATA.bytes_le) + 24
    for _ in range(rng.choice([1, 3, 30])):
        at = rng.randrange(begins, len(made))
        made[at] = rng.choice([0, 1, 0x7F, 0xFF, rng.randrange(256)])
    return bytes(made)


def dies(data):
    done = subprocess.run([SANITIZED, "export", "--to", "json", "-"], input=data, capture_output=True, check=False,
                          timeout=120)
    return done.returncode not in (0, 1) or b"Sanitizer" in done.stderr or b"runtime error" in done.stderr


@pytest.mark.parametrize("count", [60, pytest.param(1500, marks=pytest.mark.long)])
def test_damaged_descriptions(count):
    wholes = [Described(19041, bits).make() for bits in (32, 64)]
    for seed in range(count):
        assert not dies(bent(wholes[seed % 2], seed)), seed


# ---- what is made to be slow -----------------------------------------------------------------------------------------

class Many(Maker):
    """A file of these events, in buffers of 64 KiB: each is (its bytes, how many)."""

    buffer_bytes = BUFFER

    def of(self, *some):
        head = [self.header()]
        self.buffer(0, head, kind=4)
        for event, times in some:
            padded = event + bytes(-len(event) % 8)
            each = (BUFFER - 0x48) // len(padded)
            begins = len(self.buffers)
            self.buffer(0, [event] * each)
            self.buffers[begins:] = self.buffers[begins:] * (times // each)
            if times % each:
                self.buffer(0, [event] * (times % each))
        made = bytearray(b"".join(self.buffers))
        for n in range(len(self.buffers)):  # they are in their order
            struct.pack_into("<q", made, n * BUFFER + 0x18, n)
        struct.pack_into("<I", made, 0x48 + 0x20 + 0x24, len(self.buffers))
        return bytes(made)


def events():
    maker = Described(19041, 64)
    cycle = event_info(MANIFEST, 10, [Property("s" * 30, 0, 65535, STRUCT | 0x20, 65535)], version=3, task="T")
    wide = event_info(MANIFEST, 10, [Property("n" * 20, UTF16)] * 700, version=3, task="T")
    mapped = event_info(MANIFEST, 10, [Property("n", UINT32, map="M")] * 200, version=3, task="T")
    values = map_info(MANIFEST, "M", [(n, "x" * 4) for n in range(3000)][::-1])
    bits = map_info(MANIFEST, "M", [(1 << n % 32, "x" * 200) for n in range(64)], bits=True)
    empty, full = maker.event(MANIFEST, 10, b""), maker.event(MANIFEST, 10, b"\xff" * 800)

    def described(info):
        return maker.metadata(EVENT_INFO, info)

    xml = XML.replace("Plain", "x" * 200)
    yield "a million descriptions", [(described(event_info(MANIFEST, 10)), 1 << 20)]
    yield "structures in themselves", [(empty, 60000), (described(cycle), 1)]
    yield "texts of nothing", [(empty, 60000), (described(wide), 1)]
    yield "large maps", [(full, 3000), (described(mapped), 1), (maker.metadata(MAP_INFO, values), 1)]
    yield "long names of bits", [(full, 3000), (described(mapped), 1), (maker.metadata(MAP_INFO, bits), 1)]
    yield "many maps", [(maker.metadata(MAP_INFO, map_info(MANIFEST, "M", [(1, "x")])), 600000)]
    yield "first chunks", [(maker.chunk(chunks(xml, 100)[0]), 300000)]
    yield "whole manifests", [(maker.chunk(chunks(xml, 60000)[0]), 6000)]
    yield "short manifests", [(maker.chunk(chunks(f"<a x='{'y' * 60}'/>", 60000)[0]), 200000)]


@pytest.mark.long
@pytest.mark.parametrize("name, some", events(), ids=lambda x: x if isinstance(x, str) else "")
def test_what_is_made_to_be_slow(tmp_path, name, some):
    """Memory: beside a file of its size without descriptions. Time: instructions of a 40th of it, and of two."""
    path = tmp_path / "x.etl"
    plain = Described(19041, 64).event(SOURCE, 1, b"x" * 100)
    taken = []
    for part in (40, 20):
        path.write_bytes(Many(19041, 64).of(*((event, max(times // part, 1)) for event, times in some)))
        taken.append(instructions("dump", path))
    assert taken[1] < 2.5 * taken[0], taken
    path.write_bytes(Many(19041, 64).of(*some))
    status, errors, peak = measured(["dump", path])
    assert status == 0, (name, errors)
    path.write_bytes(Many(19041, 64).of((plain, path.stat().st_size // 192)))
    assert peak <= measured(["dump", path])[2] + ROOM


def instructions(command, path):
    out = path.with_suffix(".out")
    subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={out}",
                    cairn_boot.BUILD / "cairn", command, path], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return int(out.read_text().rsplit("summary:", 1)[1].split()[0])


def test_a_budget_is_said():
    """More manifests of one provider than are read, or more than all may come to."""
    maker = Described(19041, 64)
    parts = [chunks(XML.replace("Made-Up", f"Made-Up-{n}"), 60000)[0] for n in range(3)]
    maker.events = lambda: [maker.chunk(part) for part in parts]
    text = cairn("info", "-", data=maker.make()).stdout.decode()
    assert "3, and 0 that cannot be read" in text
    fields = "".join(f'<data name="{"n" * 300}" inType="win:UInt8"/>' for _ in range(100))
    events_ = "".join(f'<event value="{n}" template="T" symbol="S"/>' for n in range(200))
    xml = f'<a><provider name="P"/>{events_}<template tid="T">{fields}</template></a>'
    parts = chunks(xml, 16000)
    maker = Described(19041, 64)
    maker.buffer_bytes = 32768
    maker.events = lambda: [maker.event(SOURCE, 3, b"\1" * 100, version=0), *(maker.chunk(part) for part in parts)]
    text = cairn("info", "-", data=maker.make()).stdout.decode()
    assert "1, and 1 that cannot be read" in text and UINT8
