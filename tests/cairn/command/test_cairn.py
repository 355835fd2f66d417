# SPDX-License-Identifier: MIT
"""The host tool as a user runs it: expected text for the golden logs, exit statuses, damage, logs that were cut."""

import re
import struct
import subprocess

import pytest

import cairn_boot
import frames
from cairn_tool import (CAIRN, EXPECTED, GOLDEN, LOGS, TRUTH_PEBS, cairn, errors_of, events, expect_text, patch,
                        text_of, truths, without)


# ---- expected text: CAIRN_UPDATE=1 writes it anew ----------------------------------------------------------

# A log has its own text where it tells something that no other does. test_dump_truth.py, test_counted.py and
# tests/cairn/check/test_agree.py test that what is said of any log is right.
TEXTS = [*((log, command) for log in ("small", "panic") for command in ("dump", "stat", "info", "check")),
         *((log, command) for log in ("nods", "hw", "arch") for command in ("stat", "info", "check")),
         ("circular", "stat"), *((log, "check") for log in ("circular", "lost", "fragments", "full"))]


@pytest.mark.parametrize("log, command", TEXTS)
def test_golden(log, command):
    done = cairn(command, GOLDEN / f"{log}.log")
    text = text_of(done)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    expect_text(f"{log}/{command}", text)


@pytest.mark.parametrize("log, arguments", [
    ("arch/dump", ["dump", "--from", "10ms", GOLDEN / "arch.log"]),
    ("fragments/dump", ["dump", "--until", "3ms", GOLDEN / "fragments.log"]),
    ("circular/dump", ["dump", "--until", "120ms", GOLDEN / "circular.log"]),
    ("lost/dump", ["dump", "--from", "25ms", GOLDEN / "lost.log"]),
    ("full/dump", ["dump", "--until", "2ms", GOLDEN / "full.log"]),
    ("nods/dump", ["dump", "--until", "1ms", GOLDEN / "nods.log"]),
    ("hw/dump", ["dump", "--until", "2ms", GOLDEN / "hw.log"]),
    ("small/ds", ["ds", GOLDEN / "small.log"]),
    ("full/ds", ["ds", "--cpu", "1", "--epoch", "1", "--records", "1", "--bytes", GOLDEN / "full.log"]),
    ("panic/ds", ["ds", "--records", "0", GOLDEN / "panic.log"]),
    ("hw/ds", ["ds", "--cpu", "0", "--records", "0", GOLDEN / "hw.log"]),
    ("hw/profile", ["profile", "--per", "thread", GOLDEN / "hw.log"]),
    ("plain/ds", ["ds", "--records", "1", cairn_boot.ROOT / "samples" / "plain.log"]),
    ("branches/bts", ["bts", "--until", "50ms", cairn_boot.ROOT / "samples" / "branches.log"]),
    ("small/profile", ["profile", GOLDEN / "small.log"]),
    ("circular/profile", ["profile", "--per", "thread", GOLDEN / "circular.log"]),
    ("plain/profile", ["profile", "--per", "function", "--top", "5", cairn_boot.ROOT / "samples" / "plain.log"]),
])
def test_golden_with_options(log, arguments):
    done = cairn(*arguments)
    text = text_of(done)
    assert done.returncode == 0, done.stderr
    assert all(line == line.rstrip() for line in text.splitlines())
    expect_text(log, text)


def test_standard_input_is_a_log():
    log = (GOLDEN / "small.log").read_bytes()
    assert text_of(cairn("dump", "-", data=log)) == (EXPECTED / "small" / "dump").read_text(encoding="ascii")


@pytest.mark.parametrize("cpu", "01")
def test_one_cpu_only(cpu):
    lines = text_of(cairn("dump", "--cpu", cpu, GOLDEN / "small.log")).splitlines()
    whole = (EXPECTED / "small" / "dump").read_text(encoding="ascii").splitlines()
    only = f"# only: --cpu {cpu}"
    assert [line for line in whole if line[0] == "#" or line[12:15] == f"  {cpu}"] == [
        line for line in lines if line != only] and only in lines


def test_both_kinds_of_switch_events_tell_the_same():
    def switches(option):
        out = text_of(cairn("dump", option, GOLDEN / "full.log")).splitlines()
        # who came, last on the line of a 0525H record, may be unknown; priority and state are not in the idle forms
        return [line for line in out if " > " in line]
    compact, full = switches("--compact"), switches("--full")
    assert len(compact) == len(full) == 150
    for a, b in zip(compact, full):
        assert a[:31] == b[:31]
        if "unknown" not in a:
            assert a.split(" > ")[1].split()[0] == b.split(" > ")[1].split()[0]


