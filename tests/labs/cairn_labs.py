# SPDX-License-Identifier: MIT
"""Runs labs as a student does, with `make lab`."""

import re
import subprocess

import pytest

import cairn_boot as cb

LABS = sorted((cb.ROOT / "labs").glob("[0-9][0-9]-*/lab.c"))
ON_HW = pytest.mark.skipif(not cb.QEMU_11.parent.exists(), reason="run 'make deps-ds'")
FEW = 2  # labs that `make test` tries; `make test-all` tries all


def name_of(path):
    """Of a lab's file: "01-first-record", or "01-first-record/no-reset" of a wrong solution."""
    folder = next(parent for parent in path.parents if parent.parent.name == "labs")
    return folder.name + (f"/{path.stem}" if path.parent != folder else "")


def each(paths, few):
    """Parameters: those of the first `few` labs for `make test` as well."""
    first = [path.parent.name for path in LABS[:few]]
    return [pytest.param(path, id=name_of(path), marks=[] if name_of(path).split("/")[0] in first else pytest.mark.long)
            for path in paths]


def programs(folder):
    """Those of all labs' folders of this name: right or wrong."""
    return [path for one in LABS for path in sorted(one.parent.glob(f"{folder}/*.c"))]


def lab(code, *arguments):
    """(status, output) of `make lab` with this file as the student's code."""
    done = subprocess.run(["make", "-s", "--no-print-directory", f"B={cb.BUILD.relative_to(cb.ROOT)}", "lab",
                           f"N={name_of(code)[:2]}", f"CODE={code.relative_to(cb.ROOT)}", *arguments], cwd=cb.ROOT,
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def verdicts(output):
    """The failed verdicts' names, and whether each is followed by a hint and what to read."""
    return re.findall(r"^FAIL: ([\w-]+): .+\n(?:(?!hint|read|FAIL).*\n)*hint: \w(?:.*\n)+?read: .+", output, re.M)
