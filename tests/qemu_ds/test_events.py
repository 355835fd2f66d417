# SPDX-License-Identifier: MIT
"""What counts: a program of each class of instructions against docs/reference/events.md, and reference cycles."""

import re

import pytest
from bare_guest import ENDED, ROOT, assemble, qemu, run

KINDS = ("instructions", "loads", "stores", "branches", "taken", "conditional", "far")
TABLE = re.compile(r"^\| `(\w+)` \|[^|]*\|((?: \d+ \|)+)$", re.MULTILINE)


def documented():
    text = (ROOT / "docs/reference/events.md").read_text()
    found = {name: tuple(map(int, re.findall(r"\d+", counts))) for name, counts in TABLE.findall(text)}
    assert {len(counts) for counts in found.values()} == {3, len(KINDS)}  # branches: none, or in a table of their own
    return {name: counts + (0,) * (len(KINDS) - len(counts)) for name, counts in found.items()}


def unpacked(value):
    return tuple(value >> 8 * kind & 0xFF for kind in range(len(KINDS)))


@pytest.mark.parametrize("start, options", [(0, "preset=icelake"), (-1, "preset=sapphirerapids"),
                                            (-2, "preset=icelake"),
                                            (0, "preset=icelake,memory=model")])
def test_classes_of_instructions(tmp_path, start, options):
    """As the document says, and as each program has it beside it; also where counters overflow on the way."""
    said, errors = run(tmp_path, "classes", options, defines=(f"START={start}",))
    paper = {name.removesuffix("_paper"): unpacked(value) for name, value in said.items() if name.endswith("_paper")}
    counted = {name: unpacked(value) for name, value in said.items() if not name.endswith("_paper")}
    assert counted == paper
    assert counted == documented()
    assert "read 0" not in errors


def test_reference_cycles(tmp_path):
    """They are ticks of the TSC while they are on, whatever the host does meanwhile."""
    said, errors = run(tmp_path, "reference")
    assert said["read_least"] - said["start_most"] <= said["read"] <= said["before_most"] - said["start_least"]
    assert said["stop_least"] - said["start_most"] <= said["fixed"] <= said["stop_most"] - said["start_least"]
    assert said["ring_0"] == said["fixed"] and said["others"] == 0
    assert said["overflow"] >= 100000
    # The event that the model does not know is named.
    assert errors.splitlines() == [
        "qemu-ds: events that read 0, as the model does not count them (event/unit mask): B1H/01H"]


def test_reference_cycles_as_core_cycles(tmp_path):
    """With ref=cycles they are known beforehand."""
    said, _ = run(tmp_path, "reference", "ref=cycles")
    assert said["fixed"] == said["ring_0"] == said["instructions"] > 2 * 2000000


@pytest.mark.parametrize("start", [0, -1, -2])
def test_branches_of_real_mode(tmp_path, start):
    """Branches, near taken ones, near calls, returns and far ones, whose instructions 64-bit mode does not have."""
    done = qemu(assemble(tmp_path, "real_mode", f"START={start}"), "preset=icelake")
    assert done.returncode == ENDED and done.stdout == "95113\n"
