# SPDX-License-Identifier: MIT
"""run-qemu.sh itself: its exit statuses, what it refuses before QEMU starts, and that it ends cleanly."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import cairn_boot as cb

PROBE = cb.BUILD / "probe.elf"
SILENT = (b"\xf4\xeb\xfd")  # hlt; jmp to it


@pytest.mark.parametrize("arguments, word", [
    (["--smp"], "--smp needs a value"),
    (["--smp", "0"], "--smp 0: must be 1 to 255"),
    (["--smp", "two"], "--smp two: not a number"),
    (["--mem", "lots"], "--mem lots: not a size"),
    (["--accel", "hvf"], "--accel hvf: must be tcg or kvm"),
    (["--frobnicate"], "unknown option --frobnicate"),
    (["truth"], "'truth' is neither an option nor key=value"),
    (["no.such=1"], "no.such"),
    (["workload=nothing"], "workload=nothing"),
    (["switches=-1"], "switches=-1"),
    (["pebs.records=1", "pebs.threshold=2"], "pebs.threshold=2"),
    (["--image", "/no/such/image"], "/no/such/image: cannot be read"),
    (["--log", "/proc/nowhere/log"], "/proc/nowhere/log: cannot be written: there is no folder"),
    (["--vars", "/proc/nowhere/vars"], "--vars /proc/nowhere/vars: cannot be written"),
    (["--vars", "/tmp"], "--vars /tmp: cannot be written"),
    (["--mem", "127M"], "--mem 127M: 128M is the least"),
    (["--display", "nonsense"], "--display nonsense: must be none, "),
    (["--display", "noneof,x=1"], "or vnc=:1, which is what this QEMU has"),
    (["serial=0x500"], "serial=0x500: in QEMU only com1 to com4 and PCI's bus 0 are connected: give one of them"),
    (["serial=pci:2:00.0"], "serial=pci:2:00.0: in QEMU only com1 to com4 and PCI's bus 0"),
    (["serial=com1,100000"], "% of that: 115200 is the nearest"),
    ])
def test_usage(tmp_path, arguments, word):
    result = cb.boot(tmp_path / "log", *arguments)
    assert result.status == cb.USAGE, result.output
    assert len(result.lines(word)) >= 1, result.output
    assert "accelerator" not in result.output  # QEMU was not reached


def test_trouble_before_boot(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    tools = tmp_path / "tools"  # all that is needed before QEMU is
    tools.mkdir()
    for name in ("bash", "dirname", "env"):
        (tools / name).symlink_to(shutil.which(name))
    for arguments, word in [
            ({"build": empty}, "run 'make'"),
            ({"environment": {"OVMF_CODE": "/no/such", "OVMF_VARS": "/no/such"}}, "OVMF_CODE"),
            ({"environment": {"PATH": str(tools)}}, "no qemu-system-x86_64 in $PATH"),
            ]:
        result = cb.boot(tmp_path / "log", **arguments)
        assert result.status == cb.TROUBLE and word in result.output, result.output
    result = cb.boot(tmp_path / "log", "--qemu", "/bin/true")
    assert result.status == cb.TROUBLE and "not a QEMU" in result.output


def test_failed_start_keeps_the_last_trace(tmp_path):
    good = b"~H00000000:this is a trace\n"
    (tmp_path / "log").write_bytes(good)
    build = cb.build_with(tmp_path / "build", kernel_elf=PROBE)
    for _ in range(2):  # the second does not replace what the first kept
        result = cb.boot(tmp_path / "log", "--raw", "--cpu", "no-such-model", build=build)
        assert result.status == cb.TROUBLE and "the machine sent nothing" in result.output, result.output
        assert (tmp_path / "log.1").read_bytes() == good


@pytest.mark.parametrize("text, ours", [
    (b"~H00000000:a frame\r\n", True),
    (b"# Cairn\n\nCairn is a small kernel\n", False),
    ])
def test_only_logs_are_overwritten(tmp_path, text, ours):
    """The rule itself, case by case: tests/cairn/command/test_capture.py."""
    (tmp_path / "log").write_bytes(text)
    result = cb.boot(tmp_path / "log", "--raw", "--cpu", "no-such-model",
                     build=cb.build_with(tmp_path / "build", kernel_elf=PROBE))
    if ours:
        assert result.status == cb.TROUBLE and "the machine sent nothing" in result.output, result.output
    else:
        assert result.status == cb.USAGE and "is not a serial log of Cairn; choose another" in result.output, \
            result.output
        assert (tmp_path / "log").read_bytes() == text


def test_qemu_that_dies(tmp_path):
    """The verdict is the line with the error, and nothing is said by bash."""
    qemu = tmp_path / "qemu"
    qemu.write_text("#!/bin/bash\n[ $1 = --version ] && echo 'QEMU emulator version 9.9' && exit\n"
                    "[ $1 != -tpmdev ] || exit\n"
                    "echo warning: nothing >&2; echo 'qemu: error: no such processor' >&2; kill -ABRT $$\n",
                    encoding="ascii")
    qemu.chmod(0o755)
    result = cb.boot(tmp_path / "log", "--qemu", qemu)
    assert result.status == cb.TROUBLE and "Aborted" not in result.output, result.output
    assert "QEMU ended with status 134: qemu: error: no such processor" in result.output


def machine_that_passes(folder, more=""):
    """A QEMU of a few words on the serial port; it runs the shell commands `more`."""
    qemu = folder / "qemu"
    qemu.write_text("#!/bin/bash\n[ $1 = --version ] && echo 'QEMU emulator version 9.9' && exit\n"
                    "[ $1 != -tpmdev ] || exit\n"
                    "printf 'Cairn 0.1.0: wp\\nSUMMARY: 1 passed, 0 failed, 0 skipped\\n'\n" + more,
                    encoding="ascii")
    qemu.chmod(0o755)
    return qemu


@pytest.mark.parametrize("earlier", [None, b"Cairn 0.1.0: wp\nFAIL: options: x\n", b"Cairn 0.1.0: wp\n~H00000000:x\n"])
def test_earlier_saved_log(tmp_path, earlier):
    """A machine that saves nothing has failed, whatever another one has saved under that name."""
    saved = tmp_path / "log-esp.log"
    if earlier:
        saved.write_bytes(earlier)
    result = cb.boot(tmp_path / "log.log", "--raw", "--qemu", machine_that_passes(tmp_path), "save=esp")
    assert result.status == cb.FAIL and result.lines("verdict  the log was not saved"), result.output
    assert not saved.exists() and not result.lines("saved    ")
    assert (tmp_path / "log-esp.log.1").exists() == (earlier is not None and b"~H" in earlier)


def test_variables_that_cannot_be_kept(tmp_path):
    """The verdict is the machine's all the same."""
    folder = tmp_path / "folder"
    folder.mkdir()
    result = cb.boot(tmp_path / "log", "--raw", "--qemu", machine_that_passes(tmp_path, f"rm -r '{folder}'"), "--vars",
                     folder / "vars")
    assert result.status == cb.PASS and result.lines("verdict  pass, by its SUMMARY"), result.output
    assert result.lines(f"run-qemu.sh: --vars {folder}/vars: could not be written"), result.output


