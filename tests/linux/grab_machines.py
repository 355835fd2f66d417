# SPDX-License-Identifier: MIT
"""The machines of test_grab.py, and what each is asked: the logs that cairn-grab makes there, and what it refuses."""

from dataclasses import dataclass

import checks
import guest
import pytest

KNOWN = "known $(seq 4)"
UNREAD = "kill -STOP $PPID; known $(seq 16); kill -CONT $PPID"  # the ring, on every host
# Its probe runs while the PMU interrupts: Linux then runs no other.
PROBED = ("mount -t tracefs none /sys/kernel/tracing; cd /sys/kernel/tracing; echo p:probe vfs_write >kprobe_events; "
          "echo 1 >events/kprobes/probe/enable; cd - >/dev/null; {}; said=$?; "
          "echo 0 >/sys/kernel/tracing/events/kprobes/probe/enable; (exit $said)")
ARCHITECTURAL = 15  # as a format
IN_CI = ("icelake", "clearwaterforest")
LOGS, LOSSY = ["plain", "registers", "own"], ["ring", "skipped"]
FEW = ["registers", "own", "turns"]  # of a machine that is not `whole`
# cairn-grab needs the addresses of the kernel's symbols, perf is slow with them.
SHOWN, HIDDEN = (f"echo {value} >/proc/sys/kernel/kptr_restrict" for value in (1, 2))


def bare(path, what, options=""):
    """The command that has something else at this path of /proc or /sys, and then what was there before."""
    return f"mount {what} {path}; {SHOWN}; cairn-grab {options} -- true; said=$?; umount {path}; exit $said"


def symbols(*names, options=""):
    """As /proc/kallsyms has them."""
    lines = "\\n".join(f"ffffffff81000000 T {name}" for name in names)
    return f"printf '{lines}\\n' >few; " + bare("/proc/kallsyms", "-o bind few", options)


def unwritten(options):
    return f"{SHOWN}; cairn-grab -o none.log {options}; said=$?; [ ! -e none.log ] && (exit $said)"


READ = "cpu_hw_events", "x86_pmu", "__per_cpu_offset", "page_offset_base"
LOCK = "mount -t securityfs none /sys/kernel/security 2>/dev/null; echo {} >/sys/kernel/security/lockdown; "
REFUSALS = [  # commands, exit status, what is said
    ("echo nobody:x:65534:65534::/:/bin/sh >>/etc/passwd; su nobody -c '/bin/cairn-grab -- true'", 3,
     "only root may read the kernel's memory; run it with sudo"),
    ("unshare -fp cairn-grab -- true", 3, "it runs in a PID namespace, such as a container's,"),
    (bare("/sys/kernel/btf", "-t tmpfs none"), 3,
     "/sys/kernel/btf/vmlinux does not exist; the kernel must be built with CONFIG_DEBUG_INFO_BTF"),
    (symbols("page_offset_base"), 3, "/proc/kallsyms has no cpu_hw_events, x86_pmu or __per_cpu_offset: the kernel"),
    (symbols(*READ), 3, "/proc/kallsyms has none of intel_pmu_drain_pebs_core,"),
    (symbols(*READ, "intel_pmu_drain_pebs_icl", options="--why"), 3, "/proc/kallsyms has no intel_pmu_enable_event,"),
    (f"{HIDDEN}; cairn-grab -- true", 3, "the kernel hides its addresses; run 'sysctl kernel.kptr_restrict=1',"),
    (unwritten("-- true"), 1, "no event used PEBS or BTS, so none.log is not written; let cairn grab count an event"),
    (unwritten("-e instructions:u -c 1000000000 -- true"), 1, "no event occurred 1000000000 times (-c)"),
    # The command does not run. Linux' PMU of plain counters takes no samples.
    (f"{SHOWN}; cairn-grab -o none.log -e msr/event=0/ -- touch ran; said=$?; sleep 1; [ ! -e ran ] && (exit $said)",
     3, "msr/event=0/: Linux refuses the event: Invalid argument"),
    # The last, as nothing can undo it.
    (f"{SHOWN}; {LOCK.format('confidentiality')} cairn-grab -- true", 3,
     "lockdown is 'confidentiality', which forbids reading the kernel's memory; boot with lockdown=integrity,"),
]
REPORT = f"{SHOWN}; cairn-grab --report 2>/dev/null"
INTEGRITY = (f"{SHOWN}; {LOCK.format('integrity')} "
             "taskset 1 cairn-grab -o integrity.log -e instructions:u -c 10007 -- known 1")