# ---- whose a record is: both rules ---------------------------------------------------------------------------

@pytest.mark.parametrize("command", ["dump", "stat", "check"])
def test_each_rule_finds_the_same_threads(command):
    """The log has 0524H events: their stamps leave no doubt, as here the times do not."""
    time, index = (text_of(cairn(command, "--by", rule, GOLDEN / "full.log")) for rule in ("time", "index"))
    assert time.replace("by time", "by index") == index.replace("by time", "by index")


def test_stamps_of_batches_are_ambiguous():
    out = text_of(cairn("dump", "--by", "index", "--compact", GOLDEN / "full.log"))
    records = [line for line in out.splitlines() if " * " in line]
    assert len(records) == 56 and all(line.endswith("ambiguous: several in batch") for line in records)


def test_index_tells_where_the_clock_is_missing():
    parts = frames.read((GOLDEN / "full.log").read_bytes())
    without(parts, lambda _, stream: stream == "L")
    rows = text_of(cairn("stat", "-", data=frames.write(parts))).splitlines()
    assert any(re.fullmatch(r"  attributed +0 +0.00 % +56 100.00 % +0 +0.00 %", row) for row in rows)
    assert any(re.fullmatch(r"  wrong +0 +0.00 % +0 +0.00 % +0 +0.00 %", row) for row in rows)


def test_wrong_stamps_are_seen_in_stat():
    parts = frames.read((GOLDEN / "full.log").read_bytes())
    for frame, at, hook, _ in events(parts):
        if hook == 0x0524:
            patch(parts, (frame, at), 16, struct.pack("<Q", 1 << 62))  # the first switch of an epoch takes all
    rows = text_of(cairn("stat", "-", data=frames.write(parts))).splitlines()
    wrong = next(row for row in rows if row.startswith("  wrong")).split()
    assert wrong[1] == "0" and int(wrong[4]) > 0


# ---- how sure a rule is, and what a processor does not tell -----------------------------------------------------

def words(data):
    """The word for each rule, by the rule's first words; the whole text; the exit status."""
    done = cairn("check", "-", data=data)
    rows = re.findall(r"^(.{42}) +\d+ +\d+ (verified|verified in part|consistent|cannot be known here|FAILED)$",
                      text_of(done), re.M)
    assert len(rows) >= 13
    return {rule.strip(): word for rule, word in rows}, text_of(done), done.returncode


RECORDS, THREADS = "truth: each PEBS record equal", "truth: each record's thread correct"


def test_only_what_was_compared_is_verified():
    for log, word in (("small", "verified"), ("hw", "cannot be known here"), ("panic", "cannot be known here")):
        rules, _, status = words((GOLDEN / f"{log}.log").read_bytes())
        assert status == 0 and rules[RECORDS] == rules[THREADS] == word
        for rule, found in rules.items():
            assert found == "consistent" or rule.startswith("truth: "), rule


def test_truth_in_part():
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    first, last = (place[0] for place in (truths(parts, TRUTH_PEBS)[0], truths(parts, TRUTH_PEBS)[-1]))
    assert first != last
    without(parts, lambda i, _: i == last)
    rules, text, _ = words(frames.write(parts))
    assert rules[RECORDS] == "verified in part"
    assert re.search(r"^verified in part: \d+ PEBS records have no truth$", text, re.M)


def test_ambiguous_records_are_not_verified():
    rules, text, status = words((GOLDEN / "circular.log").read_bytes())
    assert status == 0 and rules[RECORDS] == "verified" and rules[THREADS] == "verified in part"
    assert "verified in part: 9 PEBS records have no certain thread" in text


def epochs(parts):
    """(frame, offset of the payload) of each event that ends or begins a PEBS epoch."""
    return [(frame, at + 16) for frame, at, hook, _ in events(parts)
            if hook == 0xCA01 and parts[frame][1][at + 16:at + 18] == b"\1\0"]