def test_variables_of_the_first_boot(tmp_path):
    """They are kept once, for all later boots. A boot that may have told the firmware what to boot next leaves none,
    and with variables of the user's choice they are not used."""
    build, seen = cb.build_with(tmp_path / "build"), tmp_path / "seen"
    qemu = machine_that_passes(tmp_path, 'for w; do case $w in *unit=1,*) file=${w##*file=} ;; esac; done\n'
                                         f'cp "$file" "{seen}"; echo boot >>"$file"\n')

    def run(*arguments):
        result = cb.boot(tmp_path / "log", "--raw", "--qemu", qemu, *arguments, build=build,
                         environment={"OVMF_CODE": "", "OVMF_VARS": ""})
        return result, [path.read_bytes() for path in build.glob("firmware/*")]

    assert run("save=esp")[1] == []
    first, kept = run()
    fresh = seen.read_bytes()
    assert first.status == cb.PASS and kept == [fresh + b"boot\n"], first.output
    assert not first.lines("variables ")
    for _ in range(2):
        later, still = run()
        assert later.status == cb.PASS and still == kept and seen.read_bytes() == kept[0], later.output
        assert later.lines(f"variables   {build}/firmware/"), later.output
    assert run("--icount")[1] == kept and seen.read_bytes() == fresh
    run("--vars", tmp_path / "own")
    assert seen.read_bytes() == fresh and (tmp_path / "own").read_bytes() == fresh + b"boot\n"


