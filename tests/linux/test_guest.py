# SPDX-License-Identifier: MIT
"""What tools/qemu-ds/guest.py says where there is nothing to show: one line, and nothing is left behind."""

import errno
import mmap
import os
import re
import subprocess
from pathlib import Path

import emulated
import guest
import known
import programs
import pytest


def tool(tmp_path, *arguments, build=guest.BUILD):
    return subprocess.run([guest.__file__, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path,
                          env=dict(os.environ, CAIRN_BUILD=str(build), TMPDIR=str(tmp_path)))


@pytest.mark.parametrize("arguments, why", [
    (("--preset", "i486"), "QEMU ended with 1: "),
    (("--copy", "nothing"), "--copy nothing: is not there\n"),
    (("--kernel", "2.6"), f"{guest.DEBIAN}/boot: has no kernel 2.6, but {guest.NEWER}."),
    (("--kernel", "./bzImage"), "--kernel ./bzImage: is no file\n"),
    (("--root", "."), "boot: has no kernel (vmlinuz-*): install linux-image-amd64 there\n"),
    (("--timeout", "1"), "nothing after 1 seconds."),
])
def test_refusals(tmp_path, arguments, why):
    done = tool(tmp_path, "--no-cache", *arguments, "true")
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith(f"guest.py: {why}")
    assert "Traceback" not in done.stderr and not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--smp", "--timeout"])
@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_numbers(tmp_path, option, number):
    done = tool(tmp_path, option, number, "true")
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.endswith(f"error: argument {option}: '{number}' is not a number above 0\n")


def test_a_folder_without_files(tmp_path):
    done = tool(tmp_path, "--cache", "/proc", "true")
    assert done.returncode == 1 and not done.stdout
    assert re.fullmatch(r"guest\.py: /proc/[0-9a-f]{16}\.lock: No such file or directory\n", done.stderr)


def test_a_full_disk(tmp_path):
    """There the guest's memory is a file that cannot grow, and QEMU is killed."""
    with emulated.Machine(["sh", "-c", "kill -BUS $$"], tmp_path / "new", "1G", 60, make=True) as machine:
        with pytest.raises(emulated.Ended, match=f"^{tmp_path}: has no room for a snapshot, 200 MB and more "):
            machine.save()


def test_no_snapshot_of_a_guest_that_has_not_booted(tmp_path):
    done = tool(tmp_path, "--cache", "kept", "--timeout", "1", "true")
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.splitlines() == ["guest.py: the guest boots once; its snapshot is kept in kept",
                                        "guest.py: nothing after 1 seconds."]
    assert not [path for path in tmp_path.rglob("*") if path.is_dir() and path.name != "kept"]


def test_without_deps_ds(tmp_path):
    done = tool(tmp_path, "true", build=tmp_path)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr == "guest.py: qemu11/qemu-system-x86_64 is not there: run 'make deps-ds all'\n"


@pytest.mark.parametrize("given, made", [
    (("skylake", None, ""), (1, "")),
    (("skylake", 4, "stats=on"), (4, "stats=on")),
    (("pantherlake", None, ""), (2, "efficient=1")),
    (("lunarlake", 5, "stats=on"), (5, "stats=on,efficient=3")),
    (("arrowlake", 4, "efficient=1,stats=on"), (4, "efficient=1,stats=on")),
    (("arrowlake", 1, ""), (1, "")),
])
def test_kinds_of_cores(given, made):
    """A hybrid has both kinds where nobody says how many, if it has several."""
    assert guest.processors(*given) == made


def test_a_host_that_refuses_executable_memory(monkeypatch):
    """Says what to do, and nothing is measured for one who did."""
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")
    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(OSError, match=r"^the host's TSC .*Permission denied.*--append tsc_early_khz=$"):
        guest.command_line("haswell", "")
    assert guest.command_line("haswell", "tsc_early_khz=2600000").endswith(" tsc_early_khz=2600000")


def test_programs_of_this_folder(tmp_path, monkeypatch):
    """--copy takes a bare name, of a static program and of one with libraries, and does not look for it in the root."""
    known.assemble(tmp_path)
    (tmp_path / "cat.copy").write_bytes((guest.DEBIAN / "usr/bin/cat").read_bytes())
    monkeypatch.chdir(tmp_path)
    root = programs.Root(guest.DEBIAN)
    assert root.libraries(Path("known")) == []
    assert programs.LOADER in root.libraries(Path("cat.copy"))
