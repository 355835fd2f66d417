#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boots Debian's kernel in QEMU under qemu-ds, with an initramfs that contains Debian's perf and busybox, runs shell
commands there and returns the output of each. All of it comes from `make deps-ds`, nothing from the host. There are two
kernels: Debian 13's, and a newer one, for what that does not know.
It is a program (--help), and a module for tests: run()."""

import argparse
import io
import os
import re
import signal
import stat
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("CAIRN_BUILD", "build")).resolve()
QEMU, PLUGIN, DEBIAN = BUILD / "qemu11/qemu-system-x86_64", BUILD / "qemu-ds.so", BUILD / "linux/root"
KERNEL, NEWER = "6.12", "7.3"  # as in linux.txt
# The kernel's check of its timer is for real time: on a busy host it finds that no interrupt comes, and panics.
COMMAND_LINE = "console=ttyS0 panic=-1 no_timer_check"
LIMIT = 900  # seconds for a boot that does not hang: slowness is no verdict

# Each command's output goes to a file of its own. All come out of the guest as one archive, through a port that leaves
# every byte as it is. On the console stands what a test that fails wants to know.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root PERF_PAGER=cat
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
cd /root
for i in $(ls /commands | sort -n); do
    echo "guest: $(head -n 1 /commands/$i)"
    sh /commands/$i >/out/$i 2>&1 </dev/null
    echo $? >/out/$i.status
    echo "guest: status $(cat /out/$i.status)"
done
dmesg >/out/dmesg
tar -c -C /out . >/dev/vport0p1
poweroff -f
"""
FOLDERS = ("bin", "lib", "lib64", "commands", "dev", "etc", "out", "proc", "root", "sys", "tmp")


class Trouble(Exception):
    """Why there is nothing that the guest has said."""


@dataclass
class Said:
    status: int
    output: str  # on both streams


@dataclass
class Run:
    said: list    # of Said, one for each command
    dmesg: str
    console: str
    plugin: str   # what QEMU and the plugin said


class Archive:
    """An initramfs: a cpio archive of the "newc" kind (Linux' driver-api/early-userspace/buffer-format.rst)."""

    def __init__(self, file):
        self.file, self.entries = file, 0

    def add(self, name, mode, data=b""):
        self.entries += 1
        path = name.encode() + b"\0"
        fields = (self.entries, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
        self.file.write(head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4))

    def copy(self, name, source):
        """`source`: bytes, for a program or script, or a Path, which keeps its mode."""
        if isinstance(source, bytes):
            self.add(name, stat.S_IFREG | 0o755, source)
        elif source.is_symlink():
            self.add(name, stat.S_IFLNK | 0o777, os.readlink(source).encode())
        else:
            self.add(name, stat.S_IFREG | source.stat().st_mode & 0o777, source.read_bytes())


def initramfs(to, commands, files):
    with open(to, "wb") as file:
        archive = Archive(file)
        for folder in FOLDERS:
            archive.add(folder, stat.S_IFDIR | 0o755)
        archive.copy("init", INIT.encode())
        for name in ("busybox", "perf"):
            archive.copy(f"bin/{name}", DEBIAN / "usr/bin" / name)
        archive.copy("lib64/ld-linux-x86-64.so.2", (DEBIAN / "usr/lib64/ld-linux-x86-64.so.2").resolve())
        for path in sorted((DEBIAN / "usr/lib/x86_64-linux-gnu").glob("*.so*")):
            archive.copy(f"lib/{path.name}", path)
        for i, command in enumerate(commands):
            archive.copy(f"commands/{i}", f"{command}\n".encode())
        for name, source in files.items():
            archive.copy(name.lstrip("/"), source)
        archive.add("TRAILER!!!", 0)


def need():
    for needed in (QEMU, PLUGIN, DEBIAN):
        if not needed.exists():
            raise Trouble(f"{os.path.relpath(needed)} is not there: run 'make deps-ds all'")


def kernel_of(release):
    """Its file. `release`: how its version begins."""
    found = {path.name.removeprefix("vmlinuz-"): path for path in sorted((DEBIAN / "boot").glob("vmlinuz-*"))}
    for version, path in found.items():
        if re.match(re.escape(release) + r"(?!\d)", version):
            return path
    raise Trouble(f"no kernel {release} is there: {', '.join(found)}; make deps-ds gets {KERNEL} and {NEWER}")


