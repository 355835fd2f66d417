# SPDX-License-Identifier: MIT
"""Machines without a trace: the file of cairn-report.efi (a real run's, with a shorter memory map), and a run's card as
people copy it. `cairn info` and `cairn probe` show them; what is wrong is one line."""

import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

import cairn_boot
from cairn_tool import CAIRN, GOLDEN, LEAKS, cairn, text_of

SAMPLE = Path(__file__).resolve().parents[1] / "cairn-machine.txt"
TEXT = SAMPLE.read_text(encoding="ascii")


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def card(words):
    """The words with their sum, a few on a line."""
    words = words.split()
    words.append(f"sum={crc32c(' '.join(words).encode()) & 0xFFFF:04x}")
    return "".join(word + ("\n" if i % 4 == 3 else " ") for i, word in enumerate(words)) + "\n"


HEAD = 'cairn=0.3.0 verdict=fail,6,1,2 sig=906a3 ucode=0x42c cpus=8 brand="12th Gen Intel(R)" ds=hw pebs=4 bts=yes '
CARD = card(HEAD + "probe=0 asked=processor fit=start_lt drop_reload=yes shadow=even "
            "probe=4 as=0 shadow=uneven rip= residual=3")


def shown(command, text):
    done = cairn(*command, "-", data=text.encode(), env={**LEAKS, "COLUMNS": ""})
    return done.returncode, re.sub(r"[ ]+", " ", text_of(done)), done.stderr.decode()


def test_info_of_a_report():
    status, said, errors = shown(["info"], TEXT)
    assert (status, errors) == (0, "")
    for line in ("cairn-report 0.3.0", "firmware EDK II", "processor QEMU qemu-ds skylake @ 2.60GHz",
                 "hypervisor TCGTCGTCGTCG", " record format 3", " PEBS yes: the processor has a Debug Store with PEBS",
                 " 4 WAET 40 bytes, revision 1, BOCHS BXPC ", " restored 26 of 26 registers are as before",
                 "the probe, CPU 0: 23 of 34 questions answered (cairn probe explains them)",
                 " IA32_DS_AREA write, read back 0xffff800000001000 ok it holds what was written"):
        assert line in said.splitlines(), (line, said)
    assert " fit=end_le drop_reload=yes " in said and "cairn=" not in said
    assert "unknown to this version of cairn" not in said
    assert "streams" not in said and "lost" not in said
    assert " 0.cpuid.00000001.00000000 000506e3 00000800" in shown(["info", "--all"], TEXT)[1]
    order = [said.index(f"\n{title}") for title in ("processor ", "outcome\n", "the probe, ", "Debug Store\n",
                                                    "detection, hw", "ACPI tables\n", "screen 0: none")]
    assert order == sorted(order) and "\n\n\n" not in said
    assert shown(["info", "--next"], TEXT)[1] == "probe\n"


def test_probe_of_a_report():
    status, said, errors = shown(["probe"], TEXT)
    assert (status, errors) == (0, "")
    assert said.startswith("CPU 0 GenuineIntel, family 6, model 94 (5EH), stepping 3, microcode 0x0; "
                           "hypervisor TCGTCGTCGTCG; backend hw; emulated\n"), said
    assert "34 questions: 23 like the model's default, 0 different, 11 not determined" in said
    least, median, p99 = re.search(r"=bts\|16\|(\d+)\|(\d+)\|(\d+)\|$", TEXT, re.M).groups()
    assert f"\nbts {least} {median} {p99} a BTS record\n" in said
    found = json.loads(shown(["probe", "--to", "json"], TEXT)[1])
    assert found["brand"] == "QEMU qemu-ds skylake @ 2.60GHz" and not found["damaged"] and len(found["costs"]) == 9


def test_screens():
    """The modes of a screen are many."""
    modes = "".join(f"screen.0.mode.{n}=1024x768, format 1\n" for n in range(30))
    text = TEXT.replace("screen.0=none: no Graphics Output Protocol\n", "screen.0=800x600, format 1\n" + modes)
    said, everything = (shown(["info", *option], text)[1] for option in ([], ["--all"]))
    assert "\nscreen 0: 800x600, format 1\n" in said and "1024x768" not in said
    assert everything.count("1024x768") == 30 and "\n 0 800x600, format 1\n" in everything


@pytest.mark.parametrize("change", [
    lambda text: text.replace("\n", "\r\n"), lambda text: "It says:\n" + text, lambda text: text.replace("\n", "\n\n")])
def test_however_it_comes(change):
    assert shown(["probe"], change(TEXT)) == shown(["probe"], TEXT)


