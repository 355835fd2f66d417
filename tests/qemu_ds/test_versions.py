# SPDX-License-Identifier: MIT
"""The plugin with other versions of QEMU's plugin interface than that of QEMU 11.1, which is 7. There is no QEMU 11.0
here: version 6 is what api_6.c makes of the one there is."""

import subprocess

import pytest

import bare_guest
from bare_guest import BUILD, PLUGIN, ROOT

HERE = ROOT / "tests/qemu_ds"
DIFFERENT = ["reset", *(f"register_{name}_cb" for name in (
    "vcpu_init", "vcpu_idle", "vcpu_resume", "vcpu_discon", "vcpu_tb_trans", "flush", "atexit"))]
SAID = "qemu-ds: plugin API 6 (QEMU 11.0): tried only with 7 (QEMU 11.1)\n"


def link(folder, api):
    objects = [ROOT / name for name in (BUILD / "qemu-ds.objects").read_text(encoding="ascii").split()]
    start, = [name for name in objects if str(name).endswith("tools/qemu-ds/plugin.o")]
    objects.remove(start)
    subprocess.run(["objcopy", "--redefine-sym", "qemu_plugin_install=install", start, folder / "plugin.o"], check=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-fvisibility=hidden", "-O2", "-I", ROOT, f"-DAPI={api}",
                    *(f"-Wl,--wrap=qemu_plugin_{name}" for name in DIFFERENT),
                    "-o", folder / "qemu-ds.so", HERE / "api_6.c", folder / "plugin.o", *objects, "-pthread"],
                   check=True)
    return folder / "qemu-ds.so"


@pytest.fixture(scope="module", name="plugin_6")
def link_with_api_6(tmp_path_factory):
    return link(tmp_path_factory.mktemp("plugin"), 6)


@pytest.mark.parametrize("name, options, arguments, events", [
    ("flags", "exact=flags,stats=on", (), "30 records"),
    ("anew", "", ("-smp", "2"), ""),
    ("x2apic", "stats=on", (), " PMIs"),
])
def test_version_6(monkeypatch, tmp_path, plugin_6, name, options, arguments, events):
    """Each callback comes, and the guest finds what it finds with version 7."""
    expected, messages = bare_guest.run(tmp_path, name, options, *arguments)
    assert events in messages
    monkeypatch.setattr(bare_guest, "PLUGIN", plugin_6)
    assert bare_guest.run(tmp_path, name, options, *arguments) == (expected, SAID + messages)


def test_reset_of_version_6(monkeypatch, tmp_path, plugin_6):
    """Where QEMU does not export what blocks are dropped with, it is the plugin's reset that does."""
    without = bare_guest.qemu_without(tmp_path, b"tb_flush__exclusive_or_serial")
    monkeypatch.setattr(bare_guest, "QEMU", without)
    expected, messages = bare_guest.run(tmp_path, "flags", "stats=on")
    assert "translated anew 1 times" in messages
    monkeypatch.setattr(bare_guest, "PLUGIN", plugin_6)
    assert bare_guest.run(tmp_path, "flags", "stats=on") == (expected, SAID + messages)


def test_unknown_version(monkeypatch, tmp_path):
    monkeypatch.setattr(bare_guest, "PLUGIN", link(tmp_path, 8))
    done = bare_guest.qemu(bare_guest.assemble(tmp_path, "flags"))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", (
        "qemu-ds: for plugin API 6 and 7 (QEMU 11.0 and 11.1), this QEMU has 8: take QEMU 11.1, of Debian 13's "
        "backports or by 'make deps-ds' of Cairn, or a newer qemu-ds\n"))


@pytest.fixture(scope="module", name="release")
def build_release(tmp_path_factory):
    file = tmp_path_factory.mktemp("release") / "release"
    subprocess.run(["cc", "-O2", "-rdynamic", "-o", file, HERE / "release.c"], check=True)
    return file


@pytest.mark.parametrize("major, minor, version", [(10, 2, 7), (11, 0, 6), (11, 1, 7), (11, 2, 7), (12, 0, 7)])
def test_declared_version(release, major, minor, version):
    """QEMU 11.1 takes plugins of version 7 alone, and 11.0 knows none above 6."""
    done = subprocess.run([release, PLUGIN, str(major), str(minor)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{version}\n"
