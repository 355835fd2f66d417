# SPDX-License-Identifier: MIT
"""`cairn diff`: expected text for golden logs, its numbers those of other commands, how sure it is, bad input."""

import re
import subprocess

import pytest

import cairn_boot
from cairn_tool import GOLDEN, cairn, errors_of, expect_text, text_of
from said import path_of, rows

SAMPLES = GOLDEN.parent.parent / "samples"


def compared(*arguments):
    done = cairn("diff", *arguments)
    assert done.returncode == 0 and done.stderr == b"", done.stderr.decode()
    return text_of(done)


@pytest.mark.parametrize("a, b", [("small", "full"), ("plain", "small"), ("lost", "small"), ("locks", "nods"),
                                  ("windows-10240-64", "windows-19041-64")])
def test_golden(a, b):
    expect_text(f"{a}/{b}.diff", compared(path_of(a), path_of(b)))


@pytest.mark.parametrize("log", ["small", "plain", "locks", "sessions", "hw", "windows-cycles"])
def test_a_log_is_like_itself(log):
    options = ["--session", "1"] if log == "sessions" else []
    text = compared("--top", "1000", *options, path_of(log), path_of(log))
    assert "what differs" not in text and "~ chance alone" not in text
    assert re.search(r"^no difference: \d+ threads, wait reasons, functions and locks are equal$", text, re.M)
    found = rows(text)
    assert found and all(a == b and float(change.split()[0]) == 0 for a, b, change, _ in found.values())
    assert all(mark for _, _, _, mark in found.values())  # nothing is more than chance


def test_numbers_are_those_of_stat():
    found = rows(compared("--top", "1000", path_of("plain"), path_of("small")))
    for side, log in enumerate(("plain", "small")):
        text = text_of(cairn("stat", "--top", "1000", path_of(log)))
        busy = text[text.index("threads by time"):text.index("Debug Store")]
        threads = {name: float(share) for name, share in re.findall(r"^  (\S+):\d+ +([\d.]+) %", busy, re.M)}
        assert threads
        for name, share in threads.items():
            assert found["threads", name][side] == pytest.approx(share, abs=0.011)
        profile = text_of(cairn("profile", "--per", "function", "--top", "1000", path_of(log)))
        functions = dict(re.findall(r"^ +\d+ +([\d.]+) %   (\S+)$", profile, re.M))
        assert functions
        for share, name in functions.items():
            assert any(key == ("functions", name) and row[side] == float(share) for key, row in found.items())


def test_what_differs_is_told():
    text = compared(path_of("plain"), path_of("small"))
    assert re.search(r"^  option\.workload +mix +script$", text, re.M)
    assert "(emulated)" in text.splitlines()[0]
    assert "(emulated)" not in compared(path_of("hw"), path_of("hw")).splitlines()[0]
    assert "A: plain.log (emulated)" == text.splitlines()[0] and "B: small.log (emulated)" in text


def test_what_an_etl_file_cannot_tell_is_no_difference(tmp_path):
    assert cairn("export", "--to", "etl", path_of("plain"), "-o", tmp_path / "plain.etl").returncode == 0
    assert cairn("export", "--to", "etl", "--strict", path_of("plain"), "-o", tmp_path / "strict.etl").returncode == 0
    assert "no difference: " in compared(path_of("plain"), tmp_path / "plain.etl")
    plain, strict = path_of("plain"), tmp_path / "strict.etl"
    for a, b, letter in ((plain, strict, "A"), (strict, plain, "B")):
        text = compared(a, b)
        assert "what differs" not in text and "no difference: " in text
        assert re.search(rf"^\d+ keys of machine and run are only in {letter}: ", text, re.M)


def test_rates_are_of_the_time_that_is_known():
    """Where switches are missing a CPU was not idle, nor was it slow: nobody knows."""
    text = cairn("diff", path_of("plain"), path_of("damaged")).stdout.decode()
    assert "   2 CPUs, 2.708 s, 375 switches, 41 PEBS records; 22.7 % of time unknown" in text
    stat = cairn("stat", path_of("damaged")).stdout.decode()
    cpus = re.findall(r"^ +\d+ +\d+ +([\d.]+) % +([\d.]+) % +[\d.]+ %$", stat, re.M)
    shares = [[float(x) for x in row] for row in cpus]
    busy, idle = (sum(column) for column in zip(*shares))
    found = rows(text)
    assert found["whole run", "CPUs busy, %"][1] == pytest.approx(100 * busy / (busy + idle), abs=0.02)
    assert found["whole run", "switches a second"][1] == pytest.approx(375 / 2.7087 / (busy + idle) * 200, rel=0.001)


