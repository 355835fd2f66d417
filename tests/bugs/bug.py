# SPDX-License-Identifier: MIT
"""Reproduces a bug of Linux's PMU driver under qemu-ds: boots a kernel that has the bug and one that has its fix, runs
the same commands in both, and says in which the fault is seen. With --kernel it judges other kernels, such as your own;
then it ends as `git bisect run` wants it. A script beside this file describes each bug."""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tools/qemu-ds")]
import guest  # noqa: E402

ROOT = guest.BUILD / "bugs/root"
APPEND = guest.APPEND + " oops=panic"  # a broken kernel ends; otherwise it may hang
GOOD, BAD, UNTESTED = 0, 1, 125  # git's: 125 skips a kernel


class Unclear(Exception):
    """Why a run says nothing about the bug."""


@dataclass(frozen=True)
class Boot:
    """What came of one kernel. `outputs`: of the commands; None if the kernel ended with a panic."""
    outputs: list | None
    console: str
    plugin: str

    def number(self, name):
        """The sum of the plugin's totals of that name (stats=on)."""
        return sum(int(n) for n in re.findall(rf"(\d+) {name}", self.plugin))

    def oops(self):
        """(the kernel's first line about its end, the functions in it, innermost first)"""
        found = re.search(r"\] ((?:BUG|Oops): [^\n]*)(.*?)(?:---\[ end trace|Kernel panic|\Z)", self.console, re.S)
        if not found:
            raise Unclear("the kernel ended without an oops")
        return found[1].rstrip(), re.findall(r"(?<![\w.])(?<!\? )([\w.]+)\+0x", found[2])

    def oops_in(self, *functions):
        """What was seen of a kernel that ended in these. Raises Unclear if it ended elsewhere."""
        line, found = self.oops()
        if not set(functions) <= set(found):
            raise Unclear(f"another fault: {line}, in {found[:2]}")
        return f"{line}\n       in {', called by '.join(found[:2])}"


@dataclass(frozen=True)
class Bug:
    """`judge`: (whether the fault is seen, what was seen) of a Boot; raises Unclear."""
    fix: str  # the subject of the commit
    commits: str  # which, in words
    before: str  # a kernel's release, as guest.kernel_of() has it
    after: str
    preset: str
    commands: tuple
    judge: Callable


def boot(bug, kernel):
    smp, plugin = guest.processors(bug.preset, None, "stats=on")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            done = guest.run(folder, bug.commands, preset=bug.preset, kernel=str(kernel), root=ROOT, smp=smp,
                             plugin=plugin, append=APPEND)
            return Boot([said.output for said in done.said], done.console, done.plugin)
        except guest.Trouble as trouble:
            console = folder / "console"
            text = console.read_text(errors="replace") if console.exists() else ""
            if "Kernel panic" not in text:
                raise
            return Boot(None, text, str(trouble))


def samples(output):
    """How many `perf report --stats` names. What perf itself lost would look like the kernel's fault."""
    if "LOST" in output:
        raise Unclear("perf lost samples")
    found = re.search(r"SAMPLE events: +(\d+)", output)
    if not found:
        raise Unclear(f"perf has no samples: {output.strip()}")
    return int(found[1])


def try_kernel(bug, release):
    """Whether the fault is seen; prints it."""
    kernel = guest.kernel_of(release, ROOT)
    fault, what = bug.judge(boot(bug, kernel))
    print(f"{'FAULT' if fault else 'fine ':5}  {kernel.name.removeprefix('vmlinuz-')}: {what}", flush=True)
    return fault


def reproduce(bug):
    print("\n  ".join([bug.fix, bug.commits, f"preset {bug.preset}", *bug.commands]), flush=True)
    before, after = try_kernel(bug, bug.before), try_kernel(bug, bug.after)
    right = before and not after
    print("PASS: the fault is seen without the fix, and not with it" if right else
          "FAIL: " + ("the fault is seen with the fix, too" if before else "the fault is not seen without the fix"))
    return right


def main(*bugs):
    name = Path(sys.argv[0]).name
    parser = argparse.ArgumentParser(prog=name, description="Reproduces a bug of Linux's PMU driver under qemu-ds, and "
                                     "shows that it is fixed. First: make deps-bugs all.")
    parser.add_argument("--kernel", metavar="RELEASE", action="append",
                        help="only say whether this kernel has the bug: how its version begins, or a path with a '/' "
                             "in it; may be given again. Exit status: 0 no, 1 yes, 125 unclear")
    kernels = parser.parse_args().kernel
    try:
        if not ROOT.exists():
            raise guest.Trouble(f"{ROOT} is not there: run 'make deps-bugs all'")
        if kernels:
            return BAD if any([try_kernel(bug, kernel) for bug in bugs for kernel in kernels]) else GOOD
        return 0 if all([reproduce(bug) for bug in bugs]) else 1
    except (Unclear, guest.Trouble, guest.of_root.Missing, OSError) as trouble:
        print(f"{name}: {trouble}", file=sys.stderr)
        return UNTESTED if kernels else 1
