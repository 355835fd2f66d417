#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: without_tpm.py CODE OUT

Writes a copy of OVMF's code that does not look for a TPM. On a machine that has none OVMF asks its registers 25000
times, for more than half of the time that a boot takes. Layouts: UEFI PI specification, volume 3, "Firmware Storage".
Of firmware that is laid out in another way there is no copy, and a line says why."""

import lzma
import sys
import uuid

LZMA = uuid.UUID("ee4e5898-3914-4259-9d6e-dc7bd79403cf").bytes_le  # EFI_GUIDED_SECTION_LZMA of EDK II
TPM_REGISTERS = (0xFED40000).to_bytes(4, "little")
PEIM, PAD = 0x06, 0xF0  # types of files
TYPE, CHECKSUM, FILE_HEADER, VALID = 18, 16, 24, 0xF8


def word(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


def is_module(file):
    """A file's header: its checksum is that of all but the file's state and the sum over the file's data."""
    return file[TYPE] == PEIM and file[23] == VALID and (sum(file[:23]) - file[17]) % 256 == 0


def without_tpm(volumes):
    """Makes padding of each PEI module that knows where a TPM has its registers. Returns how many they were."""
    first = volumes.index(b"_FVH") - 40
    found = 0
    for at in range(first + word(volumes, first + 48, 2), first + word(volumes, first + 32, 8) - FILE_HEADER, 8):
        file = volumes[at:at + FILE_HEADER]
        if is_module(file) and TPM_REGISTERS in volumes[at:at + word(file, 20, 3)]:
            volumes[at + TYPE] = PAD
            volumes[at + CHECKSUM] = (file[CHECKSUM] + PEIM - PAD) % 256
            found += 1
    return found


def compressed(volumes, properties):
    """As EDK II's tool writes it: with the size, which Python's leaves out."""
    rest, lc = divmod(properties[0], 9)
    pb, lp = divmod(rest, 5)
    data = lzma.compress(volumes, lzma.FORMAT_ALONE, filters=[
        {"id": lzma.FILTER_LZMA1, "preset": 6, "lc": lc, "lp": lp, "pb": pb, "dict_size": word(properties, 1, 4)}])
    return properties + len(volumes).to_bytes(8, "little") + data[13:]


def changed(code):
    """(the code or None, why not)"""
    at = code.find(LZMA)
    if at < 0:
        return None, "nothing in it is compressed"
    begin, end = at - 4 + word(code, at + 16, 2), at - 4 + word(code, at - 4, 3)
    try:
        volumes = bytearray(lzma.decompress(code[begin:end], lzma.FORMAT_ALONE))
        if not without_tpm(volumes):
            return None, "no PEI module in it looks for a TPM"
    except (lzma.LZMAError, ValueError) as error:
        return None, error
    data = compressed(bytes(volumes), code[begin:begin + 5])
    if len(data) > end - begin:
        return None, f"it is {len(data) - (end - begin)} bytes too long then"
    return code[:begin] + data.ljust(end - begin, b"\0") + code[end:], ""


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as firmware:
        result, why = changed(firmware.read())
    if why:
        print(f"without_tpm.py: the tests boot {sys.argv[1]} itself: {why}", file=sys.stderr)
    else:
        with open(sys.argv[2], "wb") as firmware:
            firmware.write(result)
