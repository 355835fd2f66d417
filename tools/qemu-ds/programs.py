# SPDX-License-Identifier: MIT
"""Finds what programs of a Debian root need to run elsewhere: their own files, the libraries that its ld.so names, the
interpreters of scripts, and for some programs the files they look for when they run."""

import os
import re
import stat
import subprocess
from pathlib import Path

MACHINE = "x86_64-linux-gnu"
LOADER = "usr/lib64/ld-linux-x86-64.so.2"
FOLDERS = ("usr/bin", "usr/sbin")  # of programs that are given by name
STANDARD = "usr/lib/python3*"      # Python's own modules
BESIDE = {
    "gdb": ("usr/share/gdb", f"usr/lib/{MACHINE}/gconv", STANDARD),
    "python3": (STANDARD,),
    "sort": (f"usr/lib/{MACHINE}/libcrypto.so.3",),  # for -R
    "rr": ("usr/lib/rr", "usr/share/rr", f"usr/lib/{MACHINE}/libdl.so.2"),
}
LEFT_OUT = ("__pycache__", "ensurepip", "idlelib", "pydoc_data", "test", "dist-packages", "src")


class Missing(Exception):
    """What the root does not have."""


class Root:
    """A Debian root with merged /usr, such as / or what `make deps-ds` unpacks."""

    def __init__(self, path):
        self.path = Path(path).resolve()
        self.files = {}  # path in the root, without '/' before it: Path here

    def needs(self, names):
        """{path: Path here} of what `names` need: programs by name, or paths of files and folders in the root. Links
        stay links, and what they lead to is there, too."""
        for name in names:
            for found in self.find(name):
                self.add_any(found)
            for pattern in BESIDE.get(name, ()):
                for found in self.glob(pattern):
                    self.add_any(found)
        return dict(sorted(self.files.items()))

    def glob(self, pattern):
        return sorted(str(path.relative_to(self.path)) for path in self.path.glob(pattern))

    def find(self, name):
        """One path; or those that match, where a path has a '*'."""
        names = [name.strip("/")] if "/" in name else [f"{folder}/{name}" for folder in FOLDERS]
        for one in names:
            found = self.glob(one)
            if found:
                return found if "*" in one else found[:1]
        raise Missing(f"{self.path}: has no {name}")

    def add_any(self, name):
        """A file, or a folder. A library in a folder is added even where the root lacks one that it is linked with."""
        folder = self.path / name
        if not folder.is_dir():
            self.add(name)
        for path in sorted(folder.rglob("*")):
            if not set(path.relative_to(folder).parts) & set(LEFT_OUT) and not path.is_dir():
                self.add(str(path.relative_to(self.path)), strict=False)

    def add(self, name, strict=True):
        path = self.path / name
        if name in self.files:
            return
        self.files[name] = path
        if path.is_symlink():
            target = os.readlink(path)
            self.add(self.merged(os.path.normpath(os.path.join("/", os.path.dirname(name), target))), strict)
            return
        for other in self.libraries(path, strict):
            self.add(other)
        with open(path, "rb") as file:
            first = file.readline(256) if stat.S_IMODE(path.stat().st_mode) & 0o111 else b""
        if first.startswith(b"#!"):
            words = first[2:].decode().split()
            interpreter = words[1] if words[0].endswith("/env") and len(words) > 1 else words[0]
            if not interpreter.endswith("/sh"):  # that is busybox
                self.add(self.merged(interpreter) if "/" in interpreter else self.find(interpreter)[0], strict)

    def merged(self, path):
        """Its name in /usr. /lib and the like are links to there."""
        path = path.strip("/")
        first = path.split("/")[0]
        return path if first not in ("bin", "sbin", "lib", "lib64") else f"usr/{path}"

    def libraries(self, path, strict=True):
        """Paths of what ELF file `path`, which need not be of the root, is linked with, and of the loader; of another
        file and of a static program none. Missing where the root does not have one, unless not `strict`."""
        with open(path, "rb") as file:
            if file.read(5) != b"\x7fELF\x02":  # 64-bit; the others cannot be loaded by this loader
                return []
        loader = self.path / LOADER
        if not loader.exists():
            raise Missing(f"{self.path}: has no {LOADER}: it is no root of Debian's for x86-64")
        absolute = os.path.abspath(path)  # the loader looks for a name without a '/' among its libraries
        done = subprocess.run([loader, "--inhibit-cache", "--library-path", self.path / "usr/lib" / MACHINE, "--list",
                               absolute], capture_output=True, text=True, check=False)
        missing = re.search(r"loading shared libraries: (\S+): cannot open", done.stderr)
        paths = re.findall(r"^\t(?:\S+ => )?(/\S+) \(", done.stdout, re.M)
        found = [os.path.relpath(os.path.realpath(os.path.dirname(name)), self.path) + "/" + os.path.basename(name)
                 for name in paths if not name.endswith(os.path.basename(LOADER))]
        lacking = [name for name in found if name.startswith("../")] + ([missing[1]] if missing else [])
        if lacking and strict:
            raise Missing(f"{self.path}: has no {os.path.basename(lacking[0])}, which {path} needs")
        return [LOADER, *found] if paths and not lacking else []  # of a static program there is nothing to say
