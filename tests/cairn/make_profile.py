# SPDX-License-Identifier: MIT
"""ETL files of a profile: the timer's samples, and the events that tell of their call stacks, as Windows writes them.
`python3 make_profile.py` writes what the fuzzer begins with."""

import struct
from pathlib import Path

from make_etl import Maker

CORPUS = Path(__file__).resolve().parent.parent / "fuzz" / "corpus" / "cairn_etl"
USER = 0x40_0000  # explorer.exe of process 900
DEEP = 200  # frames: more than are told
STACK, CREATED, DELETED, RUNDOWN, KERNEL_KEY, USER_KEY = 0x1820, 0x1822, 0x1823, 0x1824, 0x1825, 0x1826


class Profile(Maker):
    """`folded`: the lines that cairn export --to folded writes of it, and how many samples each has."""

    def __init__(self, build=10240, bits=64):
        super().__init__(build, bits)
        self.kernel = 0xFFFF_F800_0100_0000 if self.wide else 0x8200_0000
        self.told = {0: [], 1: []}  # (time, event) of each CPU
        self.folded, self.samples = {}, 0

    # ---- events

    def at(self, offset):
        """An address: of the kernel from 0, of the program as 'u' and an offset."""
        return USER + int(offset[1:], 16) if isinstance(offset, str) else self.kernel + offset

    def name(self, offset):
        return f"explorer.exe+0x{offset[1:]}" if isinstance(offset, str) else f"driver.sys+{offset:#x}"

    def tell(self, cpu, time, event):
        self.told[cpu].append((time, event))

    def sample(self, time, tid, place, cpu=0, hook=0x0F2E):
        rest = struct.pack("<IHBB", tid, 1, 8 << 3, 0) if hook == 0x0F2E else struct.pack("<IHH", tid, 7, 0)
        self.tell(cpu, time, self.perfinfo(hook, 2, time, self.pointer(self.at(place)) + rest))
        self.samples += 1

    def stack(self, time, of, tid, places, cpu=0, pid=900):
        frames = b"".join(self.pointer(self.at(place)) for place in places)
        self.tell(cpu, time, self.perfinfo(STACK, 2, time, struct.pack("<QII", of, pid, tid) + frames))

    def key(self, hook, time, of, tid, key, cpu=0, pid=900):
        self.tell(cpu, time, self.perfinfo(hook, 2, time, struct.pack("<QII", of, pid, tid) + self.pointer(key)))

    def define(self, hook, time, key, places, cpu=0):
        frames = b"".join(self.pointer(self.at(place)) for place in places)
        self.tell(cpu, time, self.perfinfo(hook, 2, time, self.pointer(key) + frames))

    def expect(self, thread, *outermost_first):
        line = ";".join([thread, *(self.name(place) if place != "[...]" else place for place in outermost_first)])
        self.folded[line] = self.folded.get(line, 0) + 1

    def images(self):
        yield self.system(0x1403, 3, 1600, 0, 0, self.image(0, self.kernel, "driver.sys"))
        yield self.perfinfo(0x1403, 3, 1600, self.image(900, USER, "explorer.exe"))

    # ---- what happened

    def halves(self):
        """A sample in the program; two in the kernel that the thread leaves only once, on another CPU; and the kernel's
        half of a thread of another process with the same number, which that does not belong to."""
        self.sample(2000, 908, "u10")
        self.stack(2001, 2000, 908, ["u10", "u500"])
        self.expect("explorer.exe:908", "u500", "u10")
        self.sample(2100, 908, 0x20)
        self.stack(2101, 2100, 908, [0x20, 0x30])
        self.sample(2200, 908, 0x40)
        self.key(KERNEL_KEY, 2201, 2200, 908, 0xAA)
        self.stack(2300, 2100, 908, ["u60", "u500"], cpu=1)
        self.expect("explorer.exe:908", "u500", "u60", 0x30, 0x20)
        self.expect("explorer.exe:908", "u500", "u60", 0x41, 0x40)
        self.sample(2310, 12, 0x44)
        self.stack(2311, 2310, 12, [0x44], pid=4)
        self.stack(2320, 2319, 12, ["u77"], pid=900)
        self.expect("System:12", 0x44)

    def keys(self):
        """A key that is used again, one that stands for a kernel's and a program's stack at once, one that is told of
        only when it is made, and one that nobody tells of."""
        self.define(DELETED, 2350, 0xAA, [0x40, 0x41])
        self.sample(2400, 912, 0x70)
        self.key(KERNEL_KEY, 2401, 2400, 912, 0xAA)
        self.key(USER_KEY, 2410, 2400, 912, 0xAA, cpu=1)
        self.define(RUNDOWN, 2500, 0xAA, [0x70], cpu=1)
        self.define(RUNDOWN, 2500, 0xAA, ["u80"], cpu=1)
        self.expect("explorer.exe:912", "u80", 0x70)
        self.define(CREATED, 2510, 0xCC, ["u90", "u91"])
        self.sample(2520, 912, "u90")
        self.key(USER_KEY, 2521, 2520, 912, 0xCC)
        self.expect("explorer.exe:912", "u91", "u90")
        self.sample(2540, 912, "ua0")
        self.key(USER_KEY, 2541, 2540, 912, 0xDD)
        self.expect("explorer.exe:912", "ua0")

    def odd_ones(self):
        """Idle threads, which share a number, on two CPUs at the same time; a sample without a stack; one whose
        kernel's half is missing; one whose only stack is all of it; one that is deeper than what is told."""
        for cpu in range(2):
            self.sample(2600, 0, 0x200 + cpu, cpu)
            self.stack(2601, 2600, 0, [0x200 + cpu, 0x210], cpu, pid=0)
            self.expect("idle", 0x210, 0x200 + cpu)
        self.sample(2700, 1404, 0x5)
        self.expect("a_name_of_some_length.exe:1404", 0x5)
        self.sample(2800, 904, 0x99)
        self.stack(2801, 2800, 904, ["ub0"])
        self.expect("explorer.exe:904", "ub0", 0x99)
        self.sample(2850, 904, 0x1)
        self.stack(2851, 2850, 904, [0x1, "uc0"])
        self.stack(2860, 2859, 904, ["uc1"])
        self.expect("explorer.exe:904", "uc0", 0x1)
        self.sample(2900, 904, "u1000")
        self.stack(2901, 2900, 904, [f"u{0x1000 + n:x}" for n in range(DEEP)])
        self.expect("explorer.exe:904", "[...]", *(f"u{0x1000 + n:x}" for n in reversed(range(192))))

    # ---- the file

    def make(self):
        self.halves()
        self.keys()
        self.odd_ones()
        return self.file()

    def file(self):
        for _ in range(2):  # the header counts the buffers
            self.random.seed(self.build)
            header, self.buffers = self.header(), []
            self.buffer(0, [header], kind=4)
            self.split(0, [*self.rundown(1500), *self.images(),
                           *(event for _, event in sorted(self.told[0], key=lambda t: t[0]))])
            self.split(1, [event for _, event in sorted(self.told[1], key=lambda t: t[0])], last=True)
        return b"".join(self.buffers)

    def rundown(self, time):
        """The golden one, but for its kernel's image and program: these are at other addresses here."""
        for event in super().rundown(time):
            if struct.unpack_from("<H", event, 6)[0] != 0x1403:
                yield event


if __name__ == "__main__":
    for name, bits in (("profile", 64), ("profile-32", 32)):
        (CORPUS / name).write_bytes(Profile(bits=bits).make())
