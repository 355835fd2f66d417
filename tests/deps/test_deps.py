# SPDX-License-Identifier: MIT
"""`make deps-ds`: a QEMU of the right version is linked, else Debian's packages are fetched, checked and unpacked; what
is wrong is said in one line. The mirrors here are folders, the packages a few bytes."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE_QEMU = '#!/bin/sh\necho "QEMU emulator version {}"\n'


class Place:
    """A folder with a mirror, an archive, a list of packages, and a PATH without any QEMU but those put there."""

    def __init__(self, folder):
        self.folder = folder
        self.to = folder / "qemu11"
        for name in ("mirror", "archive", "bin"):
            (folder / name).mkdir()
        for tool in ("ar", "tar", "xz", "zstd", "curl", "sha256sum", "sed", "grep", "tail", "paste", "uname", "dirname",
                     "readlink", "ln", "mkdir", "rm", "mv", "cp", "cat", "chmod", "cmp", "bash", "env", "sh"):
            found = subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip()
            (folder / "bin" / tool).symlink_to(found)
        self.lines = [f"archive file://{folder}/archive"]

    def program(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def package(self, where, name, files):
        """A .deb with these files (path: text) in mirror or archive, and in the list."""
        for path, text in files.items():
            self.program(f"tree/{path}", text)
        subprocess.run(f"tar -C tree -cJf data.tar.xz . && ar rcS {where}/{name} data.tar.xz && rm -r tree", shell=True,
                       check=True, cwd=self.folder)
        sum_ = hashlib.sha256((self.folder / where / name).read_bytes()).hexdigest()
        self.lines.append(f"{sum_} {name}")

    def run(self, *arguments):
        (self.folder / "list").write_text("# for this test\n" + "\n".join(self.lines) + "\n")
        return subprocess.run([ROOT / "tools/qemu-ds/deps.sh", "--to", self.to, "--packages", self.folder / "list",
                               *arguments], capture_output=True, text=True, check=False,
                              env={"PATH": str(self.folder / "bin"), "DEBIAN_MIRROR": f"file://{self.folder}/mirror"})

    def fails(self, *arguments):
        """The one line it fails with; nothing stays where the QEMU would be."""
        done = self.run(*arguments)
        assert done.returncode == 1
        assert not self.to.exists()
        (line,) = done.stderr.splitlines()
        assert line.startswith("deps-ds: ")
        return line.removeprefix("deps-ds: ")


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def unpacked_qemu(place, version="11.1.3"):
    """Two packages, the second with a loader that runs what it is given: of a real one only the arguments matter."""
    place.package("mirror", "data_1+ds_all.deb", {"usr/share/qemu/bios": "firmware"})
    place.package("archive", "qemu_1+ds_amd64.deb", {
        "usr/bin/qemu-system-x86_64": FAKE_QEMU.format(version) + 'echo "$@"\n',
        "usr/lib64/ld-linux-x86-64.so.2": '#!/bin/sh\nshift 4\nexec "$@"\n'})


def test_packages_are_unpacked_once(place):
    unpacked_qemu(place)  # one of them is in the archive only
    done = place.run()
    assert done.returncode == 0, done.stderr
    assert "2 packages" in done.stdout
    qemu = place.to / "qemu-system-x86_64"
    said = subprocess.run([qemu, "-machine", "q35"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0] == "QEMU emulator version 11.1.3"
    assert said[1] == f"-L {place.to}/root/usr/share/qemu -L {place.to}/root/usr/share/seabios -machine q35"
    assert (place.to / "root/usr/share/qemu/bios").read_text() == "firmware"

    for package in (place.folder / "mirror").iterdir():  # a second run fetches nothing and says nothing
        package.unlink()
    done = place.run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_another_list_is_unpacked_anew(place):
    unpacked_qemu(place)
    assert place.run().returncode == 0
    place.package("mirror", "more_1_all.deb", {"usr/share/qemu/more": "more"})
    assert "3 packages" in place.run().stdout
    assert (place.to / "root/usr/share/qemu/more").exists()


def test_a_wrong_checksum_is_refused(place):
    unpacked_qemu(place)
    package = place.folder / "mirror/data_1+ds_all.deb"
    package.write_bytes(package.read_bytes() + b"\n")
    assert place.fails() == "data_1+ds_all.deb: not the file packages.txt means: its SHA-256 differs"


def test_a_package_that_is_nowhere(place):
    unpacked_qemu(place)
    (place.folder / "archive/qemu_1+ds_amd64.deb").unlink()
    line = place.fails()
    assert line.startswith("qemu_1+ds_amd64.deb: cannot be fetched: ")
    assert f"{place.folder}/mirror" in line and f"{place.folder}/archive" in line


def test_what_does_not_run_is_not_taken(place):
    unpacked_qemu(place, version="10.0.13")
    assert "does not run: " in place.fails()


def test_a_qemu_in_the_path_is_linked(place):
    qemu = place.program("bin/qemu-system-x86_64", FAKE_QEMU.format("11.1.0 (v11.1.0)"))
    assert place.run().returncode == 0
    assert os.readlink(place.to / "qemu-system-x86_64") == str(qemu)


def test_an_older_one_is_not(place):
    old = place.program("bin/qemu-system-x86_64", FAKE_QEMU.format("10.0.13 (Debian 1:10.0.13)"))
    assert place.fails("--qemu", old) == f"--qemu {old}: version 10.0, but the plugin needs 11.1"
    assert place.fails("--qemu", "/nowhere/qemu") == "--qemu: there is no such program"
    unpacked_qemu(place)
    assert place.run().returncode == 0
    assert not (place.to / "qemu-system-x86_64").is_symlink()


def test_tools_that_are_missing_are_named(place):
    for tool in ("xz", "curl"):
        (place.folder / "bin" / tool).unlink()
    assert place.fails() == "install curl xz, or give a QEMU 11.1 by --qemu PATH"
