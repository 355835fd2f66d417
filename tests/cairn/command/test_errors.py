# SPDX-License-Identifier: MIT
"""What is said, and the exit status, where a command cannot do what it was asked for: what, where, what to do."""

import bz2
import gzip
import lzma
import subprocess

import pytest

from cairn_tool import CAIRN, GOLDEN, cairn, errors_of, on_a_terminal, text_of

SMALL = GOLDEN / "small.log"


@pytest.mark.parametrize("arguments, status, word", [
    ([], 2, "usage"),
    (["frobnicate"], 2, "cairn: 'frobnicate' is neither a command nor a file; see 'cairn help'\n"),
    (["dmup"], 2, "did you mean 'dump'?"),
    (["help", "exprot"], 2, "did you mean 'export'?"),
    (["version"], 2, "'version' is neither a command nor a file; see 'cairn help'"),
    (["-V"], 2, "'-V' is not an option of cairn, which has only --help, --version and --no-pager"),
    (["--no-pager"], 2, "usage"),
    (["--no-pager", "-V"], 2, "'-V' is not an option of cairn"),
    (["--bogus", "a"], 2, "'--bogus' is not an option"),
    (["dump"], 2, "give one LOG (- is standard input)"),
    (["dump", "a", "b"], 2, "2 arguments are given, but dump takes one LOG"),
    (["top", "a", "b"], 2, "2 arguments are given, but top takes one LOG"),
    (["capture"], 2, "give one DEV"),
    (["decode"], 2, "give one FILE (- is standard input)"),
    (["ds", "--life", SMALL], 2, "is taken as the CPU:RECORD of --life; give one LOG after it"),
    (["dump", "--cpu", "0"], 2, "'0' is taken as the LIST of --cpu; give one LOG after it"),
    (["decode", "/dev/null"], 3, "/dev/null is empty"),
    (["decode", "--format", "7", "a"], 2, "--format 7: must be 0 to 6 or 15"),
    (["decode", "--format", "4", "--arch", "a"], 2, "give one of them"),
    (["decode", "--preset", "z80", "a"], 2, "must be one of penryn, nehalem, "),
    (["decode", "--area", "--arch", "a"], 2, "--area decodes no records"),
    (["decode", "--area", "--preset", "pantherlake", "a"], 2, "has no DS area"),
    (["decode", "--format", "3", "--data-cfg", "0x3", "a"], 2, "only to records of formats 4 to 6"),
    (["decode", "--at", "here", "a"], 2, "--at here: not a number: decimal, or hexadecimal with 0x"),
    (["diff", "a"], 2, "1 argument is given, but diff takes two LOGs"),
    (["dump", "--cpu", "x", "a"], 2, "--cpu x: must be numbers from 0 to 2047"),
    (["dump", "--cpu", "2048", "a"], 2, "--cpu 2048"),
    (["dump", "--cpu", "7", GOLDEN / "small.log"], 2, "this trace has 2 CPUs, numbered from 0"),
    (["check", "--frob", "a"], 2, "unrecognized option"),
    (["stat", "--top", "0", "a"], 2, "--top 0"),
    (["stat", "--by", "thyme", "a"], 2, "--by thyme: must be time or index"),
    (["ds", GOLDEN / "nods.log"], 1, "no drain of a Debug Store"),
    (["ds", "--epoch", "99", GOLDEN / "small.log"], 1, "there is no drain of epoch 99"),
    (["ds", "--cpu", "2", GOLDEN / "small.log"], 2, "this trace has 2 CPUs, numbered from 0"),
    (["ds", "--life", "0:1", GOLDEN / "small.log"], 1, "this log does not have the model's log"),
    (["bts", GOLDEN / "small.log"], 1, "boot with bts=circular"),
    (["profile", GOLDEN / "nods.log"], 1, "no PEBS records in this log"),
    (["profile", "--cpu", "1", "--thread", "999", GOLDEN / "small.log"], 1, "no PEBS records match the given CPU"),
    (["stat", "--cpu", "2", GOLDEN / "small.log"], 2, "this trace has 2 CPUs, numbered from 0"),
    (["profile", "--per", "moon", "a"], 2, "--per moon: must be both, thread, function or line"),
    (["profile", "--per", "line", GOLDEN / "small.log"], 2, "give it with --elf FILE"),
    (["profile", "--elf", "/dev/null", GOLDEN / "small.log"], 3, "/dev/null"),
    (["capture", "-"], 2, "-o LOG"),
    (["capture", "/dev/null,1", "-o", "/dev/null"], 2, "115200"),
    (["dump", "/no/such/log"], 3, "No such file"),
    (["dump", ""], 3, "the name of a file is empty"),
    (["dump", "/dev/null"], 3, "/dev/null is empty"),
    (["stat", GOLDEN], 3, "is a folder; give a file"),
    (["dump", CAIRN], 3, "not a trace"),
    (["dump", "--elf", "/dev/null", GOLDEN / "small.log"], 3, "/dev/null"),
    (["dump", "--dump", "2", GOLDEN / "small.log"], 3, "the log has no dump 2"),
    (["export", "--to", "json", GOLDEN / "small.log", "-o", GOLDEN], 3, "is a folder; name a file with -o"),
    (["export", "--to", "json", GOLDEN / "small.log", "-o", "/no/such/file"], 3, "file: its folder does not exist"),
    (["export", "--to", "json", GOLDEN / "small.log", "-o", ""], 3, "the name of a file is empty"),
    (["export", "--to", "ctf", GOLDEN / "small.log", "-o", "/no/such/one"], 3, "one: its folder does not exist"),
    (["export", "--to", "etl", GOLDEN / "windows-cycles.etl", "-o", "/no"], 1, "cycles.etl: is already an ETL file"),
    (["capture", "/no/such/device", "-o", "/dev/null"], 3, "No such file"),
])
def test_status(arguments, status, word):
    done = cairn(*arguments)
    assert b"Sanitizer" not in done.stderr
    assert done.returncode == status
    assert word.strip() in errors_of(done)
    if "\n" in word:
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["stat", "--help"], ["info", GOLDEN / "small.log"]])
def test_output_that_cannot_be_written(arguments):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([CAIRN, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 3 and b"No space left" in done.stderr


def test_unknown_option():
    done = cairn("dump", "--frob", "a")
    assert done.stderr.decode().splitlines()[1:] == ["usage: cairn dump [options] LOG   (cairn dump --help)"]


def test_help_of_all():
    text = text_of(cairn("--help"))
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize("command", ["dump", "stat", "info", "check", "ds", "profile", "bts", "capture", "export"])
def test_help(command):
    done = cairn(command, "--help")
    assert done.returncode == 0
    assert text_of(done).startswith(f"usage: cairn {command}")
    assert all(len(line) <= 80 for line in text_of(done).splitlines())


@pytest.mark.parametrize("pack, how", [(gzip.compress, "zcat"), (lzma.compress, "xzcat"), (bz2.compress, "bzcat")])
def test_a_packed_log_says_how_to_unpack_it(pack, how, tmp_path):
    packed = tmp_path / "log"
    packed.write_bytes(pack(SMALL.read_bytes()))
    for done in (cairn("dump", packed), cairn("dump", "-", data=packed.read_bytes())):
        assert done.returncode == 3 and not done.stdout
        assert f"unpack it first: {how} FILE | cairn dump -" in errors_of(done)


# ---- export ----------------------------------------------------------------------------------------------------------

def test_output_dash_is_standard_output(tmp_path):
    plain = cairn("export", "--to", "json", SMALL)
    dash = subprocess.run([CAIRN, "export", "--to", "json", "-o", "-", SMALL], cwd=tmp_path, capture_output=True,
                          check=False)
    assert dash.returncode == 0 and plain.stdout == dash.stdout != b"" and not list(tmp_path.iterdir())
    for form in ("etl", "ctf", "sqlite", "perf.data"):
        done = subprocess.run([CAIRN, "export", "--to", form, "-o", "-", SMALL], cwd=tmp_path, capture_output=True,
                              check=False)
        assert done.returncode == 2 and f"{form} cannot go to standard output" in errors_of(done)
        assert not list(tmp_path.iterdir())


def test_strict_is_for_etl():
    for form in ("json", "html"):
        done = cairn("export", "--to", form, "--strict", SMALL)
        assert done.returncode == 2 and not done.stdout and "--strict is only for --to etl" in errors_of(done)


def test_what_is_not_text_goes_to_no_terminal():
    done = on_a_terminal("export", "--to", "perfetto", SMALL)
    assert (done.returncode, done.stdout) == (2, b"")
    done = on_a_terminal("export", "--to", "folded", SMALL)
    assert done.returncode == 0 and b";workload_spin 1" in done.stdout


@pytest.mark.parametrize("form", ["json", "html", "svg", "perfetto"])
def test_a_full_disk_is_named(form):
    done = cairn("export", "--to", form, "-o", "/dev/full", SMALL)
    assert done.returncode == 3 and "/dev/full: No space left on device" in errors_of(done)
