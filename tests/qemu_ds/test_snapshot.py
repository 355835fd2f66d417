# SPDX-License-Identifier: MIT
"""What the model counts follows a machine into snapshots and migration streams, and back from them; where it cannot,
one line says so. guest/snapshot.asm has the same numbers however often it is taken back."""

import random
import struct
import subprocess
import time

import pytest
from bare_guest import PLUGIN, QEMU, assemble
from cairn_screen import Qmp

CLUSTER = 1 << 16


def qcow2(path):
    """An empty disk of 1 MB that can hold snapshots (QEMU's docs/interop/qcow2.rst): header, table of reference counts,
    these, L1 table."""
    header = struct.pack(">4sIQIIQIIQQIIQ", b"QFI\xfb", 2, 0, 0, 16, 1 << 20, 0, 1, 3 * CLUSTER, CLUSTER, 1, 0, 0)
    clusters = (header, struct.pack(">Q", 2 * CLUSTER), struct.pack(">4H", 1, 1, 1, 1), b"")
    path.write_bytes(b"".join(data.ljust(CLUSTER, b"\0") for data in clusters))


class Machine:
    def __init__(self, folder, image, plugin, *arguments):
        folder.mkdir(exist_ok=True)
        plugin = ("-plugin", f"{PLUGIN}{plugin}") if plugin is not None else ()
        self.process = subprocess.Popen(
            [QEMU, "-accel", "tcg", "-cpu", "max", "-m", "64", "-display", "none", "-nodefaults", "-bios", image,
             "-debugcon", "stdio", "-qmp", f"unix:{folder}/qmp,server=on,wait=off", *plugin, *arguments],
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

    def until(self, name):
        """What the guest says, to the line of that name."""
        said = {}
        while name not in said:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            key, value = line.split("=")
            said[key] = int(value, 16)
        return said

    def quit(self):
        """QEMU's messages."""
        self.qmp.command("quit")
        return self.process.communicate(timeout=60)[1]


@pytest.fixture(scope="module", name="images")
def assembled(tmp_path_factory):
    return {history: assemble(tmp_path_factory.mktemp("snapshot"), "snapshot", f"HISTORY={history}",
                              f"LOOPS={40000 >> 2 * history}") for history in (0, 1)}


@pytest.mark.parametrize("history", [0, 1])
def test_loadvm(tmp_path, images, history):
    qcow2(tmp_path / "disk")
    with Machine(tmp_path, images[history], "", "-drive", f"if=none,file={tmp_path}/disk,format=qcow2") as machine:
        machine.until("begins")
        names = [f"s{n}" for n in range(3)]
        for name in names:
            time.sleep(random.uniform(0.05, 0.2))
            assert machine.tell(f"savevm {name}") == ""
        said = machine.until("end")
        print(said)
        for name in names * 2:
            assert machine.tell(f"loadvm {name}") == ""
            assert machine.until("end") == said
        assert machine.quit() == ""
