# SPDX-License-Identifier: MIT
"""run-qemu.sh --warm: a boot from a snapshot behind the firmware is the boot that it would have been."""

import hashlib
import importlib.util
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

import cairn_boot as cb
from cairn_log import checked, keys

_SPEC = importlib.util.spec_from_file_location("warm", cb.ROOT / "tools" / "warm.py")
warm = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(warm)

QUICK = ("--smp", "1", "workload=pingpong", cb.UNHURRIED)


def without_numbers(text):
    """What the machine says from the loader on."""
    return re.sub(r"\d+", "N", text[text.index("Cairn loader"):text.index("\nrun: ")])


@pytest.fixture(scope="module", name="tree")
def build_of_its_own(tmp_path_factory):
    """A boot, its folder of snapshots, and how many there were made: this QEMU writes a line for each."""
    folder = tmp_path_factory.mktemp("warm")
    build = cb.build_with(folder / "build")
    qemu = folder / "qemu"
    qemu.write_text(f'#!/bin/bash\n[[ $* != *rerror=stop* ]] || echo >>"{folder}/made"\nexec qemu-system-x86_64 "$@"\n',
                    encoding="ascii")
    qemu.chmod(0o755)
    (folder / "made").touch()

    def boot(name, *words):
        result = cb.boot(folder / name, "--warm", "--qemu", qemu, *QUICK, *words, build=build)
        assert result.status == cb.PASS and checked(result.log), result.output
        assert result.lines("warm        a snapshot behind the firmware"), result.output
        return result

    return boot, build / "warm", lambda: len((folder / "made").read_text(encoding="ascii"))


def cold_lines(result):
    return result.lines("warm        no snapshot: ")


def test_the_boot_is_the_same(tmp_path, tree):
    """Two at a time make one snapshot, and the kernel sees its own options, also those of a later boot. What the
    firmware hands over is the same, and so is what the kernel makes of it."""
    boot, _, made = tree
    with ThreadPoolExecutor() as pool:
        first, second = pool.map(lambda n: boot(f"log{n}", f"switches={n}"), (101, 102))
    third = boot("log103", "switches=103", "seed=7")
    assert made() == 1
    cold = cb.boot(tmp_path / "cold", "--vars", tmp_path / "vars", *QUICK, "switches=101")
    assert cold.status == cb.PASS and not cold.lines("warm  "), cold.output
    found = keys(cold.log, "M")
    for result, switches in ((first, "101"), (second, "102"), (third, "103")):
        assert not cold_lines(result), result.output
        assert without_numbers(result.console()) == without_numbers(cold.console())
        here = keys(result.log, "M")
        assert here["option.switches"] == switches
        differ = {name for name in found if here.get(name) != found[name]} | set(here) - set(found)
        assert differ <= {"boot.time", "boot.tsc", "machine.tsc_hz", "option.switches", "option.seed"}, differ
        rates = [int(of["machine.tsc_hz"]) for of in (here, found)]  # some hosts' is measured at each boot
        assert rates[0] == pytest.approx(rates[1], rel=0.02)
    assert keys(third.log, "M")["option.seed"] == "7"


