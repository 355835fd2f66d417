# SPDX-License-Identifier: MIT
"""Boots Debian's kernel in QEMU under qemu-ds, with an initramfs that holds Debian's perf and busybox: runs shell
commands there and hands back what each of them said. All of it is what `make deps-ds` brings, nothing of the host's."""

import argparse
import io
import os
import stat
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("CAIRN_BUILD", "build")).resolve()
DEBIAN = BUILD / "linux/root"
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
    files: dict   # name: bytes, of what commands left in /out


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


def run(folder, commands, *, preset="icelake", files=None, plugin="", cpu="max", append="", smp=1, machine=(),
        timeout=LIMIT):
    """Boots, runs each of the commands in a shell of its own, and ends. `folder`: for files on the way; `files`: {path
    in the guest, in a folder of FOLDERS: Path here, or bytes of a script}; `plugin`: more options of it, as
    "stats=on"; `append`: of the kernel's; `machine`: more arguments of QEMU's. Raises where the guest did not get to
    its end."""
    archive, out, console = folder / "initramfs", folder / "out.tar", folder / "console"
    (kernel,) = (DEBIAN / "boot").glob("vmlinuz-*")
    initramfs(archive, commands, files or {})
    command = [BUILD / "qemu11/qemu-system-x86_64", "-accel", "tcg", "-cpu", cpu, "-smp", str(smp), "-m", "1G",
               "-display", "none", "-nodefaults", "-no-reboot", "-serial", f"file:{console}",
               "-device", "virtio-serial-pci", "-chardev", f"file,id=out,path={out}",
               "-device", "virtserialport,chardev=out",
               "-plugin", ",".join(filter(None, (f"{BUILD}/qemu-ds.so", f"preset={preset}", plugin))),
               "-kernel", kernel, "-initrd", archive, "-append", f"{COMMAND_LINE} {append}", *machine]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
                              check=False)
        how = f"QEMU ended with {done.returncode}: {done.stderr}"
    except subprocess.TimeoutExpired as expired:
        how = f"nothing after {timeout} seconds: {(expired.stderr or b'').decode()}"
    archive.unlink()
    said = console.read_text(errors="replace") if console.exists() else ""
    if not out.exists() or not out.stat().st_size:
        raise AssertionError(f"{how}\n" + "\n".join(said.splitlines()[-40:]))
    with tarfile.open(fileobj=io.BytesIO(out.read_bytes())) as tar:
        found = {Path(member.name).name: tar.extractfile(member).read() for member in tar if member.isfile()}
    text = {name: data.decode(errors="replace") for name, data in found.items()}
    return Run([Said(int(text[f"{i}.status"]), text[str(i)]) for i in range(len(commands))], text["dmesg"], said,
               done.stderr, found)


def main():
    parser = argparse.ArgumentParser(description="Runs shell commands in Debian's Linux under qemu-ds and prints what "
                                                 "they say. First: make deps-ds all.")
    parser.add_argument("--preset", default="icelake", help="processor of the plugin's (icelake)")
    parser.add_argument("--append", default="pti=off nmi_watchdog=0", help="the kernel's options (%(default)s)")
    parser.add_argument("--copy", metavar="PROGRAM", type=Path, action="append", default=[],
                        help="into the guest's /bin")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = run(Path(folder), arguments.command, preset=arguments.preset, append=arguments.append,
                   files={f"bin/{path.name}": path for path in arguments.copy})
    for command, said in zip(arguments.command, done.said):
        print(f"# {command}\n{said.output.rstrip()}")
    return max(said.status for said in done.said)


if __name__ == "__main__":
    raise SystemExit(main())
