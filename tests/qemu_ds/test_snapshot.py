# SPDX-License-Identifier: MIT
"""What the model counts follows a machine into snapshots and migration streams, and back from them; where it cannot,
one line says so. guest/snapshot.asm has the same numbers however often it is taken back."""

import random
import re
import struct
import subprocess
import time

import pytest
from bare_guest import PLUGIN, QEMU, assemble, qemu_without

import cairn_boot as cb
from cairn_screen import Qmp

CLUSTER = 1 << 16
SHORT, LONG = 100, 0x100000  # what the guest's REP copies


def qcow2(path):
    """An empty disk of 1 MB that can hold snapshots (QEMU's docs/interop/qcow2.rst): header, table of reference counts,
    these, L1 table."""
    header = struct.pack(">4sIQIIQIIQQIIQ", b"QFI\xfb", 2, 0, 0, 16, 1 << 20, 0, 1, 3 * CLUSTER, CLUSTER, 1, 0, 0)
    clusters = (header, struct.pack(">Q", 2 * CLUSTER), struct.pack(">4H", 1, 1, 1, 1), b"")
    path.write_bytes(b"".join(data.ljust(CLUSTER, b"\0") for data in clusters))


def command(image, plugin, qemu=QEMU):
    """`plugin`: its options, or None for none."""
    return [qemu, "-accel", "tcg", "-cpu", "max", "-m", "64", "-display", "none", "-nodefaults", "-no-reboot", "-bios",
            image, "-debugcon", "stdio", *(("-plugin", f"{PLUGIN}{plugin}") if plugin is not None else ())]


