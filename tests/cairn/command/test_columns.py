# SPDX-License-Identifier: MIT
"""What a newcomer meets first: help of a command, columns of late times, counts of two kinds of loss."""

import re
import struct

import pytest

from cairn_tool import GOLDEN, cairn, text_of


@pytest.mark.parametrize("command", ["dump", "locks", "export", "capture"])
def test_help_of_a_command(command):
    done = cairn("help", command)
    assert done.returncode == 0 and done.stdout == cairn(command, "--help").stdout
    assert done.stdout.startswith(f"usage: cairn {command} ".encode())


def test_help_of_no_command():
    done = cairn("help", "nothing")
    assert done.returncode == 2 and done.stdout == b"" and b"'nothing' is neither a command nor a file" in done.stderr
    assert cairn("help").stdout == cairn("--help").stdout


@pytest.mark.parametrize("seconds, width", [(9_000, 12), (20_000, 13), (900_000, 14), (12_000_000, 14)])
def test_columns_of_late_times(seconds, width):
    """A file whose session began long before its events: each column is where its head is, on lines of 80."""
    data = bytearray((GOLDEN / "windows-10240-64.etl").read_bytes())
    begin, end = 0x48 + 0x10, 0x48 + 0x20 + 0x10  # time stamp of the header event; EndTime
    for at, less in (begin, seconds * 10_000_000), (end, -seconds * 10_000_000):
        struct.pack_into("<q", data, at, struct.unpack_from("<q", data, at)[0] - less)
    text = text_of(cairn("dump", "-", data=bytes(data)))
    head = next(line for line in text.splitlines() if " who left " in line)
    assert head.index("seconds") + len("seconds") == width - 1
    for column, mark in ((head.index("who came") - 2, ">"), (head.index("CPU") + 4, "+")):
        places = {line.index(f" {mark} ") + 1 for line in text.splitlines()
                  if re.match(rf" *[0-9.]+ +\d+ +(?:\S+ .*)?{re.escape(mark)} ", line)}
        assert places == {column}, (mark, places)
    assert re.search(rf"^ *{seconds}\.\d+ ", text, re.M)


def test_loss_in_the_log_and_in_the_run():
    """stat and profile count what the drains in the log say, info what the kernel has counted: where these differ, the
    first two say both."""
    run = re.search(r"(\d+) of \d+ PEBS records", text_of(cairn("info", "--lost", GOLDEN / "lost.log")))[1]
    stat, profile = (text_of(cairn(command, GOLDEN / "lost.log")) for command in ("stat", "profile"))
    here = re.search(r"^  lost by processor +(\d+)$", stat, re.M)[1]
    assert int(here) < int(run)
    assert re.search(rf"^  in the whole run +{run}   including drains not in this log$", stat, re.M)
    assert f"# lost by the processor: {here}\n" in profile
    assert f"# lost in the whole run, including drains not in this log: {run}\n" in profile
    for command in ("stat", "profile"):
        assert "whole run" not in text_of(cairn(command, GOLDEN / "small.log"))