def test_damaged(tree):
    """One bit is enough: the snapshot is made again. One that QEMU does not load is counted, and the firmware boots."""
    boot, cache, made = tree
    boot("log", "switches=100")
    before = made()
    path, = cache.glob("*.state")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    result = boot("log", "switches=100")
    assert result.lines(f"{path} is damaged, or of another machine: it is made again") and not cold_lines(result)
    assert made() == before + 1

    name, _, state = path.read_bytes().partition(b"\n")
    key = name.split()[1].decode()
    half = state[:len(state) // 2]
    path.write_bytes(warm.header(key, half) + half)
    result = boot("log", "switches=100")
    line, = cold_lines(result)
    assert f"QEMU does not load {path.name}: the firmware boots; 1 such boots in {cache}/cold.txt" in line
    assert not path.exists() and made() == before + 1


def words_of(folder):
    for name in ("code", "vars", "plugin", "qemu"):
        (folder / name).write_text(name, encoding="ascii")
    return [str(folder / "qemu"), "-smp", "4", "-drive", f"if=pflash,unit=0,file={folder}/code", "-drive",
            f"if=pflash,unit=1,file={folder}/vars", "-drive", f"if=none,id=esp,file=fat:{folder}/esp", "-plugin",
            f"{folder}/plugin,preset=skylake"]


def test_what_names_a_snapshot(tmp_path):
    """The contents of all files but the boot volume's, and all options; not where the files are."""
    seen = {warm.machine_of(words_of(tmp_path))[1]}
    other = tmp_path / "a,b"
    other.mkdir()
    moved = [word.replace(",b", ",,b") if "file=" in word or "plugin" in word else word for word in words_of(other)]
    making, key = warm.machine_of(moved)
    assert {key} == seen and warm.VOLUME in making and moved[4] in making
    for name in ("code", "vars", "plugin", "qemu"):
        words = words_of(tmp_path)
        (tmp_path / name).write_text("changed", encoding="ascii")
        seen.add(warm.machine_of(words)[1])
    for before, after in (("4", "2"), (f"{tmp_path}/plugin,preset=skylake", f"{tmp_path}/plugin,preset=haswell")):
        seen.add(warm.machine_of([after if word == before else word for word in words_of(tmp_path)])[1])
    assert len(seen) == 7


def test_truth_does_not_name_a_snapshot(tmp_path):
    """Each boot has a file of its own, and making the snapshot writes to none."""
    plugin = f"{tmp_path}/plugin,preset=skylake"
    made = [warm.machine_of([word.replace(plugin, f"{plugin},truth={name},instructions=off") for word in
                             words_of(tmp_path)]) for name in ("one", "t,,wo")]
    assert made[0] == made[1] and f"{plugin},truth=/dev/null,instructions=off" in made[0][0]


def test_a_script_is_named_with_its_version(tmp_path):
    """It may start another QEMU than yesterday."""
    script, version = tmp_path / "qemu", tmp_path / "version"
    script.write_text(f"#!/bin/sh\nexec cat '{version}'\n", encoding="ascii")
    script.chmod(0o755)
    seen = set()
    for text in ("QEMU 1", "QEMU 2"):
        version.write_text(text, encoding="ascii")
        seen.add(warm.machine_of([str(script)])[1])
    assert len(seen) == 2


def test_the_oldest_goes(tmp_path):
    for age in range(warm.KEPT + 2):
        for kind in ("state", "lock"):
            path = tmp_path / f"{age}.{kind}"
            path.touch()
            os.utime(path, (1000 - age, 1000 - age))
    warm.forget_oldest(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"{age}.{kind}" for age in range(warm.KEPT) for kind in ("state", "lock")}


def test_a_snapshot_of_another_machine(tmp_path, capsys):
    """Under the name of this one."""
    path = tmp_path / "state"
    path.write_bytes(b"cairn-warm other " + hashlib.sha256(b"state").hexdigest().encode() + b"\nstate")
    assert warm.load(path, "other") == b"state" and path.exists()
    assert warm.load(path, "this") is None and not path.exists()
    assert "is damaged, or of another machine" in capsys.readouterr().err
    assert warm.load(path, "this") is None and capsys.readouterr().err == ""


def test_no_snapshot(tmp_path):
    """QEMU refuses the machine: what it says is the reason, and the boot says the same."""
    build = cb.build_with(tmp_path / "build")
    result = cb.boot(tmp_path / "log", "--warm", "--cpu", "no-such-model", build=build)
    assert result.status == cb.TROUBLE and result.lines("verdict  QEMU ended with status 1: "), result.output
    assert len(cold_lines(result)) == 1 and "no-such-model" in cold_lines(result)[0], result.output


@pytest.mark.parametrize("words", [("--image", "/dev/null"), ("--icount",), ("--display", "none"), ("save=esp",)])
def test_not_with(tmp_path, words):
    result = cb.boot(tmp_path / "log", "--warm", *words)
    assert result.status == cb.USAGE and result.lines("run-qemu.sh: --warm: not with save=esp, "), result.output


def test_asked_to_end(tmp_path):
    """While the firmware makes a snapshot: nothing of it stays, and no other boot begins."""
    build = cb.build_with(tmp_path / "build")
    folder = str(tmp_path / "own")  # run-qemu.sh's, so that its machines are known by it
    os.mkdir(folder)
    result = cb.boot(tmp_path / "log", "--warm", "--smp", "1", build=build, timeout=1, environment={"TMPDIR": folder})
    assert result.status == cb.TIMEOUT and not cold_lines(result), result.output
    assert not list((build / "warm").glob("*.state")) and not list((build / "warm").glob("*.new"))
    assert subprocess.run(["pgrep", "-f", "--", f"-drive .*={re.escape(folder)}/"], check=False).returncode == 1