def test_a_processors_full_buffer_is_unknown_loss():
    """Nobody may claim a number, 0 least of all."""
    unknown = b"\xff" * 8
    parts = frames.read((GOLDEN / "hw.log").read_bytes())
    full = [(frame, at) for frame, at in epochs(parts) if parts[frame][1][at + 16:at + 24] == unknown]
    assert 1 < len(full) < len(epochs(parts))
    for command, line in [("check", "^lost: an unknown number of PEBS records, in addition to 66"),
                          ("stat", "^  lost by processor +unknown   a buffer was full$"),
                          ("profile", "^# lost by the processor: unknown$"),
                          ("dump", r"= drain of epoch .* 8 records, buffer full, lost:\s+unknown$"),
                          ("ds", "^CPU 0, epoch 0: .* 8 records, lost: unknown$")]:
        found = re.findall(line, text_of(cairn(command, GOLDEN / "hw.log")), re.M)
        assert len(found) == (len(full) if command == "dump" else 1), command
    assert "\nlost: an unknown number of branch records, in addition to" in text_of(cairn("check", GOLDEN / "hw.log"))
    assert "lost: unknown" in text_of(cairn("bts", GOLDEN / "hw.log"))
    parts = frames.read((GOLDEN / "hw.log").read_bytes())
    frame, at = next((frame, at + 16) for frame, at, hook, _ in events(parts)
                     if hook == 0xCA02 and parts[frame][1][at + 32:at + 40] == unknown)
    patch(parts, (frame, at), 16, bytes(8))
    rules, text, status = words(frames.write(parts))
    assert status == 1 and rules["BTS: drains, areas, order, thread"] == "FAILED"
    for claim in (0, 1):
        parts = frames.read((GOLDEN / "hw.log").read_bytes())
        patch(parts, full[0], 16, struct.pack("<Q", claim))
        rules, text, status = words(frames.write(parts))
        assert status == 1 and rules["DS areas: base <= index <= maximum"] == "FAILED"
        records = "record" if claim == 1 else "records"
        assert f"{claim} {records} lost, but a processor does not count what a full buffer loses" in text


# ---- profile: what is counted ---------------------------------------------------------------------------------

def counts(*arguments):
    rows = text_of(cairn("profile", "--top", "1000", *arguments, GOLDEN / "full.log")).splitlines()
    return {row[21:].strip(): int(row.split()[0]) for row in rows if row[0] != "#"}


def test_profile_adds_up():
    both, threads, functions = counts(), counts("--per", "thread"), counts("--per", "function")
    assert sum(both.values()) == sum(threads.values()) == sum(functions.values()) == 56
    for thread, count in threads.items():
        assert sum(n for row, n in both.items() if row.split()[0] == thread) == count
        assert sum(counts("--thread", thread.split(":")[1]).values()) == count
    for function, count in functions.items():
        assert sum(n for row, n in both.items() if row.split()[1] == function) == count
    assert sum(sum(counts("--cpu", str(cpu)).values()) for cpu in range(2)) == 56
    assert sum(counts("--counter", "0").values()) == 56 and not counts("--counter", "32")


def test_profile_counts_no_doubtful_record_for_a_thread():
    assert counts("--per", "thread", "--by", "index") == counts("--per", "thread")
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    out = text_of(cairn("profile", "--per", "thread", "--by", "index", "-", data=frames.write(parts)))
    rows = [row for row in out.splitlines() if row[0] != "#"]
    assert [row.split(None, 3)[3] for row in rows] == ["ambiguous: several in batch"]
    assert "# 39 records; 39 whose thread is uncertain" in out


def test_another_format_is_refused():
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    parts[0] = (parts[0][0], parts[0][1].replace(b"cairn.format=1", b"cairn.format=9"))
    done = cairn("dump", "-", data=frames.write(parts))
    assert done.returncode == 3 and b"format 9" in done.stderr


# ---- damage ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("command", ["dump", "stat", "info", "check", "ds", "profile"])
def test_damaged(command):
    log = (GOLDEN / "small.log").read_bytes()
    start = log.index(b"~T00000009")
    damaged = log[:start + 50] + b"#" + log[start + 51:]
    done = cairn(command, "-", data=damaged)
    text, errors = text_of(done), done.stderr.decode()
    assert done.returncode == 1
    assert re.search(r"missing: frame 9 of 24 \(trace\): CPU \d: \d+ bytes of buffer 0; line \d+: ", errors_of(done))
    assert errors.count("missing: ") == 1 and "damaged: " not in errors
    if command == "dump":
        assert "! frame 9 of 24 missing" in text and "missing (frame 9)" in text
    if command == "check":
        assert "1 of 24 frames is missing" in text