@pytest.mark.parametrize("form", ["fd", "qcow2"])
def test_variables_of_other_firmware(tmp_path, form):
    """By their size, or by the header, which says where the store of variables lies; a file that only looks like one of
    another format."""
    code, given, own = (tmp_path / f"{name}.{form}" for name in ("code", "given", "own"))
    head = Path("/usr/share/OVMF/OVMF_VARS_4M.fd").read_bytes()[:94] if form == "fd" else \
        b"QFI\xfb" + bytes(3) + b"\x03" + bytes(16) + (540672).to_bytes(8, "big")
    code.write_bytes(b"code")
    given.write_bytes(head + bytes(4002))

    def boot(data):
        own.write_bytes(data)
        return cb.boot(tmp_path / "log", "--which", "--vars", own, environment={"OVMF_CODE": code, "OVMF_VARS": given})

    length = {"fd": 4096, "qcow2": 8192}[form]  # qcow2 grows
    assert boot(head + b"v" * (length - len(head))).status == 0
    for place in {"fd": (16, 32, 40, 72, 88, 92), "qcow2": (0, 24, 31)}[form]:
        wrong = bytearray(head.ljust(length, b"v"))
        wrong[place] ^= 1
        refused = boot(wrong)
        assert refused.status == cb.USAGE, (place, refused.output)
        assert refused.lines(f"run-qemu.sh: --vars {own}: is of other firmware than {code}: "), refused.output
    for wrong in (b"", bytes(length)) + ((head + bytes(4001),) if form == "fd" else ()):
        assert boot(wrong).status == cb.USAGE


def test_failure_with_an_image(tmp_path):
    image = cb.make_image(tmp_path / "stick.img", "no.such=1")
    result = cb.boot(tmp_path / "log", "--smp", "1", "--image", image)
    verdict = result.lines("verdict  ")
    assert result.status == cb.FAIL and verdict and verdict[0].startswith("verdict  fail: options: "), result.output


