# SPDX-License-Identifier: MIT
"""samples/windows.etl, which docs/how-to/windows-traces.md reads: a small trace as Windows writes it of a profile, with
processes, images, files and stacks, all made up. `python3 make_windows.py` writes it."""

import struct
from pathlib import Path

from make_etl import Maker

SAMPLE = Path(__file__).resolve().parent.parent.parent / "samples" / "windows.etl"
KERNEL, DRIVER = 0xFFFF_F800_0100_0000, 0xFFFF_F800_0200_0000
PROGRAM, NTDLL, KERNELBASE = 0x7FF6_0000_0000, 0x7FFA_0000_0000, 0x7FFA_1000_0000
PROCESSES = {  # PID: parent, name, command line, threads
    4: (0, "System", "", (8, 12)),
    900: (644, "explorer.exe", r"C:\Windows\explorer.exe", (904, 908)),
    1400: (900, "backup.exe", r"backup.exe --all C:\Users", (1404, 1408)),
}
IMAGES = [(0, KERNEL, "Windows\\System32\\ntoskrnl.exe"), (0, DRIVER, "Windows\\System32\\drivers\\ntfs.sys")]
IMAGES += [(pid, base, name) for pid, own in ((900, "Windows\\explorer.exe"), (1400, "Tools\\backup.exe"))
           for base, name in ((PROGRAM, own), (NTDLL, "Windows\\System32\\ntdll.dll"),
                              (KERNELBASE, "Windows\\System32\\KernelBase.dll"))]
FILES = {0xA010: "Users\\ann\\photos\\2019.zip", 0xA020: "Users\\ann\\notes.txt", 0xA030: "pagefile.sys"}
TICK = 10_000  # a millisecond of the clock


def wide(text):
    return (text + "\0").encode("utf-16-le")


class WindowsSample(Maker):
    def __init__(self):
        super().__init__(19041, 64)
        self.told = []

    def tell(self, cpu, time, event):
        self.told.append((time, cpu, event))

    def process_event(self, hook, pid, status):
        parent, name, line, _ = PROCESSES[pid]
        fixed = self.pointer(0xFFFF_9000_0000_0000 + pid) + struct.pack("<IIIi", pid, parent, 1, status)
        return fixed + self.pointer(0x1AB000) + struct.pack("<II", 0, 0) + name.encode() + b"\0" + wide(line) + bytes(4)

    def image(self, pid, base, name):
        fixed = self.pointer(base) + self.pointer(0x20_0000) + struct.pack("<III", pid, 0x1BD5B6, 0x5E8A_84A0)
        return fixed + bytes(4) + self.pointer(base) + bytes(16) + wide(f"\\Device\\HarddiskVolume3\\{name}")

    def start(self, time):
        """Groups, then who is there: processes, threads, images."""
        yield self.system(0x0005, 2, time, 12, 4, struct.pack("<8II", 0x307, 2, 0, 0, 0, 0, 0, 0, 80))
        for pid, (_, _, _, threads) in PROCESSES.items():
            yield self.perfinfo(0x0303, 4, time, self.process_event(0x0303, pid, 0x103))
            for tid in threads:
                fixed = struct.pack("<II", pid, tid) + bytes(56) + struct.pack("<IbBBB", 0, 8, 5, 2, 0)
                yield self.system(0x0503, 3, time, tid, pid, fixed + wide(""))
        for pid, base, name in IMAGES:
            yield self.perfinfo(0x1403, 3, time, self.image(pid, base, name))
        yield self.perfinfo(0x0008, 2, time, b"")

    def sample(self, cpu, time, tid, stack):
        """`stack`: addresses, the innermost first. The kernel's come at once, the program's later."""
        pid = next((pid for pid, (*_, threads) in PROCESSES.items() if tid in threads), 0)
        self.tell(cpu, time, self.perfinfo(0x0F2E, 2, time, self.pointer(stack[0]) + struct.pack(
            "<IHBB", tid, 1, 8 << 3, 0)))
        for n, part in enumerate(([a for a in stack if a >> 63], [a for a in stack if not a >> 63])):
            at = time + (30, 400)[n]
            if part and tid:
                self.tell(cpu, at, self.perfinfo(0x1820, 2, at, struct.pack("<QII", time, pid, tid) + b"".join(
                    map(self.pointer, part))))

    def read(self, cpu, time, tid, key, size):
        where = struct.pack("<IIIIQ", 0, 0x43, size, 0, key << 12) + self.pointer(key) + self.pointer(0xFFFF_A000)
        self.tell(cpu, time, self.perfinfo(0x010A, 3, time, where + struct.pack("<QI", 4000 + size // 16, tid)))

    def work(self):
        copies = [KERNEL + 0x1A20, KERNEL + 0x52C4]
        reads = [DRIVER + 0x4410, DRIVER + 0x1080, KERNEL + 0x52C4]
        calls = [NTDLL + 0x9D34, KERNELBASE + 0x2210]
        for n in range(60):
            time = 20_000 + n * TICK
            if n % 3 == 0:
                self.sample(0, time, 1404, (copies if n % 2 else reads) + calls + [PROGRAM + 0x1480, NTDLL + 0x4C0])
            elif n % 3 == 1:
                self.sample(0, time, 1408, [PROGRAM + 0x33F0 + 16 * (n % 4), PROGRAM + 0x1520, NTDLL + 0x4C0])
            else:
                self.sample(0, time, 0, [KERNEL + 0x80])
            if n % 10 == 4:
                self.sample(1, time + 77, 904, [PROGRAM + 0x700, NTDLL + 0x4C0])
            else:
                self.sample(1, time + 77, 0 if n % 5 else 8, [KERNEL + (0x80 if n % 5 else 0x6600)])
            if n % 6 == 0:
                self.read(0, time + 900, 1404, 0xA010 if n % 12 else 0xA020, 65536 if n % 12 else 4096)
        self.read(1, 640_000, 8, 0xA030, 16384)

    def end(self, time):
        for key, name in FILES.items():
            yield self.perfinfo(0x0424, 2, time, self.pointer(key) + wide(f"\\Device\\HarddiskVolume3\\{name}"))
        yield self.system(0x0302, 4, time, 1404, 1400, self.process_event(0x0302, 1400, 0))

    def make(self):
        self.work()
        told = sorted(self.told, key=lambda t: t[:2])
        for _ in range(2):  # the header counts the buffers
            self.random.seed(self.build)
            header, self.buffers = self.header(), []
            self.buffer(0, [header], kind=4)
            self.split(0, [*self.start(1500), *(event for _, cpu, event in told if not cpu), *self.end(650_000)])
            self.split(1, [event for _, cpu, event in told if cpu], last=True)
        return b"".join(self.buffers)


if __name__ == "__main__":
    SAMPLE.write_bytes(WindowsSample().make())