@pytest.fixture(scope="module", name="runs")
def made_runs(tmp_path_factory):
    """Two runs of one script with different seeds, and one of another number of CPUs."""
    folder = tmp_path_factory.mktemp("runs")
    for name, cpus, seed in (("one", 4, 1), ("other", 4, 2), ("wide", 8, 1)):
        with (folder / name).open("wb") as file:
            subprocess.run([cairn_boot.BUILD / "make_golden", "large", "20000", str(cpus), str(seed)], stdout=file,
                           check=True)
    return folder


def test_chance_is_told_apart(runs):
    """Runs of another seed differ by chance alone; twice as many CPUs are more than that."""
    same = rows(compared("--top", "1000", runs / "one", runs / "other"))
    marked = [row for row in same.values() if row[3]]
    assert len(same) > 20 and len(marked) >= 0.95 * len(same), same
    wide = rows(compared(runs / "one", runs / "wide"))
    assert wide["whole run", "switches a second"][3] == ""


def test_few_are_no_judgement():
    found = rows(compared("--top", "1000", path_of("plain"), path_of("small")))
    assert found["functions", "kwait"][3] == "?"  # 6 records and none
    assert found["functions", "kpart_compute"][3] == ""  # 34 and none


def test_bad_input(tmp_path):
    small, damaged = path_of("small"), path_of("damaged")
    done = cairn("diff", small, damaged)
    assert done.returncode == 1 and f"{damaged}:\nmissing: ".encode() in done.stderr and done.stdout
    assert f"{small}:".encode() not in done.stderr
    assert re.search(rb"the log is damaged +no +yes", done.stdout)
    for arguments in ([small], [small, small, small], []):
        done = cairn("diff", *arguments)
        assert done.returncode == 2 and b"two LOGs" in done.stderr
    done = cairn("diff", "-", "-", data=small.read_bytes())
    assert done.returncode == 2 and b"only one of the two LOGs" in done.stderr
    (tmp_path / "empty").write_bytes(b"")
    for arguments in ([small, tmp_path / "empty"], [tmp_path / "empty", small], [small, tmp_path / "none"]):
        assert cairn("diff", *arguments).returncode == 3
    assert cairn("diff", "--elf", tmp_path / "none", small, small).returncode == 3
    assert cairn("diff", "-", small, data=small.read_bytes()).returncode == 0


@pytest.mark.parametrize("part", [["--cpu", "0"], ["--from", "1s", "--until", "1.5s"], ["--thread", "hog*"],
                                  ["--reason", "Wr*,Ready"], ["--cpu", "1", "--thread", "*/0", "--from", "0.5s"]],
                         ids=" ".join)
def test_a_part(part):
    """Of both: the counts are those of dump of the same part, and a log is no other than itself in part, too."""
    plain = path_of("plain")
    text, dump = text_of(cairn("diff", *part, plain, plain)), text_of(cairn("dump", *part, plain))
    switches, records = (len(re.findall(rf"^ +[\d.]+ +\d+ {mark}", dump, re.M)) for mark in (r"  \S.* > ", r"\* "))
    counted = re.findall(r", (\d+) switch(?:es)?, (\d+) PEBS records?", text)
    assert counted == 2 * [(str(switches), str(records))] and switches
    assert f"\nonly: {' '.join(part)}\n" in text and "\nno difference: " in text


def test_parts_of_time_are_compared():
    """What changed: here that the run's end is another one than its beginning."""
    text = text_of(cairn("diff", "--until", "1s", path_of("plain"), path_of("damaged")))
    assert len(re.findall(r"^   2 CPUs, 1\.000 s, ", text, re.M)) == 2


def test_a_part_that_is_empty():
    for part, words in ((["--from", "99s"], "plain.log: nothing in it matches --from 99s"),
                        (["--thread", "nobody"], "plain.log: --thread nobody: no thread of this trace has that name")):
        done = cairn("diff", *part, path_of("plain"), path_of("plain"))
        assert done.returncode in (1, 2) and words in errors_of(done) and not done.stdout