def test_machine_that_halts(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", "1", "end=halt", "switches=100", "serial=0x2f8")
    assert result.status == cb.PASS and result.lines("verdict  pass, by its SUMMARY"), result.output


@pytest.mark.long
def test_raw_machine_that_halts(tmp_path):
    """Nobody reads the frames: the machine's last words end the run, long before the time is up."""
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", "end=halt", "ds=off", "switches=100")
    verdict = "verdict  pass, by its SUMMARY; the machine halted"
    assert result.status == cb.PASS and result.lines(verdict), result.output


@pytest.mark.long
def test_qemu_that_does_not_end(tmp_path):
    """One that is stuck is killed: neither a timeout nor Ctrl-C waits for it for ever."""
    qemu = tmp_path / "qemu"
    qemu.write_text("#!/bin/sh\n[ $1 != --version ] || exec echo QEMU emulator version 9.9\n"
                    f"trap '' TERM\necho $$ >'{tmp_path}/pid'\nexec sleep {cb.LIMIT}\n", encoding="ascii")
    qemu.chmod(0o755)
    result = cb.boot(tmp_path / "log", "--raw", "--qemu", qemu, timeout=5)
    assert result.status == cb.TIMEOUT and "timeout after 5 s" in result.output, result.output
    assert not alive(int((tmp_path / "pid").read_text(encoding="ascii")))


def test_qemu_refuses(tmp_path):
    build = cb.build_with(tmp_path / "build", kernel_elf=PROBE)
    result = cb.boot(tmp_path / "log", "--raw", "--cpu", "no-such-model", build=build)
    assert result.status == cb.TROUBLE and "no-such-model" in result.output, result.output


def test_help_and_which():
    done = subprocess.run([cb.ROOT / "run-qemu.sh", "--help"], capture_output=True, text=True, check=True)
    assert "usage: ./run-qemu.sh" in done.stdout and len(done.stdout.splitlines()) <= 80
    done = subprocess.run([cb.ROOT / "run-qemu.sh", "--help-options"], capture_output=True, text=True, check=True)
    assert "  workload=" in done.stdout
    done = subprocess.run([cb.ROOT / "run-qemu.sh", "--which"], capture_output=True, text=True, check=True)
    assert "accelerator tcg" in done.stdout and "firmware" in done.stdout


@pytest.mark.parametrize("wrong, meant", [
    ("--timeuot", "did you mean --timeout?"), ("--qemuds", "did you mean --qemu-ds?"), ("--frobnicate", "(--help)"),
    ("wrkload=mix", "Did you mean workload=mix?"), ("pebs.record=4", "Did you mean pebs.records=4?")])
def test_misspelt_option(wrong, meant):
    done = subprocess.run([cb.ROOT / "run-qemu.sh", wrong], capture_output=True, text=True, check=False)
    assert done.returncode == cb.USAGE and meant in done.stderr, done.stderr
    assert ("did you mean" in done.stderr.lower()) == (meant != "(--help)")


def test_misspelt_option_before_a_build(tmp_path):
    done = subprocess.run([cb.ROOT / "run-qemu.sh", "--timeuot"], capture_output=True, text=True, check=False,
                          env={**os.environ, "CAIRN_BUILD": str(tmp_path)})
    assert done.returncode == cb.USAGE and done.stderr == "run-qemu.sh: unknown option --timeuot (--help)\n"


def hanging_kernel():
    """The probe with its entry replaced by an endless halt."""
    data = bytearray(PROBE.read_bytes())
    entry = int.from_bytes(data[24:32], "little")
    virtual, offset = (int.from_bytes(data[64 + at:72 + at], "little") for at in (16, 8))
    at = entry - virtual + offset
    data[at:at + len(SILENT)] = SILENT
    return bytes(data)


def test_timeout(tmp_path):
    build = cb.build_with(tmp_path / "build", kernel_elf=hanging_kernel())
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", build=build, timeout=5)
    assert result.status == cb.TIMEOUT and "timeout after 5 s" in result.output, result.output


def process_of(pid):
    """(name, state, parent) of a process; None: there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            name, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = rest.split()[:2]
    return name, state, int(parent)


def descendants(pid):
    """Their names, by number."""
    found = {int(entry): process_of(entry) for entry in os.listdir("/proc") if entry.isdigit()}
    family = {pid}
    while more := {child for child, process in found.items() if process and process[2] in family} - family:
        family |= more
    return {child: found[child][0] for child in family - {pid}}


def alive(pid):
    process = process_of(pid)
    return process is not None and process[1] != "Z"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_nothing_behind(tmp_path, number):
    build = cb.build_with(tmp_path / "build", kernel_elf=hanging_kernel())
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen([cb.ROOT / "run-qemu.sh", "--raw", "--smp", "1", "--log", tmp_path / "log"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                               # a script's background job ignores SIGINT, and bash cannot trap that
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                               env={**os.environ, "CAIRN_BUILD": str(build), "TMPDIR": str(tmp_path / "tmp")})
    started = {}
    while "cairn" not in started.values() or not any(name.startswith("qemu") for name in started.values()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
        started = descendants(process.pid)
    process.send_signal(number)
    output, _ = process.communicate(timeout=cb.LIMIT)
    assert process.returncode == cb.INTERRUPTED and b"interrupted" in output
    assert not any(alive(pid) for pid in started)
    assert not list((tmp_path / "tmp").iterdir())
