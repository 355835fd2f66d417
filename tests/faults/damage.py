# SPDX-License-Identifier: MIT
"""Damages what firmware tells the kernel: ACPI tables and the memory map. A seed says how."""

import struct

import machine as m

INTERESTING = (0, 1, 2, 3, 4, 7, 8, 0x10, 0x24, 0x2C, 0x7F, 0x80, 0xFF, 0x100, 0xFFF, 0x1000, 0x1001, 0xFFFF, 0x10000,
               0xCFC, 0x3F8, 0xA0000, 0xFEC00000, 0xFEE00000, 0xFED00000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
HEADER = 36  # bytes of a table's header
TYPES = 16  # of memory, and one more


def u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


# ---- ACPI ------------------------------------------------------------------------------------------------------------

class Table:
    def __init__(self, gdb, address, size=None):
        self.gdb, self.address = gdb, address + m.DIRECT_MAP
        self.data = bytearray(gdb.read(self.address, size or HEADER))
        if not size:
            self.data = bytearray(gdb.read(self.address, u32(self.data, 4)))
        self.name = "RSDP" if size else self.data[:4].decode()

    def write(self):
        self.gdb.write(self.address, bytes(self.data))

    def set_sums(self):
        """So that the parser reads on."""
        for at, size in ((8, 20), (32, 36)) if self.name == "RSDP" else ((9, len(self.data)),):
            self.data[at] = 0
            self.data[at] = -sum(self.data[:size]) % 256


def tables(machine):
    """The RSDP, the XSDT and all it names, and the DSDT."""
    gdb = machine.gdb
    rsdp = Table(gdb, gdb.word(machine.info + m.RSDP), 36)
    xsdt = Table(gdb, u64(rsdp.data, 24))
    found = [rsdp, xsdt, *(Table(gdb, u64(xsdt.data, at)) for at in range(HEADER, len(xsdt.data), 8))]
    dsdt = [Table(gdb, u32(table.data, 40)) for table in found if table.name == "FACP"]
    return found + dsdt


def change(dice, data, first=0):
    """One change of a table: a bit, a byte, a number, or a number of bytes that move."""
    size = dice.choice((1, 2, 4, 8))
    at = dice.randrange(first, max(first + 1, len(data) - size + 1))
    kind = dice.randrange(6)
    if kind == 0:
        data[at] ^= 1 << dice.randrange(8)
    elif kind == 1:
        data[at] = dice.randrange(256)
    elif kind == 2:
        data[at:at + size] = dice.choice(INTERESTING).to_bytes(8, "little")[:size]
    elif kind == 3:
        data[at:at + size] = dice.randbytes(size)
    elif kind == 4:  # its length
        length = u32(data, 4)
        data[4:8] = (dice.choice((*INTERESTING, length - 1, length + 1, length - 8, 2 * length)) % 2**32).to_bytes(
            4, "little")
    else:  # one part over another
        other = dice.randrange(max(1, len(data) - size))
        data[at:at + size] = data[other:other + size]
    return f"{at:#x}:{size}:{kind}"


def damage_tables(machine, dice):
    """Of one table or two, mostly of those with much to read wrongly; mostly with right checksums."""
    found = tables(machine)
    weight = {"APIC": 6, "FACP": 5, "XSDT": 3, "HPET": 3, "RSDP": 2, "DSDT": 2}
    said = []
    for table in dice.choices(found, [weight.get(table.name, 1) for table in found], k=dice.choice((1, 1, 2))):
        size = len(table.data)
        changes = [change(dice, table.data, dice.choice((0, HEADER)) if size > HEADER else 0)
                   for _ in range(dice.choice((1, 1, 2, 4)))]
        table.data = table.data[:size]
        sums = dice.random() < 0.8
        if sums:
            table.set_sums()
        table.write()
        said.append(f"{table.name} {' '.join(changes)}{'' if sums else ' without sums'}")
    return "; ".join(said)


# ---- the memory map --------------------------------------------------------------------------------------------------

DESCRIPTOR = "<IIQQQQ"  # EFI_MEMORY_DESCRIPTOR: type, pad, physical start, virtual start, pages, attributes


def damage_map(gdb, dice):
    """The map that the loader's function is called with: RDI leads to struct boot_efi_map."""
    descriptors, size, stride = struct.unpack("<QQQ", gdb.read(gdb.registers()["rdi"], 24))
    count = size // stride
    for _ in range(dice.choice((1, 1, 2, 3, 6))):
        at = descriptors + stride * dice.randrange(count)
        other = descriptors + stride * dice.randrange(count)
        kind, pad, start, virtual, pages, attributes = struct.unpack(DESCRIPTOR, gdb.read(at, 40))
        what = dice.randrange(9)
        if what == 0:
            kind = dice.choice((dice.randrange(TYPES), 0x70000000, 0x80000001, 2**32 - 1))
        elif what == 1:
            start = dice.choice((0, start + 1, start + 2048, start ^ 1 << dice.randrange(12, 64), 2**52, 2**64 - 4096))
        elif what == 2:
            pages = dice.choice((0, 1, pages + 1, pages * 2, pages // 2, 2**40, 2**52, 2**64 - 1,
                                 dice.randrange(2**64)))
        elif what == 3:
            attributes = dice.randrange(2**64)
        elif what == 4:  # a range twice
            kind, pad, start, virtual, pages, attributes = struct.unpack(DESCRIPTOR, gdb.read(other, 40))
        elif what == 5:  # no order
            theirs = gdb.read(other, 40)
            gdb.write(other, gdb.read(at, 40))
            gdb.write(at, theirs)
            continue
        elif what == 6:  # longer than it is, over the next ones
            pages += dice.randrange(1, 64)
        elif what == 7:  # free memory that is called something else, of which there may then be too little
            kind = dice.choice((0, 8, 11)) if kind in (3, 4, 7) else kind
        else:
            start += 4096 * dice.randrange(1, 16)
        gdb.write(at, struct.pack(DESCRIPTOR, kind, pad, start % 2**64, virtual, pages % 2**64, attributes))
