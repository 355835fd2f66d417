# SPDX-License-Identifier: MIT
"""Guests of a few known instructions (guest/*.asm) under the plugin, in the QEMU that `make deps-ds` brings."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("CAIRN_BUILD", "build")).resolve()
QEMU = BUILD / "qemu11/qemu-system-x86_64"
PLUGIN = BUILD / "qemu-ds.so"
GUESTS = Path(__file__).resolve().parent / "guest"

ENDED = 1  # QEMU's exit status where the guest writes 0 to isa-debug-exit


def qemu_without(folder, *symbols):
    """A copy of that QEMU in which symbols that its binary exports have other names."""
    named = QEMU.resolve()
    usr = named.parent / "root/usr"
    binary = usr / "bin/qemu-system-x86_64"
    copy = folder / "qemu-system-x86_64"
    if binary.exists():  # Debian's, unpacked, which a script beside it starts
        shutil.copy(named, copy)
        copy = folder / "root/usr/bin/qemu-system-x86_64"
        copy.parent.mkdir(parents=True)
        for part in ("lib", "lib64", "share"):
            (folder / "root/usr" / part).symlink_to(usr / part)
        named = binary
    code = named.read_bytes()
    for name in symbols:
        assert b"\0" + name + b"\0" in code
        code = code.replace(b"\0" + name + b"\0", b"\0" + b"_" * len(name) + b"\0")
    copy.write_bytes(code)
    copy.chmod(0o755)
    return folder / "qemu-system-x86_64"


def assemble(folder, name, *defines):
    image = folder / f"{name}.rom"
    subprocess.run(["nasm", "-f", "bin", "-I", f"{GUESTS}/", *(f"-D{define}" for define in defines), "-o", image,
                    GUESTS / f"{name}.asm"], check=True)
    return image


def qemu(image, plugin="", *arguments, accelerator="tcg", timeout=300):
    """QEMU with the image as its firmware; `plugin`: options of the plugin, None: without it."""
    if plugin is not None:
        arguments = "-plugin", f"{PLUGIN}{',' if plugin else ''}{plugin}", *arguments
    return subprocess.run([QEMU, "-accel", accelerator, "-cpu", "max", "-m", "64", "-display", "none", "-nodefaults",
                           "-bios", image, "-debugcon", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=1",
                           *arguments],
                          capture_output=True, text=True, check=False, timeout=timeout)


def run(folder, name, plugin="", *arguments, defines=()):
    """What the guest said, name: value, and QEMU's messages, where the guest has come to its end."""
    done = qemu(assemble(folder, name, *defines), plugin, *arguments)
    assert done.returncode == ENDED, (done.returncode, done.stdout, done.stderr)
    said = [line.split("=") for line in done.stdout.splitlines()]
    names = [name for name, _ in said]
    assert len(set(names)) == len(names)
    return {name: int(value, 16) for name, value in said}, done.stderr