@dataclass(frozen=True)
class Machine:
    preset: str
    format: int
    cpus: int = 2

    @property
    def branches(self):
        """An event of PMCs. Core's list of those with PEBS has no branches."""
        return "branches" if self.format else "instructions"

    @property
    def bts(self):
        """Whether Linux lets branches have a period of 1. From 6.11 on it does not on Haswell and Nehalem."""
        return self.format not in (1, 2)

    @property
    def commands(self):
        """{name of the log: command}. Before format 2 a sample with :pp is not the record's instruction."""
        precise = "pp" if self.format >= 2 else "p"
        pmu = "cpu_core" if self.preset in guest.HYBRIDS else "cpu"
        prefix = "taskset 1 " if self.preset in guest.HYBRIDS else ""
        plain = f"perf record -q -e {pmu}/instructions/u{precise} -c 10007"
        registers = f"perf record -q -e {pmu}/{self.branches}/u{precise} -c 1010 --intr-regs=cx"
        perf = {log: f"cairn-grab -o {log} -- sh -c '{HIDDEN}; {prefix}{record} {KNOWN}' && perf script -F ip"
                for log, record in (("plain", plain), ("registers", registers))}
        own = {"own": f"{prefix}cairn-grab -o own --why -e {self.branches}:u -c 1010 -- {KNOWN}",
               "ring": f"{prefix}cairn-grab -o ring --ring 64 -e {self.branches}:u -c 61 -- sh -c '{UNREAD}'",
               "turns": "taskset 1 cairn-grab -o turns --full always "
                        f"-e {self.branches}:u -c 1010 -- sh -c '{KNOWN} & {KNOWN}; wait'"}
        kernel = f"{prefix}perf record -q -g -e {pmu}/instructions/kp -c 4999 dd if=/init of=/dev/null bs=1 count=100"
        skipped = {"skipped": PROBED.format(f"cairn-grab -o skipped -- sh -c '{HIDDEN}; {kernel}'")}
        path = {"path": f"{prefix}cairn-grab -o path -e branches:u -c 1 -- known" if self.bts else
                "cairn-grab -o path -e branches:u -c 1 -- known; [ $? = 3 ] && touch path"}
        hurried = f"{prefix}perf record -q -g -e {pmu}/instructions/u{precise} -c 1010 {KNOWN}"
        throttled = {"throttled": f"{checks.RATE.format(250)}; cairn-grab -o throttled --why -- sh -c "
                                  f"'{HIDDEN}; {hurried}'; said=$?; {checks.RATE.format(100000)}; (exit $said)"}
        more = {} if self.preset in IN_CI else {
            "kernel": f"{prefix}cairn-grab -o kernel --full always -a -e {self.branches} -c 1010 -- {KNOWN}"}
        commands = perf | own | skipped | throttled | path | more
        return {log: f"{SHOWN}; {command}" for log, command in commands.items() if self.whole or log in FEW}

    @property
    def why(self):
        """Of three events: one that could be collected, one that cannot, and one without PEBS. Core's PMC0 alone has
        PEBS: there the first is not asked for."""
        precise = "pp" if self.format >= 2 else "p"
        pmu, prefix = ("cpu_core", "taskset 1 ") if self.preset in guest.HYBRIDS else ("cpu", "")
        events = (f"{pmu}/instructions,period=10007/u{precise}", f"{pmu}/{self.branches},freq=1000/u{precise}",
                  f"{pmu}/cycles,period=100003/u")[not self.format:]
        record = " ".join(["perf record -q", *(f"-e {event}" for event in events), KNOWN])
        return f"{SHOWN}; cairn-grab -o why --why -- sh -c '{HIDDEN}; {prefix}{record}'"

    @property
    def whole(self):
        """Whether it has all logs and answers. Here Linux 7.3 takes long, and pantherlake has them, too."""
        return self.preset != "clearwaterforest"

    @property
    def more(self):
        """What is asked of the same guest beside its logs."""
        return self.whole * [self.why, REPORT, INTEGRITY, *(line for line, *_ in REFUSALS)]

    def param(self, *marks):
        return pytest.param(self, marks=[*marks, pytest.mark.xdist_group(f"grab-{self.preset}")], id=self.preset)