def test_every_hole_is_shown():
    log = (GOLDEN / "full.log").read_bytes().splitlines(keepends=True)
    traced = [i for i, line in enumerate(log) if line[:2] == b"~T"]
    for i in traced[-2:0:-3]:
        del log[i]
    done = cairn("dump", "-", data=b"".join(log))
    shown = re.findall(r"^ +(\d) ! (.*) missing", text_of(done), re.M)
    for command, most in (("check", len(shown)), ("dump", 5)):
        done = cairn(command, "-", data=b"".join(log))
        reported = re.findall(r"CPU (\d): (\d+ bytes of buffer \d+|buffers? [\d.]+)", errors_of(done))
        assert set(reported) <= set(shown) and len(reported) == most
        more = re.search(r" and (\d+) more: cairn check names each", errors_of(done))
        assert (int(more[1]) if more else 0) == len(shown) - most
    assert len(shown) > 5 and max(sum(c == cpu for c, _ in shown) for cpu in "01") > 1


@pytest.mark.parametrize("stream", "MNSEU")
def test_what_is_missing_elsewhere_is_no_hole_of_a_cpu(stream):
    """Circular mode: without a frame that is not the trace's, what was overwritten is still not damage."""
    log = (GOLDEN / "circular.log").read_bytes().splitlines(keepends=True)
    gone = max(i for i, line in enumerate(log) if line[:2] == b"~" + stream.encode())
    done = cairn("dump", "-", data=b"".join(log[:gone] + log[gone + 1:]))
    assert done.returncode == 1 and not re.search(r"CPU \d", done.stderr.decode())
    assert "overwritten (circular mode)" in text_of(done)


def test_the_end_is_missing():
    log = (GOLDEN / "small.log").read_bytes()
    cut = log[:log.index(b"~T0000000b")]
    done = cairn("dump", "-", data=cut)
    assert done.returncode == 1
    assert "missing: frames 11..23 of 24" in done.stderr.decode()
    assert "it is unknown whether a CPU's last buffers are missing" in done.stderr.decode()
    whole = (EXPECTED / "small" / "dump").read_text(encoding="ascii").splitlines()
    for line in text_of(done).splitlines():
        expected = any(word in line for word in ("unknown", "!", "ambiguous", "(others are")) or not line[:18].strip()
        assert line in whole or expected, line


def test_the_truths_end_is_missing(tmp_path):
    """What is left of the truth verifies a part, of a session's starts and stops, too."""
    parts = frames.read((GOLDEN / "full.log").read_bytes())
    first = next(i for i, (stream, _) in enumerate(parts) if stream == "U")
    (tmp_path / "log").write_bytes(frames.write(parts[:first + 1]))
    text = text_of(cairn("check", tmp_path / "log"))
    assert re.search(r"^truth: each start, stop, change of masks +[1-3] +0 verified in part$", text, re.M)
    assert re.search(r"^truth: each 0525H switch equal, in order +[1-9]\d* +0 verified in part$", text, re.M)
    assert re.search(r"starts, stops or changes of\s+masks have no truth", text)


def damage(*arguments, sanitized=True, timeout=1200):
    program = cairn_boot.BUILD / ("cairn-damage-san" if sanitized else "cairn-damage")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=timeout, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


@pytest.fixture(scope="module")
def large_log(tmp_path_factory):
    log = tmp_path_factory.mktemp("large") / "large.log"
    with open(log, "wb") as file:
        subprocess.run([cairn_boot.BUILD / "make_golden", "large", "20000"], stdout=file, check=True)
    return log


@pytest.mark.parametrize("keys", ["the kernel's", "others"])
def test_8bit_lines_tell_the_same(tmp_path, keys):
    """As base64 does, by every command, but for the sizes in the header; and they are three quarters as long."""
    small, line8 = GOLDEN / "small.log", GOLDEN / "line8.log"
    parts = frames.read(line8.read_bytes())
    assert [part for part in parts if part[0] != "H"] == [part for part in frames.read(small.read_bytes())
                                                          if part[0] != "H"]
    log = tmp_path / "small.log"
    log.write_bytes(line8.read_bytes() if keys == "the kernel's" else frames.write(parts, True))
    for words in (["dump"], ["stat"], ["check"], ["ds"], ["profile"], ["bts"], ["locks"], ["top", "--once"],
                  ["export", "--to", "json"]):
        done, expected = (re.sub(rb'"dump.bytes":.*"dump.cause":"end"(,"dump.line":"8bit")?', b"", it.stdout)
                          for it in (cairn(*words, log), cairn(*words, small)))
        assert done == expected, words
    said = [re.search(r"all +\d+ +\d+ +(\d+) characters, overhead (\S+) %", text_of(cairn("info", "--all", path)))
            for path in (log, small)]
    if keys == "the kernel's":
        assert int(said[0][1]) < 0.8 * int(said[1][1]) and float(said[0][2]) < 10 < float(said[1][2])


