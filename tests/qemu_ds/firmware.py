#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stick of docs/how-to/laptop.md on machines and firmware of many kinds: the report, then Cairn from its menu,
whose log the next start saves.
usage: python3 tests/qemu_ds/firmware.py [ROW ...]   prints a table (make test-firmware)"""

import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "boot"))

import cairn_boot as cb  # noqa: E402  its folder is known only now
from cairn_screen import Qmp  # noqa: E402

OVMF = Path("/usr/share/OVMF")
NEWER = cb.BUILD / "firmware" / "root" / "usr"  # of tests/qemu_ds/firmware.txt
Q35 = ("-machine", "q35")
USB = ("-device", "qemu-xhci", "-device", "usb-storage,drive=stick,bootindex=0")
MENU, SAVED = b"switch off", b"SAVED: "


def flash(code, variables, folder):
    """Firmware that keeps its variables."""
    shutil.copy(variables, folder / "vars")
    return ("-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}",
            "-drive", f"if=pflash,unit=1,format=raw,file={folder}/vars")


def ovmf(name="OVMF_CODE.fd", variables="OVMF_VARS.fd", root=OVMF):
    return lambda folder: flash(root / name, root / variables, folder)


def bios(path):
    return lambda folder: ("-bios", path)


@dataclass
class Row:
    name: str
    what: str
    firmware: object
    machine: tuple = Q35
    devices: tuple = USB
    cpus: str = "2"
    keyboard: bool = False  # else the key comes over the serial port


SECURE = ("-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on")
SOCKETS = ("-m", "1G", "-object", "memory-backend-ram,id=a,size=512M", "-object", "memory-backend-ram,id=b,size=512M",
           "-numa", "node,memdev=a,cpus=0-1", "-numa", "node,memdev=b,cpus=2-3", "-numa", "dist,src=0,dst=1,val=20")
U_BOOT_12 = "/usr/lib/u-boot/qemu-x86_64/u-boot.rom"
ROWS = {row.name: row for row in (
    Row("ovmf", "OVMF of Debian 12, 2 MiB", ovmf()),
    Row("ovmf-4m", "OVMF of Debian 12, 4 MiB", ovmf("OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd")),
    Row("ovmf-secure", "OVMF with SMM and its variables in secure flash, Secure Boot without keys",
        ovmf("OVMF_CODE_4M.secboot.fd", "OVMF_VARS_4M.fd"), SECURE),
    Row("ovmf-bios", "OVMF by `-bios`: variables do not last", bios("/usr/share/ovmf/OVMF.fd")),
    Row("ovmf-13", "OVMF of Debian 13", ovmf("OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd", NEWER / "share/OVMF")),
    Row("strict-nx", "OVMF of Debian 13 that lets nothing run from memory for data, with SMM", ovmf(
        "OVMF_CODE_4M.secboot.strictnx.fd", "OVMF_VARS_4M.fd", NEWER / "share/OVMF"), SECURE),
    Row("u-boot", "U-Boot of Debian 12, a disk on AHCI", bios(U_BOOT_12), Q35, ("-device", "ide-hd,drive=stick")),
    Row("u-boot-13", "U-Boot of Debian 13, a disk on AHCI", bios(NEWER / "lib/u-boot/qemu-x86_64/u-boot.rom"), Q35,
        ("-device", "ide-hd,drive=stick")),
    Row("sockets", "two sockets, two NUMA nodes", ovmf(), (*Q35, *SOCKETS), USB, "4,sockets=2,cores=2"),
    Row("usb-keyboard", "no i8042: a keyboard on USB alone", ovmf(), ("-machine", "q35,i8042=off"),
        (*USB, "-device", "usb-kbd"), keyboard=True),
    Row("no-hpet", "no HPET", ovmf(), ("-machine", "q35,hpet=off")),
    Row("no-pit", "no PIT, with OVMF of Debian 13, which does without", ovmf(
        "OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd", NEWER / "share/OVMF"), ("-machine", "q35,pit=off")),
    Row("screen", "a screen", ovmf(), Q35, (*USB, "-device", "VGA")),
)}


@dataclass
class Result:
    text: str      # of the serial port
    report: str    # cairn-machine.txt, or ""
    log: Path      # cairn-000.log, if it is there
    verdict: str = ""

    def answered(self):
        """Whether the report is whole; in words."""
        found = re.search(r"^probe=(\d+) of \d+ questions answered, (\d+) as the model does$", self.report, re.M)
        if not self.report.endswith("\nend=all steps are done\n") or not found or "stopped=" in self.report:
            return False, "not whole"
        restored = re.search(r"^restored=(\d+) of \1 registers", self.report, re.M)
        return found[1] == found[2] and restored is not None, f"{found[1]} answers, {found[2]} as the model"

    def ran(self):
        """Whether Cairn has run and its log is saved; in words."""
        if not self.log.exists():
            summary = re.search(r"^SUMMARY: .*$", self.text, re.M)
            return False, f"not saved ({summary[0] if summary else 'no end'})"
        done = subprocess.run([cb.BUILD / "cairn", "check", self.log], capture_output=True, text=True, check=False)
        return done.returncode == 0, "saved, check passes" if done.returncode == 0 else "saved, check fails"


def press(machine, key, qmp):
    """On the keyboard that QEMU has at this socket, or over the serial port."""
    if qmp:
        Qmp(qmp, machine).command("send-key", keys=[{"type": "qcode", "data": key}])
    else:
        machine.stdin.write(key.encode())
        machine.stdin.flush()


def talk(machine, until, limit, qmp=None):
    """Presses 2 at the menu, and reads until `until` has come, the machine ends, or time is up."""
    text, pressed, end = b"", False, time.monotonic() + limit
    while until not in text and time.monotonic() < end:
        ready, _, _ = select.select([machine.stdout], [], [], 1)
        more = machine.stdout.read1() if ready else b""
        if ready and not more:
            break
        text += more
        if not pressed and MENU in text:
            pressed = True
            press(machine, "2", qmp)
    return text


def run(row, folder, limit=cb.LIMIT):
    image = folder / "stick"
    subprocess.run(["truncate", "-s", "192M", image], check=True)
    subprocess.run(["mformat", "-i", image, "-F", "-v", "STICK", "::"], check=True)
    subprocess.run(["mcopy", "-s", "-i", image, *(cb.BUILD / "stick").iterdir(), "::"], check=True)
    command = [cb.QEMU_11, "-accel", "tcg", "-cpu", "max", "-m", "512", "-smp", row.cpus, "-nodefaults", "-display",
               "none", "-net", "none", "-serial", "stdio", "-plugin", f"{cb.BUILD}/qemu-ds.so,preset=skylake",
               "-drive", f"if=none,id=stick,format=raw,file={image}", *row.firmware(folder), *row.machine, *row.devices,
               "-qmp", f"unix:{folder}/qmp,server=on,wait=off"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as machine:
        text = talk(machine, SAVED, limit, folder / "qmp" if row.keyboard else None)
        try:  # the file is written then, and the machine switches off if its firmware can do that
            machine.wait(30)
        except subprocess.TimeoutExpired:
            machine.terminate()
    for name in ("cairn-machine.txt", "cairn-000.log"):
        subprocess.run(["mcopy", "-n", "-i", image, f"::/{name}", folder], check=False, capture_output=True)
    report = folder / "cairn-machine.txt"
    return Result(cb.clean(text), report.read_text(encoding="ascii") if report.exists() else "",
                  folder / "cairn-000.log")


def main():
    bad = 0
    print("| machine | report | Cairn |\n| --- | --- | --- |")
    for name in sys.argv[1:] or ROWS:
        with tempfile.TemporaryDirectory() as folder:
            result = run(ROWS[name], Path(folder))
            answered, ran = result.answered(), result.ran()
            bad += not (answered[0] and ran[0])
            print(f"| {ROWS[name].what} | {answered[1]} | {ran[1]} |", flush=True)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
