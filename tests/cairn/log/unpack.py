# SPDX-License-Identifier: MIT
"""A decoder of packed frames, plain and slow, for those who write their own: docs/reference/format.md, section 17,
names it as the reference. It shares nothing with trace/packed/packed_coder.h: it was written from a description in
words."""

import struct

ONES = (1 << 64) - 1
RATES = [1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5]
RECORD_BYTES = [0x90, 0xB0, 0xC0, 0xC8]  # of PEBS formats 0 to 3
LITE, FULL = 2, 3


def mix(a, b):
    """packed_hash(a, b) in C."""
    x = (a ^ b) * 0x9E3779B97F4A7C15 & ONES
    return x ^ x >> 29


class Coder:
    """The range coder: bits with cells, plain bits, trees. What has not arrived cannot be read (IndexError)."""

    def __init__(self):
        self.data, self.at, self.code, self.range = bytearray(), 0, 0, 0
        self.cells = {}

    def begin(self):
        self.code, self.at, self.range = int.from_bytes(self.data[:4], "big"), 4, 0xFFFFFFFF

    def _fill(self):
        while self.range < 1 << 24:
            self.range = self.range << 8 & 0xFFFFFFFF
            self.code = self.code << 8 | self.data[self.at]
            self.at += 1

    def bit(self, *cell):
        p, n = self.cells.get(cell, (2048, 0))
        bound = (self.range >> 12) * p
        value = int(self.code >= bound)
        if value:
            self.code -= bound
            self.range -= bound
            p = max(p - (p >> RATES[n]), 1)
        else:
            self.range = bound
            p = min(p + (4096 - p >> RATES[n]), 4095)
        self.cells[cell] = p, min(n + 1, 15)
        self._fill()
        return value

    def plain(self, bits):
        if bits > 16:
            upper = self.plain(16)
            return upper << bits - 16 | self.plain(bits - 16)
        self.range >>= bits
        value = self.code // self.range
        assert value < 1 << bits
        self.code -= value * self.range
        self._fill()
        return value

    def tree(self, bits, *cells):
        node = 1
        for _ in range(bits):
            node = 2 * node + self.bit(*cells, node)
        return node - (1 << bits)

    def upper_bits(self, length, most, *cells):
        """The bits below the highest of a number with `length` bits: up to `most` of them as a tree, the rest plain."""
        if length < 2:
            return length
        first = min(most, length - 1)
        number = 1 << first | self.tree(first, *cells, length)
        rest = length - 1 - first
        return number << rest | (self.plain(rest) if rest else 0)


class Fields(Coder):
    """Fields, each of a column."""

    def __init__(self):
        super().__init__()
        self.last, self.step, self.spelled = {}, {}, {}
        self.tables, self.values = ([0] * 2048, [0] * 2048), [0] * 256

    def last_of(self, column):
        return self.last.get(column, 0)

    def _difference(self, size, column, base):
        length = self.tree(7, "length", column % 64)
        assert length <= 8 * size
        z = self.upper_bits(length, 2, "upper", column % 4)
        return base + (z >> 1 ^ -(z & 1))

    def _spell(self, way, size, column, base):
        if way == "clock":
            return self._difference(size, column, base)
        if way == "far":
            if not self.bit("new", column):
                return self.values[self.tree(8, "place", column % 16)]
            value = self._difference(size, column, base) & (1 << 8 * size) - 1
            self.values[mix(value, 5) >> 56] = value
            return value
        count = self.tree(4, "bytes", column)
        assert count <= size
        value = 0
        for left in range(count, 0, -1):
            value = value << 8 | self.tree(8, "byte", (2 * column + (left > 1)) % 64)
        return value

    def field(self, way, size, column, c1=0, c2=0, base=0):
        ones, last = (1 << 8 * size) - 1, self.last_of(column)
        places = mix(c1 + 1 & ONES, column) >> 53, mix(c2 + 7 & ONES, 3 * column + 1) >> 53
        value, spelled = None, self.spelled.get(column, 0)
        if way != "clock":
            tried = set()
            for guess, it in enumerate((self.tables[0][places[0]], self.tables[1][places[1]], base,
                                        last + self.step.get(column, 0))):
                it &= ones
                if it in tried:
                    continue
                tried.add(it)
                if not self.bit("guess", column, guess, spelled):
                    value = it
                    break
        self.spelled[column] = (spelled << 1 | (value is None)) & 3
        if value is None:
            value = self._spell(way, size, column, base) & ones
        self.last[column], self.step[column] = value, value - last
        for table, place in zip(self.tables, places):
            table[place] = value
        return value

    def stored(self, size):
        return bytes(self.plain(8) for _ in range(size))


