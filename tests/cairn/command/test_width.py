# SPDX-License-Identifier: MIT
"""Every line of every command fits 80 columns: with options on logs that have the most to tell, in every --help and
refusal. cairn_tool.cairn asserts it of what other tests run; with `make test-all`, test_sanitized.py runs every command
on every log."""

import re

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, WIDTH, cairn, text_of, with_keys

SAMPLES = sorted((cairn_boot.ROOT / "samples").glob("*.log"))
RICH = ("full", "hw", "bts", "ring", "life", "sessions", "arch", "damaged")  # all there is to tell is in one of these
LOGS = [path for path in (*sorted(GOLDEN.glob("*.log")), *SAMPLES) if path.stem in RICH]
COMMANDS = ["dump", "stat", "info", "check", "ds", "bts", "profile", "locks"]
VARIANTS = [*([command] for command in COMMANDS),
            ["dump", "--compact"], ["dump", "--full"], ["dump", "--cpu", "1"], ["dump", "--by", "index"],
            ["stat", "--cpu", "0"], ["stat", "--by", "index", "--top", "1000"], ["check", "--by", "time"],
            ["info", "--all"], ["info", "--next"],
            ["ds", "--records", "1000", "--bytes", "--by", "index"], ["ds", "--epoch", "1"],
            *(["ds", "--life", f"{cpu}:{record}"] for cpu in (0, 1) for record in (0, 1, 5)),
            ["bts", "--thread", "12"], *(["profile", "--per", per] for per in ("thread", "function"))]


def too_wide(done):
    text_of(done, refused=True)  # no sanitizer's report among it
    lines = (done.stdout + done.stderr).decode("ascii").splitlines()
    return [line for line in lines if len(line) > WIDTH]


def read(log, *command):
    """Read from standard input, so that no line has a path whose length is not the tool's."""
    return cairn(*command, "-", data=log)


@pytest.mark.parametrize("log", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_command(log):
    data, printed = log.read_bytes(), 0
    for variant in VARIANTS:
        done = read(data, *variant)
        assert not too_wide(done), variant
        printed += done.stdout.count(b"\n")
    assert printed > 500


def test_what_cairn_grab_noted():
    """Its lines of mapped code are many and long; they are known, and shown on demand. What is not known is folded."""
    parts, unknown = frames.read((GOLDEN / "hw.log").read_bytes()), " ".join(["words"] * 40)
    name = "/usr/lib/x86_64-linux-gnu/libngtcp2_crypto_gnutls.so.8.2.0"
    with_keys(parts, {"grab.version": "1.2.3", "grab.source": "Linux 6.12 on a processor with a long name, " * 3,
                      "grab.map.10": f"161 0x7f16c3c4c000 0x7f16c3c51000 0x3000 {name}", "other.key": unknown})
    brief, whole = (read(frames.write(parts), *command) for command in (["info"], ["info", "--all"]))
    assert not too_wide(brief) and not too_wide(whole)
    text, joined = text_of(brief), " ".join(text_of(whole).split())
    assert "cairn grab       1.2.3\n" in text and "libngtcp2" not in text
    assert text.split("unknown to this version of cairn\n")[1].split() == f"other.key={unknown}".split()
    assert "recorded by cairn grab version 1.2.3 source Linux 6.12 on a processor" in joined
    assert f"map.101610x7f16c3c4c0000x7f16c3c510000x3000{name}" in joined.replace(" ", "")


REFUSALS = [[], ["frobnicate"], ["--help"], ["--version"],
            *([command, *rest] for command in (*COMMANDS, "capture")
              for rest in (["--help"], [], ["a", "b"], ["--frobnicate", "a"], ["--dump", "x", "a"],
                           ["--dump", "9", "a"], ["--cpu", "256", "a"], ["--by", "thyme", "a"], ["--top", "0", "a"],
                           ["/dev/null"],
                           ["/no/such/log"])),
            *([command, *rest, GOLDEN / "small.log"] for command, rest in (
                ("dump", ["--cpu", "63"]), ("stat", ["--cpu", "63"]), ("ds", ["--cpu", "63"]), ("bts", ["--cpu", "63"]),
                ("profile", ["--cpu", "63"]), ("dump", ["--compact", "--full"]), ("dump", ["--full"]),
                ("ds", ["--life", "x"]), ("ds", ["--life", "0:99"]), ("ds", ["--life", "9:0"]),
                ("ds", ["--life", "0:0", "--cpu", "0"]), ("ds", ["--life", "0:0", "--bytes"]),
                ("ds", ["--life", "0:0", "--record", "0"]), ("ds", ["--record", "0", "--records", "9"]),
                ("ds", ["--record", "999"]),
                ("ds", ["--epoch", "4294967295"]), ("profile", ["--per", "line"]), ("profile", ["--per", "moon"]),
                ("profile", ["--elf", "/dev/null"]), ("dump", ["--elf", "/dev/null"]))),
            ["ds", "--life", "0:999", GOLDEN / "life.log"],
            ["ds", "--life", "0:9999", "--epoch", "0", GOLDEN / "life.log"],
            ["capture", "-"], ["capture", "/dev/null,1", "-o", "/dev/null"], ["capture", "-", "-o", "/no/such/log"],
            ["capture", "/no/such/device", "-o", "/dev/null"], ["capture", "--timeout", "x", "-"]]


@pytest.mark.parametrize("arguments", REFUSALS, ids=lambda words: " ".join(str(word).split("/")[-1] for word in words))
def test_every_help_and_refusal(arguments):
    done = cairn(*arguments, data=b"")
    assert not too_wide(done)
    assert done.stdout or done.stderr


@pytest.mark.parametrize("command", [*COMMANDS, "probe", "capture", "export", "diff", "top", "decode"])
def test_help_is_as_wide_in_a_pipe(command):
    done = cairn(command, "--help", env={"COLUMNS": ""})
    assert not too_wide(done)
    assert re.search(r"^[A-Z][a-z]+ [a-z]", text_of(done), re.M), "what it does, with a verb"


@pytest.mark.parametrize("log", [GOLDEN / "panic.log", GOLDEN / "nods.log", SAMPLES[0]], ids=lambda path: path.stem)
def test_capture(log, tmp_path):
    assert log.read_bytes()
    done = cairn("capture", "-", "-o", "/dev/null", data=log.read_bytes())
    frames_of = [line for line in done.stdout.decode("ascii", "replace").splitlines() if line.startswith("~")]
    assert not frames_of and not [line for line in done.stderr.decode("ascii").splitlines() if len(line) > WIDTH]
