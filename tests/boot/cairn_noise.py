# SPDX-License-Identifier: MIT
"""Hostile input for the monitor."""

import random

LAST = b"\x03\x15\nbreak off\nevent off\ncpu 0\ncounters\n"  # whatever came before: an answer comes to these


def noise(seed, size):
    """Bytes of all kinds, half of them words and control sequences of ours; never one that writes memory, and none
    that leaves."""
    source = random.Random(seed)
    words = [b"msr ", b"IA32_", b"PEBS_ENABLE", b"mem ", b"krun", b"ds\n", b"records\n", b"counters\n", b"step ",
             b"event INST_RETIRED.ANY:3\n", b"event BR_INST_RETIRED.ALL_BRANCHES:2,INST_RETIRED.ANY:7\n",
             b"event off\n",
             b"step record\n", b"step pmi\n", b"threads\n", b"queues\n", b"batch\n", b"session 1 start\n",
             b"session 1 stop\n", b"session 1 change compact+dpc\n", b"explain ", b"help\n", b"cpu 1\n", b"cpu 0\n",
             b"0xffffffffffffffff", b"0x38f ", b"99999999999", b"\x1b[A", b"\x1b[D", b"\x1b[3~", b"\x1b[", b"\t",
             b"\r\n",
             b"\x01", b"\x0b", b"\x15", b"\x17", b"break switch\n", b"break off\n", b"\x1b[99999999999"]
    others = [byte for byte in range(256) if byte not in b"gpquGPQU"]  # Tab would complete them to go, poke, quit, dump
    out = bytearray()
    while len(out) < size:
        out += source.choice(words) if source.random() < 0.5 else bytes([source.choice(others)])
    for bad in (b"go", b"qui", b"pok", b"dump", b"\x1d", b"new"):
        out = out.replace(bad, b"  ")
    return bytes(out)
