# SPDX-License-Identifier: MIT
"""Profiles of Windows: samples with the call stacks that other events tell of them, in every format that has room for
them. Each file is made here."""

import json
import re
import sqlite3
import struct
import subprocess

import pytest

import cairn_boot
from cairn_tool import cairn, errors_of, text_of
from make_profile import CORPUS, KERNEL_KEY, STACK, Profile
from make_windows import SAMPLE, WindowsSample
from perfetto import Trace, packets_of

both_widths = pytest.mark.parametrize("bits", (32, 64))


@pytest.fixture(scope="module", name="file", params=(32, 64))
def _file(request):
    maker = Profile(bits=request.param)
    return maker, maker.make()


def folded(data, *options):
    text = text_of(cairn("export", "--to", "folded", *options, "-", data=data))
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in text.splitlines()}


def test_each_sample_has_its_stack(file):
    maker, data = file
    assert folded(data) == maker.folded
    assert sum(maker.folded.values()) == maker.samples
    assert cairn("check", "-", data=data).returncode == 0


def test_a_part(file):
    maker, data = file
    some = folded(data, "--thread", "912")
    assert some == {line: n for line, n in maker.folded.items() if ":912;" in line} and some
    done = cairn("export", "--to", "folded", "--thread", "8", "-", data=data)
    assert done.returncode == 1 and "no timer samples match --thread 8" in errors_of(done)


def test_the_order_of_a_file_is_not_that_of_time(file):
    """CPU 1's buffers in front of CPU 0's, but for the header's."""
    maker, data = file
    size = 2048
    buffers = [data[at:at + size] for at in range(0, len(data), size)]
    other = [b for b in buffers[1:] if b[0x28] == 1] + [b for b in buffers[1:] if b[0x28] == 0]
    assert folded(buffers[0] + b"".join(other)) == maker.folded


def test_json(file):
    maker, data = file
    lines = [json.loads(line) for line in text_of(cairn("export", "--to", "json", "-", data=data)).splitlines()]
    samples = [line for line in lines if line.get("hook") == "0F2EH"]
    assert len(samples) == maker.samples
    found = {}
    for line in samples:
        tid = line["thread"]["tid"]
        thread = f"{line['thread']['name'].replace(' ', '_')}:{tid}" if tid else "idle"
        places = line.get("stack", [line["place"]])
        assert places[0] == line["place"]
        key = ";".join([thread, *(["[...]"] if line.get("stack_cut") else []), *reversed(places)])
        found[key] = found.get(key, 0) + 1
    assert found == maker.folded
    assert {line["pid"] for line in samples} == {0, 4, 900, 1400}


def test_perfetto(file):
    maker, data = file
    done = cairn("export", "--to", "perfetto", "-", data=data)
    assert done.returncode == 0, done.stderr
    trace = Trace(packets_of(done.stdout))
    assert len(trace.samples) == maker.samples
    found = {}
    for (_, _, _, name, _, _), (calls, cut) in zip(trace.samples, trace.calls):
        stack = *calls, name
        found[stack] = found.get(stack, 0) + 1
        assert cut == (len(stack) == 192)
    expected = {}
    for line, count in maker.folded.items():
        frames = tuple(frame for frame in line.split(";")[1:] if frame != "[...]")
        expected[frames] = expected.get(frames, 0) + count
    assert found == expected
    assert {one for *_, one in trace.samples} == {0, 4, 900, 1400}
    assert [timebase["name"] for timebase in trace.sampled] == [["timer samples"]]


def test_sqlite(file, tmp_path):
    maker, data = file
    path = tmp_path / "profile.db"
    assert cairn("export", "--to", "sqlite", "-", "-o", path, data=data).returncode == 0
    db = sqlite3.connect(path)
    assert db.execute("SELECT count(*) FROM samples").fetchone() == (maker.samples,)
    deepest = db.execute("SELECT max(depth) FROM sample_frames").fetchone()
    assert deepest == (191,)
    rows = db.execute("SELECT place, count(*) FROM samples WHERE tid = 908 GROUP BY place ORDER BY place").fetchall()
    assert rows == [("driver.sys+0x20", 1), ("driver.sys+0x40", 1), ("explorer.exe+0x10", 1)]
    callers = db.execute("SELECT f.place FROM sample_frames f JOIN samples s ON s.event = f.sample "
                         "WHERE s.place = 'driver.sys+0x40' ORDER BY depth").fetchall()
    assert [place for place, in callers] == ["driver.sys+0x40", "driver.sys+0x41", "explorer.exe+0x60",
                                             "explorer.exe+0x500"]
    assert db.execute("SELECT count(*) FROM samples s JOIN events e ON e.id = s.event WHERE e.hook = '0F2EH'"
                      ).fetchone() == (maker.samples,)


