# SPDX-License-Identifier: MIT
"""Secure Boot is on. The key that a user would own is the test key in Debian's OVMF, which its firmware knows."""

import os
import re
import shutil
import subprocess

import pytest

import cairn_boot as cb
from cairn_log import cairn, keys

KEY, CERT = "/usr/share/ovmf/PkKek-1-snakeoil.key", "/usr/share/ovmf/PkKek-1-snakeoil.pem"
VARIABLES = "/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd"
FIRMWARE = {"OVMF_CODE": "", "OVMF_VARS": ""}  # not the one that the other tests have warmed up

debian = pytest.mark.skipif(not all(map(os.path.exists, (KEY, CERT, VARIABLES))),
                            reason="needs Debian's OVMF with its test key at its place")


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def own_key(folder, name):
    openssl("req", "-new", "-x509", "-newkey", "rsa:2048", "-nodes", "-sha256", "-days", "3650", "-subj",
            f"/CN={name}/", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt")
    return folder / f"{name}.key", folder / f"{name}.crt"


def signed_loader(build, key, certificate):
    """Puts a signed copy in place of the link to the loader."""
    loader = build / "BOOTX64.EFI"
    loader.unlink()
    shutil.copy(cb.BUILD / "BOOTX64.EFI", loader)
    subprocess.run([cb.ROOT / "tools" / "sign.sh", key, certificate, loader], check=True)


@debian
def test_signed(tmp_path):
    """By the key of somebody whom the firmware knows: it boots, and the log says that Secure Boot is on."""
    openssl("pkey", "-in", KEY, "-passin", "pass:snakeoil", "-out", tmp_path / "key")
    build = cb.build_with(tmp_path / "build")
    signed_loader(build, tmp_path / "key", CERT)
    result = cb.boot(tmp_path / "log", "--secure-boot", "--smp", 1, "ds=off", "switches=300", cb.UNHURRIED, build=build,
                     environment=FIRMWARE)
    assert result.status == cb.PASS, result.output
    assert "Secure Boot is on: the firmware has verified this loader, nobody \\kernel.elf" in result.console()
    loader = [line for line in result.console().splitlines()
              if re.search(r"Secure Boot is|^\\|^From here|^and what", line)]
    assert len(loader) >= 4 and all(len(line) < 80 for line in loader), loader  # what UEFI's console has room for
    assert keys(result.log, "M")["firmware.secure_boot"] == "on"
    assert "\n  Secure Boot    on\n" in cairn("info", result.log)[1]


def test_image_says_who_signed(tmp_path):
    """No boot: the line of tools/image.sh, of the loader that it was given."""
    def said(loader):
        command = [cb.ROOT / "tools" / "image.sh", tmp_path / "cairn.img", loader, cb.BUILD / "kernel.elf", "seed=1"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    build = cb.build_with(tmp_path / "build")
    shutil.copy(cb.BUILD / "BOOTX64.EFI", tmp_path / "loader")
    subprocess.run(["sbattach", "--remove", tmp_path / "loader"], capture_output=True, check=False)  # if it is signed
    assert said(tmp_path / "loader").endswith(": 64 MiB, not signed, boots with: seed=1\n")
    signed_loader(build, *own_key(tmp_path, "me"))
    line = said(build / "BOOTX64.EFI")
    assert ", signed by " in line and "CN=me" in line.replace("CN = ", "CN=")


@debian
@pytest.mark.long
@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "strange-key"])
def test_refused(tmp_path, signed):
    build = cb.build_with(tmp_path / "build")
    if signed:
        signed_loader(build, *own_key(tmp_path, "stranger"))
    result = cb.boot(tmp_path / "log", "--secure-boot", "--smp", 1, "ds=off", build=build, environment=FIRMWARE)
    verdict = ("verdict  the firmware refuses the loader: Secure Boot is on, and \\EFI\\BOOT\\BOOTX64.EFI is not "
               "signed with a key that it knows; sign it (docs/reference/hardware.md, section 2) or turn "
               "Secure Boot off\n")
    assert result.status == cb.TROUBLE and verdict in result.output.replace("\n         ", " "), result.output
    assert "Cairn loader" not in result.console()


def test_what_cannot_sign(tmp_path):
    """One line, and the program stays as it was."""
    key, certificate = own_key(tmp_path, "mine")
    _, other = own_key(tmp_path, "other")
    program = tmp_path / "program.efi"
    shutil.copy(cb.BUILD / "BOOTX64.EFI", program)
    for words, said in [
            ((key, ""), "SIGN_KEY and SIGN_CERT go together"),
            (("", certificate), "SIGN_KEY and SIGN_CERT go together"),
            (("no.key", certificate), "SIGN_KEY=no.key: cannot be read"),
            ((key, "no.crt"), "SIGN_CERT=no.crt: cannot be read"),
            ((certificate, certificate), f"sbsign with SIGN_KEY={certificate} and SIGN_CERT={certificate}: "),
            ((key, other), "private key does not match certificate\n"),
            ]:
        done = subprocess.run([cb.ROOT / "tools" / "sign.sh", *words, program], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 1 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert program.read_bytes() == (cb.BUILD / "BOOTX64.EFI").read_bytes()
        assert not list(tmp_path.glob("*.signed"))


def test_make_signs(tmp_path):
    """`make` does so where it is given a key or a certificate, and else not."""
    for words, signer in [(["SIGN_KEY=a b", "SIGN_CERT=c"], "tools/sign.sh 'a b' 'c' "),
                          (["SIGN_CERT=c"], "tools/sign.sh '' 'c' "), ([], None)]:
        said = subprocess.run(["make", "-n", "loader", f"B={tmp_path}", *words], cwd=cb.ROOT, capture_output=True,
                              text=True, check=True,
                              env={name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}).stdout
        assert f"{tmp_path}/BOOTX64.EFI" in said
        assert signer + f"{tmp_path}/BOOTX64.EFI" in said if signer else "tools/sign.sh" not in said


def test_no_sbsign(tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("bash", "env"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    done = subprocess.run([cb.ROOT / "tools" / "sign.sh", "key", "crt", "program"], capture_output=True, text=True,
                          check=False, env={"PATH": str(tmp_path / "bin")})
    assert done.returncode == 1 and done.stderr.startswith("tools/sign.sh: no sbsign: install it (Debian: ")
