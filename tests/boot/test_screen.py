# SPDX-License-Identifier: MIT
"""The screen of machines of several kinds, read from QEMU's screendumps."""

import re

import pytest

import cairn_boot as cb
import cairn_screen as cs
from cairn_log import keys

HALTED = "halted: you can switch the machine off"
RUN = ("--smp", 2, "switches=2000", cb.UNHURRIED, "end=halt")


def rows(picture):
    return [line for line, _, _ in cs.read(picture)]


@pytest.mark.parametrize("device, width, height, columns", [
    ("VGA", 1280, 800, 159),
    cb.long("bochs-display", 1280, 800, 159),
    cb.long("ramfb", 800, 600, 99),
    cb.long("VGA,vgamem_mb=64,xres=3840,yres=2160,refresh_rate=30000", 3840, 2160, 119),
    cb.long("VGA,xres=1920,yres=1080", 1920, 1080, 119),
    cb.long("VGA,xres=640,yres=480", 640, 480, 79),
    ])
def test_no_serial_port(tmp_path, device, width, height, columns):
    """The verdict is read from the screen: there is no other way out."""
    with cs.Machine(tmp_path, *RUN, "truth=1", "serial=none", qemu=("-device", device)) as machine:
        picture = machine.wait_for(HALTED)
    assert (picture.width, picture.height) == (width, height)
    assert cs.grid(picture)[1] == columns
    said = cs.text(picture)
    assert re.search(rf"^screen: {width} x {height} pixels, \d+ rows of {columns} characters$", said, re.M), said
    assert re.search(r"^Cairn [0-9.]+: .*\nmemory: ", said, re.M), said  # of before there was a screen
    summary = r"SUMMARY: \d+ passed, 0 failed, \d+ skipped\n"
    assert re.search(rf"^PASS: truth: .*\n(.*\n)*{summary}cairn=(.*\n)+{HALTED}", said, re.M), said
    assert "\N{REPLACEMENT CHARACTER}" not in said and "~H" not in said, said
    colours = {line.split(":")[0]: (ink, paper) for line, ink, paper in cs.read(picture)}
    assert len({colours[word] for word in ("PASS", "SUMMARY", "halted")}) == 3
    lost = re.search(r"^dump: none: there is neither a serial port nor save=esp: (\d+) bytes are lost$", said, re.M)
    assert rows(picture)[-1].startswith(f"dump: none, {lost[1]} bytes are lost") and "dump: done" not in said, said


@pytest.mark.parametrize("device", ["VGA", cb.long("VGA,xres=640,yres=480")])
def test_panic(tmp_path, device):
    with cs.Machine(tmp_path, *RUN, "serial=none", "panic=null", qemu=("-device", device)) as machine:
        said = cs.text(machine.wait_for(HALTED))
    order = [r"^PANIC: CPU \d, thread \d+ \(controller\): page fault \(#PF\): write to 0x0+ \(null pointer\)$",
             r"^RAX ", r"^R15 [0-9a-f]{16} RIP ffffffff8[0-9a-f]{7} RFLAGS ", r"^backtrace:$",
             r"^  0x[0-9a-f]{16} krun\+0x", r"^FAIL: panic: page fault", r"^SUMMARY: \d+ passed, 1 failed, "]
    at = 0
    for pattern in order:
        found = re.compile(pattern, re.M).search(said, at)
        assert found, f"{pattern}\n{said}"
        at = found.end()


@pytest.mark.long
def test_refused_option(tmp_path):
    """Not before the kernel has page tables of its own: the loader's need not reach the framebuffer."""
    image = cb.make_image(tmp_path / "image", "serial=none", "no.such=option")
    with cs.Machine(tmp_path, "--image", image) as machine:
        said = cs.text(machine.wait_for(HALTED))
    assert re.search(r"^screen: (.*\n)+FAIL: options: cairn.cfg line \d+: .*'no.such=option'", said, re.M), said