def run(folder, commands, *, preset="icelake", kernel=KERNEL, files=None, plugin="", append="", smp=1, machine=(),
        timeout=LIMIT):
    """Boots, runs each of the commands in a shell of its own, and ends. `folder`: for files on the way; `files`: {path
    in the guest, in a folder of FOLDERS: Path here, or bytes of a script}; `kernel`: KERNEL or NEWER; `plugin`: more
    options of it, as "stats=on"; `append`: of the kernel's; `machine`: more arguments of QEMU's, which ends when the
    caller does. Raises Trouble where the guest did not get to its end."""
    need()
    archive, out, console = folder / "initramfs", folder / "out.tar", folder / "console"
    image = kernel_of(kernel)
    initramfs(archive, commands, files or {})
    command = [QEMU, "-accel", "tcg", "-cpu", "max", "-smp", str(smp), "-m", "1G", "-display", "none",
               "-nodefaults", "-no-reboot", "-run-with", "exit-with-parent=on", "-serial", f"file:{console}",
               "-device", "virtio-serial-pci", "-chardev", f"file,id=out,path={out}",
               "-device", "virtserialport,chardev=out",
               "-plugin", ",".join(filter(None, (str(PLUGIN), f"preset={preset}", plugin))),
               "-kernel", image, "-initrd", archive, "-append", f"{COMMAND_LINE} {append}", *machine]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
                              check=False)
        how = f"QEMU ended with {done.returncode}: {done.stderr}"
    except subprocess.TimeoutExpired as expired:
        done, how = None, f"nothing after {timeout} seconds. {(expired.stderr or b'').decode()}"
    archive.unlink()
    said = console.read_text(errors="replace") if console.exists() else ""
    if not done or not out.exists() or not out.stat().st_size:
        raise Trouble("\n".join([how.rstrip(), *said.splitlines()[-40:]]))
    with tarfile.open(fileobj=io.BytesIO(out.read_bytes())) as tar:
        text = {Path(member.name).name: tar.extractfile(member).read().decode(errors="replace")
                for member in tar if member.isfile()}
    return Run([Said(int(text[f"{i}.status"]), text[str(i)]) for i in range(len(commands))], text["dmesg"], said,
               done.stderr)


def main():
    parser = argparse.ArgumentParser(
        description="Boots Debian's Linux under qemu-ds, runs each COMMAND in a shell there and prints what it says. "
                    "The exit status is the highest of theirs. First: make deps-ds all.")
    parser.add_argument("--preset", metavar="NAME", default="icelake", help="the processor to be (%(default)s)")
    parser.add_argument("--kernel", metavar="RELEASE", default=KERNEL,
                        help=f"the kernel: {KERNEL}, or {NEWER}, which knows architectural PEBS (%(default)s)")
    parser.add_argument("--plugin", metavar="OPTIONS", default="", help="more options of the plugin: stats=on,...")
    parser.add_argument("--append", metavar="OPTIONS", default="pti=off nmi_watchdog=0",
                        help="the kernel's options (%(default)s)")
    parser.add_argument("--smp", metavar="N", type=int, default=1, help="so many processors (%(default)s)")
    parser.add_argument("--copy", metavar="PROGRAM", type=Path, action="append", default=[],
                        help="a file to copy into the guest's /bin; may be given again")
    parser.add_argument("--timeout", metavar="S", type=int, default=LIMIT, help="give up after S seconds (%(default)s)")
    parser.add_argument("command", metavar="COMMAND", nargs="+")
    a = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # leaves nothing behind
    try:
        with tempfile.TemporaryDirectory() as folder:
            done = run(Path(folder), a.command, preset=a.preset, kernel=a.kernel, plugin=a.plugin, append=a.append,
                       smp=a.smp, files={f"bin/{path.name}": path for path in a.copy}, timeout=a.timeout)
    except (Trouble, OSError) as trouble:
        sys.exit(f"guest.py: {trouble}")
    except KeyboardInterrupt:
        return 130
    for command, said in zip(a.command, done.said):
        print(f"# {command}\n{said.output.rstrip()}")
    print(done.plugin, end="", file=sys.stderr)
    return max(said.status for said in done.said)


if __name__ == "__main__":
    sys.exit(main())