def test_card_of_a_report():
    """Its last lines, as on the screen: they tell the same again."""
    at = TEXT.index("\ncairn=") + 1
    own = TEXT[at:TEXT.index("\nend=") + 1]
    assert shown(["info"], TEXT[:at] + TEXT[at + len(own):]) == shown(["info"], TEXT)
    status, said, errors = shown(["info"], own)
    assert (status, errors) == (0, "") and "guest's verdict report" in said
    assert "the probe, CPU 0: 23 questions answered (cairn probe explains them)" in said


def test_a_machine_that_hung():
    text = TEXT[:TEXT.index("probe.0.2=")]
    status, said, errors = shown(["info"], text)
    assert status == 1 and "CPU 0: 2 questions answered" in said
    assert errors.endswith(": a report of cairn-report.efi: it ends at step=probe.bts_full: the machine hung there, or "
                           "the file was cut off\n") and errors.count("\n") == 1


def test_card():
    status, said, errors = shown(["info"], CARD)
    assert (status, errors) == (0, "")
    for line in ("kernel 0.3.0", "processor 12th Gen Intel(R)", " signature 906a3", " microcode 0x42c", "CPUs 8",
                 "hypervisor none", " backend hw", " record format 4", " branch trace yes", "guest's verdict fail",
                 " checks passed 6", " failed 1", " skipped 2", " fit=start_lt drop_reload=yes shadow=even",
                 "the probe, CPU 4: 4 of 5 questions answered (cairn probe explains them)",
                 " fit=start_lt drop_reload=yes shadow=uneven residual=3"):
        assert line in said.splitlines(), (line, said)
    assert "not known" not in said and "emulated" not in said
    status, said, errors = shown(["probe"], CARD)
    assert (status, errors) == (0, "")
    assert said.startswith("CPU 0 12th Gen Intel(R), family 6, model 154 (9AH), stepping 3, microcode 0x42c; "
                           "hypervisor none; backend hw\n"), said
    assert "to make the model do the same: ds.policy.fit=start_lt" in said
    assert "5 questions: 1 like the model's default, 3 different, 1 not determined" in said


def test_card_without_room():
    """What differs on another CPU may be among what is left out."""
    text = card(HEAD + "probe=0 asked=processor fit=end_le rip=next probe=4 as=0 fit=start_lt more=2")
    status, said, _ = shown(["probe"], text)
    assert status == 0 and said.count("found: may differ: the card had no room for all differences") == 1
    assert said.count("found: a card has no numbers") == 3 and "\n and more 2\n" in shown(["info"], text)[1]


@pytest.mark.parametrize("change", [
    lambda text: text.replace("\n", " "),                    # typed on one line
    lambda text: "QR-Code:" + text,                          # zbarimg without --raw
    lambda text: text.replace(" ", "\n").replace('Gen\n', 'Gen\n  '),
    lambda text: f"SUMMARY: 1 passed\r\n{text}\r\nhalted: you can switch the machine off\r\n",
    lambda text: text.replace("cairn=", "Cairn=").replace("probe=", "Probe="),
    lambda text: text.replace("=", " = ").replace("rip = ", "rip="),
    lambda text: text.replace("=", "= "),                    # rip= has no value still
    lambda text: re.sub('"(.*?)"', "\N{LEFT DOUBLE QUOTATION MARK}\\1\N{RIGHT DOUBLE QUOTATION MARK}", text),
    lambda text: card("cairn=0.2.0 verdict=pass,1,0,0") + text])  # the last one counts
def test_card_however_it_comes(change):
    assert shown(["info"], change(CARD)) == shown(["info"], CARD)


TO_DO = "correct it as the photograph shows it\n"


@pytest.mark.parametrize("text, words", ids=["typo", "answer", "question", "name", "cut", "no word", "open quote",
                                             "short"], argvalues=[
    (CARD.replace("906a3", "906a8"), "its sum is 8988, not 28ea: a word is mistyped: compare each row with the photo"),
    (CARD.replace("shadow=even", "shadow=evem"), f"row 4: 'shadow=evem' is mistyped: {TO_DO}"),
    (f"It says:\n\n{CARD.replace('shadow=unev', 'shodow=unev')}", f"row 5: 'shodow=uneven' is mistyped: {TO_DO}"),
    (CARD.replace("pebs=4", "pehs=4"), f"row 3: 'pehs=4' is mistyped: {TO_DO}"),
    (CARD[:CARD.index("sum=")], "its last word, sum=, is missing: add what the photograph shows\n"),
    (CARD.replace("as=0", "as 0"), f"row 5: 'as' is not NAME=VALUE, what follows is not read: {TO_DO}"),
    ('cairn=0.3.0 brand="12th', "its last word, sum=, is missing"), ("cairn=1", "its last word, sum=, is missing")])
