#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boots a Linux in QEMU under qemu-ds, runs shell commands there and returns the output of each. Its initramfs contains
Debian's busybox, and perf or the programs that are asked for. In Cairn's tree all of it comes from `make deps-ds`,
nothing from the host. There are two kernels: Debian 13's, and a newer one, for what that does not know. Where it is
installed, as qemu-ds-guest, kernel and programs are those of this machine, or of another root.
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

sys.dont_write_bytecode = True  # keeps the folder clean where it is installed
import programs as of_root  # noqa: E402
import tsc  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSTALLED = not (HERE / "plugin.c").exists()
BUILD = (ROOT / os.environ.get("CAIRN_BUILD", "build")).resolve()
QEMU, PLUGIN, DEBIAN = BUILD / "qemu11/qemu-system-x86_64", BUILD / "qemu-ds.so", BUILD / "linux/root"
START = [HERE / "../../bin/qemu-ds-run"] if INSTALLED else [HERE / "qemu-ds-run", "--qemu", QEMU]
KERNEL, NEWER = "6.12", "7.3"  # as in linux.txt
PROGRAMS = ("perf",)
# Without ERMS and FSRM Linux copies eight bytes at a time. REP MOVSB is slow in TCG: it takes a tenth of a boot.
CPU = "max,-erms,-fsrm"
# The kernel's check of its timer is for real time: on a busy host it finds that no interrupt comes, and panics.
COMMAND_LINE = "console=ttyS0 panic=-1 no_timer_check"
# These have no leaf of CPUID that says how fast the TSC runs. Linux measures it there: on a busy host many times wrong.
UNTOLD = ("penryn", "nehalem", "sandybridge", "haswell")
HYBRIDS = ("arrowlake", "lunarlake", "pantherlake")
LIMIT = 900  # seconds for a boot that does not hang: slowness is no verdict

# Each command's output goes to a file of its own. All come out of the guest as one archive, through a port that leaves
# every byte as it is. On the console stands what a test that fails wants to know.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/sbin HOME=/root PERF_PAGER=cat
mount -t devtmpfs dev /dev
mkdir /dev/pts /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t proc proc /proc
mount -t sysfs sys /sys
ifconfig lo up
[ -e /etc/passwd ] || echo root:x:0:0:root:/root:/bin/sh >/etc/passwd
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
FOLDERS = ("commands", "dev", "etc", "out", "proc", "root", "sys", "tmp", "usr")
LINKS = ("bin", "lib", "lib64", "sbin")  # into usr


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
        self.file, self.entries, self.folders = file, 0, {""}

    def folder(self, name):
        """With those that it is in."""
        if name not in self.folders:
            self.folder(os.path.dirname(name))
            self.folders.add(name)
            self.add(name, stat.S_IFDIR | 0o755)

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


def copies(paths):
    """{path in the guest: Path here} of files, which go to /bin, and of all files in folders, which go to /root."""
    files = {}
    for path in paths:
        if path.is_dir():
            folder = path.resolve()
            files |= {f"root/{file.relative_to(folder.parent)}": file for file in sorted(folder.rglob("*"))
                      if file.is_symlink() or file.is_file()}
        else:
            files[f"bin/{path.name}"] = path
    return files


def initramfs(to, commands, files, root, programs):
    """As file `to`. `programs`: of the root, by name or path. What `files` need of it is there, too; of those in /root
    what it has."""
    debian = of_root.Root(root)
    needed = debian.needs(("busybox", *programs))
    for name, source in files.items():
        if not isinstance(source, bytes) and not source.is_symlink():
            needed |= debian.needs(debian.libraries(source, strict=not name.startswith("root/")))
    with open(to, "wb") as file:
        archive = Archive(file)
        for folder in (*FOLDERS, *(f"usr/{name}" for name in LINKS)):
            archive.folder(folder)
        for name in LINKS:
            archive.add(name, stat.S_IFLNK | 0o777, f"usr/{name}".encode())
            archive.folders.add(name)
        archive.copy("init", INIT.encode())
        for name, source in needed.items():
            archive.folder(os.path.dirname(name))
            archive.copy(name, source)
        for i, command in enumerate(commands):
            archive.copy(f"commands/{i}", f"{command}\n".encode())
        for name, source in files.items():
            archive.folder(os.path.dirname(name.lstrip("/")))
            archive.copy(name.lstrip("/"), source)
        archive.add("TRAILER!!!", 0)


def need(root=DEBIAN):
    for needed in () if INSTALLED else (QEMU, PLUGIN, root):
        if not needed.exists():
            raise Trouble(f"{os.path.relpath(needed)} is not there: run 'make deps-ds all'")


def kernel_of(release, root=DEBIAN):
    """Its file. `release`: how its version begins, or a path with a '/' in it; None: the newest there."""
    if release and "/" in release:
        return Path(release)
    found = {path.name.removeprefix("vmlinuz-"): path for path in (root / "boot").glob("vmlinuz-*")}
    by_age = sorted(found, key=lambda version: [int(number) for number in re.findall(r"\d+", version)], reverse=True)
    for version in by_age:
        if not release or re.match(re.escape(release) + r"(?!\d)", version):
            return found[version]
    where = f"make deps-ds gets {KERNEL} and {NEWER}" if root == DEBIAN else f"{root}/boot has the others"
    raise Trouble(f"no kernel {release or 'vmlinuz-*'} is there: {', '.join(sorted(found))}; {where}")


