# SPDX-License-Identifier: MIT
"""save=esp: the log of a run survives a reset, and the next start makes a file of it, or says why not."""

import os
import re
import shutil
import struct
import subprocess

import pytest

import cairn_boot as cb
from cairn_log import checked
from cairn_monitor import boot_and_say
from frames import crc32c

BIOS = "/usr/share/ovmf/OVMF.fd"  # without a place for variables that lasts
FIRST_WORDS = b"\r\nCairn 0."  # of the kernel's part of a serial log
AREA, AREA_BYTES = 0x8000000, 1 << 20
PROCESSOR = "QEMU TCG CPU version 2.5+"  # of --cpu max; there is no board unless -smbios gives one
SAVED, HALF_WRITTEN = 3, 7  # of header.state; of enum save_refusal


def saved_log(result):
    return result.log.with_name(result.log.stem + "-esp.log")


def qemu_with(folder, before, *extra):
    """A QEMU for run-qemu.sh --qemu that runs `before` first: shell commands that find the machine's volume in $stick,
    a drive as mtools take it."""
    wrapper = folder / "qemu-wrapped"
    words = " ".join(f"'{word}'" for word in extra)
    wrapper.write_text(f"""#!/bin/bash
for word; do
    case $word in if=none,id=esp,*) stick=${{word#*,file=}}@@1M ;; esac
done
[ -z "$stick" ] || {{ {before}; }}
exec "{shutil.which("qemu-system-x86_64")}" "$@" {words}
""", encoding="ascii")
    wrapper.chmod(0o755)
    return wrapper


def with_note(folder, nonce, *extra, told=0, before=":"):
    """A QEMU whose machine finds the note of an earlier start on its volume: boot/save/save_format.h."""
    (folder / "note").write_bytes(struct.pack("<IIQQQ128s", 1, told, AREA, AREA_BYTES, nonce, PROCESSOR.encode()))
    return qemu_with(folder, f"mcopy -o -i $stick '{folder}/note' ::/cairn.run; {before}", *extra)