class Machine:
    def __init__(self, folder, image, plugin, *arguments, qemu=QEMU):
        folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [*command(image, plugin, qemu), "-qmp", f"unix:{folder}/qmp,server=on,wait=off", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.qmp = Qmp(folder / "qmp", self.process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def tell(self, line):
        """The human monitor: what it answers."""
        return self.qmp.command("human-monitor-command", **{"command-line": line})

    def pause(self, rep=None):
        """Stops the machine while the guest counts, if so between two iterations of the REP at `rep`. A guest that has
        come to its end begins anew."""
        for _ in range(1000):
            self.qmp.command("stop")
            told = self.tell("info registers")
            registers = {name: int(value, 16) for name, value in re.findall(r"\b(R[A-Z0-9]{2}) *=([0-9a-f]{16})", told)}
            if registers["R15"] == 0:  # iterations to go
                self.qmp.command("system_reset")
            elif not rep or registers["RIP"] == rep and SHORT < registers["RCX"] < LONG:
                return
            self.qmp.command("cont")
            if registers["R15"] == 0:
                self.until("begins")
            time.sleep(random.uniform(0.001, 0.01))
        raise AssertionError("never there")

    def arrive(self):
        """Goes on from a machine's state."""
        while self.qmp.command("query-status")["status"] == "inmigrate":
            time.sleep(0.05)
        self.qmp.command("cont")

    def until(self, name):
        """What the guest says, to the line of that name. A reset may have cut a line: then the first one of the next
        run, which is no line to wait for, goes on behind what was there."""
        said = {}
        while name not in said:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            key, value = re.search(r"(\w+)=([0-9a-fA-F]+)$", line).groups()
            said[key] = int(value, 16)
        return said

    def quit(self):
        """QEMU's messages."""
        self.qmp.command("quit")
        return self.process.communicate(timeout=60)[1]


LOST = ("qemu-ds: vCPU 0 goes on from a snapshot without the plugin's state: what it counts is wrong until the guest "
        "sets up its counters anew\n")


def migrated(folder, image, plugin, *arguments):
    """A machine's state as a file, from somewhere on its way."""
    state = folder / "state"
    with Machine(folder, image, plugin, "-action", "reboot=reset", *arguments) as machine:
        machine.until("begins")
        machine.pause()
        machine.qmp.command("migrate", uri=f"file:{state}")
        while (status := machine.qmp.command("query-migrate")["status"]) != "completed":
            assert status != "failed"
            time.sleep(0.05)
        machine.quit()
    return state


@pytest.fixture(scope="module", name="images")
def assembled(tmp_path_factory):
    return {history: assemble(tmp_path_factory.mktemp("snapshot"), "snapshot", f"HISTORY={history}",
                              f"LOOPS={1000 >> history}", f"SHORT={SHORT}", f"LONG={LONG}") for history in (0, 1)}


@pytest.fixture(scope="module", name="without_flags")
def without_exports(tmp_path_factory):
    return qemu_without(tmp_path_factory.mktemp("qemu"), b"helper_read_eflags")


@pytest.mark.parametrize("history, plugin, flags", [(0, "", True), (1, "", True), (0, "", False),
                                                    cb.long(1, "", False), cb.long(0, ",truth=truth", True)])
def test_loadvm(tmp_path, monkeypatch, images, without_flags, history, plugin, flags):
    """The machine is taken back to two places, in any order, and by another QEMU. One of them is in the middle of an
    instruction's repetitions. Flags may be unknown."""
    monkeypatch.chdir(tmp_path)
    qcow2(tmp_path / "disk")
    arguments = ("-action", "reboot=reset", "-drive", f"if=none,file={tmp_path}/disk,format=qcow2")
    qemu = QEMU if flags else without_flags
    with Machine(tmp_path, images[history], plugin, *arguments, qemu=qemu) as machine:
        begun = machine.until("begins")
        names = {"somewhere": None, "repeats": begun["repeats"]}
        for name, rep in names.items():
            machine.pause(rep)
            assert machine.tell(f"savevm {name}") == ""
            machine.qmp.command("cont")
        said = machine.until("end")
        assert said["records"] > 100 and bool(said["from"]) == bool(history)
        for name in random.sample(list(names), 2):
            assert machine.tell(f"loadvm {name}") == ""
            machine.qmp.command("cont")
            assert machine.until("end") == said
        assert machine.quit() == ""
    with Machine(tmp_path, images[history], plugin, *arguments, "-loadvm", "repeats", qemu=qemu) as machine:
        machine.qmp.command("cont")
        assert machine.until("end") == said
        assert machine.quit() == ""


@pytest.mark.parametrize("history", [0, 1])
def test_migration(tmp_path, images, history):
    with Machine(tmp_path / "whole", images[history], "") as machine:
        said = machine.until("end")
    state = migrated(tmp_path, images[history], "", "-smp", "2")
    with Machine(tmp_path, images[history], "", "-smp", "2", "-incoming", f"file:{state}") as machine:
        machine.arrive()
        del said["begins"], said["repeats"]
        assert machine.until("end") == said
        assert machine.quit() == ""


def test_the_state_is_not_there(tmp_path, images):
    """The snapshot is of a machine without the plugin, in which writes of these MSRs do nothing. It is loaded by
    another QEMU as it begins, and once more when that has run."""
    qcow2(tmp_path / "disk")
    disk = ("-drive", f"if=none,file={tmp_path}/disk,format=qcow2")
    with Machine(tmp_path, images[0], None, *disk) as machine:
        machine.until("begins")
        assert machine.tell("savevm lost") == ""
        machine.quit()
    with Machine(tmp_path, images[0], "", *disk, "-loadvm", "lost") as machine:
        machine.until("end")
        assert machine.tell("loadvm lost") == ""
        machine.until("end")
        assert machine.quit() == 2 * LOST


def why_not_loaded(image, plugin, state, why, *arguments):
    done = subprocess.run([*command(image, plugin), *arguments, "-incoming", f"file:{state}"], capture_output=True,
                          text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, "") and why in done.stderr


@pytest.mark.parametrize("plugin, why", [
    (None, "Unknown section or instance 'qemu-ds' 0"),
    (",preset=skylake", "qemu-ds: the snapshot cannot be loaded: it is of another preset, or kvm=\n"),
    (",kvm=on", "qemu-ds: the snapshot cannot be loaded: it is of another preset, or kvm=\n"),
    (",memory=model", "qemu-ds: the snapshot cannot be loaded: it is of another memory=\n"),
    (",policy.fit=end_lt", "qemu-ds: the snapshot cannot be loaded: it is of another policy\n"),
])
def test_the_state_is_of_another(tmp_path, images, plugin, why):
    """It is not loaded."""
    why_not_loaded(images[0], plugin, migrated(tmp_path, images[0], ""), why)


def test_the_state_is_of_the_other_core(tmp_path, images):
    """The cores of a hybrid have the preset's one name."""
    two = "-smp", "2"
    state = migrated(tmp_path, images[0], ",preset=lunarlake,efficient=1", *two)
    why_not_loaded(images[0], ",preset=lunarlake", state, "cannot be loaded: it is of another efficient=\n", *two)


@pytest.mark.parametrize("how", ["triple_fault", "system_reset"])
def test_reset(tmp_path, how):
    """While it counts; test_guest.py has the reset by a register of the chipset, and INIT."""
    image = assemble(tmp_path, "reset", f"TRIPLE_FAULT={int(how == 'triple_fault')}")
    with Machine(tmp_path, image, "", "-action", "reboot=reset") as machine:
        machine.until("init_counted")
        if how == "system_reset":
            machine.qmp.command("stop")
            machine.qmp.command("system_reset")
            machine.qmp.command("cont")
        assert machine.until("counts") == {
            "reset_global": 0xFF, "reset_debugctl": 0, "reset_ds_area": 0, "reset_pmc_1": 0, "reset_sel": 0,
            "reset_ctrl": 0, "reset_counted": 0, "counts": 3}
        assert machine.quit() == ""


def test_caches(tmp_path, images):
    """Those of memory=model stay where they are, which is said."""
    state = migrated(tmp_path, images[0], ",memory=model")
    with Machine(tmp_path, images[0], ",memory=model", "-incoming", f"file:{state}") as machine:
        machine.arrive()
        assert machine.quit().splitlines()[1:] == [
            "qemu-ds: memory=model: caches are not in the snapshot: they stay as they are"]
