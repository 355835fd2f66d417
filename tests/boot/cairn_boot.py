# SPDX-License-Identifier: MIT
"""Boots Cairn for a test: through run-qemu.sh, as a user would."""

import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = (ROOT / os.environ.get("CAIRN_BUILD", "build")).resolve()
QEMU_11 = BUILD / "qemu11" / "qemu-system-x86_64"

PASS, FAIL, USAGE, TROUBLE, TIMEOUT, INTERRUPTED = 0, 1, 2, 3, 124, 130

# How long a machine may take that does not hang. The host's speed, and what else runs there, are no verdict: a boot
# of seconds gets this, too, and the guest no other limit than the host's.
LIMIT = 900
UNHURRIED = f"seconds={LIMIT}"

# Boots of machines that many tests have begin behind the firmware (run-qemu.sh --warm), if their options are no others
# than these and no word begins so. What few have, or depends on a file of the test, is not worth a snapshot.
_OF_MANY = {"--smp", "--raw", "--monitor", "--script"}
_OF_FEW = ("serial=", "save=", "ds=hw")
_CPUS = ("1", "2", "4")

_ESCAPE = re.compile(r"\x1b\[[0-9;=?]*[A-Za-z]")


@dataclass
class Boot:
    status: int  # exit status of run-qemu.sh
    output: str  # what it printed on both streams, without escape sequences and carriage returns
    log: Path    # the log it wrote

    def console(self):
        """Everything the machine said, firmware and frames included, as text."""
        return clean(self.log.read_bytes())

    def lines(self, word):
        return [line for line in self.output.splitlines() if word in line]


def long(*values, **more):
    """Parameters of a test that `make test-all` tries as well, `make test` does not."""
    return pytest.param(*values, marks=pytest.mark.long, **more)


def need_qemu_11():
    """For pytest_configure() of tests that need it: one line where it is not there, and no test runs."""
    if not QEMU_11.exists():
        raise pytest.UsageError(f"{QEMU_11} is not there: run 'make deps-ds'")


def clean(raw):
    return _ESCAPE.sub("", raw.decode("ascii", errors="replace")).replace("\r", "")


def _begins_warm(arguments):
    words = [*arguments, "--smp", "4"]  # the default, if there is no other
    return words[words.index("--smp") + 1] in _CPUS and not any(word.startswith(_OF_FEW) for word in words) and \
        _OF_MANY.issuperset(word for word in words if word.startswith("-"))


def boot(log, *arguments, build=BUILD, timeout=LIMIT, environment=None, data=None):
    """Runs `run-qemu.sh --log LOG --timeout TIMEOUT ARGUMENTS...` with the files of `build`, and `data` (bytes) on its
    standard input; with --warm where that is of use. Never raises for a bad end of the machine: that is for the test to
    judge. The wall-clock limit behind it only catches a run-qemu.sh that hangs."""
    arguments = [str(argument) for argument in arguments]
    warm = build == BUILD and not environment and _begins_warm(arguments)
    command = [str(ROOT / "run-qemu.sh"), *(["--warm"] if warm else []), "--log", str(log), "--timeout", str(timeout),
               *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL if data is None else subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                               env={**os.environ, "CAIRN_BUILD": str(build), **(environment or {})})
    try:
        raw, _ = process.communicate(data, timeout=timeout + 300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # its own session: nothing else is in this group
        raw, _ = process.communicate()
    result = Boot(process.returncode, clean(raw), Path(log))
    assert not (warm and result.lines("no snapshot: ")), result.output
    return result


def warm_firmware(config):
    """For pytest_configure(): all boots that follow, in all its processes, begin with the firmware's variables of one
    that has been, here, as users have it. From the firmware's own first ones it takes twice as long. Not where there
    are few boots to come."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None) or config.option.collectonly \
            or "OVMF_VARS" in os.environ:
        return
    names = subprocess.run([ROOT / "run-qemu.sh", "--which"], capture_output=True, text=True, check=True).stdout
    code = Path(re.search(r"^firmware +(\S.*)$", names, re.M)[1])
    temporary = tempfile.TemporaryDirectory(prefix="cairn-firmware-")  # pylint: disable=consider-using-with
    config.add_cleanup(temporary.cleanup)
    folder = Path(temporary.name)
    first = boot(folder / "log", "--vars", folder / "vars", "switches=1", "workload=pingpong", UNHURRIED)
    if first.status != PASS:
        raise pytest.UsageError(f"the first boot fails:\n{first.output}")
    os.environ.update(OVMF_CODE=str(code), OVMF_VARS=str(folder / "vars"))


def build_with(folder, **files):
    """A build directory like BUILD, with some files replaced: build_with(tmp, kernel_elf=b"...") (`_` stands for `.`).
    A value is bytes, or a Path to link to."""
    folder.mkdir(exist_ok=True)
    chosen = {"BOOTX64.EFI": BUILD / "BOOTX64.EFI", "kernel.elf": BUILD / "kernel.elf", "cairn": BUILD / "cairn",
              "cairn-options": BUILD / "cairn-options"}
    chosen.update({name.replace("_", "."): value for name, value in files.items()})
    for name, value in chosen.items():
        if isinstance(value, bytes):
            (folder / name).write_bytes(value)
        else:
            (folder / name).symlink_to(value)
    return folder


def with_qemu(folder, *extra, qemu="qemu-system-x86_64"):
    """A QEMU that gets these arguments as well, for run-qemu.sh --qemu."""
    wrapper = folder / "qemu-with-more"
    words = " ".join(f"'{word}'" for word in extra)
    wrapper.write_text(f'#!/bin/sh\nexec "{shutil.which(qemu)}" "$@" {words}\n', encoding="ascii")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return wrapper


def failing_tpm(folder):
    """QEMU's arguments for the TPM of tools/no-tpm.sh: without a TPM, OVMF waits 1.7 s for one. run-qemu.sh itself
    gives none to a machine whose programs could see it."""
    os.mkfifo(folder / "tpm")
    (folder / "tpm.cancel").touch()
    return ("-tpmdev", f"passthrough,id=tpm,path={folder}/tpm,cancel-path={folder}/tpm.cancel",
            "-device", "tpm-tis,tpmdev=tpm")


def make_image(path, *options, kernel=BUILD / "kernel.elf", loader=BUILD / "BOOTX64.EFI"):
    subprocess.run([ROOT / "tools" / "image.sh", path, loader, kernel, *options], check=True, stdout=subprocess.DEVNULL)
    return path


def image_tool(tool, image, *arguments, data=None):
    """An mtools command on the EFI system partition of `image`: image_tool("mdel", image, "::/cairn.cfg")."""
    subprocess.run([tool, "-i", f"{image}@@1M", *arguments], input=data, check=True, stdout=subprocess.DEVNULL)
