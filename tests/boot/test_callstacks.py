# SPDX-License-Identifier: MIT
"""Call stacks of PEBS records, by LBR and by BTS: each call in them is one that the kernel's code makes."""

import re
import subprocess
from collections import Counter
from xml.etree import ElementTree

import pytest

import cairn_boot as cb
from cairn_log import cairn, checked
from perfetto import Trace, packets_of

LINE = re.compile(r"^([0-9a-f]{16}) <(.+)>:$|^\s*[0-9a-f]+:\s+(?:notrack |bnd )?(call|j\w+)\s+(.*)$")


def code():
    """(who calls whom, who jumps into whom, who calls by a pointer), by the disassembly."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", cb.BUILD / "kernel.elf.full"], capture_output=True,
                          text=True, check=True).stdout
    calls, jumps, pointers, here = {}, {}, set(), None
    for line in text.splitlines():
        found = LINE.match(line)
        if not found:
            continue
        if found[2]:
            here = found[2].split(".")[0]
            continue
        target = re.search(r"<([^>+.]+)", found[4])
        if target:
            (calls if found[3] == "call" else jumps).setdefault(here, set()).add(target[1])
        elif found[3] == "call":
            pointers.add(here)
    return calls, jumps, pointers


def reached(calls, jumps, caller):
    """What may run as the function that `caller` has called: a callee may have jumped on to another."""
    seen, new = set(), set(calls.get(caller, ()))
    while new:
        seen |= new
        new = set().union(*(jumps.get(name, set()) for name in new)) - seen
    return seen


@pytest.mark.parametrize("options", [cb.long(("pebs.groups=lbr:32",)), ("pebs.groups=none", "bts=interrupt")])
def test_calls_are_the_codes(tmp_path, options):
    result = cb.boot(tmp_path / "log", "--smp", "1", "switches=60", "truth=1", cb.UNHURRIED, "workload=mix",
                     "pebs=INST_RETIRED.ANY:211", *options)
    assert result.status == cb.PASS, result.output
    checked(result.log)
    status, plain = cairn("export", "--to", "folded", result.log)
    assert status == 0 and "[...]" not in plain and plain
    status, text = cairn("export", "--to", "folded", "--elf", cb.BUILD / "kernel.elf.full", result.log)
    assert status == 0
    calls, jumps, pointers = code()
    pairs = 0
    for line in text.splitlines():
        frames = [frame.split(".")[0] if frame != "[...]" else frame for frame in line.rsplit(" ", 1)[0].split(";")]
        if "[...]" not in frames:
            continue
        assert frames[1] == "[...]" and "[...]" not in frames[2:], line
        for caller, callee in zip(frames[2:], frames[3:]):
            assert callee in reached(calls, jumps, caller) or caller in pointers, line
            pairs += 1
    assert pairs >= 10, text

    # a picture has them as a flame graph
    status, picture = cairn("export", "--to", "svg", "--elf", cb.BUILD / "kernel.elf.full", result.log)
    frames, drawn = Counter(), Counter()
    for line in text.splitlines():
        stack, count = line.rsplit(" ", 1)
        for depth, frame in enumerate(stack.split(";")):
            frames[depth, frame] += int(count)
    svg = "{http://www.w3.org/2000/svg}"
    for group in ElementTree.fromstring(picture).iter(f"{svg}g"):
        if group.get("data-depth"):
            name = group.find(f"{svg}title").text.rsplit(": ", 1)[0]
            drawn[int(group.get("data-depth")), name.replace(" ", "_")] += int(group.get("data-records"))
    assert status == 0 and drawn == frames

    # in a Perfetto trace they are the same
    done = subprocess.run([cb.BUILD / "cairn", "export", "--to", "perfetto", "--elf", cb.BUILD / "kernel.elf.full",
                           result.log], capture_output=True, check=True)
    trace = Trace(packets_of(done.stdout))
    stacks = Counter()
    for sample, (calls, cut) in zip(trace.samples, trace.calls):
        stacks[";".join(["[...]"] * cut + [name or "[unknown]" for name in (*calls, sample[3])])] += 1
    folded = Counter()
    for line in text.splitlines():
        stack, records = line.rsplit(" ", 1)
        folded[stack.split(";", 1)[1]] += int(records)
    assert stacks == folded

    def count(rows):
        return sum(int(row.rsplit(" ", 1)[1]) for row in rows.splitlines())
    assert count(text) == count(plain)
    # the function a record was found in, and its thread, are the same with and without calls

    def ends(rows):
        found = {}
        for row in rows.splitlines():
            frames = row.rsplit(" ", 1)[0].split(";")
            found[frames[0], frames[-1]] = found.get((frames[0], frames[-1]), 0) + int(row.rsplit(" ", 1)[1])
        return found
    assert ends(text) == ends(plain)
