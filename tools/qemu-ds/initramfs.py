# SPDX-License-Identifier: MIT
"""The initramfs of guest.py's Linux: busybox, programs of a Debian root, and an init that runs commands."""

import io
import os
import stat
import tarfile

import programs as of_root

# The commands are in the initramfs, or they come through the port, as an archive, when the guest says that it is ready:
# a snapshot is taken while it waits. Each command's output goes to a file of its own. All come out as one archive,
# through the port, which leaves every byte as it is. On the console stands what a test that fails wants to know.
# Linux leaves samples out where there are many in a second, or where a PMI takes long, as here: it is told not to.
# While a command runs, follow() looks once a second for what is new of it, and send() sends that through a port of its
# own: "NAME SIZE", a line, and the bytes. What is sent is how a file begins, without gaps: if one step fails, follow()
# ends, and the rest comes with the archive. The command writes to a file: what it counts is no other than without.
# perf reads /proc/kallsyms three times before it records, and each time Linux takes a third of a second to write it:
# /kallsyms is a copy.
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
echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
[ ! -e /bin/perf ] || cat /proc/kallsyms >/kallsyms
cd /root
[ -e /commands/0 ] || {
    exec 3<>/dev/vport0p1
    echo ready >&3
    read -r size seconds <&3
    date -s "@$seconds" >/dev/null
    head -c "$size" <&3 | tar -x -C /
    exec 3<&-
}
[ -e /fresh ] || {
    echo 0 >/proc/sys/kernel/randomize_va_space
    export PYTHONHASHSEED=0
}
send() {
    [ -s /out/$1 ] || return
    cat <&$2 >/new || exit
    [ ! -s /new ] || { echo "$1 $(wc -c </new)"; cat /new; } >&7 || exit
}
follow() {
    exec 7>/dev/vport0p2
    until read -r -t 1 _ <&6; do send $1 4; send $1.err 5; done
    send $1 4
    send $1.err 5
}
mkfifo /ended
exec 6<>/ended
for i in $(ls /commands | sort -n); do
    echo "guest: $(head -n 1 /commands/$i)"
    touch /out/$i /out/$i.err
    follow $i 4</out/$i 5</out/$i.err &
    errors=/out/$i
    [ ! -e /apart ] || errors=/out/$i.err
    sh /commands/$i >>/out/$i 2>>$errors </dev/null 6<&-
    echo $? >/out/$i.status
    echo >&6
    wait $!
    echo "guest: status $(cat /out/$i.status)"
done
dmesg >/out/dmesg
tar -c -C /out . >/dev/vport0p1
poweroff -f
"""
FOLDERS = ("commands", "dev", "etc", "out", "proc", "root", "sys", "tmp", "usr")
LINKS = ("bin", "lib", "lib64", "sbin")  # into usr


def mode_of(source):
    """Of bytes, which are a program or a script, and of a Path: its kind of file, and who may do what."""
    if isinstance(source, bytes):
        return stat.S_IFREG | 0o755
    if source.is_symlink():
        return stat.S_IFLNK | 0o777
    return stat.S_IFREG | source.stat().st_mode & 0o777


def bytes_of(source):
    if isinstance(source, bytes):
        return source
    return os.readlink(source).encode() if source.is_symlink() else source.read_bytes()


class Archive:
    """A cpio archive of the "newc" kind (Linux' driver-api/early-userspace/buffer-format.rst)."""

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
        self.folder(os.path.dirname(name))
        self.add(name, mode_of(source), bytes_of(source))


def add_to(tar, name, source):
    member, mode = tarfile.TarInfo(name), mode_of(source)
    member.mode = stat.S_IMODE(mode)
    if stat.S_ISLNK(mode):
        member.type, member.linkname = tarfile.SYMTYPE, bytes_of(source).decode()
        tar.addfile(member)
    else:
        data = bytes_of(source)
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))


def additions(commands, files, root, fresh=False, apart=False):
    """{path in the guest: bytes, or a Path here} of what a run brings: its commands, its files, and what these need of
    the root; of those in /root what it has. `fresh`: with address randomization; `apart`: errors do not go where
    output goes."""
    debian = of_root.Root(root)
    added = {name: b"" for name, wanted in (("fresh", fresh), ("apart", apart)) if wanted}
    for name, source in files.items():
        if not isinstance(source, bytes) and not source.is_symlink():
            added |= debian.needs(debian.libraries(source, strict=not name.startswith("root/")))
    added |= {f"commands/{i}": f"{command}\n".encode() for i, command in enumerate(commands)}
    return added | {name.lstrip("/"): source for name, source in files.items()}


def write(to, contents):
    """As file `to`. `contents`: as additions() has them."""
    with open(to, "wb") as file:
        archive = Archive(file)
        for folder in (*FOLDERS, *(f"usr/{name}" for name in LINKS)):
            archive.folder(folder)
        for name in LINKS:
            archive.add(name, stat.S_IFLNK | 0o777, f"usr/{name}".encode())
            archive.folders.add(name)
        archive.copy("init", INIT.encode())
        for name, source in contents.items():
            archive.copy(name, source)
        archive.add("TRAILER!!!", 0)
