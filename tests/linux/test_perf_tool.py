# SPDX-License-Identifier: MIT
"""tools/qemu-ds/perf.py: perf for a program of this machine, where there is no PMU. What goes in, what comes out, and
what it says of counts that are compared."""

import json
import re
import subprocess

import guest
import perf
import pytest

pytestmark = pytest.mark.xdist_group("icelake")  # one boots, for all, and for test_docs.py
TOOL = guest.HERE / "perf.py"
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words)
{
    char line[99] = "nothing\n";
    FILE *file = count > 1 ? fopen(words[1], "r") : NULL;
    long sum = 0;
    for (int c; file && (c = getc(file)) != EOF;)
        sum += c;
    if (!fgets(line, sizeof line, stdin))
        fprintf(stderr, "no line\n");
    printf("%ld %s", sum, line);
    return count > 2 ? atoi(words[2]) : 0;
}
"""


@pytest.fixture(scope="module", name="place")
def folder_with_a_program(tmp_path_factory):
    place = tmp_path_factory.mktemp("a place")
    (place / "p.c").write_text(SOURCE, encoding="ascii")
    subprocess.run(["gcc", "-O2", "-g", "-static", "-o", place / "p", place / "p.c"], check=True)
    (place / "short").write_text("a" * 1000, encoding="ascii")
    (place / "long").write_text("a" * 1010, encoding="ascii")
    return place


@pytest.fixture(scope="module", name="run")
def runs(place):
    def run(*words, line="", status=0):
        done = subprocess.run([TOOL, *words], input=line, cwd=place, capture_output=True, text=True, check=False)
        assert done.returncode == status, done
        return done
    return run


STAT = ("stat", "-e", "instructions:u", "--")


def test_what_comes_out(run):
    """Both streams, the status, and counts that are the same each time."""
    done = [run(*STAT, "./p", "short", "7", line="hello\n", status=7) for _ in range(2)]
    for one in done:
        assert one.stdout == f"{1000 * ord('a')} hello\n" and "no line" not in one.stderr
    counted = [perf.counts(one.stderr) for one in done]
    assert counted[0] == counted[1] and counted[0]["instructions:u"] > 1000
    assert "no line\n" in run(*STAT, "./p").stderr


def test_record_and_report(run, place):
    (place / "perf.data").write_bytes(b"of an earlier run")
    run("record", "-q", "-c", "101", "-e", "instructions:upp", "--", "./p", "p.c")
    assert (place / "perf.data").read_bytes().startswith(b"PERFILE2")
    assert re.search(r"%\s+p\s+p\s+\[\.\] (main|getc|_IO_getc)", run("report", "--stdio").stdout)
    (place / "perf.data").rename(place / "other")
    assert set(run("script", "-i", "other", "-F", "comm").stdout.split()) == {"p"}


def test_compare(run, place):
    def tool(option, name, status=0):
        return run(option, "counts.json", *STAT, "./p", name, line="x\n", status=status).stderr.splitlines()[-1]

    tool("--save", "short")
    path = place / "counts.json"
    [kept] = json.loads(path.read_text(encoding="utf-8")).values()
    count = kept["instructions:u"]
    assert tool("--check", "short") == f"perf.py: ./p short: instructions:u: {count}, +0 (+0.00 %): right"
    path.write_text(json.dumps({"./p long": kept}), encoding="utf-8")
    assert tool("--check", "long", status=1).endswith(": too many")  # it reads more
    assert "ended with 3, so that its counts are not compared" in run("--check", path, *STAT, "./p", "short", "3",
                                                                      status=2).stderr


def test_files_of_counts(tmp_path):
    """One is added to those that are there; none is made up."""
    path = tmp_path / "counts.json"
    save, check = (perf.parser().parse_args([option, str(path), "stat"]) for option in ("--save", "--check"))
    for name in ("./p long", "./p short"):
        with pytest.raises(perf.Wrong, match=f"^.*/counts.json: has no counts of '{name}': put them there with --save"):
            perf.judge(check, name, " 1000 instructions:u\n")
        assert perf.judge(save, name, " 1000 instructions:u\n") == 0
        assert perf.judge(check, name, " 1000 instructions:u\n") == 0
    assert set(json.loads(path.read_text(encoding="utf-8"))) == {"./p long", "./p short"}


def test_what_the_program_prints_is_no_count():
    """perf's own lines come last."""
    said = ("    42 apples\n Performance counter stats for './p':\n\n    1,234      instructions:u\n\n"
            "    0.1 seconds user\n")
    assert perf.counts(said) == {"instructions:u": 1234}


