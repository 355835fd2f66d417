# SPDX-License-Identifier: MIT
"""A damaged log may say times that cannot be: of a switch before the one in front of it."""

import json
import re
import struct
from xml.etree import ElementTree

import pytest

import frames
from cairn_tool import GOLDEN, cairn, events, text_of

SVG = "{http://www.w3.org/2000/svg}"


def back_in_time(log):
    """One batch in the middle begins 6 ms earlier than it did: before others of its CPU."""
    parts = frames.read((GOLDEN / log).read_bytes())
    batches = [(i, at) for i, at, hook, _ in events(parts) if hook == 0x525]
    i, at = batches[len(batches) // 2]
    payload = bytearray(parts[i][1])
    at += 24  # behind the header and PebsIndex
    struct.pack_into("<Q", payload, at, struct.unpack_from("<Q", payload, at)[0] - 60000)
    parts[i] = (parts[i][0], bytes(payload))
    return frames.write(parts)


@pytest.fixture(name="data", scope="module")
def fixture_data():
    data = back_in_time("small.log")
    last = {}
    lines = [json.loads(line) for line in cairn("export", "--to", "json", "-", data=data).stdout.splitlines()]
    switches = [line for line in lines if line["type"] == "switch"]
    assert any(line["ns"] < last.get(line["cpu"], 0) or last.update({line["cpu"]: line["ns"]}) for line in switches)
    return data


def test_picture_has_no_more_time_than_there_was(data):
    done = cairn("export", "--to", "svg", "-", data=data)
    assert done.returncode == 0 and b"Sanitizer" not in done.stderr
    svg = ElementTree.fromstring(done.stdout)
    assert all(float(share) <= 100 for share in re.findall(r"(\d+\.\d+) %", done.stdout.decode()))
    lanes = [g for g in svg.iter(f"{SVG}g") if g.get("class") == "cpu"]
    sums = [sum(int(lane.get(f"data-{kind}-ns", 0)) for kind in ("busy", "idle", "unknown")) for lane in lanes]
    assert len(sums) == 2 and sums[0] == sums[1] < 10**9, sums  # the session's
    assert all(int(g.get("data-ns", 0)) <= sums[0] for lane in lanes for g in lane.iter(f"{SVG}g"))


@pytest.mark.parametrize("command", [["stat"], ["profile"], ["top", "--once"]], ids=" ".join)
def test_shares_stay_below_100(command, data, tmp_path):
    (tmp_path / "log").write_bytes(data)
    done = cairn(*command, tmp_path / "log")
    shares = [float(share) for share in re.findall(r"(\d+\.\d+) %", text_of(done))]
    assert done.returncode == 0 and all(share <= 100 for share in shares), shares
