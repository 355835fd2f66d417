# SPDX-License-Identifier: MIT
"""`cairn check --plugin FILE`: a log against what qemu-ds says it wrote. Here that is made of the log itself, and then
one of the two lies."""

import json
import re
import struct

import pytest

import frames
from cairn_tool import GOLDEN, cairn, errors_of, events, patch, text_of, with_keys

TRACE_CPU, PAYLOAD, HEAD = 8, 16, 0x18
GPR, BYTES = 4, 176  # first word of the group, size of a record in hw.log: BASIC and GPR
LOG = (GOLDEN / "hw.log").read_bytes()


def of_hook(parts, hook, kind=2):
    """(cpu, place, payload) of each event of a kind: 1 is a drain, 2 its records."""
    for frame, at, number, size in events(parts):
        data = parts[frame][1]
        if number == hook and data[at + PAYLOAD] == kind:
            yield struct.unpack_from("<H", data, TRACE_CPU)[0], (frame, at), data[at + PAYLOAD:at + size]


def plugin_lines(parts):
    """What the plugin would have written, by vCPU; an MSR write and a PMI beside it."""
    lines = {0: ["0 5 wrmsr msr 38f value 1", "0 6 pmi lvtpc 4fe next 1234"], 1: []}
    for cpu, _, payload in of_hook(parts, 0xCA01):
        address, size = struct.unpack_from("<QI", payload, 8)
        for at in range(0, size, BYTES):
            words = struct.unpack_from(f"<{BYTES // 8}Q", payload, HEAD + at)
            lines[cpu].append(f"{cpu} 7 record at {address + at:x} counters {words[2]:x} ip {words[1]:x} next "
                              f"{words[GPR + 1]:x} flags {words[GPR]:x} tsc {words[3]:x} words "
                              + " ".join(f"{word:x}" for word in words))
    for cpu, _, payload in of_hook(parts, 0xCA02):
        for at in range(HEAD, HEAD + struct.unpack_from("<I", payload, 16)[0], 24):
            source, target = struct.unpack_from("<QQ", payload, at)
            lines[cpu].append(f"{cpu} 8 branch from {source:x} to {target:x} tsc 0")
    return lines


def total(cpu, lines):
    count = {kind: sum(line.split()[2] == kind for line in lines)
             for kind in ("record", "dropped", "branch", "branch-dropped", "pmi", "wrmsr", "lost")}
    return (f"{cpu} 9 total records {count['record']} dropped {count['dropped']} branches {count['branch']} "
            f"branches-dropped {count['branch-dropped']} pmis {count['pmi']} wrmsrs {count['wrmsr']} "
            f"lost {count['lost']}")


def text(lines):
    whole = ["qemu-ds truth 2 preset icelake vcpus 2"]
    for cpu, some in lines.items():
        whole += some + [total(cpu, some)]
    return "\n".join(whole + ["end", ""])


def check(tmp_path, truth, log=LOG):
    (tmp_path / "truth").write_text(truth, encoding="latin-1")
    return cairn("check", "--plugin", tmp_path / "truth", "-", data=log)


def checked(tmp_path, lines, log=LOG):
    done = check(tmp_path, text(lines), log)
    return done.returncode, text_of(done)


@pytest.fixture
def lines():
    return plugin_lines(frames.read(LOG))


def test_as_the_plugin_wrote_it(tmp_path, lines):
    status, said = checked(tmp_path, lines)
    assert status == 0, said
    assert re.search(r"^truth: each PEBS record equal +66 +0 verified$", said, re.M)
    assert re.search(rf"^truth: each PEBS record, word by word +{66 * BYTES // 8} +0 verified$", said, re.M)
    assert re.search(r"^truth: each branch, and those lost +496 +0 verified$", said, re.M)
    assert "\ncannot be known here: the plugin's truth does not record threads\n" in said
    assert "\nplugin: 66 PEBS records, 0 dropped; 496 branches, 0 dropped\n" \
           "plugin: 1 PMIs, 1 MSR writes, 0 lost because not mapped\n" in said
    assert all(len(line) <= 80 for line in said.splitlines())


