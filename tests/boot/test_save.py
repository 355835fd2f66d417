# SPDX-License-Identifier: MIT
"""save=esp: the log of a run survives a reset, and the next start makes a file of it, or says why not."""

import json
import re
import shutil
import socket
import threading

import pytest

import cairn_boot as cb
from cairn_log import checked

FIRST_WORDS = b"\r\nCairn 0."  # of the kernel's part of a serial log


def saved_log(result):
    return result.log.with_name(result.log.stem + "-esp.log")


def qemu_with(folder, before="", *extra):
    """A QEMU for run-qemu.sh --qemu that runs `before` first: shell commands that find the machine's volume in $stick,
    a drive as mtools take it."""
    wrapper = folder / "qemu-wrapped"
    words = " ".join(f"'{word}'" for word in extra)
    wrapper.write_text(f"""#!/bin/bash
for word; do
    case $word in if=none,id=esp,*) stick=${{word#*,file=}}@@1M ;; esac
done
[ -z "$stick" ] || {{ {before or ":"}; }}
exec "{shutil.which("qemu-system-x86_64")}" "$@" {words}
""", encoding="ascii")
    wrapper.chmod(0o755)
    return wrapper


def test_no_screen_and_no_serial_port(tmp_path):
    result = cb.boot(tmp_path / "run.log", "--smp", 2, "save=esp", "serial=none", "truth=1", "switches=1000",
                     cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    saved = saved_log(result)
    assert f"saved    {saved}" in result.output and saved.read_bytes().startswith(FIRST_WORDS)
    checked(saved)
    text = cb.clean(saved.read_bytes())
    assert re.search(r"^SUMMARY: \d+ passed, 0 failed, ", text, re.M)
    assert not result.log.exists() or not result.log.read_bytes(), "there was no serial port"


@pytest.mark.parametrize("options, verdict", [
    (("panic=now",), cb.FAIL),
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
    assert re.search(r"switches off in \d+ s. Its next start is a new run.", after), after
    checked(saved_log(result))


class Qmp:
    """Just enough of QEMU's QMP: commands, and the wait for an event."""

    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(cb.LIMIT)
        self.connection.connect(str(path))
        self.lines = self.connection.makefile("r")
        self.until("QMP")
        self.ask("qmp_capabilities")

    def until(self, key, value=None):
        for line in self.lines:
            answer = json.loads(line)
            if key in answer and value in (None, answer[key]):
                return
        raise EOFError("QEMU has ended")

    def ask(self, command):
        self.connection.sendall(json.dumps({"execute": command}).encode() + b"\n")
        self.until("return")


def test_half_written(tmp_path):
    """A reset in the middle of the run: the second start says so and has no file, the third one runs, and its log says
    so as well."""
    path = tmp_path / "qmp"
    qemu = qemu_with(tmp_path, "", "-qmp", f"unix:{path},server=on,wait=off", "-no-shutdown")
    log, over = tmp_path / "run.log", threading.Event()
    log.touch()

    def said(text, times=1):
        while log.read_bytes().count(text) < times:
            if over.wait(0.2):
                return False
        return True

    def press():
        if not said(b"run: workload"):
            return
        button = Qmp(path)
        button.ask("system_reset")
        button.until("event", "SHUTDOWN")
        button.ask("system_reset")
        button.ask("cont")
        said(b"run: workload", 2)
        button.ask("quit")

    thread = threading.Thread(target=press)
    thread.start()
    result = cb.boot(log, "--raw", "--smp", 1, "--qemu", qemu, "save=esp", "save.mib=8", "switches=1000000000",
                     "ds=off", cb.UNHURRIED)
    over.set()
    thread.join()
    why = "it is half-written: the machine was reset before the run had ended"
    assert result.status == cb.FAIL and "the log was not saved: " + why in result.output.replace("\n         ", " ")
    assert not saved_log(result).exists()
    first, second, third = result.console().split("Cairn loader 0.")[0:1] + result.console().split("\nCairn 0.")[1:]
    assert "NOT SAVED: the log of the last run: " + why in second, first + second
    assert "SAVED" not in third and "SKIP: save: the log of the run before this one was not saved: " + why in third


@pytest.mark.long
def test_too_little_memory(tmp_path):
    """The log is cut at a frame, its end says so, and what is there is a trace."""
    result = cb.boot(tmp_path / "run.log", "--smp", 2, "save=esp", "save.mib=1", "truth=1", "switches=20000",
                     cb.UNHURRIED)
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
    ("head -c 65000000 /dev/zero | mcopy -i $stick - ::/large", "\\cairn-000.log: cannot be written: is there room"),
    ("echo mine | mcopy -i $stick - ::/cairn-000.log; mmd -i $stick ::/cairn-001.log", None),
    ], ids=["full", "names-taken"])
def test_volume(tmp_path, before, line):
    """Nothing that is there is overwritten; a full volume leaves the log where it is."""
    qemu = qemu_with(tmp_path, f"({before} || :)")
    result = cb.boot(tmp_path / "run.log", "--raw", "--smp", 1, "--qemu", qemu, "save=esp", "switches=500",
                     cb.UNHURRIED)
    console = result.console()
    if line:
        assert result.status == cb.FAIL and "cairn loader: FAILED: " + line in console, result.output
        assert "SAVED" not in console and not saved_log(result).exists()
    else:
        assert "cairn loader: SAVED: \\cairn-002.log: " in console, console
        assert saved_log(result).read_bytes() == b"mine\n"


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
    assert result.status == cb.USAGE and "name another --log" in result.output, result.output
    assert (tmp_path / "run-esp.log").read_text(encoding="ascii") == "a letter\n"