def test_symbols_near_the_kernel_tell_the_same():
    """+ADDRESS counts from where the kernel is linked; other addresses beside them stay whole."""
    whole = frames.read((GOLDEN / "small.log").read_bytes())
    near = [(s, re.sub(rb"^ffffffff8(?!0001180)", b"+", p, flags=re.M) if s == "S" else p) for s, p in whole]
    assert any(p.startswith(b"+0001000 180 kernel_main\nffffffff80001180 ") for s, p in near if s == "S")
    expected, done = (text_of(cairn("profile", "-", data=frames.write(parts))) for parts in (whole, near))
    assert done == expected and "workload_hash" in done


@pytest.mark.parametrize("log", ["small", "line8"])
@pytest.mark.parametrize("step", [211, cairn_boot.long(1)])
def test_every_damage(log, step):
    """Every line, every STEPth bit."""
    assert (GOLDEN / f"{log}.log").stat().st_size <= 32768
    damage("each", GOLDEN / f"{log}.log", step, sanitized=False)


@pytest.mark.parametrize("log", [*LOGS, "line8"])
@pytest.mark.parametrize("kind, amount", [("random", 8), cairn_boot.long("random", 60), cairn_boot.long("each", 9001)])
def test_some_damage_sanitized(log, kind, amount):
    damage(kind, GOLDEN / f"{log}.log", amount)


def test_cut_frame_that_the_next_line_completes(tmp_path):
    """A console line may begin with the very digits a frame's checksum has lost: nothing is missing then."""
    lines = (GOLDEN / "nods.log").read_bytes().splitlines(keepends=True)
    first, other = [i for i, line in enumerate(lines) if line[:1] == b"~"][1:3]
    lines[other] += lines[other].strip()[-1:] + b"airn: one digit\r\n"
    lines[first] += lines[first].strip()[-3:] + b": three\r\n"
    (tmp_path / "log").write_bytes(b"".join(lines))
    damage("each", tmp_path / "log", 1000003, sanitized=False)


def test_random_damage(large_log):
    damage("random", large_log, 40, sanitized=False)


@pytest.mark.long
def test_random_damage_10000(large_log):
    damage("random", large_log, 10000, 7, sanitized=False)


@pytest.mark.long
@pytest.mark.parametrize("log", ["full", "circular", "lost", "panic"])
def test_every_damage_of_the_others(log):
    damage("each", GOLDEN / f"{log}.log", 3, sanitized=False)


@pytest.mark.long
def test_every_damage_sanitized():
    damage("each", GOLDEN / "small.log")


# ---- what a cut log is said to be --------------------------------------------------------------------------

def shares(text):
    rows = text[text.index("\nCPU "):].splitlines()[2:]
    return [[float(n) for n in re.findall(r"([0-9.]+) %", row)] for row in rows[:rows.index("")]]


@pytest.mark.parametrize("log", LOGS)
def test_shares_of_the_session(log):
    whole = shares(text_of(cairn("stat", GOLDEN / f"{log}.log")))
    assert all(abs(sum(row) - 100) < 0.03 for row in whole)
    if log == "lost":
        assert all(row[2] > 10 for row in whole)


def test_kind_of_switches_without_the_session():
    """Without the session stream the events say what there is: 0524H, which know who came."""
    parts = frames.read((GOLDEN / "full.log").read_bytes())
    log = frames.write(parts).splitlines(keepends=True)
    done = cairn("dump", "-", data=b"".join(line for line in log if line[1:2] != b"L"))
    switches = [line for line in text_of(done).splitlines() if " > " in line]
    assert done.returncode == 1 and len(switches) == 150 and "unknown" not in "".join(switches)


