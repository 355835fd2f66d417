# SPDX-License-Identifier: MIT
"""A log with answers of workload=probe, written here: no boot gives all kinds of them."""

import frames
from cairn_tool import GOLDEN

# What the dump says of the machine itself, so that no field is missing.
IDENTITY = """ds.preset=skylake
cpu.2.microcode=0xf0
cpu.2.core_type=0x40
cpu.2.cpuid.00000000.00000000=00000016 756e6547 6c65746e 49656e69
cpu.2.cpuid.00000001.00000000=000506e3 00010800 80000001 078bfbff
cpu.2.cpuid.80000002.00000000=20202020 65746e49 2952286c 726f4320
cpu.2.cpuid.80000003.00000000=4d542865 39692029 20202020 20202020
cpu.2.cpuid.80000004.00000000=20202020 20202020 20202020 00202020
"""
ANSWERS = """probe.2.machine=processor
probe.2.0=fit|start_lt|below a maximum of 3 sizes, 3 sizes + 1 and 2 sizes + 1: 3, 4 and 3 records
probe.2.1=drop_reload|yes|counter 0x1
probe.2.2=bystander||needs two counters with PEBS, one of them for branches
probe.2.3=shadow|uneven|112 records: of divisions 112
probe.2.4=tides|high|a question of another version's
probe.2.cost.0=record|64|250|270|410|
probe.2.cost.1=record_gpr|0|0|0|0|records of this format have no such group
probe.2.cost.2=switch_stamped|64|1000|1100|9000|
probe.2.cost.3=moonlight|1|2|3|4|
"""


# Of the log that answers are added to: what an emulator's says, what a real machine's does.
EMULATED = (b"machine.hypervisor=TCGTCGTCGTCG\nmachine.emulated=1\n", b"machine.hypervisor=none\nmachine.emulated=0\n")


def log(text, real=False):
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    last = max(n for n, (stream, _) in enumerate(parts) if stream == "M")
    parts[last] = ("M", parts[last][1] + text)
    assert any(EMULATED[0] in payload for stream, payload in parts if stream == "M")
    return frames.write([(stream, payload.replace(*EMULATED) if real and stream == "M" else payload)
                         for stream, payload in parts])
