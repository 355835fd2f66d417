# SPDX-License-Identifier: MIT
"""perf's own tests, with the plugin and in the same QEMU without it: perf_tests.txt says how each ends. One
that ends in another way fails here."""

import re
from pathlib import Path

import clients
import guest
import pytest

TABLE = Path(__file__).with_name("perf_tests.txt")
# What they call: Debian's, because busybox lacks options; its shell prefers its own programs, so that sh is bash.
PROGRAMS = ("perf", "usr/lib/perf-core", "usr/lib/python3/dist-packages/perf.*", "bash", "cmp", "cut", "diff",
            "find", "grep", "head", "mawk", "mktemp", "nm", "objdump", "perl", "python3", "readelf", "readlink", "sed",
            "sleep", "sort", "stat", "strings", "tail", "taskset", "timeout", "tr", "wc", "xargs", "xz",
            "usr/lib/x86_64-linux-gnu/perl*")
FILES = {"bin/sh": clients.ROOT / "usr/bin/bash"}
SETUP = "echo 0 >/proc/sys/kernel/kptr_restrict"
# QEMU as it is, in place of qemu-ds-run: what follows the first "--" are its arguments.
PLAIN = ["sh", "-c", 'while [ "$1" != -- ]; do shift; done; shift; exec "$0" "$@"', guest.QEMU]
VERDICT = re.compile(r"^ *([\d.]+): .*?: (Ok|FAILED|Skip)\b", re.M)
LISTED = re.compile(r"^ *([\d.]+): ", re.M)


def table(column):
    """{number: how it ends}; in parentheses: it is not run here."""
    lines = [line.split() for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return {number: ends[column] for number, *ends in lines}


@pytest.mark.long
@pytest.mark.parametrize("column", [pytest.param(0, id="plugin"), pytest.param(1, id="plain")])
def test_perf_test(tmp_path, monkeypatch, column):
    if column:
        monkeypatch.setattr(guest, "START", PLAIN)
    ends = table(column)
    expected = {number: verdict for number, verdict in ends.items() if not verdict.startswith("(")}
    numbers = sorted({int(number.split(".")[0]) for number in expected})
    (_, listed, *said), _ = clients.boot(
        tmp_path, [SETUP, "perf test list", *(f"timeout -s KILL 1800 perf test -v {number}" for number in numbers)],
        PROGRAMS, smp=2, files=FILES, timeout=7200)
    found = LISTED.findall(listed.output)
    assert [number for number in found if f"{number}.1" not in found] == list(ends)
    wrong = [one.output for number, one in zip(numbers, said) if dict(VERDICT.findall(one.output)) !=
             {part: verdict for part, verdict in expected.items() if part.split(".")[0] == str(number)}]
    assert not wrong, "\n".join(wrong)