@pytest.mark.long
def test_no_screen_and_no_serial_port(tmp_path):
    result = cb.boot(tmp_path / "run.log", "--smp", 2, "save=esp", "serial=none", "truth=1", "switches=1000",
                     cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    saved = saved_log(result)
    assert f"saved    {saved}" in result.output and saved.read_bytes().startswith(FIRST_WORDS)
    assert result.output.index("no serial port: nothing is shown until") < result.output.index("verdict  ")
    checked(saved)
    text = cb.clean(saved.read_bytes())
    assert re.search(r"^SUMMARY: \d+ passed, 0 failed, ", text, re.M)
    assert not result.log.exists() or not result.log.read_bytes(), "there was no serial port"


@pytest.mark.parametrize("options, verdict", [
    (("panic=now", "dump.line=8bit"), cb.FAIL),
    cb.long((), cb.PASS),
    cb.long(("dump=live", "dump.pace=0", "trace.buffer_kib=4"), cb.PASS),
    cb.long(("dump=live", "dump.pace=0", "trace.buffer_kib=4", "panic=double"), cb.FAIL),
    ])
def test_what_is_saved_is_the_serial_log(tmp_path, options, verdict):
    """Byte for byte; what stands around it in the serial log are the words of firmware and loader."""
    result = cb.boot(tmp_path / "run.log", "--raw", "--smp", 2, "save=esp", "truth=1", "switches=1000",
                     cb.UNHURRIED, *options)
    assert result.status == verdict, result.output
    serial, saved = result.log.read_bytes(), saved_log(result).read_bytes()
    assert saved.startswith(FIRST_WORDS) and saved in serial
    before, after = serial.split(saved)
    assert FIRST_WORDS not in before and FIRST_WORDS not in after and b"\n~" not in before + after
    after = cb.clean(after)
    assert f"cairn loader: SAVED: \\cairn-000.log: {len(saved)} bytes" in after, after
    assert re.search(r"^cairn loader: the machine switches off in \d+ s$", after, re.M), after
    checked(saved_log(result))


@pytest.mark.long
def test_half_written(tmp_path):
    """A reset in the middle of the run: the second start says so and has no file; the one after it runs, and its log
    says so as well."""
    result = boot_and_say(tmp_path, "system_reset", "--raw", "--smp", 1, "save=esp", "save.mib=8", "ds=off",
                          "switches=1000000000")
    why = "it is half-written: the machine was reset before the run had ended"
    assert result.status == cb.FAIL and "the log was not saved: " + why in result.output.replace("\n         ", " ")
    assert not saved_log(result).exists()
    assert "NOT SAVED: the log of the last run: " + why in result.console()

    qemu = with_note(tmp_path, 0, told=HALF_WRITTEN)
    result = cb.boot(tmp_path / "next.log", "--smp", 1, "--qemu", qemu, "save=esp", "switches=100", "ds=off",
                     cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    text = cb.clean(saved_log(result).read_bytes())
    assert "SKIP: save: the log of the run before this one was not saved: " + why in text


@pytest.mark.skipif(not os.path.exists(BIOS), reason="needs Debian's OVMF at its place")
def test_variables_that_vanish(tmp_path):
    """A firmware that forgets its variables at each reset: the log is saved, and the machine is switched off, as what
    leads to it is on the volume. Nothing is to be photographed where there is no screen."""
    qemu = qemu_with(tmp_path, f'''words=()
for word; do
    case $word in if=pflash,*) words[-1]=-bios; word={BIOS} ;; esac
    words+=("$word")
done
set -- "${{words[@]}}"''')
    result = cb.boot(tmp_path / "run.log", "--raw", "--smp", 1, "--qemu", qemu, "save=esp", "save.mib=8",
                     "end.hold=3600", "switches=100", "ds=off", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    assert result.console().count("Cairn loader 0.") == 1, result.output
    checked(saved_log(result))


@pytest.mark.long
@pytest.mark.parametrize("kind, first, second, words", [
    ("--cpu", "Nehalem", "Haswell", "Intel Core i7 9xx (Nehalem Class Core i7)"),
    ("-smbios", "type=2,manufacturer=A,product=B,version=1", "type=2,manufacturer=A,product=C,version=1",
     PROCESSOR + ", A, B, 1"),
    ], ids=["processor", "board"])
def test_another_machine(tmp_path, kind, first, second, words):
    """The stick of a machine whose log waits in memory, in another one: that one's run is saved."""
    def given(machine):  # for run-qemu.sh, and for QEMU
        return ((kind, machine), ()) if kind == "--cpu" else ((), (kind, machine))

    common = ("--raw", "--smp", 1, "save=esp", "save.mib=8", "switches=100", "ds=off", cb.UNHURRIED)
    options, more = given(first)
    qemu = qemu_with(tmp_path, f"ln ${{stick%@@1M}} '{tmp_path}/stick'", "-no-reboot", *more)
    result = cb.boot(tmp_path / "first.log", "--qemu", qemu, *options, *common)
    assert (tmp_path / "stick").exists() and not saved_log(result).exists(), result.output

    options, more = given(second)
    qemu = qemu_with(tmp_path, f"cp '{tmp_path}/stick' ${{stick%@@1M}}", *more)
    result = cb.boot(tmp_path / "second.log", "--qemu", qemu, *options, *common)
    assert result.status == cb.PASS, result.output
    said = re.findall(r"cairn loader: (.*)", result.console())
    assert said[0].startswith(rf"\cairn.run is of a run on another machine ({words}): no log is looked for"), said
    assert said[2].startswith(r"SAVED: \cairn-000.log: "), said
    checked(saved_log(result))
    text = cb.clean(saved_log(result).read_bytes())
    assert rf"SKIP: save: no log was looked for: \cairn.run was of another machine: {words}" in text, text


@pytest.mark.long
def test_too_little_memory(tmp_path):
    """The log is cut at a frame, its end says so, and what is there is a trace."""
    result = cb.boot(tmp_path / "run.log", "--smp", 2, "save=esp", "save.mib=1", "truth=1", "dump.pack=0",
                     "switches=20000", cb.UNHURRIED)
    assert result.status == cb.FAIL, result.output
    text = cb.clean(saved_log(result).read_bytes())
    assert len(text) < 1 << 20
    assert re.search(r"^save: the memory for the log has room for \d+ of them, .*takes save.mib=\d+$", text, re.M)
    missing = re.search(r"^FAIL: save: (\d+) bytes in (\d+) lines have no room", text, re.M)
    serial = cb.clean(result.log.read_bytes())
    assert missing and serial.count("\n~") - text.count("\n~") == int(missing[2])
    assert re.search(r"^SUMMARY: \d+ passed, 1 failed", text, re.M)


@pytest.mark.long
@pytest.mark.parametrize("before, line", [
    ("head -c 1000 /dev/zero | mcopy -i $stick - ::/small; head -c 67000000 /dev/zero | mcopy -i $stick - ::/large; "
     "mdel -i $stick ::/small", "\\cairn-000.log: cannot be written: is there room"),
    ("echo mine | mcopy -i $stick - ::/cairn-000.log; mmd -i $stick ::/cairn-001.log", None),
    ], ids=["full", "names-taken"])
def test_volume(tmp_path, before, line):
    """Nothing that is there is overwritten; a full volume leaves the log where it is."""
    qemu = qemu_with(tmp_path, f"({before} || :)")
    result = cb.boot(tmp_path / "run.log", "--raw", "--smp", 1, "--qemu", qemu, "save=esp", "save.mib=1",
                     "switches=500", cb.UNHURRIED)
    console = result.console()
    if line:
        assert result.status == cb.FAIL and "cairn loader: FAILED: " + line in console, result.output
        assert "SAVED" not in console and not saved_log(result).exists()
        before_the_run, run = console.split("Cairn 0.", 1)
        assert "save=esp: this volume has room for 0 MiB, and the log may become 1 MiB" in before_the_run, console
        assert "SKIP: save: the log may not be saved: its volume is read-only or has less room than" in run, console
    else:
        assert "this volume has room" not in console and "cairn loader: SAVED: \\cairn-002.log: " in console, console
        assert "\\cairn-002.log of the machine's volume" in result.output, result.output
        checked(saved_log(result))


@pytest.mark.parametrize("options, mib, logs", [
    (("save=off", "save.mib=64"), 64, 0),
    (("save=esp",), 192, 2 * 64),
    (("save=esp", "save.mib=9", "save.mib=33"), 130, 2 * 33),
    (("save=esp", "save.mib=513"), 192, 2 * 64),  # the kernel's to refuse
    (("save=esp", "save.mib=512"), 1088, 2 * 512),
    ])
def test_image_has_room(tmp_path, options, mib, logs):
    """For two logs of the largest size, and it stays FAT32."""
    image = cb.make_image(tmp_path / "image", *options)
    assert image.stat().st_size == mib << 20
    facts = subprocess.run(["minfo", "-i", f"{image}@@1M", "::"], check=True, capture_output=True, text=True).stdout
    clusters, sectors = (int(re.search(what, facts)[1])
                         for what in (r"free clusters=(\d+)", r"cluster size: (\d+) sectors"))
    assert clusters >= 65525 and clusters * sectors * 512 >= logs << 20, facts


@pytest.mark.long
def test_own_disk_first(tmp_path):
    """A machine whose firmware starts the system on its own disk first: the stick, which the first start was of by
    other means, is the next one all the same. (That the log is gone by then is QEMU's end between the two.)
    The disk is of another kind than the stick: the firmware numbers two of a kind anew where their order changes."""
    kept, own = tmp_path / "vars", cb.make_image(tmp_path / "own", "workload=pingpong", "switches=1", "end=halt")
    common = ("--raw", "--smp", 1, "--vars", kept, "save=esp", "save.mib=8", "switches=100", "ds=off", cb.UNHURRIED)
    disk = ("-drive", f"if=none,id=own,format=raw,snapshot=on,file={own}", "-device")
    qemu = qemu_with(tmp_path, ":", "-no-reboot", *disk, "ide-hd,drive=own,bootindex=1")
    result = cb.boot(tmp_path / "run.log", "--qemu", qemu, *common)
    assert "choose it in the firmware's menu" not in result.console()
    assert "Cairn loader 0." in result.console() and "cairn loader: " not in result.console(), result.output
    qemu = with_note(tmp_path, 5, *disk, "ide-hd,drive=own,bootindex=0",
                     before='set -- "${@/bootindex=0/bootindex=1}"')
    for word in "NOT SAVED: the log of the last run: it is no longer in memory", "halted: ":
        result = cb.boot(tmp_path / "next.log", "--qemu", qemu, *common)
        assert word in result.console(), result.output


def area(text, nonce, state=2):
    """Memory as a run of that number leaves it: boot/save/save_format.h."""
    def header(crc):
        fields = b"CARNSAVE" + struct.pack("<IIQQQIIQQ", 1, 4096, AREA, AREA_BYTES, nonce, state, crc, len(text), 0)
        return fields.ljust(2048, b"\0") + struct.pack("<I", crc32c(text)).ljust(2048, b"\0")
    return header(crc32c(header(0))) + text


TEXT = b"\r\nCairn 0.0: a log\r\nSUMMARY: 1 passed, 0 failed, 0 skipped\r\n"


@pytest.mark.parametrize("memory, words", [
    (area(TEXT, 6), "what is in memory is stale: of another run"),
    cb.long(area(TEXT, 5, SAVED), "what is in memory is stale: it has been saved already"),
    cb.long(area(TEXT, 5)[:-1] + b"!", "it is damaged: the firmware has used a part of its memory"),
    cb.long(b"\0" * 4096, "it is no longer in memory"),
    cb.long(area(TEXT, 5), None),
    ], ids=["other-run", "saved-before", "damaged", "cleared", "good"])
def test_stale(tmp_path, memory, words):
    """The note of run 5 is there, and in memory is what it should not lead to. The last case shows that it is no
    other thing that was refused."""
    (tmp_path / "area").write_bytes(memory)
    qemu = with_note(tmp_path, 5, "-device", f"loader,file={tmp_path}/area,addr={AREA:#x},force-raw=on")
    result = cb.boot(tmp_path / "run.log", "--raw", "--smp", 1, "--qemu", qemu, "save=esp")
    console = result.console()
    assert "Cairn loader 0." not in console, console  # no run before that is dealt with
    if words:
        assert result.status == cb.FAIL and f"NOT SAVED: the log of the last run: {words}" in console, result.output
        assert "cairn loader: SAVED" not in console and not saved_log(result).exists()
    else:
        assert saved_log(result).read_bytes() == TEXT and f"SAVED: \\cairn-000.log: {len(TEXT)} bytes" in console


@pytest.mark.long
def test_image_without_a_serial_port(tmp_path):
    """QEMU has one, its kernel uses none: the verdict is what the log on the volume says."""
    image = cb.make_image(tmp_path / "image", "save=esp", "serial=none", "switches=100", "ds=off", cb.UNHURRIED)
    result = cb.boot(tmp_path / "run.log", "--smp", 1, "--image", image)
    assert result.status == cb.PASS and result.lines("verdict  pass, by its SUMMARY"), result.output
    assert f"log      {saved_log(result)}" in result.output
    checked(saved_log(result))


@pytest.mark.long
def test_image(tmp_path):
    """The image's own cairn.cfg asks for it; the image is not written to."""
    image = cb.make_image(tmp_path / "image", "#save=off", " save=esp # kept", "truth=1", "switches=500", cb.UNHURRIED)
    before = image.read_bytes()
    result = cb.boot(tmp_path / "run.log", "--raw", "--smp", 2, "--image", image)
    assert result.status == cb.PASS, result.output
    assert image.read_bytes() == before
    saved = saved_log(result).read_bytes()
    assert saved.startswith(FIRST_WORDS) and saved in result.log.read_bytes()
    checked(saved_log(result))


@pytest.mark.long
def test_options_that_are_refused_are_saved(tmp_path):
    """What run-qemu.sh would refuse, on a stick's cairn.cfg: nobody else would see why nothing ran."""
    qemu = qemu_with(tmp_path, r"printf 'save=esp\nserial=none\nswitches=x\n' | mcopy -o -i $stick - ::/cairn.cfg")
    result = cb.boot(tmp_path / "run.log", "--smp", 1, "--qemu", qemu, "save=esp", "serial=none")
    assert result.status == cb.FAIL, result.output
    text = cb.clean(saved_log(result).read_bytes())
    assert "FAIL: options: cairn.cfg line 3: option 'switches=x'" in text and "SUMMARY: 0 passed, 1 failed" in text


def test_refused(tmp_path):
    for end in "exit", "halt", "poweroff":
        result = cb.boot(tmp_path / "run.log", "save=esp", f"end={end}")
        words = " ".join(result.output.split())
        assert result.status == cb.USAGE and "leave end= out, or give end=reboot" in words, result.output
    result = cb.boot(tmp_path / "run.log", "save.mib=8")
    assert result.status == cb.USAGE and "option 'save.mib=8': has no effect with save=off" in result.output
    (tmp_path / "run-esp.log").write_text("a letter\n", encoding="ascii")
    result = cb.boot(tmp_path / "run.log", "save=esp")
    assert result.status == cb.USAGE and "is not a serial log of Cairn; choose another" in result.output, result.output
    assert (tmp_path / "run-esp.log").read_text(encoding="ascii") == "a letter\n"