@pytest.mark.parametrize("kept, percent, status, verdict", [
    (1000, 0, 0, "1000, +0 (+0.00 %): right"),
    (999, 0, 1, "1000, +1 (+0.10 %): too many"),
    (999, 0.2, 0, "1000, +1 (+0.10 %): right"),
    (1001, 0, 0, "1000, -1 (-0.10 %): fewer"),
    (0, 5, 1, "1000, +1000 (+100000.00 %): too many"),
])
def test_verdicts(capsys, kept, percent, status, verdict):
    assert perf.compare("./p", {"instructions:u": 1000, "cycles": 9}, {"instructions:u": kept}, percent) == status
    assert capsys.readouterr().err == f"perf.py: ./p: instructions:u: {verdict}\n"


def test_an_event_that_was_not_counted():
    with pytest.raises(perf.Wrong, match="^cycles is in the file, but was not counted$"):
        perf.compare("./p", {"instructions:u": 1000}, {"cycles": 9}, 0)


NO_PROGRAM = "which program? It stands behind '--', as in: stat -e instructions:u -- ./program"


@pytest.mark.parametrize("words, why", [
    ((), "which of perf's commands? For instance: stat -e instructions:u -- ./program"),
    (("--", "./p"), "which of perf's commands? For instance: stat -e instructions:u -- ./program"),
    (("stat", "./p"), NO_PROGRAM),
    (("mem", "record"), NO_PROGRAM),
    (("stat", "--", "no-such-program"), "no-such-program: is no program of this machine"),
    (("stat", "--", "./short"), "./short: is no program of this machine"),
    (("report", "-i", "none"), r"\S*/none: is not there: 'record' writes it"),
    (("--with", "none", "stat", "--", "./p"), r"--with \S*none: is not there"),
    (("--check", "counts.json", "record", "--", "./p"), "--save and --check compare what 'stat' counts"),
    (("stat", "--", "x" * 300), "x{300}: is no program of this machine"),
])
def test_wrong_arguments(run, words, why):
    done = run(*words, status=2)
    assert not done.stdout and re.fullmatch(f"perf.py: {re.escape(why) if '?' in why else why} \\(--help\\)\n",
                                            done.stderr.replace("a place", "a-place"))


@pytest.mark.parametrize("words, data", [
    (["stat", "-o", "x"], (None, False)),
    (["record"], ("perf.data", True)),
    (["record", "-o", "x"], ("x", True)),
    (["record", "-ox"], ("x", True)),
    (["record", "--output=x"], ("x", True)),
    (["mem", "record"], ("perf.data", True)),
    (["mem", "-t", "load", "record", "-o", "x"], ("x", True)),
    (["stat", "-e", "cycles", "record"], (None, False)),
    (["c2c", "report", "-i", "x"], ("x", False)),
    (["script", "--input", "x"], ("x", False)),
    (["list"], (None, False)),
])
def test_the_file_of_perf(words, data):
    name, writes = data
    assert perf.data_of(words) == (name and perf.absolute(name), writes)


def test_what_is_brought(place, monkeypatch):
    """A word that is too long for a name is no file. The guest's own folders stay as they are."""
    monkeypatch.chdir(place)
    words = ["./p", "short", "x" * 300, "/proc/cpuinfo", "none"]
    assert set(perf.brought([], words, None, []).values()) == {place / "short", place / "p"}


def test_where_perf_writes():
    assert "mkdir -p /out/files /work /else/where\n" in perf.script(["record"], [], perf.Path("/else/where/x")).replace(
        perf.os.getcwd(), "/work")


def test_save_or_check(run):
    assert "not allowed with" in run("--save", "one", "--check", "other", *STAT, "./p", status=2).stderr


@pytest.mark.parametrize("option", ["--check", "--save"])
@pytest.mark.parametrize("text", ["{", "[]", '{"./p": 1}'])
def test_a_file_without_counts(tmp_path, option, text):
    (tmp_path / "counts").write_text(text, encoding="utf-8")
    options = perf.parser().parse_args([option, str(tmp_path / "counts"), "stat"])
    with pytest.raises(perf.Wrong, match="^.*/counts: is no file of --save$"):
        perf.judge(options, "./p", " 1000 instructions:u\n")
    assert (tmp_path / "counts").read_text(encoding="utf-8") == text
