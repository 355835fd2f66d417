# SPDX-License-Identifier: MIT
"""Compresses as Windows compresses the buffers of ETL files; apart from the C code."""

import struct


def lz77(data):
    """Plain LZ77 of MS-XCA 2.3: greedy, the nearest of some earlier places that match."""
    out, at, nibble, flag_at, flags, count, places = bytearray(), 0, None, None, 0, 0, {}

    def flag(bit):
        nonlocal flag_at, flags, count
        if count % 32 == 0:
            if flag_at is not None:
                struct.pack_into("<I", out, flag_at, flags)
            flag_at, flags = len(out), 0
            out.extend(b"\0\0\0\0")
        flags |= bit << 31 - count % 32
        count += 1

    while at < len(data):
        place = places.get(data[at:at + 3], -1)
        length = 0
        if 0 <= place and at - place <= 8192:
            while at + length < len(data) and data[place + length] == data[at + length]:
                length += 1
        if length < 3:
            flag(0)
            out.append(data[at])
            length = 1
        else:
            flag(1)
            n = length - 3
            out.extend(struct.pack("<H", (at - place - 1) << 3 | min(n, 7)))
            if n >= 7:
                n -= 7
                if nibble is None:
                    nibble = len(out)
                    out.append(min(n, 15))
                else:
                    out[nibble] |= min(n, 15) << 4
                    nibble = None
                if n >= 15:
                    n -= 15
                    if n < 255:
                        out.append(n)
                    else:
                        out.extend(b"\xff" + struct.pack("<H", n + 22))
        for i in range(at, at + length):
            places[bytes(data[i:i + 3])] = i
        at += length
    flag(1)  # the end
    flags |= (1 << 32 - count % 32) - 1 if count % 32 else 0
    struct.pack_into("<I", out, flag_at, flags)
    return bytes(out)
