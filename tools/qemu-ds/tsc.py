#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast the TSC of this host runs, which is how fast that of a guest does under TCG. As a program it prints the kHz,
for Linux' option tsc_early_khz=."""

import ctypes
import mmap
import platform
import sys
import time

RDTSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")  # rdtsc; shl rdx, 32; or rax, rdx; ret
TRIES = 8


def khz(seconds=0.1):
    """Measured for so long; None where the host has no TSC. Raises OSError where the host runs no code made here."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return None
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError as error:
        raise OSError(f"the host's TSC cannot be measured: no memory to execute code in ({error.strerror}). Give "
                      "--no-cache, and guest.py the TSC's kHz with --append tsc_early_khz=") from error
    with page as code:
        code.write(RDTSC)
        place = ctypes.c_char.from_buffer(code)
        read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(place))

        def both():
            """(TSC, ns) at once: of several tries the one that took least, or a busy host comes in between."""
            tries = []
            for _ in range(TRIES):
                before, ns, after = read(), time.clock_gettime_ns(time.CLOCK_MONOTONIC), read()
                tries.append((after - before, (before + after) // 2, ns))
            return min(tries)[1:]

        tsc, ns = both()
        time.sleep(seconds)
        later, ns_later = both()
        del place  # or the memory cannot be given back
    return round((later - tsc) * 1000000 / (ns_later - ns))


if __name__ == "__main__":
    try:
        print(khz() or sys.exit("tsc.py: this host is no x86-64, so its guests' TSC counts nanoseconds or so"))
    except OSError as why:
        sys.exit(f"tsc.py: {why}")
