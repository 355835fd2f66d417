# SPDX-License-Identifier: MIT
"""`make deps-ds`: a QEMU of the right version is linked, else Debian's packages are found in the mirror's indices,
fetched, checked and unpacked; what is wrong is said in one line. The mirrors here are folders, the packages a few
bytes, and gpgv, where there is one, says what a test wants it to."""

import hashlib
import io
import lzma
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE_QEMU = '#!/bin/sh\necho "QEMU emulator version {}"\n'
FAKE_GPGV = '#!/bin/sh\necho "[GNUPG:] {}"\nwhile [ $# -gt 2 ]; do [ $1 = --output ] && cp $3 $2; shift; done\n'
INDEX = "main/binary-amd64/Packages.xz"
DAY = "20260102T000000Z"
UNSIGNED = "deps-ds: no gpgv (install gpgv), or no "
QEMU_TXT = ["# for this test", f"archive {DAY}", "qemu-system-x86 backports 1:11.1.*", "libc6"]
MODULES = ("modules.order", "kernel/drivers/a.ko", "kernel/arch/x86/crypto/a.ko", "kernel/arch/x86/kvm/kvm.ko",
           "kernel/arch/x86/kernel/msr.ko")
LINUX_TXT = [f"archive {DAY}", "linux-image-[0-9][^-]*-amd64", "linux-binary-7[.]3[.][^-]*-amd64 backports"]


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Place:
    """A folder with mirrors, lists of packages, and a PATH without any QEMU but those put there."""

    def __init__(self, folder):
        self.folder = folder
        self.to = folder / "build"
        self.suites = {}  # (mirror, suite): text of its index
        self.qemu_txt, self.linux_txt = list(QEMU_TXT), list(LINUX_TXT)
        (folder / "bin").mkdir()
        for tool in ("ar", "awk", "tar", "xz", "curl", "sha256sum", "sed", "grep", "tail", "sort", "uname",
                     "dirname", "readlink", "ln", "mkdir", "rm", "mv", "cp", "cat", "chmod", "cmp", "wc", "bash", "env",
                     "sh"):
            (folder / "bin" / tool).symlink_to(shutil.which(tool))
        for mirror in ("debian", "archive/debian/" + DAY):
            for suite in ("trixie", "trixie-updates", "trixie-backports"):
                self.suites[mirror, suite] = ""
        for mirror in ("debian-security", "archive/debian-security/" + DAY):
            self.suites[mirror, "trixie-security"] = ""

    def program(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def package(self, name, version, files, mirror="debian", suite="trixie"):
        """A .deb with these files (path: text) in a mirror's pool, and in a suite's index. Returns its path."""
        path = self.folder / mirror / f"pool/{name}_{version.split(':')[-1]}.deb"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:xz", preset=0) as tar:
            for file, text in files.items():
                member = tarfile.TarInfo(f"./{file}")
                member.size, member.mode = len(text.encode()), 0o755
                tar.addfile(member, io.BytesIO(text.encode()))
        data = data.getvalue()
        head = b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (b"data.tar.xz/", 0, 0, 0, 0o100644, len(data))
        path.write_bytes(b"!<arch>\n" + head + data + len(data) % 2 * b"\n")
        self.suites.setdefault((mirror, suite), "")
        self.suites[mirror, suite] += (f"Package: {name}\nVersion: {version}\nFilename: pool/{path.name}\n"
                                       f"SHA256: {sha256(path.read_bytes())}\n\n")
        return path

    def indices(self):
        for (mirror, suite), text in self.suites.items():
            data = lzma.compress(text.rstrip("\n").encode() + b"\n" if text else b"")
            index = self.folder / mirror / "dists" / suite / INDEX
            index.parent.mkdir(parents=True, exist_ok=True)
            index.write_bytes(data)
            (index.parents[2] / "InRelease").write_text(
                f"Origin: Debian\nMD5Sum:\n {'0' * 32} {len(data)} {INDEX}\nSHA256:\n"
                f" {'0' * 64} 7 main/binary-arm64/Packages.xz\n {sha256(data)} {len(data)} {INDEX}\n")

    def run(self, *arguments):
        (self.folder / "qemu.txt").write_text("\n".join(self.qemu_txt) + "\n")
        (self.folder / "linux.txt").write_text("\n".join(self.linux_txt) + "\n")
        return subprocess.run([ROOT / "tools/qemu-ds/deps.sh", "--to", self.to, "--lists", self.folder, *arguments],
                              capture_output=True, text=True, check=False,
                              env={"PATH": str(self.folder / "bin"),
                                   "DEBIAN_MIRROR": f"file://{self.folder}/debian",
                                   "DEBIAN_ARCHIVE": f"file://{self.folder}/archive",
                                   "DEBIAN_KEYRING": str(self.folder / "keyring")})

    def fails(self, *arguments):
        """The last line it fails with; nothing stays where things would be."""
        done = self.run(*arguments)
        assert done.returncode == 1
        assert not (self.to / "qemu11").exists() and not (self.to / "linux").exists()
        *before, line = done.stderr.splitlines()
        assert all(said.startswith((UNSIGNED, f"deps-ds: file://{self.folder}/debian: ")) for said in before)
        assert line.startswith("deps-ds: ")
        return line.removeprefix("deps-ds: ").replace(str(self.folder), "")


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def debian(place, version="11.1.3", mirror="debian"):
    """A mirror with all of the lists. Of the loader, which runs what it is given, only the arguments matter."""
    place.package("qemu-system-x86", f"1:{version}+ds-1~bpo13+1", {
        "usr/bin/qemu-system-x86_64": FAKE_QEMU.format(version) + 'echo "$@"\n', "usr/share/qemu/bios": "firmware"},
                  mirror, "trixie-backports")
    place.package("libc6", "2.41-12+deb13u4",
                  {"usr/lib64/ld-linux-x86-64.so.2": '#!/bin/sh\nshift 4\nexec "$@"\n', "usr/share/doc/libc6": "doc"},
                  mirror)
    for kernel in ("6.12.9+deb13-amd64", "6.12.10+deb13-amd64", "6.12.11+deb13-rt-amd64"):
        place.package(f"linux-image-{kernel}", kernel.split("+")[0] + "-1",
                      {f"boot/vmlinuz-{kernel}": "kernel",
                       **{f"usr/lib/modules/{kernel}/{name}": "module" for name in MODULES}}, mirror)
    for kernel in ("7.2.12+deb13-amd64", "7.3.4+deb13-amd64", "7.3.10+deb13-amd64", "7.4.1+deb13-amd64"):
        place.package(f"linux-binary-{kernel}", kernel.split("+")[0] + "-1~bpo13+1",
                      {f"usr/lib/modules/{kernel}/vmlinuz": "kernel"}, mirror, "trixie-backports")
    place.indices()


def test_without_linux(place):
    debian(place)
    done = place.run("--no-linux")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 1
    assert (place.to / "qemu11/qemu-system-x86_64").exists() and not (place.to / "linux").exists()
    done = place.run("--no-linux", "--more", place.folder / "linux.txt")
    assert (done.returncode, done.stderr) == (1, "deps-ds: --more adds to the Linux guest: not with --no-linux\n")


def test_packages_are_unpacked_once(place):
    debian(place)
    done = place.run()
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(UNSIGNED) and len(done.stderr.splitlines()) == 1
    assert [line.split(", ")[0] for line in done.stdout.splitlines()] == ["2 packages of Debian's",
                                                                          "2 packages of Debian's"]
    qemu = place.to / "qemu11/qemu-system-x86_64"
    said = subprocess.run([qemu, "-machine", "q35"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0] == "QEMU emulator version 11.1.3"
    assert said[1] == (f"-L {place.to}/qemu11/root/usr/share/qemu -L {place.to}/qemu11/root/usr/share/seabios "
                       "-machine q35")
    assert (place.to / "qemu11/root/usr/share/qemu/bios").read_text() == "firmware"
    root = place.to / "linux/root"  # the newest by number, of these kinds, without documents and most modules
    assert {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()} == \
        {"boot/vmlinuz-6.12.10+deb13-amd64", "boot/vmlinuz-7.3.10+deb13-amd64",
         "usr/lib/modules/6.12.10+deb13-amd64/kernel/arch/x86/kernel/msr.ko"}

    for package in (place.folder / "debian").rglob("*.deb"):  # a second run fetches nothing and says nothing
        package.unlink()
    done = place.run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_more_is_unpacked_beside_linux(place):
    """Into a root that has all of Linux', once, and anew where either list changes."""
    debian(place)
    clients = place.folder / "clients.txt"
    clients.write_text(f"archive {DAY}\nclient\n")
    place.package("client", "1", {"usr/bin/client": "one", "boot/vmlinuz-6.12.10+deb13-amd64": "another"})
    place.indices()
    assert place.run("--more", clients).returncode == 0
    linux, root = place.to / "linux/root", place.to / "clients/root"
    assert (root / "usr/bin/client").read_text() == "one" and not (linux / "usr/bin/client").exists()
    assert (root / "boot/vmlinuz-7.3.10+deb13-amd64").exists()
    assert (linux / "boot/vmlinuz-6.12.10+deb13-amd64").read_text() == "kernel"  # that is a file of its own

    assert place.run("--more", clients).stdout == ""
    place.linux_txt.append("libc6")
    assert [line.split(", ")[0] for line in place.run("--more", clients).stdout.splitlines()] == \
        ["3 packages of Debian's", "1 packages of Debian's"]
    assert (root / "usr/lib64/ld-linux-x86-64.so.2").exists()
    assert place.run("--more", "/nowhere").stderr == "deps-ds: --more /nowhere: cannot be read\n"


def test_a_list_may_name_another_suite(place):
    debian(place)
    old = place.folder / "old.txt"
    old.write_text(f"archive {DAY}\nsuite bookworm-backports\nlinux-image-6.1.1+deb12-amd64 backports\n")
    assert place.run("--more", old).stderr.splitlines()[-1].startswith(
        f"deps-ds: file://{place.folder}/debian/dists/bookworm-backports/InRelease: cannot be fetched: ")
    place.package("linux-image-6.1.1+deb12-amd64", "6.1.1-1~bpo12+1", {"boot/vmlinuz-6.1.1+deb12-amd64": "kernel"},
                  suite="bookworm-backports")
    place.indices()
    assert place.run("--more", old).returncode == 0
    assert (place.to / "old/root/boot/vmlinuz-6.1.1+deb12-amd64").exists()


def test_another_list_is_unpacked_anew(place):
    debian(place)
    assert place.run().returncode == 0
    place.package("more", "1", {"usr/share/qemu/more": "more"})
    place.indices()
    place.qemu_txt.append("more")
    assert [line.split(", ")[0] for line in place.run().stdout.splitlines()] == ["3 packages of Debian's"]
    assert (place.to / "qemu11/root/usr/share/qemu/more").exists()


@pytest.mark.parametrize("suite,mirror", [("trixie-updates", "debian"), ("trixie-security", "debian-security")])
def test_the_newest_version_of_all_suites_is_taken(place, suite, mirror):
    """An old one there is not; and backports are for what the list says."""
    place.package("libnew", "1:2.9-1", {"usr/share/qemu/new": "old"}, mirror, suite)
    place.package("libnew", "1:2.10-1~deb13u1", {"usr/share/qemu/new": "older"})
    place.package("libnew", "1:2.10-1", {"usr/share/qemu/new": "new"}, mirror, suite)
    place.package("libnew", "1:3.0-1~bpo13+1", {"usr/share/qemu/new": "backport"}, suite="trixie-backports")
    debian(place)
    place.qemu_txt.append("libnew")
    done = place.run()
    assert done.returncode == 0, done.stderr
    assert (place.to / "qemu11/root/usr/share/qemu/new").read_text() == "new"


def test_where_the_mirror_has_gone_on_all_comes_from_the_archive(place):
    debian(place, "11.2.0")
    debian(place, "11.1.4", f"archive/debian/{DAY}")
    done = place.run()
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[1].replace(str(place.folder), "") == (
        "deps-ds: file:///debian: qemu-system-x86 is 1:11.2.0+ds-1~bpo13+1, not 1:11.1.*: all from file:///archive of "
        + DAY)
    said = subprocess.run([place.to / "qemu11/qemu-system-x86_64"], capture_output=True, text=True, check=True).stdout
    assert said.startswith("QEMU emulator version 11.1.4\n")


def test_what_is_nowhere_is_named(place):
    debian(place)
    debian(place, mirror=f"archive/debian/{DAY}")
    place.linux_txt.append("linux-perf")
    done = place.run()
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == \
        f"deps-ds: file://{place.folder}/archive/debian/{DAY}: linux-perf is not there"
    assert not (place.to / "linux").exists()


def test_no_mirror(place):
    line = place.fails()
    assert line.startswith("file:///debian/dists/trixie/InRelease: cannot be fetched: ")


def test_a_package_with_another_checksum_is_refused(place):
    package = place.package("libextra", "1", {"usr/lib/extra": "extra"})
    place.qemu_txt.append("libextra")
    debian(place)
    package.write_bytes(package.read_bytes() + b"\n")
    assert place.fails() == "libextra_1.deb: its SHA-256 is not what the index says"


def test_so_is_an_index(place):
    debian(place)
    (place.folder / "debian/dists/trixie" / INDEX).write_bytes(lzma.compress(b"Package: other\n"))
    assert place.fails() == \
        f"file:///debian: {INDEX} of trixie is not what its Release file says: try again later"


@pytest.mark.parametrize("status,why", [
    ("BADSIG 6ED0E7B82643E131", "its signature is wrong: the mirror is not Debian's"),
    ("NODATA 1", "is not signed: the mirror is not Debian's"),
    ("EXPKEYSIG 6ED0E7B82643E131 Debian", "is signed by a key that is no longer good: update /keyring"),
    ("REVKEYSIG 6ED0E7B82643E131 Debian", "is signed by a key that is no longer good: update /keyring"),
    ("NO_PUBKEY 6ED0E7B82643E131",
     "/keyring: is older than Debian 13; DEBIAN_KEYRING=none goes without")])
def test_so_is_an_index_that_is_not_signed(place, status, why):
    debian(place)
    place.program("keyring", "")
    place.program("bin/gpgv", FAKE_GPGV.format(status))
    assert place.fails().removeprefix("trixie.InRelease: ") == why


def test_an_index_that_is_signed(place):
    debian(place)
    place.program("keyring", "")
    place.program("bin/gpgv", FAKE_GPGV.format("GOODSIG 6ED0E7B82643E131 Debian Archive"))
    done = place.run()
    assert (done.returncode, done.stderr) == (0, "")


def test_what_does_not_run_is_not_taken(place):
    debian(place)
    place.package("libc6", "2.42-1", {"usr/lib64/ld-linux-x86-64.so.2": "#!/bin/sh\necho broken\n"})
    place.indices()
    assert place.fails() == "what is unpacked in /build/qemu11.new does not run: broken"


def test_a_qemu_in_the_path_is_linked(place):
    debian(place)
    qemu = place.program("bin/qemu-system-x86_64", FAKE_QEMU.format("11.1.0 (v11.1.0)"))
    assert place.run().returncode == 0
    assert os.readlink(place.to / "qemu11/qemu-system-x86_64") == str(qemu)


def test_an_older_one_is_not(place):
    debian(place)
    old = place.program("bin/qemu-system-x86_64", FAKE_QEMU.format("10.0.13 (Debian 1:10.0.13)"))
    assert place.fails("--qemu", old) == "--qemu /bin/qemu-system-x86_64: version 10.0, but the plugin needs 11.1"
    assert place.fails("--qemu", "/nowhere/qemu") == "--qemu: there is no such program"
    assert place.run().returncode == 0
    assert not (place.to / "qemu11/qemu-system-x86_64").is_symlink()


def test_tools_that_are_missing_are_named(place):
    for tool in ("xz", "curl"):
        (place.folder / "bin" / tool).unlink()
    assert place.fails() == "install curl xz-utils"