def test_cpu_of_which_nothing_is_left():
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    without(parts, lambda i, s: s == "T" and struct.unpack_from("<H", parts[i][1], 8)[0] == 1)
    assert shares(text_of(cairn("stat", "-", data=frames.write(parts))))[1] == [0, 0, 100]


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("step", [5, cairn_boot.long(1)])
def test_only_the_frames_rule_fails_on_a_cut_log(log, step):
    """Behind every STEPth frame, and before the last ones."""
    data = (GOLDEN / f"{log}.log").read_bytes()
    starts = [m.start() for m in re.finditer(rb"~[TEUZ]", data)][1:]
    for start in {*starts[::step], *starts[-3:]}:
        text = text_of(cairn("check", "-", data=data[:start]))
        rules = set(re.findall(r"^FAIL (\w+):", text, re.MULTILINE))
        assert rules <= {"frames", "buffers"} and "frames" in rules, text
        assert "boot with truth=1" not in text or log == "panic"


def test_truth_that_did_not_hold_all():
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    for i, (stream, payload) in enumerate(parts):
        if stream == "E":
            parts[i] = ("E", re.sub(rb"(end\.cpu\.0\.truth=\d+ \d+) 0", rb"\1 7", payload))
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == 0
    assert re.search(r"PASS, but the truth covers only \d+ of \d+ switches", text_of(done).splitlines()[-1])


# ---- stat of one CPU, and of what is not there ---------------------------------------------------------------

@pytest.mark.parametrize("log", LOGS)
def test_stat_of_each_cpu_adds_up(log):
    """The same sections in the same order, and the figures of the CPUs add up to those of all."""
    figures = r"^(events|switches, \w+|truth|  events lost|  switches lost|  PEBS records|  branch records) +(\d+) "
    whole, *each = [text_of(cairn("stat", *option, GOLDEN / f"{log}.log"))
                    for option in ([], ["--cpu", "0"], ["--cpu", "1"])]
    sums = {}
    for text in each:
        titles = [re.sub(", all CPUs", "", line) for line in text.splitlines() if line[:1] not in ("", " ")]
        assert sum(title.startswith("only: --cpu ") for title in titles) == 1
        titles = [title for title in titles if not title.startswith("only: ")]
        wanted = [line for line in whole.splitlines() if line[:1] not in ("", " ")]
        assert [title.split()[0] for title in titles] == [line.split()[0] for line in wanted]
        for name, count in re.findall(figures, text, re.M):
            sums[name] = sums.get(name, 0) + int(count)
    found = {name: int(count) for name, count in re.findall(figures, whole, re.M)}
    assert sums == found and len(found) >= 4
    assert sorted(row for text in each for row in shares(text)) == sorted(shares(whole))


@pytest.mark.parametrize("log, option, row", [
    ("panic", "truth", "truth                        none   boot with truth=1"),
    ("nods", None, "  PEBS records               none   no PEBS buffer was drained"),
    ("small", "bts", "  branch records             none   boot with bts=circular or bts=interrupt"),
    ("small", "ds.log", "  model's own log            none   boot with ds.log=1"),
    ("hw", None, "  model's own log            none   a processor keeps none"),
    ("small", None, "switches, full               none   the session wrote none"),
])
def test_stat_says_what_there_is_not(log, option, row):
    assert row in text_of(cairn("stat", GOLDEN / f"{log}.log")).splitlines()
    if option:  # what was asked for cannot be asked for again
        parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
        machine = next(i for i, part in enumerate(parts) if part[0] == "M")
        parts.insert(machine + 1, ("M", f"option.{option}=1\n".encode()))
        rows = text_of(cairn("stat", "-", data=frames.write(parts))).splitlines()
        assert row.replace(row[36:], "requested, but not in this log") in rows


def test_panic_whose_reason_is_missing():
    log = (GOLDEN / "panic.log").read_bytes().splitlines(keepends=True)
    for command in ("dump", "stat", "check"):
        text = text_of(cairn(command, "-", data=b"".join(line for line in log if line[1:2] != b"E")))
        assert "the guest panicked; the reason is missing in this log" in text


@pytest.mark.parametrize("log, options, status", [("small", ["--full"], 1), ("full", ["--full", "--compact"], 2)])
def test_kind_that_is_not_there(log, options, status):
    done = cairn("dump", *options, GOLDEN / f"{log}.log")
    assert done.returncode == status and text_of(done, refused=status == 2) == ""
