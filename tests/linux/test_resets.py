# SPDX-License-Identifier: MIT
"""Linux through what resets a processor, or leaves it as it is: processors offline and online again, sleep (S3), added
and removed while it runs, a reboot in the middle of counting, kexec. Counts and samples are right after it, too."""

import subprocess
import threading
import time

import cairn_boot as cb
import checks
import guest
import initramfs
import known
import programs
import pytest
from cairn_screen import Qmp

WORDS = 10
KNOWN = f"known $(seq {WORDS - 1})"
STAT = "perf stat -x, -e instructions:u,branches:u " + KNOWN
RECORD = f"perf record -q -c 10007 -e instructions:upp {KNOWN} && perf script -F ip"
BUSY = ("perf stat -a -e instructions,branches,cycles sleep 1000 & perf record -q -a -e branches:upp sleep 1000 & "
        "sleep 2")
OFF_AND_ON = "cd /sys/devices/system/cpu/cpu1 && echo 0 >online && echo 1 >online && cat online"
SLEEP = ("grep deep /sys/power/mem_sleep && echo deep >/sys/power/mem_sleep && "
         "echo +3 >/sys/class/rtc/rtc0/wakealarm && echo mem >/sys/power/state && dmesg | grep -c 'PM: suspend exit'")
PLUGGED = ("cd /sys/devices/system/cpu; while ! [ -d cpu1 ]; do sleep 1; done; "
           "[ $(cat cpu1/online) = 1 ] || echo 1 >cpu1/online")
UNPLUGGED = "while [ -d /sys/devices/system/cpu/cpu1 ]; do sleep 1; done"

pytestmark = pytest.mark.long


def on(cpu):
    return [f"taskset {1 << cpu} {command}" for command in (STAT, f"sh -c '{RECORD}'")]


@pytest.fixture(scope="module", name="program")
def assembled(tmp_path_factory):
    return known.assemble(tmp_path_factory.mktemp("known"))


def boot(folder, program, commands, **more):
    """What all of the commands said."""
    more = {"preset": "skylake", "append": "nmi_watchdog=0 tsc=reliable"} | more
    run = guest.run(folder, [checks.QUIET, *commands], files={"bin/known": program} | more.pop("files", {}), **more)
    assert all(said.status == 0 for said in run.said), run.said
    assert checks.warnings(run.dmesg) == []
    assert "without the plugin's state" not in run.plugin
    return run.said[1:]


def right(program, stat, record):
    """What both commands say of the program."""
    paper = known.Known(program, WORDS)
    counts = [line.split(",")[0] for line in stat.output.splitlines() if "u," in line]
    assert counts[0] == str(paper.instructions)
    checks.samples(paper, known.ALL, 10007, 10008, [int(ip, 16) for ip in record.output.split()])


def test_offline_and_sleep(tmp_path, program):
    busy = f"{BUSY}; {OFF_AND_ON}; kill $(pidof perf); sleep 1"
    said = boot(tmp_path, program, [*on(1), OFF_AND_ON, *on(1), busy, *on(1), SLEEP, *on(0), *on(1)], smp=2)
    for first in (0, 3, 6, 9, 11):
        right(program, *said[first:first + 2])
    assert said[8].output.split()[-1] == "1"


def plugs(folder, log):
    """A second processor, when the guest waits for it; away, and there again."""
    def waits(number, command):
        while log.read_text(errors="replace").count(f"guest: {command[:20]}") < number:
            time.sleep(1)

    waits(1, PLUGGED)
    qmp = Qmp(folder / "qmp", None)  # it is there: the guest runs
    new = [cpu for cpu in qmp.command("query-hotpluggable-cpus") if "qom-path" not in cpu][-1]
    qmp.command("device_add", driver=new["type"], id="second", **new["props"])
    waits(1, UNPLUGGED)
    qmp.command("device_del", id="second")
    waits(2, PLUGGED)
    qmp.command("device_add", driver=new["type"], id="again", **new["props"])


def test_plugged_and_unplugged(tmp_path, program):
    """Linux allows it only where it knows of a hypervisor: kvm=on. One processor too many: QEMU has no room for the
    thread of one in the place of another."""
    log = tmp_path / "console"
    log.touch()
    threading.Thread(target=plugs, args=(tmp_path, log), daemon=True).start()
    said = boot(tmp_path, program, [PLUGGED, *on(1), UNPLUGGED, *on(0), PLUGGED, *on(1)], smp="1,maxcpus=3",
                preset="sapphirerapids", plugin="kvm=on", machine=("-qmp", f"unix:{tmp_path}/qmp,server=on,wait=off"))
    for first in (1, 4, 7):
        right(program, *said[first:first + 2])


def test_reboot(tmp_path, program):
    """The date says which boot it is."""
    again = f"[ $(date +%Y) = 2001 ] || {{ date -s 2001-01-01; hwclock -w -u; {BUSY}; reboot -f; }}"
    said = boot(tmp_path, program, [again, *on(0), *on(1)], smp=2, machine=("-action", "reboot=reset"))
    right(program, *said[1:3])
    right(program, *said[3:5])


def test_kexec(tmp_path, program):
    """A kernel that finds the counters as the first has left them."""
    source, kexec, inner = cb.ROOT / "tests/linux/kexec.c", tmp_path / "kexec", tmp_path / "inner"
    subprocess.run(["gcc", "-O2", "-static", "-Wall", "-Werror", "-o", kexec, source], check=True)
    commands = [checks.QUIET, "grep -c again /proc/cmdline", *on(0), *on(1)]
    needed = programs.Root(guest.DEBIAN).needs(("busybox", *guest.PROGRAMS))
    initramfs.write(inner, needed | initramfs.additions(commands, {"bin/known": program}, guest.DEBIAN))
    line = f"{guest.COMMAND_LINE} nmi_watchdog=0 tsc=reliable again"
    outer = [f"{BUSY}; kexec /root/kernel /root/inner '{line}'", *["true"] * (len(commands) - 2)]
    said = boot(tmp_path, program, outer, smp=2, files={
        "bin/kexec": kexec, "root/kernel": guest.kernel_of(guest.KERNEL), "root/inner": inner})
    right(program, *said[1:3])
    right(program, *said[3:5])
