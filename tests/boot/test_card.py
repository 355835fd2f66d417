# SPDX-License-Identifier: MIT
"""The card at the end of a run: on the screen at the top and at the bottom, on the serial port, and as a QR code, which
zbarimg reads."""

import random
import re
import subprocess
import time

import pytest

import cairn_boot as cb
import cairn_screen as cs
import screen_picture


def zbarimg(file):
    """The bytes of the one QR code in a picture."""
    done = subprocess.run(["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", "-Sbinary", file],
                          capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done
    return done.stdout


@pytest.mark.parametrize("size", [14, 15, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560,
                                  624, 666])
def test_qr(tmp_path, size):
    """Codes of all versions, up to the most that each holds, but for one of the second."""
    text = bytes(random.Random(size).choices(range(32, 127), k=size))
    done = subprocess.run([cb.BUILD / "qr-picture"], input=text, capture_output=True, check=True)
    (tmp_path / "picture.pgm").write_bytes(done.stdout)
    assert zbarimg(tmp_path / "picture.pgm") == text


def card_of(text):
    """The last card in it."""
    return re.findall(r"^(cairn=(?:.*\n)*?.*\bsum=[0-9a-f]{4})$", text, re.M)[-1]


def log_of(folder):
    return (folder / "log").read_bytes() if (folder / "log").exists() else b""


def wait_for_card(machine, tmp_path):
    """(card on the serial port, rows of the screen, its QR code); the machine waits with its last picture."""
    until = time.monotonic() + cb.LIMIT
    while not re.search(rb"\bsum=[0-9a-f]{4}\r?\n", log_of(tmp_path)):
        assert time.monotonic() < until, log_of(tmp_path)[-1000:]
        time.sleep(0.05)
    with machine.kept():
        for _ in range(2):  # what draws the card has begun, and has ended
            picture = machine.wait_for("sum=")
    (tmp_path / "screen.png").write_bytes(screen_picture.png(picture))
    card = card_of(cb.clean(log_of(tmp_path)))
    return card, [line for line, _, _ in cs.read(picture)], zbarimg(tmp_path / "screen.png").decode()


@pytest.mark.parametrize("device, options", [
    ("VGA", ["workload=probe", "ds=soft", "ds.preset=skylake"]),
    ("VGA,xres=1920,yres=1080", ["panic=null"]),
    cb.long("VGA,xres=1024,yres=768", ["workload=probe", "ds=soft", "ds.preset=lunarlake"]),
    cb.long("VGA,vgamem_mb=64,xres=3840,yres=2160,refresh_rate=30000", ["switches=2000"]),
    ])
def test_card(tmp_path, device, options):
    with cs.Machine(tmp_path, "--raw", "--smp", 2, *options, cb.UNHURRIED, "end=reboot",
                    qemu=("-device", device, "-no-shutdown")) as machine:
        card, rows, code = wait_for_card(machine, tmp_path)
    lines = card.split("\n")
    assert code == card
    assert len(lines) <= 8 and max(map(len, lines)) <= 78
    assert rows[:len(lines)] == lines and "\n".join(rows).count(card) == 2
    words = dict(re.findall(r'([^\s=]+)=("[^"]*"|\S*)', card))
    assert words["cairn"] and re.fullmatch("[0-9a-f]+", words["sig"]) and words["brand"] and words["cpus"] == "2"
    if "panic=null" in options:
        assert re.fullmatch("panic,[0-9]+,1,[0-9]+", words["verdict"]) and "null pointer" in words["panic"]
        assert any(row.startswith("PANIC: CPU ") for row in rows)
        return
    assert re.fullmatch("pass,[0-9]+,0,[0-9]+", words["verdict"]) and words["ds"] == "soft"
    shown = subprocess.run([cb.BUILD / "cairn", "info", "-"], input=code, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, "") and f"\n  signature      {words['sig']}\n" in shown.stdout
    if "workload=probe" in options:
        assert " drop_reload=yes " in shown.stdout, shown.stdout
        assert words["probe"] == "0" and words["asked"] == "model" and words["drop_reload"] == "yes"


@pytest.mark.parametrize("option, verdict", [
    ("switches=500", "pass"),
    cb.long("panic=null", "panic"),
    cb.long("no.such=option", "fail"),  # before the clock is measured
    ])
def test_time_for_a_photograph(tmp_path, option, verdict):
    """With save=esp, too, the card stays until the seconds are over. The log is saved then: it was finished before."""
    image = cb.make_image(tmp_path / "image", "save=esp", "serial=none", "end=reboot", "end.hold=12", cb.UNHURRIED,
                          option)
    with cs.Machine(tmp_path, "--smp", 2, "--image", image) as machine:
        machine.wait_for("photograph this now: the machine restarts in ")
        pictures = [machine.picture()]
        time.sleep(3)
        pictures.append(machine.picture())
        (tmp_path / "screen.png").write_bytes(screen_picture.png(pictures[-1]))
        left = [int(re.search(r"^photograph this now: the machine restarts in (\d+) s", cs.text(picture), re.M)[1])
                for picture in (pictures[0], pictures[-1])]
        assert 12 >= left[0] > left[1] > 0, left
        code = zbarimg(tmp_path / "screen.png").decode()
        machine.process.wait(cb.LIMIT)
    assert f" verdict={verdict}," in code and code == card_of(cb.clean((tmp_path / "log-esp.log").read_bytes()))


@pytest.mark.long
def test_early_failure(tmp_path):
    """What is not known yet is not on it."""
    image = cb.make_image(tmp_path / "image", "serial=none", "no.such=option")
    with cs.Machine(tmp_path, "--image", image) as machine:
        said = cs.text(machine.wait_for("halted: "))
    card = said[:said.index("sum=")]
    assert re.search(r"^cairn=\S+ verdict=fail,0,1,0 sig=[0-9a-f]+ hv=TCGTCGTCGTCG\b", card), said
    assert "cpus=" not in card and "ds=" not in card, said


@pytest.mark.long
def test_small_screen(tmp_path):
    """No room for the code: the card alone, and nothing is lost of other lines."""
    with cs.Machine(tmp_path, "--raw", "--smp", 1, "switches=500", cb.UNHURRIED, "end=reboot",
                    qemu=("-device", "VGA,xres=640,yres=480", "-no-shutdown")) as machine:
        said = cs.text(machine.wait_for("sum="))
    card = card_of(cb.clean((tmp_path / "log").read_bytes()))
    assert said.startswith(card.split("\n", maxsplit=1)[0]) and said.count("sum=") == 2, said
    assert "\N{REPLACEMENT CHARACTER}" not in said, said
