# SPDX-License-Identifier: MIT
"""What the tests of clients have in common."""

import checks
import guest
import known

ROOT = guest.BUILD / "clients/root"
WORDS = 5
KNOWN = f"known $(seq {WORDS - 1})"
PARANOID = "echo 1 >/proc/sys/kernel/perf_event_paranoid"  # PAPI wants that, of root, too
QUIET = f"{PARANOID}; {checks.QUIET}"
MOUNT = "mount -t debugfs debug /sys/kernel/debug; mount -t tracefs trace /sys/kernel/tracing"
APPEND = "pti=off nmi_watchdog=0 tsc=reliable"


def boot(folder, commands, programs, preset="skylake", files=None, **options):
    """Boots Debian 13's kernel, unless `kernel` says another, with these programs and `known`, and runs the commands
    after QUIET and MOUNT. (what each said, the known program on paper). Linux must have warned of nothing."""
    program = known.assemble(folder)
    run = guest.run(folder, [QUIET, MOUNT, *commands], preset=preset, append=APPEND, root=ROOT, programs=programs,
                    files={"bin/known": program, **(files or {})}, **options)
    assert checks.warnings(run.dmesg) == []
    return run.said[2:], known.Known(program, WORDS)