def test_svg_is_a_flame_graph(file):
    maker, data = file
    text = text_of(cairn("export", "--to", "svg", "-", data=data))
    busy = sum(n for line, n in maker.folded.items() if not line.startswith("idle;"))
    assert f"{busy} timer samples. Of idle processors {maker.samples - busy} more, not drawn." in text
    assert "Timer samples by thread, and above it by call" in text
    threads = re.findall(r'data-depth="0" data-records="(\d+)"><title>(\S+): ', text)
    assert {name: int(count) for count, name in threads} == {
        thread: sum(n for line, n in maker.folded.items() if line.startswith(thread + ";"))
        for thread in {line.split(";")[0] for line in maker.folded} - {"idle"}}


def test_profile_and_stat(file):
    maker, data = file
    text = text_of(cairn("profile", "-", data=data))
    assert re.search(r"^# +samples +share   thread +image$", text, re.M)
    rows = {(thread, image): int(count) for count, thread, image in
            re.findall(r"^ +(\d+) +\S+ %   (\S.*?) +(\S+)$", text, re.M)}
    assert rows[("explorer.exe:908", "driver.sys")] == 2 and rows[("explorer.exe:908", "explorer.exe")] == 1
    assert sum(rows.values()) == maker.samples and f"# {maker.samples} timer samples\n" in text
    by_image = text_of(cairn("profile", "--per", "function", "-", data=data))
    assert re.findall(r"^ +\d+ .* (\S+)$", by_image, re.M) == ["driver.sys", "explorer.exe"]
    stat = text_of(cairn("stat", "-", data=data))
    busy = sum(n for line, n in maker.folded.items() if not line.startswith("idle;"))
    own = sum(n for line, n in maker.folded.items() if line.startswith("explorer.exe"))
    assert re.search(rf"^  explorer\.exe:900 +{100 * own / busy:.2f} % +{own} ", stat, re.M)
    assert re.search(rf"^  idle +{maker.samples - busy} ", stat, re.M)
    done = cairn("profile", "--counter", "1", "-", data=data)
    assert done.returncode == 1 and "no timer samples match" in errors_of(done)


def test_counters_take_the_timer_s_place():
    """0F2FH, where there is no 0F2EH."""
    maker = Profile()
    maker.sample(2000, 908, "u10", hook=0x0F2F)
    maker.stack(2001, 2000, 908, ["u10", "u20"])
    maker.expect("explorer.exe:908", "u20", "u10")
    data = maker.file()
    assert folded(data) == maker.folded
    assert "# 1 counter sample\n" in text_of(cairn("profile", "-", data=data))


def test_without_samples():
    maker = Profile()
    done = cairn("export", "--to", "folded", "-", data=maker.file())
    assert done.returncode == 1 and "has no PEBS records and no samples of a profile" in errors_of(done)
    done = cairn("profile", "-", data=maker.file())
    assert done.returncode == 1 and "no PEBS records and no samples of a profile in this log" in errors_of(done)
    assert "processes by" not in text_of(cairn("stat", "-", data=maker.file()))


@both_widths
def test_events_that_are_too_short(bits):
    """Stacks without an address, with a part of one, with less than their fixed part; keys likewise."""
    maker = Profile(bits=bits)
    maker.sample(2000, 908, "u10")
    whole = struct.pack("<QII", 2000, 900, 908) + maker.pointer(maker.at("u10")) * 2
    for hook in (STACK, KERNEL_KEY, 0x1822, 0x1824):
        for size in range(len(whole)):
            maker.tell(0, 2001, maker.perfinfo(hook, 2, 2001, whole[:size]))
    maker.expect("explorer.exe:908", "u10")
    found = folded(maker.file())
    assert sum(found.values()) == 1 and all(line.endswith(";explorer.exe+0x10") for line in found)


@pytest.mark.long
def test_many_stacks_take_linear_time(tmp_path):
    """Samples of one thread that leaves the kernel at the end alone; a key that is used again all the time."""
    def instructions(count):
        maker = Profile()
        for n in range(count):
            maker.sample(2000 + 10 * n, 908, n % 256)
            maker.key(KERNEL_KEY, 2001 + 10 * n, 2000 + 10 * n, 908, 0xAA)
            maker.define(0x1823, 2002 + 10 * n, 0xAA, [n % 256, 1])
            maker.expect("explorer.exe:908", "u1", 1, n % 256)
        maker.stack(3000 + 10 * count, 2000, 908, ["u1"])
        path = tmp_path / f"{count}.etl"
        path.write_bytes(maker.file())
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                               cairn_boot.BUILD / "cairn", "export", "--to", "folded", path],
                              capture_output=True, text=True, check=True)
        lines = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
        assert {line: int(n) for line, n in lines.items()} == maker.folded
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])

    small, large = instructions(2000), instructions(16000)
    assert large < 8 * 1.5 * small


def test_the_sample_is_what_its_maker_writes():
    assert SAMPLE.read_bytes() == WindowsSample().make()
    assert cairn("check", SAMPLE).returncode == 0


def test_the_fuzzer_begins_with_these():
    for name, bits in (("profile", 64), ("profile-32", 32)):
        assert (CORPUS / name).read_bytes() == Profile(bits=bits).make()
