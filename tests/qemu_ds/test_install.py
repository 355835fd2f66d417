# SPDX-License-Identifier: MIT
"""qemu-ds where it is installed: the starter finds plugin and QEMU, or says in one line what is missing."""

import os
import re
import shutil
import subprocess

import pytest

import cairn_boot as cb

RUN = cb.ROOT / "tools/qemu-ds/qemu-ds-run"


def make(goal, *variables):
    """What is built already is not made anew under the feet of the other tests."""
    return subprocess.run(["make", "--no-print-directory", "-o", "tools", "-o", "qemu-ds", goal, f"B={cb.BUILD}",
                           *variables], cwd=cb.ROOT, capture_output=True, text=True, check=True)


def starter(*arguments, program=RUN, path=None, **environment):
    environment = {"CAIRN_BUILD": str(cb.BUILD), "PATH": path or os.environ["PATH"], **environment}
    return subprocess.run([program, *arguments], input="quit\n", capture_output=True, text=True, check=False,
                          timeout=120, env=environment)


@pytest.fixture(name="installed")
def fixture_installed(tmp_path):
    root = tmp_path / "root"
    make("install-qemu-ds", f"DESTDIR={root}", "PREFIX=/usr")
    return root


MACHINE = ("-nodefaults", "-display", "none", "-S", "-monitor", "stdio")


def test_installed(installed):
    """A machine starts with the installed plugin and ends as its monitor is told; then nothing stays behind."""
    program = installed / "usr/bin/qemu-ds-run"
    done = starter("--preset", "skylake", "--plugin", "stats=on", "--qemu", cb.QEMU_11, "--", *MACHINE, program=program)
    assert done.returncode == 0 and "qemu-ds: vCPU 0: 0 records" in done.stderr
    done = starter("--preset", "pentium", "--", *MACHINE, program=program, QEMU_DS_QEMU=str(cb.QEMU_11))
    assert done.returncode == 1 and done.stderr.startswith("qemu-ds: preset=pentium: not one of penryn")
    make("uninstall-qemu-ds", f"DESTDIR={installed}", "PREFIX=/usr")
    assert not [path for path in installed.rglob("*") if path.is_file()]


def test_in_the_tree():
    done = starter("--which", "-m", "64")
    assert done.returncode == 0
    assert done.stdout.endswith(f" '-plugin' '{cb.BUILD}/qemu-ds.so' '-accel' 'tcg' '-cpu' 'max' '-m' '64'\n")
    own = starter("--which", "--plugin", "stats=on", "--", "-cpu", "Skylake-Client", "-accel", "tcg,tb-size=64")
    assert own.stdout.endswith(
        f" '-plugin' '{cb.BUILD}/qemu-ds.so,stats=on' '-cpu' 'Skylake-Client' '-accel' 'tcg,tb-size=64'\n")


@pytest.mark.parametrize("arguments, status, why", [
    ((), 2, r"no arguments for QEMU \(--help\)"),
    (("--preset",), 2, r"--preset needs a value \(--help\)"),
    (("skylake",), 2, r"'skylake' is not an option of qemu-ds-run or of QEMU \(--help\)"),
    (("--", "-accel", "kvm"), 2, "-accel kvm: the plugin needs TCG, QEMU's own emulation"),
    (("--", "-machine", "q35,accel=kvm"), 2, "-machine q35,accel=kvm: the plugin needs TCG, QEMU's own emulation"),
    (("--qemu", "/bin/true", "-m", "64"), 3, "/bin/true: is not a QEMU that runs here"),
])
def test_one_line(arguments, status, why):
    done = starter(*arguments)
    assert (done.returncode, done.stdout) == (status, "")
    assert re.fullmatch(f"qemu-ds-run: {why}\n", done.stderr)


def test_no_qemu(installed, tmp_path):
    """$PATH has another release, or none."""
    program = installed / "usr/bin/qemu-ds-run"
    for tool in ("sed", "dirname", "readlink", "sh"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    for there in ("none", "7.2"):
        if there != "none":
            qemu = tmp_path / "qemu-system-x86_64"
            qemu.write_text("#!/bin/sh\necho 'QEMU emulator version 7.2.0'\n", encoding="ascii")
            qemu.chmod(0o755)
        done = starter("-m", "64", program=program, path=str(tmp_path))
        assert done.returncode == 3
        assert done.stderr.startswith(f"qemu-ds-run: needs QEMU 11.1, and $PATH has {there}. On Debian 13: apt install")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("release, taken", [("10.2.2", False), ("11.0.1", True), ("12.0.0", True)])
def test_releases(tmp_path, release, taken):
    """Of a QEMU that is too new the plugin, or that QEMU, says so."""
    qemu = tmp_path / "qemu"
    qemu.write_text(f"#!/bin/sh\necho 'QEMU emulator version {release}'\n", encoding="ascii")
    qemu.chmod(0o755)
    done = starter("--which", "--qemu", qemu, "-m", "64")
    assert (done.returncode, done.stdout.startswith(f"{qemu} '-plugin'")) == ((0, True) if taken else (3, False))
    assert done.stderr == ("" if taken else f"qemu-ds-run: {qemu}: is release 10.2, but the plugin needs 11.1\n")


def test_packages(tmp_path):
    """The Debian packages; made twice they are the same, byte by byte."""
    if not shutil.which("dpkg-shlibdeps"):
        pytest.skip("no dpkg-dev: Debian's packages are made on Debian")
    build = tmp_path / "build"
    build.mkdir()
    for name in ("cairn", "cairn.1", "cairn.bash", "_cairn", "cairn.fish", "libcairn-pebs.a",
                 "libcairn-pebs.so.1", "qemu-ds.so"):
        shutil.copy2(cb.BUILD / name, build / name)
    made = []
    for _ in range(2):
        done = subprocess.run([cb.ROOT / "tools/deb.sh", build, "9.9"], cwd=cb.ROOT, capture_output=True, text=True,
                              check=True, env=dict(os.environ, SOURCE_DATE_EPOCH="1700000000"))
        made.append([open(path, "rb").read() for path in done.stdout.split()])
    assert made[0] == made[1] and len(made[0]) == 4
    depends = "libdw1", "", "libcairn-pebs1 (= 9.9)", "qemu-system-x86 (>= 1:11.0)"
    for path, needs in zip(done.stdout.split(), depends):
        assert needs in subprocess.run(["dpkg-deb", "-f", path, "Depends"], capture_output=True, text=True,
                                       check=True).stdout
        subprocess.run(["dpkg-deb", "-x", path, tmp_path / "root"], check=True)
    assert subprocess.run([tmp_path / "root/usr/bin/cairn", "--version"], capture_output=True,
                          check=True).stdout.startswith(b"cairn ")
    assert (tmp_path / "root/usr/lib/qemu-ds/qemu-ds.so").exists()