def processors(preset, smp, plugin):
    """(how many, the plugin's options) where they are not given. Linux makes a PMU for each kind of core that a hybrid
    has, whether or not there is one; with no CPU for it `perf stat` fails."""
    smp = smp or (2 if preset in HYBRIDS else 1)
    if preset in HYBRIDS and smp > 1 and not re.search(r"(^|,)efficient=", plugin):
        plugin = ",".join(filter(None, (plugin, f"efficient={smp - smp // 2}")))
    return smp, plugin


def command_line(preset, append):
    khz = tsc.khz() if preset in UNTOLD and "tsc_early_khz=" not in append else None
    return " ".join([COMMAND_LINE, *([f"tsc_early_khz={khz}"] if khz else []), append])


def run(folder, commands, *, preset="icelake", kernel=KERNEL, files=None, plugin="", append="", smp=1, machine=(),
        timeout=LIMIT, root=DEBIAN, programs=PROGRAMS):
    """Boots, runs each of the commands in a shell of its own, and ends. `folder`: for files on the way; `files`: {path
    in the guest: Path here, or bytes of a script}; `programs`: of the root, by name or path, beside busybox; `kernel`:
    as kernel_of() has it; `plugin`: more options of it, as "stats=on"; `append`: of the kernel's; `machine`: more
    arguments of QEMU's, which ends when the caller does. Raises Trouble where the guest did not get to its end."""
    need(root)
    archive, out, console = folder / "initramfs", folder / "out.tar", folder / "console"
    image = kernel_of(kernel, root)
    initramfs(archive, commands, files or {}, root, programs)
    command = [*START, "--preset", preset, *(["--plugin", plugin] if plugin else []), "--",
               "-accel", "tcg", "-cpu", CPU, "-smp", str(smp), "-m", "1G", "-display", "none", "-nodefaults",
               "-no-reboot", "-run-with", "exit-with-parent=on", "-serial", f"file:{console}",
               "-device", "virtio-serial-pci", "-chardev", f"file,id=out,path={out}",
               "-device", "virtserialport,chardev=out",
               "-kernel", image, "-initrd", archive, "-append", command_line(preset, append), *machine]
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
        description="Boots a Linux under qemu-ds, runs each COMMAND in a shell there and prints what it says. The exit "
                    "status is the highest of theirs. " + ("" if INSTALLED else "First: make deps-ds all."))
    parser.add_argument("--preset", metavar="NAME", default="icelake", help="the processor to be (%(default)s)")
    parser.add_argument("--root", metavar="DIR", type=Path, default=Path("/") if INSTALLED else DEBIAN,
                        help="a Debian system, with busybox-static: kernels and programs are taken from there "
                             f"({'/' if INSTALLED else 'what make deps-ds unpacks'})")
    parser.add_argument("--kernel", metavar="RELEASE",
                        help="how the version of a kernel in the root's /boot begins, or a path with a '/' in it "
                             f"({'the newest' if INSTALLED else f'{KERNEL}; {NEWER} knows architectural PEBS'})")
    parser.add_argument("--program", metavar="NAME", action="append",
                        help="a program of the root to have in the guest, with what it needs: rr, gdb, python3, bash, "
                             "... or a path of a file or folder there; may be given again. Otherwise it is perf")
    parser.add_argument("--plugin", metavar="OPTIONS", default="", help="more options of the plugin: stats=on,...")
    parser.add_argument("--append", metavar="OPTIONS", default="pti=off nmi_watchdog=0",
                        help="the kernel's options (%(default)s)")
    parser.add_argument("--smp", metavar="N", type=int,
                        help="so many processors (1; with a hybrid 2). Half of a hybrid's are efficient cores, unless "
                             "--plugin efficient= says otherwise")
    parser.add_argument("--copy", metavar="PATH", type=Path, action="append", default=[],
                        help="a program to copy into the guest's /bin, or a folder to copy into its /root, with the "
                             "root's libraries; may be given again")
    parser.add_argument("--timeout", metavar="S", type=int, default=LIMIT, help="give up after S seconds (%(default)s)")
    parser.add_argument("command", metavar="COMMAND", nargs="+")
    a = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # leaves nothing behind
    try:
        with tempfile.TemporaryDirectory() as folder:
            kernel = a.kernel or (KERNEL if a.root == DEBIAN else None)
            smp, plugin = processors(a.preset, a.smp, a.plugin)
            done = run(Path(folder), a.command, preset=a.preset, kernel=kernel, plugin=plugin, append=a.append,
                       smp=smp, files=copies(a.copy), timeout=a.timeout,
                       root=a.root, programs=a.program or PROGRAMS)
    except (Trouble, of_root.Missing, OSError) as trouble:
        sys.exit(f"{'qemu-ds-guest' if INSTALLED else 'guest.py'}: {trouble}")
    except KeyboardInterrupt:
        return 130
    for command, said in zip(a.command, done.said):
        print(f"# {command}\n{said.output.rstrip()}")
    print(done.plugin, end="", file=sys.stderr)
    return max(said.status for said in done.said)


if __name__ == "__main__":
    sys.exit(main())