class Trace(Fields):
    """A unit of stream t."""

    def __init__(self, header):
        super().__init__()
        self.header = header  # it begins with a buffer header
        self.prev = self.prev2 = self.time = 0
        self.next1, self.next2, self.state = [0] * 1024, [0] * 1024, [0] * 256

    def item(self):
        if self.header:
            self.header = False
            return struct.pack("<9Q", *(self.field("far", 8, 32 + i) for i in range(9)))
        if self.bit("stored"):
            return self.stored(self.plain(11))
        return self._event()

    def _event(self):
        hook = self.field("near", 2, 0, self.prev, self.prev2)
        marker = self.field("near", 4, 1, hook, hook)
        size = self.field("near", 2, 2, hook, self.prev << 16 | hook)
        h = mix(hook, 1) >> 55
        before = self.time
        self.time = self.field("clock", 8, 3 + h % 16, base=before)
        out = bytearray(struct.pack("<IHHQ", marker, size, hook, self.time))
        end = size + 7 & ~7
        if marker & 0x8000 and end >= 0x18:
            out += struct.pack("<Q", self.field("far", 8, 20, base=self.last_of(20)))
        if hook == 0x525 and size - len(out) >= 0x58:
            self._batch(out, size, end, before)
        elif hook == 0xCA01 and size - len(out) >= 0x18:
            self._records(out, end)
        self._words(out, end, h)
        assert len(out) == end
        self.prev, self.prev2 = hook, self.prev
        return bytes(out)

    def _words(self, out, end, h):
        w1 = w2 = i = 0
        while len(out) < end:
            width = 4 if len(out) % 8 else 8
            column = 120 + (h + 7 * i) % 120
            word = self.field("far", width, column, mix(w1, i), mix(w1, w2), self.last_of(column))
            out += word.to_bytes(width, "little")
            w1, w2, i = word, w1, i + 1

    def _records(self, out, end):
        kind = self.field("near", 4, 21)
        out += struct.pack("<I", kind)
        if kind & 0xFFFF != 2:
            return
        out += struct.pack("<I", self.field("near", 4, 22, base=self.last_of(22)))
        out += struct.pack("<Q", self.field("far", 8, 23, base=self.last_of(23)))
        out += struct.pack("<I", self.field("near", 4, 24))
        out += struct.pack("<I", self.field("near", 4, 25, self.last_of(25)))
        form = kind >> 16 & 0xFF
        w1 = w2 = i = words = one = 0
        while len(out) < end:
            column = 48 + i if i < 40 else 88 + (i - 40) % 32
            word = self.field("far", 8, column, mix(w1 if i < 2 else one, 3), mix(w1, w2), self.last_of(column))
            out += struct.pack("<Q", word)
            if i == 0:
                words = max((RECORD_BYTES[form] if form < 4 else word >> 48) // 8, 1)
            if i == 1:
                one = word
            w1, w2, i = word, w1, i + 1 if i + 1 < words else 0

    def _batch(self, out, size, end, before):
        out += struct.pack("<Q", self.field("clock", 8, 26, base=before))
        threads, t = [], 0
        for i in range(16):
            t = self.field("near", 4, 27, t, 31 * t + i)
            threads.append(t)
        out += struct.pack("<16I", *threads)
        out += bytes(self.field("near", 1, 28, t, 1) for t in threads)
        forms, t1, t2, highest = 0, 0, 0, -1
        while len(out) < size:
            form = self.tree(2, "form", forms)
            forms = (form | forms << 2) & 15
            t = slot = 0
            if form >= LITE:
                slot = self._slot(threads, t1, t2, highest)
                highest = max(highest, slot)
                t = threads[slot]
                self.next1[mix(t1, t2) >> 54] = self.next2[mix(t1, 3) >> 54] = t
            word, second = form, None
            if form == LITE:
                word |= slot << 2 | self._state(t) << 6
            if form == FULL:
                second = slot | self.field("near", 2, 29, t) << 4
                second |= self.field("near", 4, 30, t) << 15
            length = self.tree(5, "delta length", form | (mix(t, 4) >> 60) << 2)
            delta = self.upper_bits(length, 3, "delta", form)
            word |= delta << (15 if form == LITE else 2)
            out += struct.pack("<H" if form == 0 else "<I", word)
            if second is not None:
                out += struct.pack("<I", second)
            t1, t2 = t, t1
        while len(out) < end:
            out.append(self.field("near", 1, 31))

    def _slot(self, threads, t1, t2, highest):
        tried = []
        for cell, thread in enumerate((self.next1[mix(t1, t2) >> 54], self.next2[mix(t1, 3) >> 54])):
            slot = max((i for i, t in enumerate(threads) if t == thread), default=None) if thread else None
            if slot is None or slot in tried:
                continue
            tried.append(slot)
            if not self.bit("slot", cell):
                return slot
        return self.tree(4, "slots", min(15, highest + 1))

    def _state(self, thread):
        k = mix(thread, 9) >> 56
        if self.bit("state", k % 64):
            self.state[k] = self.tree(9, "states", k % 8)
        return self.state[k]


class Truth(Fields):
    """A unit of stream u."""

    def __init__(self):
        super().__init__()
        self.kinds = self.time = self.to = self.word = 0

    def item(self):
        if self.bit("stored"):
            return self.stored(0x30)
        kind = self.field("near", 1, 240, self.kinds, self.kinds & 0xFFFF)
        cpu = self.field("near", 1, 241)
        self.kinds = (self.kinds << 8 | kind) & ONES
        columns = 256 + 16 * (kind % 16)
        body = (self._switch if kind == 1 else self._sample if kind in (2, 3, 5) else self._contents if kind == 4 else
                self._other)
        return bytes([kind, cpu]) + body(columns)

    def _clock(self, column):
        self.time = self.field("clock", 8, column, base=self.time)
        return self.time

    def _switch(self, columns):
        near, far = (lambda *a: self.field("near", *a)), (lambda *a: self.field("far", *a))
        last_old, last_new = self.last_of(242), self.last_of(243)
        old = near(4, 242, last_new, last_old, last_new)
        new = near(4, 243, mix(old, last_old), old)
        state = near(2, columns, old, mix(old, new))
        four = near(1, columns + 1, old, mix(state, old))
        five, six, seven = (near(1, columns + 2 + i, c) for i, c in enumerate((old, new, old)))
        time = self._clock(columns + 5)
        index = far(8, columns + 6, 0, 0, self.last_of(columns + 6))
        return struct.pack("<H4B2I2Q2IQ", state, four, five, six, seven, old, new, time, index,
                           near(4, columns + 7, new), near(4, columns + 8, old, new), far(8, columns + 9))

    def _sample(self, columns):
        near, far = (lambda *a: self.field("near", *a)), (lambda *a: self.field("far", *a))
        last_new = self.last_of(243)
        two, thread, time = near(2, columns), near(4, columns + 1, last_new, 0, last_new), self._clock(columns + 2)
        last = self.last_of(columns + 3)
        start = far(8, columns + 3, mix(thread, last), thread, last)
        self.to = far(8, columns + 4, start, mix(start, thread), start)
        return struct.pack("<HI4Q2I", two, thread, time, start, self.to,
                           far(8, columns + 5, 0, 0, self.last_of(columns + 5)), near(4, columns + 6),
                           near(4, columns + 7))

    def _contents(self, columns):
        group = self.field("near", 2, columns, self.last_of(columns))
        out = struct.pack("<HI", group, self.field("far", 4, columns + 1))
        w1, w2 = self.word, 0
        for i in range(group >> 8, (group >> 8) + 5):
            column = 512 + 32 * (group % 4) + i % 32
            base = self.time if group & 0xFF == 0 and i in (17, 18) else self.last_of(column)
            w1, w2 = self.field("far", 8, column, mix(self.to, 3), mix(w1, w2), base), w1
            out += struct.pack("<Q", w1)
        self.word = w1
        return out

    def _other(self, columns):
        two = self.field("near", 2, columns)
        thread = self.field("near", 4, columns + 1, self.last_of(243))
        out, w = struct.pack("<HI", two, thread), 0
        for i in range(5):
            column = columns + 2 + i
            w = self.field("far", 8, column, mix(w, thread), mix(w, two), self.last_of(column))
            out += struct.pack("<Q", w)
        return out


def completed(unit, size):
    """The items of a frame that completes `size` bytes."""
    done = 0
    while done < size:
        item = unit.item()
        done += len(item)
        yield item
    assert done == size, "the frame ends within an item"


def cut(stream, payload, items):
    """Frames of streams T and U with these items, with heads like the packed frame's."""
    head, room = (0x14, 1536) if stream == "T" else (8, 8 + 30 * 0x30)
    where = struct.unpack_from("<I", payload, 0x0C if stream == "T" else 4)[0]
    body = b""
    for item in [*items, None]:
        if body and (item is None or head + len(body) + len(item) > room):
            if stream == "T":
                yield stream, payload[:0x0C] + struct.pack("<I", where) + payload[0x10:0x14] + body
                where += len(body)
            else:
                yield stream, payload[:2] + struct.pack("<HI", len(body) // 0x30, where) + body
                where += len(body) // 0x30
            body = b""
        body += item or b""


def unpack(frames):
    """[(stream, payload)] with frames T and U in place of t and u. Each frame must complete what it says it does."""
    unit, number, out = None, 0, []
    for stream, payload in frames:
        if stream not in "tu":
            out.append((stream, payload))
            continue
        head = 0x18 if stream == "t" else 0x0C
        word = struct.unpack_from("<I", payload, head - 4)[0]
        if word >> 24 == 0:
            unit, number = Trace(struct.unpack_from("<I", payload, 0x0C)[0] == 0) if stream == "t" else Truth(), 0
        assert word >> 24 == number
        unit.data += payload[head:]
        if number == 0:
            unit.begin()
        number += 1
        with_header = stream == "t" and unit.header
        items = list(completed(unit, word & 0xFFFFF))
        assert word >> 20 & 1 == int(with_header and bool(items) and items[0][0x34] >> 2 & 1)
        out += cut(stream.upper(), payload, items)
    return out
