# SPDX-License-Identifier: MIT
"""A folder with snapshots of guests that have booted. Each has a folder of its own, whose name follows from all that
was asked for; of.json there says which files it was made of, and what it consists of. Who can write to a snapshot
decides what runs in the guest: it must be of this user, or of root."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
from pathlib import Path

import tsc

VERSION = 1
MOST = 4 << 30      # bytes of all snapshots on the disk; those used longest ago are removed
CHUNK = 1 << 20
TSC_MAY_DIFFER = 1e-3  # of the rate: it is measured
FILES = ("ram", "state")


class Refused(Exception):
    """Why a snapshot is of no use: one line with its name."""


def check_owner(path, folder):
    """Raises Refused where somebody else can write."""
    found = path.lstat()
    if stat.S_ISDIR(found.st_mode) != folder or not folder and not stat.S_ISREG(found.st_mode):
        raise Refused(f"{path}: is no {'folder' if folder else 'file'}")
    if found.st_uid not in (0, os.getuid()) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refused(f"{path}: other users can write there")


def source(path):
    """What tells whether a file is still the one of which a snapshot was made. A package gives it the same time on all
    machines. Of a link it is where it leads: a root's may lead nowhere here."""
    if os.path.islink(path):
        return os.readlink(path)
    found = os.stat(path)
    return [found.st_size, found.st_mtime_ns // 1000000000]


def digest(path):
    """Of what is not zero in the file, so that holes make no difference."""
    total, at = hashlib.sha256(), 0
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA) // CHUNK * CHUNK
            except OSError:  # only a hole is left
                break
            file.seek(at)
            data = file.read(CHUNK)
            if data.count(0) != len(data):
                total.update(b"%d " % at + data)
            at += CHUNK
    return [size, total.hexdigest()]


def seen(path):
    """Changes whenever the file is written to, or is another one."""
    found = os.stat(path)
    return [found.st_ino, found.st_ctime_ns]


class Snapshots:
    def __init__(self, folder):
        """Raises Refused."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Refused(f"{folder}: cannot be made: {error.strerror} (--cache DIR, or --no-cache)") from None
        self.folder = folder
        try:
            check_owner(folder, True)
        except Refused as why:
            own = folder.is_dir() and folder.stat().st_uid == os.getuid()
            raise Refused(f"{why} ({f'chmod go-w {folder}, or ' if own else ''}--cache DIR, or --no-cache)") from None

    @contextlib.contextmanager
    def of(self, asked, make, say):
        """The folder of the snapshot of what was `asked` for, any JSON. While the block runs nobody removes it.
        make(folder) makes one where there is none, or none of use, and returns the files that it is made of; say() is
        told, in a line, why it takes so long."""
        name = hashlib.sha256(json.dumps([VERSION, asked]).encode()).hexdigest()[:16]
        folder = self.folder / name
        with open(self.folder / f"{name}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            if not self.usable(folder, lambda line: None):
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not self.usable(folder, say):  # nobody has made it in the meantime
                    self.make(folder, make, say)
                fcntl.flock(lock, fcntl.LOCK_SH)
            yield folder

    def usable(self, folder, say):
        try:
            self.check(folder)
        except FileNotFoundError:
            return False
        except Refused as why:
            say(f"{why}: the guest boots anew")
            return False
        os.utime(folder / "of.json")  # used last now
        return True

    def check(self, folder):
        check_owner(folder, True)
        for name in ("of.json", *FILES):
            check_owner(folder / name, False)
        try:
            made = json.loads((folder / "of.json").read_text(encoding="utf-8"))
            of, khz, parts, known = made["of"], made["khz"], made["parts"], made["seen"]
        except (ValueError, KeyError, TypeError):
            raise Refused(f"{folder / 'of.json'}: is damaged") from None
        for path, was in of.items():
            if not os.path.lexists(path) or source(path) != was:
                raise Refused(f"{folder}: {path} has changed since")
        here = tsc.khz()
        if (khz is None) != (here is None) or khz and abs(here - khz) > khz * TSC_MAY_DIFFER:
            raise Refused(f"{folder}: the TSC of its host ran at {khz} kHz, that of this one at {here}")
        for name in FILES:
            if seen(folder / name) != known[name]:
                if digest(folder / name) != parts[name]:
                    raise Refused(f"{folder / name}: is damaged")
                known[name] = seen(folder / name)
                self.write(folder, made)

    def write(self, folder, made):
        (folder / "of.new").write_text(json.dumps(made, indent=1), encoding="utf-8")
        (folder / "of.new").replace(folder / "of.json")

    def make(self, folder, make, say):
        say(f"the guest boots once; its snapshot is kept in {self.folder}")
        new = self.folder / f".{folder.name}"  # of this one alone: the lock is held
        shutil.rmtree(new, ignore_errors=True)  # a call that was killed has left it
        new.mkdir(mode=0o700)
        try:
            of = {str(path): source(path) for path in make(new)}
            for name in FILES:
                (new / name).chmod(0o600)
            self.write(new, {"of": of, "khz": tsc.khz(), "parts": {name: digest(new / name) for name in FILES},
                             "seen": {name: seen(new / name) for name in FILES}})
            shutil.rmtree(folder, ignore_errors=True)
            new.rename(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):  # another call removes or makes one just now: the next trims
            self.trim(folder)

    def discard(self, folder):
        """It is of no use, whatever it seems to be."""
        (folder / "of.json").unlink(missing_ok=True)

    def trim(self, keep):
        """Removes what was used longest ago and nobody uses now, until there is room."""
        found = sorted(self.folder.glob("*/of.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        size = 0
        for folder in (path.parent for path in found):
            size += sum(path.stat().st_blocks * 512 for path in folder.iterdir())
            if size > MOST and folder != keep:
                with open(self.folder / f"{folder.name}.lock", "w", encoding="ascii") as lock:
                    with contextlib.suppress(BlockingIOError):
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        shutil.rmtree(folder)