@pytest.mark.long
def test_same_as_serial(tmp_path):
    """Line by line what the serial port gets, but for the frames, and the card at the top as well; while the dump goes
    out, how far it is."""
    with cs.Machine(tmp_path, "--raw", *RUN[:-1], "end=reboot", "truth=1",  # after which it waits with its last picture
                    qemu=("-device", "VGA", "-no-shutdown")) as machine:
        progress = cs.text(machine.wait_for(" bytes over serial"))
        for _ in range(2):  # what draws the card at the top has begun, and has ended
            picture = machine.wait_for("sum=")
    assert re.search(r"^dump: \d+ % of \d+ bytes over serial", progress, re.M), progress
    log = cb.clean((tmp_path / "log").read_bytes())
    expected = [line for line in log[log.index("\nCairn 0"):].splitlines() if line and line[0] != "~"]
    shown = [line for line in cs.text(picture).splitlines()[:-1] if line]
    card = next(i for i, line in enumerate(shown) if "sum=" in line) + 1
    assert shown[:card] == expected[-card:]
    below = shown[card + 1:]  # the first of them may be the rest of one that has gone
    assert len(below) > 12 and below == expected[-len(below):]


@pytest.mark.long
def test_above_4_gib(tmp_path):
    """The framebuffer where QEMU's firmware never has it, and cards of real machines do (high_screen.c)."""
    image = cb.make_image(tmp_path / "image", "switches=500", "workload=pingpong", "ds=off", "end=reboot", cb.UNHURRIED,
                          loader=cb.BUILD / "high-screen.efi")
    cb.image_tool("mcopy", image, cb.BUILD / "BOOTX64.EFI", "::/loader.efi")
    with cs.Machine(tmp_path, "--raw", "--smp", 1, "--mem", "3G", "--image", image,
                    qemu=("-device", "ramfb", "-no-shutdown")) as machine:
        said = cs.text(machine.wait_for("SUMMARY: "))
    assert re.search(r"^screen: 800 x 600 pixels, \d+ rows of 99 characters$", said, re.M), said
    reserved = [value for key, value in keys(tmp_path / "log", "M").items() if key.startswith("memory.")]
    assert any(re.fullmatch("0x110000000 0x[0-9a-f]+ 0", value) for value in reserved), reserved


@pytest.mark.long
def test_live(tmp_path):
    """While the trace goes out in the run: how much of it is, and what waits; in the end how much it was."""
    with cs.Machine(tmp_path, "--raw", "--smp", 2, "switches=20000", "dump=live", "trace.buffer_kib=4", "end=reboot",
                    cb.UNHURRIED, qemu=("-device", "VGA", "-no-shutdown")) as machine:
        said = cs.text(machine.wait_for(" full buffers wait"))
        assert re.search(r"^run: \d+ of \d+ s, \d+ of \d+ switches; live: \d+ bytes are out, \d+ full buffers wait",
                         said, re.M), said
        said = cs.text(machine.wait_for("SUMMARY: "))
    total, part = map(int, re.search(r"^dump: done, (\d+) bytes over serial, (\d+) of them while it ran", said,
                                     re.M).groups())
    assert 0 < part < total, said


@pytest.mark.parametrize("qemu, options, line", [
    ((), [], "screen: none: the firmware gives no framebuffer (no Graphics Output Protocol)"),
    cb.long(("-device", "VGA"), ["screen=off"], "screen: off (option screen=)"),
    ])
def test_no_screen(tmp_path, qemu, options, line):
    result = cb.boot(tmp_path / "log", "--smp", 1, "--qemu", cb.with_qemu(tmp_path, *qemu), "switches=500",
                     cb.UNHURRIED, *options)
    assert result.status == cb.PASS, result.output
    assert len(result.lines("screen: ")) == 1 and line in result.output, result.output
    assert "to this screen" not in result.console(), result.console()


@pytest.mark.long
def test_display_option(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 1, "--display", "none", "switches=500", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    assert "screen: 1280 x 800 pixels" in result.output, result.output
    assert "to this screen, too, if the kernel has one (option screen=)" in result.console(), result.console()
