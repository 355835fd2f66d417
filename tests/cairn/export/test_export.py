# SPDX-License-Identifier: MIT
"""`cairn export --to json` and `--to folded`: they say of the golden logs what `cairn dump` says."""

import json
import re
from collections import Counter

import pytest

import frames
from cairn_tool import GOLDEN, LOGS, cairn, errors_of, events, patch, text_of, with_keys, without

SAMPLES = GOLDEN.parent.parent / "samples"
LOGS = [*LOGS, "bts", "life", "live", "locks", "ring", "sessions", "told"]
LINE = re.compile(r" *(\d+\.\d{7}) +(\d+) (.) (.*)")
SWITCH = re.compile(r"(?:idle|\S*:(\d+)) .*> (?:(unknown)|idle|\S*:(\d+))")
KINDS = {" ": "switch", "*": "sample", "@": "sample", "=": "drain"}


def exported(log, *options):
    done = cairn("export", "--to", "json", *options, GOLDEN / f"{log}.log")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]


def told(lines):
    """(kind, seconds, CPU) of what has a time, and of the switches also who left and who came."""
    for line in lines:
        if line["type"] in ("switch", "sample", "drain", "lock", "event"):
            kind = "other" if line["type"] in ("lock", "event") else line["type"]
            yield (kind, line["ns"] // 100, line["cpu"],
                   *((line["old"]["tid"], line.get("new", {}).get("tid")) if kind == "switch" else ()))


def dumped(text):
    for line in text.splitlines():
        found = LINE.match(line)
        if not found or found[3] not in " *@=+":
            continue
        kind = KINDS.get(found[3], "other")
        left = SWITCH.match(found[4].strip()) if kind == "switch" else None
        yield (kind, int(found[1].replace(".", "")), int(found[2]),
               *((int(left[1] or 0), None if left[2] else int(left[3] or 0)) if left else ()))


@pytest.mark.parametrize("log", LOGS)
def test_json_tells_what_dump_does(log):
    lines = exported(log)
    assert [line["type"] for line in (lines[0], lines[-1])] == ["trace", "end"]
    assert list(told(lines)) == list(dumped(text_of(cairn("dump", GOLDEN / f"{log}.log"))))
    kinds = Counter(line["type"] for line in lines)
    assert lines[-1] == {"type": "end", "missing_frames": 0, "damaged_frames": 0, "lost": kinds["lost"], **{
        kind + ("es" if kind.endswith("ch") else "s"): kinds[kind]
        for kind in ("switch", "sample", "drain", "branch_drain", "branch", "lock", "event")}}


@pytest.mark.parametrize("log", LOGS)
def test_json_says_where_something_is_missing(log):
    text = text_of(cairn("dump", GOLDEN / f"{log}.log"))
    holes = [(int(found[1]), found[2]) for found in re.finditer(r"^ +(\d+) ! (.*)$", text, re.M)]
    assert [(line["cpu"], line["text"]) for line in exported(log) if line["type"] == "lost"] == holes


