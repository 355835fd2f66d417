# SPDX-License-Identifier: MIT
"""The monitor on the hardware backend: the plugin counts and records what is stepped, and any function can be stopped
at."""

import re

import cairn_boot as cb
from cairn_log import checked

COMMANDS = ["msr IA32_PERF_GLOBAL_STATUS 1", "event INST_RETIRED.ANY:3", "step 2", "step record", "records", "step pmi",
            "counters", "event BR_INST_RETIRED.ALL_BRANCHES:2", "step 20", "records", "event off", "break kthread_exit",
            "break arch_stubs", "break switch", "go", "counters", "cpu 1", "cpu 0", "ds", "go", "go", "break off", "go"]


def test_monitor(tmp_path):
    result = cb.boot(tmp_path / "log", "--monitor", "--smp", 2, "ds=hw", "--qemu-ds", "preset=icelake",
                     "workload=pingpong", "switches=1000", cb.UNHURRIED, "pebs=INST_RETIRED.ANY:100003",
                     data="".join(f"{line}\n" for line in COMMANDS).encode())
    assert result.status == cb.PASS, result.output
    checked(result.log)
    said = result.output
    assert "WRMSR of 38EH with 0x1 raises #GP: nothing is written\n" in said and "(model)" not in said, said
    assert re.search(r"^step 3: add rax, rcx\n(.*\n)+?. IA32_FIXED_CTR0 +0xfffffffffffd: 3 more to its overflow\n"
                     r"\* PebsIndex +base \+ 1 record$", said, re.M), said
    assert re.search(r"^step 12: (.*\n)+?\* so far +PMIs: 1, drains: 1, records drained: 4$", said, re.M), said
    # A record of every third branch, one more than the period: at `jnz load` both times.
    assert re.search(r"^   1  user_stepped\+0x19 +0x1 .*\n2 records", said, re.M), said
    assert "code of the kernel's entry" in said and len(re.findall("^monitor: at breakpoint ", said, re.M)) == 3, said
