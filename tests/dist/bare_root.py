# SPDX-License-Identifier: MIT
"""A Debian root with nothing but what every Debian has, and commands in it."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MIRROR = "http://deb.debian.org/debian"
SUITES = ("deb {mirror} {suite} main\ndeb {mirror} {suite}-updates main\n"
          "deb http://deb.debian.org/debian-security {suite}-security main\n")
# In a mount namespace of its own: what is mounted goes with the command, and so do its processes.
ENTER = """set -e
mount -t proc proc "$0/proc"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts"
mount --bind "$0/dev/pts/ptmx" "$0/dev/ptmx"
mount -t tmpfs tmpfs "$0/dev/shm"
exec chroot "$0" /usr/bin/env -i HOME=/root TERM=dumb DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /bin/bash -c "cd '$1' || exit; $2"
"""


class Failed(Exception):
    """What is wrong, and what was printed."""


def need(true, wrong):
    if not true:
        raise Failed(wrong)


class BareRoot:
    """In `folder`, when `make` has made it. The function `run` runs a command here, and raises where it fails."""

    def __init__(self, folder, suite, run):
        self.folder, self.suite, self.here = folder, suite, run

    def make(self):
        self.here("debootstrap", "--variant=minbase", self.suite, self.folder, MIRROR)
        sources = SUITES.format(mirror=MIRROR, suite=self.suite)
        (self.folder / "etc/apt/sources.list").write_text(sources, encoding="ascii")
        shutil.copy("/etc/resolv.conf", self.folder / "etc/resolv.conf")
        self.run("apt-get update -q && apt-get upgrade -y")

    def run(self, command, folder="/", status=0):
        """What a command of bash prints there."""
        return self.here("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, self.folder,
                         folder, command, status=status, name=command)