def branches_of(lines):
    """Each thread's drains that hold something: time, CPU, epoch, records told of, lost; and where its branches led."""
    threads = {}
    for line in lines:
        if line["type"] == "branch_drain" and (line["records"] or line.get("lost", 1)):
            threads.setdefault(line["thread"]["tid"], []).append(
                [line["ns"] // 100, line["cpu"], line["epoch"], line["records"], 0])
        if line["type"] == "branch":
            drain = next(drain for drain in reversed(threads[line["thread"]["tid"]]) if drain[1] == line["cpu"])
            assert [drain[0], drain[2], drain[4]] == [line["ns"] // 100, line["epoch"], line["number"]]
            drain[4] += 1
    return threads


@pytest.mark.parametrize("path", [*(GOLDEN / f"{log}.log" for log in ("bts", "ring", "hw")),
                                  SAMPLES / "branches.log"], ids=lambda path: path.name)
@pytest.mark.parametrize("kept", [False, True])
def test_json_of_branches(path, kept):
    """Drains, threads and numbers are those of `cairn bts`, the sums those of `cairn stat`, however it is read."""
    done = cairn("export", "--to", "json", "-", data=path.read_bytes()) if kept else \
        cairn("export", "--to", "json", path)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    threads = branches_of(lines)
    text, shown, tid = text_of(cairn("bts", path)), {}, None
    for line in text.splitlines():
        if found := re.match(r"\S*:(\d+): \d+ branch", line):
            tid = int(found[1])
        if found := re.match(r"  to (\d+\.\d+) s \([^)]*\), CPU (\d+), epoch (\d+): (\d+) branch", line):
            records = int(found[4])
            shown.setdefault(tid, []).append(
                [int(found[1].replace(".", "")), int(found[2]), int(found[3]), records, records])
    assert threads and threads == shown
    end, stat = lines[-1], text_of(cairn("stat", path))
    starts = sum(line["type"] == "branch_drain" and line["reason"] == "start" for line in lines)
    assert re.search(rf"branch records +{end['branches']}   in {end['branch_drains'] - starts} drains", stat), stat
    lost = [line.get("lost") for line in lines if line["type"] == "branch_drain"]
    assert re.search(r"lost, overwritten +" + ("unknown" if None in lost else f"{sum(lost)}$"), stat, re.M), stat


@pytest.mark.parametrize("options", [["--thread", "computer/0"], ["--cpu", "1"], ["--until", "90ms"],
                                     ["--reason", "Executive"]], ids=lambda options: options[0])
def test_json_of_some_branches(options):
    """Filters leave as many as `cairn stat` counts with them."""
    lines = [json.loads(line) for line in cairn("export", "--to", "json", *options, SAMPLES / "branches.log")
             .stdout.splitlines()]
    found = re.search(r"branch records +(\d+|none)", cairn("stat", *options, SAMPLES / "branches.log").stdout.decode())
    left = int(found[1]) if found and found[1] != "none" else 0
    assert sum(line["type"] == "branch" for line in lines) == left
    assert left or options[0] in ("--cpu", "--reason")
    if options[0] == "--reason":  # which hides no loss
        drains = [line for line in lines if line["type"] == "branch_drain"]
        assert sum(line["lost"] for line in drains) == 795 and all(line["lost"] for line in drains)


def test_json_leaves_out_branches_whose_drain_is_missing():
    """As `cairn bts` and `cairn stat` do; what is missing is told right before."""
    parts = frames.read((GOLDEN / "bts.log").read_bytes())
    trace = [i for i, (stream, _) in enumerate(parts) if stream == "T"]
    without(parts, lambda i, _: i in trace[2:4])
    data = frames.write(parts)
    lines = [json.loads(line) for line in cairn("export", "--to", "json", "-", data=data).stdout.splitlines()]
    found = re.search(r"branch records +(\d+)   in (\d+)", cairn("stat", "-", data=data).stdout.decode())
    branches = [line for line in lines if line["type"] == "branch"]
    assert 0 < len(branches) == int(found[1]) < 391
    assert sum(line["type"] == "branch_drain" and line["reason"] != "start" for line in lines) == int(found[2])
    assert branches_of(lines)


def test_json_of_samples():
    """The words of the record are there, each with its name; addresses are text."""
    samples = [line for line in exported("small") if line["type"] == "sample"]
    assert samples
    for sample in samples:
        assert sample["record"]["EventingIP"] == sample["ip"] and int(sample["ip"], 16) >> 63
        assert ("thread" in sample) != ("no_thread" in sample)
    assert {sample["function"] for sample in samples} >= {"workload_spin", "workload_hash"}


def test_json_of_a_log_that_lies():
    """It is JSON whatever keys are called, and numbers are what the log says."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    with_keys(parts, {'ds."quoted"\\': "'\"\\"})
    drain = next((i, at) for i, at, hook, _ in events(parts) if hook == 0xCA01)
    patch(parts, drain, 16 + 0x10, (2**63 + 5).to_bytes(8, "little"))  # its `lost`
    lines = [json.loads(line) for line in
             cairn("export", "--to", "json", "-", data=frames.write(parts)).stdout.decode("utf-8").splitlines()]
    assert lines[0]["keys"]['ds."quoted"\\'] == "'\"\\"
    assert 2**63 + 5 in [line.get("lost") for line in lines if line["type"] == "drain"]


def test_json_says_that_the_debug_store_was_emulated():
    assert exported("small")[0]["emulated_ds"] is True
    assert exported("hw")[0]["emulated_ds"] is False
    assert "emulated_ds" not in exported("nods")[0]  # there is none


def test_names_are_text_whatever_they_are():
    """Quotes, backslashes, UTF-8, and bytes that are none."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    changed = [(s, p.replace(b" server-3\n", b' s"\\\xC3\xA4\xFFr\n')) for s, p in parts]
    assert changed != parts
    done = cairn("export", "--to", "json", "-", data=frames.write(changed))
    names = {line["name"] for line in map(json.loads, done.stdout.decode("utf-8").splitlines())
             if line["type"] == "thread"}
    assert done.returncode == 0 and any(name.startswith('s"\\') for name in names), names


@pytest.mark.parametrize("log", ["small", "full", "lost", "hw"])
def test_folded_adds_up(log):
    done = cairn("export", "--to", "folded", GOLDEN / f"{log}.log")
    assert done.returncode == 0
    rows = [line.rsplit(" ", 1) for line in text_of(done).splitlines()]
    stacks = {stack: int(count) for stack, count in rows}
    assert len(stacks) == len(rows) and all(stack.count(";") == 1 and " " not in stack for stack in stacks)
    samples = [line for line in exported(log) if line["type"] == "sample"]
    expected = Counter()
    for sample in samples:
        thread = f"{sample['thread'].get('name', 'thread')}:{sample['thread']['tid']}" if "thread" in sample else None
        expected[thread, sample.get("function", "[unknown]")] += 1
    known = {(None if stack.startswith("[") else stack.split(";")[0], stack.split(";")[1]): 0 for stack in stacks}
    for stack, count in stacks.items():
        known[None if stack.startswith("[") else stack.split(";")[0], stack.split(";")[1]] += count
    assert known == expected
    assert sum(stacks.values()) == len(samples)


@pytest.mark.parametrize("form", ["json", "folded", "svg", "html"])
def test_files(tmp_path, form):
    """What is there and of another format is kept; what the format has written is written over."""
    path, other = tmp_path / "out", tmp_path / "notes"
    for _ in range(2):
        assert cairn("export", "--to", form, GOLDEN / "small.log", "-o", path).returncode == 0
        assert path.read_bytes() == cairn("export", "--to", form, GOLDEN / "small.log").stdout
    log = (SAMPLES / "plain.log").read_bytes()  # the firmware's first line has semicolons
    for content in (b"notes\n", b"int main(void) { return 0; }\n", log):
        other.write_bytes(content)
        done = cairn("export", "--to", form, GOLDEN / "small.log", "-o", other)
        assert done.returncode == 2 and f"not a file of the format {form}" in errors_of(done)
        assert other.read_bytes() == content
    assert cairn("export", "--to", form, GOLDEN / "small.log", "-o", "/dev/full").returncode == 3


def test_json_has_every_key_however_long_its_name():
    keys = {f"machine.{'x' * length}": str(length) for length in (10, 88, 96, 120, 127, 128, 500)}
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    with_keys(parts, keys)
    with_keys(parts, {next(iter(keys)): "the last counts"})
    lines = cairn("export", "--to", "json", "-", data=frames.write(parts)).stdout.decode("ascii").splitlines()
    found = json.loads(lines[0])["keys"]
    assert {**keys, next(iter(keys)): "the last counts"}.items() <= found.items()
