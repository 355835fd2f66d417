# SPDX-License-Identifier: MIT
"""perf's own tests, with the plugin and in the same QEMU without it: perf_tests.txt says how each ends. One
that ends in another way fails here."""

import re
from pathlib import Path

import clients
import guest
import pytest

TABLE = Path(__file__).with_name("perf_tests.txt")
PROGRAMS = ("perf", "bash", "usr/lib/perf-core", "grep", "sed", "find", "mawk", "sort", "tr", "sleep", "timeout",
            "mktemp")
# QEMU as it is, in place of qemu-ds-run: what follows the first "--" are its arguments.
PLAIN = ["sh", "-c", 'while [ "$1" != -- ]; do shift; done; shift; exec "$0" "$@"', guest.QEMU]


def table():
    """[(with the plugin, without it, name)]"""
    lines = [line.split(maxsplit=2) for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return [(plugin, plain, name.split("  ")[0]) for plugin, plain, name in lines]


def verdicts(output):
    """{name: Ok, FAILED or Skip} of what `perf test -v` said."""
    return {name: verdict for name, verdict in
            re.findall(r"^ *[\d.]+: (.*?) *: (Ok|FAILED|Skip)\b", output, re.M)}


@pytest.mark.long
@pytest.mark.parametrize("column", [pytest.param(0, id="plugin"), pytest.param(1, id="plain")])
def test_perf_test(tmp_path, monkeypatch, column):
    if column:
        monkeypatch.setattr(guest, "START", PLAIN)
    (said,), _ = clients.boot(tmp_path, ["perf test -v 2 3 4 18 19 20 21 22"], PROGRAMS, smp=2)
    assert verdicts(said.output) == {row[2]: row[column] for row in table()}