@pytest.mark.parametrize("word, name", [(3, "TSC"), (GPR + 2, "RAX"), (BYTES // 8 - 1, "R15")])
def test_a_word_of_the_trace_that_is_another(tmp_path, lines, word, name):
    parts = frames.read(LOG)
    _, place, payload = list(of_hook(parts, 0xCA01))[1]
    at = HEAD + 8 * word
    patch(parts, place, PAYLOAD + at, bytes([payload[at] ^ 1]))
    status, said = checked(tmp_path, lines, frames.write(parts))
    assert status == 1
    assert len(re.findall(rf"word by word\n.*: {name} is 0x\w+, in truth 0x\w+$", said, re.M)) == 1, said


@pytest.mark.parametrize("field, name", [("ip", "the instruction"), ("next", "the place where it continued"),
                                         ("flags", "RFLAGS"),
                                         ("counters", "the counters"), ("tsc", "the TSC")])
def test_what_the_plugin_says_beside_the_words(tmp_path, lines, field, name):
    lines[1][3] = re.sub(rf" {field} \w+", f" {field} 123", lines[1][3])
    status, said = checked(tmp_path, lines)
    assert status == 1 and re.search(rf"PEBS record equal\n.*: {name} is 0x\w+, in truth 0x123$", said, re.M), said


def test_records_that_are_missing(tmp_path, lines):
    lines[0].insert(5, lines[0][4])
    status, said = checked(tmp_path, lines)
    assert status == 1 and "1 record of the plugin's truth missing from the trace, although nothing was lost" in said


def test_records_too_many(tmp_path, lines):
    del lines[0][4]
    status, said = checked(tmp_path, lines)
    assert status == 1 and len(re.findall("the plugin's truth does not have this record", said)) == 1, said


def test_records_of_another_buffer_are_not_the_sessions(tmp_path, lines):
    lines[0].insert(5, re.sub(r" at \w+", " at ffff900000000000", lines[0][4]))
    assert checked(tmp_path, lines)[0] == 0


def test_records_of_a_cpu_that_is_not_in_the_trace(tmp_path, lines):
    lines[2] = [re.sub("^0", "2", line) for line in lines[0] if " record " in line or " branch " in line]
    status, said = checked(tmp_path, lines)
    assert status == 1
    for rule in "each PEBS record equal", "each branch, and those lost":
        assert re.search(rf"{rule}\n.*: \d+ records of the plugin's truth, but the trace has no drain$", said, re.M)


def test_records_that_nobody_knew_were_dropped(tmp_path, lines):
    parts = frames.read(LOG)
    for _, place, payload in of_hook(parts, 0xCA01, 1):
        if payload[0x10:0x18] == bytes([0xFF]) * 8:  # a full buffer: unknown how many it has lost
            patch(parts, place, PAYLOAD + 0x10, bytes(8))
    lines[1].insert(2, re.sub(r"record (.*) words .*", r"dropped \1", lines[1][1]))
    _, said = checked(tmp_path, lines)
    assert "1 record dropped in truth" not in said
    status, said = checked(tmp_path, lines, frames.write(parts))
    assert status == 1 and "1 record dropped in truth, but the drains report no loss" in said, said


def test_the_truth_of_another_run(tmp_path, lines):
    hint = "\nplugin: its truth has nothing of this trace; is the file from another run?\n"
    others = {cpu: [re.sub(r" (words|from) \w+", r" \1 1", line) for line in some] for cpu, some in lines.items()}
    status, said = checked(tmp_path, others)
    assert status == 1 and hint in said, said
    others[0][3] = lines[0][3]
    status, said = checked(tmp_path, others)
    assert status == 1 and hint not in said, said


def test_branches_in_another_order(tmp_path, lines):
    first = next(i for i, line in enumerate(lines[0]) if " branch " in line)
    different = next(i for i in range(first, len(lines[0])) if lines[0][i] != lines[0][first])
    lines[0][first], lines[0][different] = lines[0][different], lines[0][first]
    status, said = checked(tmp_path, lines)
    assert status == 1 and "the plugin's truth does not have its " in said


@pytest.mark.parametrize("early, failed", [(True, False), (False, True)])
def test_a_program_s_run_before(tmp_path, lines, early, failed):
    """It began with the same branches. By its times it is not the run that cairn grab has recorded; without them, all
    from its second drain on to the beginning of the next run would be missing."""
    parts = frames.read(LOG)
    with_keys(parts, {"grab.source": "Linux", "end.cpu.0.grab": "0 0 0 0"})
    keys = json.loads(cairn("export", "--to", "json", GOLDEN / "hw.log").stdout.splitlines()[0])["keys"]
    start = int(keys["session.1.start_tsc"])
    at = next(i for i, line in enumerate(lines[0]) if " branch " in line)
    branches = [re.sub(r"tsc 0$", f"tsc {start:x}", line) for line in lines[0][at:]]
    run = [re.sub(r"tsc \w+$", f"tsc {start - early:x}", line) for line in branches]
    run[-1] = re.sub(r" to \w+", " to 1", run[-1])
    status, said = checked(tmp_path, {**lines, 0: lines[0][:at] + run + branches}, frames.write(parts))
    assert ("FAIL truth: each branch" in said) == failed, said


CUT = "it is cut off: the line 'end', which QEMU writes when it exits, is missing"
NOT_COME_TO = r"line \d+: its totals do not match the lines above"


@pytest.mark.parametrize("change, why", [
    (lambda truth: "", CUT),
    (lambda truth: "once upon a time\n" + truth, "not a file that qemu-ds writes with truth=FILE"),
    (lambda truth: "\0\377" * 9999, "not a file that qemu-ds writes with truth=FILE"),
    (lambda truth: truth.replace("truth 2", "truth 1", 1), "version 1, but this cairn reads 2; use the cairn of .*"),
    (lambda truth: truth[:-1], CUT),
    (lambda truth: truth[:len(truth) // 2], CUT),
    (lambda truth: truth + "0 9 pmi lvtpc 4fe next 1\n", r"line \d+: there is more after the line 'end'"),
    (lambda truth: re.sub(r"(?m)^0 7 record.*\n", "", truth, count=1), NOT_COME_TO),
    (lambda truth: truth.replace(" total records ", " total records 1", 1), NOT_COME_TO),
    (lambda truth: re.sub(r"(?m)^1 9 total.*\n", "", truth), "the totals of vCPU 1 are missing"),
    (lambda truth: re.sub(r"(?m)^(1 9) total.*", r"\g<0>\n\1 lost at 1", truth), "the totals of vCPU 1 are missing"),
    (lambda truth: truth.replace(" ip ", " pi ", 1), "line 4 is damaged"),
    (lambda truth: truth.replace("wrmsr msr", "wrmsr msr 11111111111111111", 1), "line 2 is damaged"),
    (lambda truth: truth.replace(" words", " words" + 9000 * " 0", 1), "line 4 is damaged"),  # no record is as large
    (lambda truth: truth.replace(" words", 10_000_000 * "s", 1), "line 4 is damaged"),
    (lambda truth: truth.replace("0 6 pmi", "256 6 pmi", 1),
     "line 3: vCPU 256, but this cairn knows at most 256"),
    (lambda truth: truth.replace("0 6 pmi", "0 4 pmi"), "line 3: vCPU 0 goes back, from 5 instructions to 4"),
])
def test_files_that_are_none(tmp_path, lines, change, why):
    done = check(tmp_path, change(text(lines)))
    assert done.returncode == 3 and not done.stdout
    assert re.fullmatch(f"cairn: {tmp_path}/truth: {why}", errors_of(done))


def test_no_such_file(tmp_path):
    done = cairn("check", "--plugin", tmp_path / "none", GOLDEN / "hw.log")
    assert done.returncode == 3
    assert errors_of(done) == f"cairn: {tmp_path}/none: No such file or directory"


def test_a_log_of_the_model(tmp_path, lines):
    done = check(tmp_path, text(lines), (GOLDEN / "small.log").read_bytes())
    assert done.returncode == 2
    assert "--plugin needs a log of a run under qemu-ds; this log's records come from the kernel's own model" in \
        errors_of(done)
