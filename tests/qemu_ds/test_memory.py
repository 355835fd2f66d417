# SPDX-License-Identifier: MIT
"""memory=model on paper: what guest/memory.asm and guest/sharing.asm do to caches and TLBs of known sizes."""

import pytest
from bare_guest import run

import cairn_boot as cb

L1, L2, L3, RAM, STLB, WALK = 4, 12, 42, 230, 9, 30  # skylake's, cycles
LINES = {"l1": 256, "l2": 2048, "l3": 16384, "ram": 262144}
LATENCY = {"l1": L1, "l2": L2, "l3": L3, "ram": RAM}
PAGES = {"l1": 0, "l2": 0, "l3": 256, "ram": 4096}  # of 4 KiB, each missed in the DTLB once
OTHERS = 9  # instructions beside those of the loop


def chase(size, cpi, start):
    """What each counter says of following all lines once: their order is such that each is used least recently. RET
    reads a line of its own, which is as far away as the others by then."""
    loads = LINES[size] + 1
    pages = PAGES[size] + (size in ("l3", "ram"))
    instructions = 3 * LINES[size] + OTHERS
    beyond = loads * (LATENCY[size] - L1) + pages * (WALK if size == "ram" else STLB)
    missed_l1, missed_l2, missed_l3 = (loads * (size in sizes) for sizes in
                                       (("l2", "l3", "ram"), ("l3", "ram"), ("ram",)))
    paper = {"l1_hit": loads - missed_l1, "l2_hit": missed_l1 - missed_l2, "l3_hit": missed_l2 - missed_l3,
             "l3_miss": missed_l3, "l1_miss": missed_l1, "l2_miss": missed_l2, "references": missed_l2,
             "misses": missed_l3, "walks": pages * (size == "ram"), "stlb_miss": pages * (size == "ram"),
             "replacements": missed_l1, "latency": missed_l3}
    for last in ("l3_miss", "misses", "latency"):
        paper[f"{last}_instructions"] = instructions
        paper[f"{last}_cycles"] = range(int(instructions * cpi) + beyond - 1, int(instructions * cpi) + beyond + 2)
    return {f"{size}_{name}": value for name, value in paper.items()}


# START: counters that overflow on the way, which the model must see for itself.
@pytest.mark.parametrize("start, cpi", [(0, 1), (-3, 1), cb.long(-1000, 1), cb.long(0, 0.25)])
def test_pointer_chase(tmp_path, start, cpi):
    said, messages = run(tmp_path, "memory", f"preset=skylake,memory=model,cpi={cpi},stats=on", "-m", "128",
                         defines=(f"START={start}",))
    for size in LINES:
        for name, value in chase(size, cpi, start).items():
            assert said[name] in value if isinstance(value, range) else said[name] == value, name
    first, *_, last = messages.splitlines()
    assert first.startswith("qemu-ds: memory=model: L1 32K/8/4, L2 256K/4/12, L3 8192K/16/42,")
    assert first.endswith(f"cpi {cpi:.2f}: modelled, not measured")
    assert "vCPU 0: modelled, not measured: " in messages and "translated anew" in last

    # A load of a line that two stores have asked for just before waits for the rest of its way.
    assert {name: said[f"fill_{name}"] for name in ("fill_buffer", "stores", "references", "store_walks")} == {
        "fill_buffer": 8, "stores": 16, "references": 8, "store_walks": 1}
    assert said["odd_split"] == 1 and said["odd_locked"] == 2 and said["odd_loads"] == said["odd_stores"] == 3
    # REP STOS retires once, and asks for each of its lines.
    assert (said["string_stores"], said["string_references"], said["string_misses"]) == (1, 4, 4)


def test_sizes_and_latencies(tmp_path):
    """As the options say: with an L1 of 8 KiB, 256 lines are in the L2."""
    said, _ = run(tmp_path, "memory", "preset=icelake,memory=model,memory.l1=8K/8/3,memory.l2=256K/4/33,"
                  "memory.dtlb=64/4,memory.stlb=1536/12/9,memory.l3=8M/16/42", "-m", "128", defines=("THRESHOLD=20",))
    assert (said["l1_l1_hit"], said["l1_l2_hit"], said["l2_l2_hit"]) == (0, 257, 2049)
    assert said["l1_l3_miss_cycles"] - said["l1_l3_miss_instructions"] == 257 * (33 - 3)
    assert said["l1_latency"] == 257


@pytest.mark.parametrize("guest, defines", [
    ("accesses", ("START=-3",)), ("flags", ()), ("faults", ("HISTORY=0", "LOADS=1")),
    ("faults", ("HISTORY=1", "LOADS=1")),
    ("locked", ()), ("devices", ()), ("modify", ("HISTORY=0",)),
])
def test_other_events_are_what_they_were(tmp_path, guest, defines):
    """Counts, records and interrupts of what has nothing to do with caches."""
    without, _ = run(tmp_path, guest, defines=defines)
    with_it, _ = run(tmp_path, guest, "memory=model", defines=defines)
    assert {name: (value, with_it[name]) for name, value in without.items() if with_it[name] != value} == {}


def test_sharing(tmp_path):
    """Each of two processors adds to its own word of a line, in turns: the other one has always changed it."""
    said, messages = run(tmp_path, "sharing", "preset=skylake,memory=model,stats=on", "-smp", "2")
    turns = said["turns"]
    for cpu in range(2):
        assert said[f"together_hitm_{cpu}"] == turns - (cpu == 0)  # nobody has had it before the first
        assert said[f"apart_hitm_{cpu}"] == 0
        assert f"vCPU {cpu}: modelled, not measured: " in messages