def test_bad_card(text, words):
    """It is told first; what is there is shown, and nothing is concluded from it."""
    for command in ("info", "probe"):
        status, said, errors = shown([command], text)
        assert status == 1
        assert "a run's card: " + words in errors and errors.count("\n") == 1 + (command == "probe" and not said)
        assert "do the same" not in said and "like the model" not in said
    assert shown(["info"], text)[1].startswith("kernel ")


def test_bad_card_is_told_first():
    """More is shown than a pipe's buffer holds."""
    text = TEXT[TEXT.index("\ncairn="):].replace("shadow=even", "shadow=evem")
    done = subprocess.run([CAIRN, "probe", "-"], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, env={**os.environ, **LEAKS})
    assert done.stdout.startswith("cairn: standard input: a run's card: row 5: ") and len(done.stdout) > 5000
    assert "not determined: 'evem' is not an answer to it that this version knows" in done.stdout


def test_card_of_a_later_version():
    """Its sum is right: what this version does not know is no error, and no finding either."""
    text = card(HEAD + "new=1 probe=0 asked=processor fit=later rip=next colour=red")
    status, said, errors = shown(["probe"], text)
    assert (status, errors) == (0, "") and "do the same" not in said
    assert "not determined: 'later' is not an answer to it that this version knows" in said
    assert "3 questions: 1 like the model's default, 0 different, 2 not determined" in said
    assert shown(["info"], text)[1].endswith("\nunknown to this version of cairn\n card.new=1\n")


@pytest.mark.parametrize("text, what", ids=["report", "card"], argvalues=[
    (TEXT, "a report of cairn-report.efi"), (CARD, "a run's card")])
@pytest.mark.parametrize("command", [["dump"], ["stat"], ["check"], ["ds"], ["bts"], ["profile"], ["locks"],
                                     ["export", "--to", "json"]])
def test_no_trace(command, text, what):
    assert shown(command, text) == (
        1, "", f"cairn: standard input: {what}, which has no trace; cairn info and cairn probe can read it\n")


def test_diff(tmp_path):
    (tmp_path / "card").write_text(CARD, encoding="ascii")
    done = cairn("diff", GOLDEN / "small.log", tmp_path / "card", env={"COLUMNS": ""})
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"a run's card, which has no trace; " in done.stderr


def test_what_cairn_grab_said():
    """Where its errors were to go into the log, too, the first one is quoted."""
    text = "# cairn-grab -o my.log -- true\ncairn-grab: only root may read\x1b[0m\r\ncat: my.log: No such file\n"
    assert shown(["stat"], text) == (
        3, "", "cairn: standard input: not a trace; it is text that says: cairn-grab: only root may read\n")


@pytest.mark.parametrize("text", [
    "cairn=", "a cairn=\n", "xcairn=1", "cairn-repor=1\n", "= cairn-report=1\n", "\0" * 40], ids=range(6))
def test_neither(text):
    status, said, errors = shown(["info"], text)
    assert (status, said) == (3, "") and "not a trace" in errors and errors.count("\n") == 1


def test_too_long_for_either():
    assert shown(["info"], "x\n" * (1 << 19) + CARD)[0] == 3


def test_nothing_asked():
    status, said, errors = shown(["probe"], card(HEAD))
    assert (status, said) == (1, "") and errors == "cairn: a run's card has no answers of the probe\n"
    why = "no: QEMU's emulated CPU has no Debug Store"
    text = re.sub("^pebs=.*", f"pebs={why}", re.sub(r"^probe[.=].*\n", "", TEXT, flags=re.M), flags=re.M)
    assert shown(["probe"], text) == (
        1, "", f"cairn: a report of cairn-report.efi has no answers of the probe: pebs={why}\n")
    status, said, errors = shown(["info", "--lost"], CARD)
    assert (status, said) == (1, "") and errors == "cairn: a run's card has no trace, so nothing of a trace is lost\n"


NOISE = [b"=", b"|", b'"', b"probe=", b"as=0 ", b"\xff\0", b"9" * 30]


@pytest.mark.parametrize("seed", [0, 1, 5, *(cairn_boot.long(seed) for seed in range(12) if seed not in {0, 1, 5})])
def test_noise(seed):
    """Changed at random: shown or refused, under the sanitizers."""
    rng = random.Random(seed)
    for text in (TEXT, CARD):
        data = bytearray(text.encode())
        for _ in range(rng.choice([1, 4, 40])):
            at = rng.randrange(len(data))
            data[at:at + rng.choice([0, 1, 9])] = rng.choice(NOISE)
        for command in ("info", "probe"):
            done = cairn(command, "-", data=bytes(data), env=LEAKS)
            assert done.returncode in (0, 1, 3) and done.stderr.count(b"cairn: ") <= 2, done.stderr
