# SPDX-License-Identifier: MIT
"""Small ETL files as Windows 7 to 11 write them, for 32 and 64 bit: `python3 make_etl.py` writes them to tests/golden.
Each has every header type, a rundown, context switches, padding that was never written, and events nobody knows; what
must be read from it is in the object that makes it. Apart from the C code."""

import random
import struct
import uuid
from pathlib import Path

from make_lz77 import lz77

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
EPOCH = 132_000_000_000_000_000  # some FILETIME of 2019
PROVIDER = uuid.UUID("0cd1c309-0878-4515-83db-749843b3f5c9")
REASONS = {7600: None, 10240: 39, 19041: 40, 22000: 42, 26100: None}  # MaximumWaitReason, where it is known
PROCESSES = {0: "Idle", 4: "System", 900: "explorer.exe", 1400: "a name of some length.exe"}
THREADS = {8: 4, 12: 4, 904: 900, 908: 900, 912: 900, 1404: 1400}  # TID: PID
NAMES = {908: "worker", 912: "renamed"}  # build 19041 and later


class Maker:
    buffer_bytes = 2048

    def __init__(self, build, bits, *, compressed=False, clock=1):
        self.build, self.bits, self.compressed, self.clock = build, bits, compressed, clock
        self.wide = bits == 64
        self.random = random.Random(build * 64 + bits)
        self.frequency = {1: 2_337_949 if build == 7600 else 10_000_000, 2: 10_000_000, 3: 2_394_000_000}[clock]
        self.compact = build >= 10240 and (bits, build) != (32, 10240)
        self.switches = []  # (time in units, cpu, old, new or None, state, priority, ticks), as dump is to show them
        self.locks = []  # (address, mode, spins, wait, hold, caller)
        self.other = 0  # events that are no switches
        self.buffers = []

    # ---- headers

    def pointer(self, value):
        return struct.pack("<Q" if self.wide else "<I", value)

    def marker(self, narrow, wide, low):
        return 0xC0000000 | (wide if self.wide else narrow) << 16 | low

    def system(self, hook, version, time, tid, pid, payload, compact=False):
        types = (3, 4) if compact else (1, 2)
        times = b"" if compact else struct.pack("<II", 1, 2)
        head = struct.pack("<IHHIIq", self.marker(*types, version), 0x18 + len(times) + len(payload), hook, tid, pid,
                           time)
        return head + times + payload

    def perfinfo(self, hook, version, time, payload, pebs=None, counters=()):
        items = b"" if pebs is None else struct.pack("<Q", pebs)
        items += struct.pack(f"<{len(counters)}Q", *counters)
        low = version | len(counters) << 8 | (0 if pebs is None else 0x8000)
        return struct.pack("<IHHq", self.marker(0x10, 0x11, low), 16 + len(items) + len(payload), hook,
                           time) + items + payload

    def classic(self, narrow, wide, middle, time, payload, rest):
        body = struct.pack("<IIIq", middle, 12, 4, time) + rest + payload
        return struct.pack("<I", self.marker(narrow, wide, 4 + len(body))) + body

    def message(self, number, time=None, *, sequence=None, source=None, component=None, ids=None, text=b"text"):
        """A WPP message: TID and PID are `ids`."""
        flags = 0x80 if self.wide else 0x40
        items = b""
        for bit, form, values in ((1, "<I", sequence), (2, "16s", source and source.bytes_le), (4, "<I", component),
                                  (8, "<q", time), (0x20, "<II", ids)):
            if values is not None:
                flags |= bit
                items += struct.pack(form, *(values if isinstance(values, tuple) else (values,)))
        return struct.pack("<HBBHH", 8 + len(items) + len(text), 0x0F, 0x90, number, flags) + items + text

    def odd(self, time):
        """One of each header that is not the kernel's, then what nobody knows."""
        descriptor = struct.pack("<HBBBBHQ", 7, 3, 0, 4, 1, 0, 1)
        event = PROVIDER.bytes_le + descriptor + bytes(8) + bytes(16)
        yield self.classic(0x0A, 0x14, 2 << 16 | 5, time, b"full", PROVIDER.bytes_le + bytes(8))
        yield self.classic(0x0B, 0x15, 5, time, b"instance", bytes(32))
        yield self.classic(0x12, 0x13, 0x00000040, time, b"an event", event)
        yield self.message(77, time, sequence=5, source=PROVIDER, ids=(908, 900))
        yield struct.pack("<I", 0xC00D0000 | 20) + bytes(16)  # ERROR
        yield self.system(0x0A20, 1, time, 12, 4, b"compact", compact=True)
        yield self.perfinfo(0x7F99, 200, time, b"unknown hook")
        yield self.perfinfo(0x0524, 1, time, bytes(16))  # as Windows XP had it
        yield self.perfinfo(0x0F2E, 2, time, self.pointer(0x1000) + struct.pack("<IHH", 8, 1, 0), counters=(1, 2, 3))
        yield from self.interrupts(time)

    def interrupts(self, time):
        """What interrupts a CPU. Then the same hooks, but of versions nobody knows."""
        routine, begin = self.pointer(0x8000_1230), struct.pack("<q", time - 37)
        sample = self.pointer(0x8000_4560) + struct.pack("<I", 908)
        flags = 0 if self.build == 7600 else 1 | 9 << 3  # reserved in Windows 7
        events = [(0x0F43, begin + routine + struct.pack("<BHB", 1, 0xD1, 0)), (0x0F44, begin + routine),
                  (0x0F45, begin + routine), (0x0F2E, sample + struct.pack("<HBB", 2, flags, 0)),
                  (0x0F2F, sample + struct.pack("<HH", 10, 0))]
        for hook, payload in events:
            yield self.perfinfo(hook, 2, time, payload)
        for hook, payload in events[:2] + events[3:4]:
            yield self.perfinfo(hook, 9, time, payload + bytes(3))

    # ---- payloads

    def process(self, pid, name):
        version = 3 if self.build == 7600 else 4
        fixed = self.pointer(0x8000 + pid) + struct.pack("<IIIi", pid, 4 if pid > 4 else 0, 0, 0x103)
        fixed += self.pointer(0x1AB000) + (struct.pack("<I", 0) if version == 4 else b"")
        sid = struct.pack("<I", 0)
        if pid != 4:  # one without
            sid = self.pointer(1) + self.pointer(0) + bytes([1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0])
        strings = "line\0" if version == 3 else "line\0\0\0"
        return version, fixed + sid + name.encode() + b"\0" + strings.encode("utf-16-le")

    def thread(self, tid, pid):
        fixed = struct.pack("<II", pid, tid) + b"".join(self.pointer(n) for n in (9, 8, 7, 6, 3, 5, 4))
        name = NAMES.get(tid, "") if self.build >= 19041 and tid != 912 else ""
        end = (name + "\0").encode("utf-16-le") if self.build >= 19041 else b""
        return fixed + struct.pack("<IbBBB", 0, 8, 5, 2, 0) + end

    def image(self, pid, base, name):
        fixed = self.pointer(base) + self.pointer(0x10000) + struct.pack("<IIII", pid, 1, 2, 0) + self.pointer(base)
        return fixed + bytes(16) + (f"\\Device\\Volume1\\{name}\0").encode("utf-16-le")

    def header(self):
        layout = (6, 1) if self.build == 7600 else (10, 0)
        start = struct.pack("<I4BIIqIIIIIIII", self.buffer_bytes, *layout,
                            *((2, 0) if self.compressed else (1, 5)), self.build, 2, EPOCH + 10_000_000,
                            156_250, 0, 0x0400_0001 if self.compressed else 1, len(self.buffers),
                            1, self.bits // 8, 0, 2394)
        zone = struct.pack("<i", -60) + bytes(168)
        slots = self.pointer(5) + self.pointer(6) + zone + bytes(4)
        clock = 0 if self.build == 7600 else self.clock
        times = struct.pack("<qqqII", EPOCH - 10_000_000, self.frequency, EPOCH, clock, 0)
        payload = start + slots + times + "NT Kernel Logger\0C:\\kernel.etl\0".encode("utf-16-le")
        return self.system(0x0000, 2, 1000, 12, 4, payload)

    # ---- spin locks

    def lock_config(self, time):
        """The defaults. HoldThreshold is new in version 3."""
        values = (1, 1, 1000) if self.build == 7600 else (1, 1, 1000, 1_000_000)
        return self.perfinfo(0x0F4B, len(values) - 1, time, struct.pack(f"<{len(values)}I", *values))

    def lock_events(self, time):
        """A release of each mode for each rule, and one that is sampled as some other version would have it."""
        kernel = 0xFFFFF80001000000 if self.wide else 0x81000000
        for n in range(30):
            mode, spins = n % 5, 1 << n % 7 if n % 3 else 0
            lock, caller = kernel + 0x40 * mode, kernel + 0x5000 + n % 2
            wait, hold = 40 + 25 * spins, 2_000_000 + n if n % 10 == 9 else 300 + n
            flags = mode | (0x40 if n == 7 else 0x80 if n == 8 else 0)
            payload = self.pointer(lock) + self.pointer(caller)
            payload += struct.pack("<QQIIII3B5s", 7000 * n, 7000 * n + hold, wait, spins, 908, n % 2, 2, 1 + n % 8,
                                   flags, b"\x99" * 5)
            later = self.build > 22000  # a version nobody knows has more behind it
            yield self.perfinfo(0x0529, 3 if later else 2, time + n, payload + bytes(8 if later else 0))
            self.locks.append((lock, mode, spins, wait, hold, caller))
        yield self.perfinfo(0x0529, 1, time + 30, bytes(24))

    # ---- context switches

    def schedule(self, cpu):
        """[(time, old, new, state, reason, priority, ticks)]"""
        time, old, tids = 2000 + 10 * cpu, 0, sorted(THREADS)
        for n in range(40):
            new = self.random.choice([t for t in [0, *tids] if t != old])
            reasons = REASONS[self.build] or 37
            state = self.random.choice([1, 4, 5, 5, 5, 5, 7]) if old else 2
            reason = self.random.randrange(reasons) if state == 5 else 0
            yield time, old, new, state, reason, self.random.randrange(8, 18), self.random.choice([0, 1, 1, 5, 200_000])
            time += self.random.choice([3, 900, 20_000, 200_000])
            old = new

    def full(self, cpu):
        version = {7600: 2, 10240: 2, 19041: 4, 22000: 4, 26100: 4}[self.build]
        for n, (time, old, new, state, reason, priority, ticks) in enumerate(self.schedule(cpu)):
            payload = struct.pack("<IIbbBbBBBBIi", new, old, 8, priority, 0, 0, reason, 1, state, cpu, ticks, 100)
            self.switches.append((time, cpu, old, new, state, reason, priority, str(ticks), True))
            items = n % 9
            yield self.perfinfo(0x0524, version, time, payload, pebs=0xFFFF800000000000 + n if items > 7 else None,
                                counters=range(items % 8))

    def batches(self, cpu):
        """Batches of up to seven switches, whose records are the smallest that can hold them."""
        plan, bias = list(self.schedule(cpu)), REASONS[self.build] or 43
        for first in range(0, len(plan), 7):
            table, records, last = [], b"", plan[first][0]
            for n in range(first, min(first + 7, len(plan))):
                time, old, _, state, reason, priority, ticks = plan[n]
                delta, last = time - last, time
                new = plan[n + 1][1] if n + 1 < len(plan) else None
                field = reason if state == 5 else state + bias
                if not old:
                    records += struct.pack("<H", delta << 2) if delta < 1 << 14 else struct.pack("<I", delta << 2 | 1)
                    self.switches.append((time, cpu, old, new, None, None, None, "-", True))
                    continue
                if old not in (tid for tid, _ in table):
                    table.append((old, priority))
                slot = [tid for tid, _ in table].index(old)
                more = priority - table[slot][1]
                if delta < 1 << 17 and ticks <= 1 and 0 <= more < 8:
                    records += struct.pack("<I", 2 | slot << 2 | more << 6 | field << 9 | delta << 15)
                    shown = "<=1"
                else:
                    wait = min(ticks, 0x1FFFF)
                    records += struct.pack("<II", 3 | delta << 2, slot | field << 4 | priority << 10 | wait << 15)
                    shown = f"{wait}+" if wait == 0x1FFFF else str(wait)
                self.switches.append((time, cpu, old, new, state, field if self.raw else reason, priority, shown,
                                      not self.raw))
            ids = [tid for tid, _ in table] + [0] * (16 - len(table))
            bases = [base for _, base in table] + [0] * (16 - len(table))
            yield self.perfinfo(0x0525, 2, last, struct.pack("<q16I16b", plan[first][0], *ids, *bases) + records)

    raw = property(lambda self: REASONS[self.build] is None)

    # ---- the file

    def buffer(self, cpu, events, kind=0, last=False):
        body, times = b"", 0
        for event in events:
            pad = -len(event) % 8
            body += event + self.random.choice([bytes(7), b"\xff" * 7, b"\x55\xaa\x01\xc0\x99\x11\x22"])[:pad]
        used, sequence = 0x48 + len(body), len(self.buffers)
        assert used <= self.buffer_bytes, used
        old = self.build == 7600
        flag = (0 if old else 0x20) | (1 if last or kind == 4 else 0) | (0x40 if self.compressed and kind != 4 else 0)
        data = lz77(body) if flag & 0x40 else body
        size = 0x48 + len(data) if flag & 0x40 else self.buffer_bytes
        saved = 0 if old and kind == 4 else used
        current = used if kind == 4 else used + size
        head = struct.pack("<IIIiqqQHHIIHHQQ", size, saved, current, 0, times, sequence, 0x1122334455667788,
                           (cpu | 0x0800) if old else cpu, 3, 3, used, flag, kind, 0x99, 0xAA)
        self.buffers.append((head + data).ljust(size, b"\xff"))

    def split(self, cpu, events, last=False):
        chunk, room = [], self.buffer_bytes - 0x48
        for event in events:
            space = len(event) + 7 & ~7
            if space > room:
                self.buffer(cpu, chunk)
                chunk, room = [], self.buffer_bytes - 0x48
            chunk.append(event)
            room -= space
        self.buffer(cpu, chunk, last=last)

    def rundown(self, time):
        mode = (1 << 2 | 1 << 8) if self.compact else 1 << 2
        version = {7600: 25, 10240: 60, 19041: 80, 22000: 85, 26100: 85}[self.build]
        yield self.system(0x0005, 2, time, 12, 4, struct.pack("<8II", 7, mode, 0, 0, 0, 0, 0, 0, version))
        for pid, name in PROCESSES.items():
            process_version, payload = self.process(pid, name)
            yield self.perfinfo(0x0303, process_version, time, payload)
            for tid in (t for t, p in THREADS.items() if p == pid):
                yield self.system(0x0503, 3, time, tid, pid, self.thread(tid, pid))
        if self.build >= 19041:
            yield self.system(0x0548, 2, time, 912, 900,
                              struct.pack("<II", 900, 912) + "renamed\0".encode("utf-16-le"))
        version = 2 if self.build == 7600 else 3
        yield self.system(0x1403, version, time, 0, 0, self.image(0, 0x8000_0000, "ntoskrnl.exe"))
        yield self.perfinfo(0x1403, version, time, self.image(900, 0x40_0000, "explorer.exe"))
        yield self.lock_config(time)
        yield self.perfinfo(0x0008, 2, time, b"")

    def make(self):
        streams = []
        for cpu in range(2):
            streams.append(list(self.batches(cpu) if self.compact else self.full(cpu)))
        end = max(switch[0] for switch in self.switches)
        locks = list(self.lock_events(end + 1))
        for _ in range(2):  # the header counts the buffers
            self.random.seed(self.build)
            header = self.header()
            self.buffers = []
            self.buffer(0, [header], kind=4)
            rundown, odd = list(self.rundown(1500)), list(self.odd(end))
            self.split(0, rundown)
            self.split(1, streams[1] + locks)
            self.split(0, streams[0] + odd, last=True)
        self.other = 1 + len(rundown) + len(odd) + len(locks)
        return b"".join(self.buffers)


FILES = {f"windows-{build}-{bits}": (build, bits, {}) for build in (7600, 10240, 19041, 22000) for bits in (32, 64)}
FILES["windows-compressed"] = (19041, 64, {"compressed": True})
FILES["windows-system-time"] = (22000, 64, {"clock": 2})
FILES["windows-cycles"] = (19041, 64, {"clock": 3})
FILES["windows-unknown"] = (26100, 64, {})


def maker(name):
    build, bits, options = FILES[name]
    return Maker(build, bits, **options)


if __name__ == "__main__":
    for file in FILES:
        (GOLDEN / f"{file}.etl").write_bytes(maker(file).make())
