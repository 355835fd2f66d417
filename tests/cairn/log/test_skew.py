# SPDX-License-Identifier: MIT
"""CPUs whose TSCs are not one clock, as the kernel measured: who merges their events says so, and no rule fails."""

import pytest

import frames
from cairn_tool import GOLDEN, cairn, text_of

MARK = "may be shown in the wrong order"


@pytest.fixture
def log(tmp_path):
    """small.log (two CPUs, 2 GHz) with lines of our own about its machine; more of them may name CPUs it has not."""
    def made(*lines):
        parts = frames.read((GOLDEN / "small.log").read_bytes())
        at = max(i for i, (stream, _) in enumerate(parts) if stream == "M")
        parts[at] = ("M", parts[at][1] + "".join(line + "\n" for line in lines).encode())
        path = tmp_path / "skew.log"
        path.write_bytes(frames.write(parts))
        return path
    return made


def said(path):
    texts = [" ".join(text_of(cairn(command, path)).replace("\n#", "").split())
             for command in ("info", "stat", "dump", "check")]
    return [text[text.index("clocks: "):][:200] if MARK in text else None for text in texts]


@pytest.mark.parametrize("value, cycles", [
    ("100000 50 99", 100050),
    ("-100000 50 99", 100050),
    ("1000000000000 7 16", 1000000000007),
    ])
def test_marked(log, value, cycles):
    path = log("machine.tsc_hz=2000000000", f"cpu.1.tsc_offset={value}")
    ahead, behind = (0, 1) if value.startswith("-") else (1, 0)
    line = (f"clocks: the TSC of CPU {ahead} is up to {cycles} cycles ({cycles / 2000:.1f} us) "
            f"ahead of that of CPU {behind}; ")
    assert all(text and text.startswith(line) for text in said(path)), said(path)
    assert cairn("check", path).returncode == 0


@pytest.mark.parametrize("value", [
    "0 50 99", "250 50 99", "-250 50 99", "100000 100000 16",       # a unit is 200 cycles
    "", "-", "5", "1 2", "x 1 2", "--5 1 2", "99999999 1 2 3", "1e9 0 0", "18446744073709551615 1 1",
    "1 18446744073709551615 1", "99999999999999999999999 0 1", "-9223372036854775808 0 1",
    ])
def test_not_marked(log, value):
    path = log("machine.tsc_hz=2000000000", f"cpu.1.tsc_offset={value}")
    assert said(path) == [None] * 4
    assert cairn("check", path).returncode == 0


def test_of_a_cpu_that_is_not_there(log):
    assert said(log("cpu.2.tsc_offset=1000000 1 99")) == [None] * 4
