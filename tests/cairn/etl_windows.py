# SPDX-License-Identifier: MIT
"""Files of Windows that tell of others than the golden ones do."""

import struct

import make_etl

STARTS, ENDS = (0x0303, 0x0503, 0x1403), (0x0304, 0x0504, 0x1404)
USER, OTHER = 0x40_0000, 0x7000_0000


class Windows(make_etl.Maker):
    """A golden file with other events: `starts`, `ends` are the hooks of who is told of; `more` (time, cpu) are events
    behind the rundown, of CPU 0."""

    def __init__(self, build=19041, bits=64, *, starts=STARTS, ends=(), images=(), more=(), switches=True):
        super().__init__(build, bits)
        self.starts, self.ends, self.images, self.more, self.with_switches = starts, ends, images, more, switches

    def rundown(self, time):
        kept = []
        for event in super().rundown(time):
            hook, = struct.unpack_from("<H", event, 6)
            kept.append(event)
            if hook in STARTS and hook not in self.starts:
                kept.pop()
        kept[1:1] = [self.at(0x1403, 3, time, self.image(*image)) for image in self.images if 0x1403 in self.starts]
        return iter(kept + [event(self) for event in self.more])

    def at(self, hook, version, time, payload, pid=0):
        return self.system(hook, version, time, 0, pid, payload)

    def odd(self, time):
        """Who is there at the end, and nothing odd."""
        masks = struct.pack("<8II", 7, 4, 0, 0, 0, 0, 0, 0, 80)
        yield self.perfinfo(0x0020, 2, time, masks)
        for pid, name in make_etl.PROCESSES.items():
            if 0x0304 in self.ends:
                version, payload = self.process(pid, name)
                yield self.perfinfo(0x0304, version, time, payload)
        for tid, pid in make_etl.THREADS.items():
            if 0x0504 in self.ends:
                yield self.at(0x0504, 3, time, self.thread(tid, pid), pid)
        for image in ((0, 0x8000_0000, "ntoskrnl.exe"), (900, USER, "explorer.exe"), *self.images):
            if 0x1404 in self.ends:
                yield self.at(0x1404, 3, time, self.image(*image))
        yield self.perfinfo(0x0005, 2, time, bytes(32) + masks[32:])

    def schedule(self, cpu):
        return super().schedule(cpu) if self.with_switches else iter(())

    def make(self):
        if self.with_switches:
            return super().make()
        for _ in range(2):
            header, self.buffers = self.header(), []
            self.buffer(0, [header], kind=4)
            self.split(0, [*self.rundown(1500), *self.odd(900_000)], last=True)
        return b"".join(self.buffers)
