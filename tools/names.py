#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints each public function whose name does not say whose it is, as CONTRIBUTING.md has it. Files come on stdin."""

import pathlib
import re
import sys

# Rooms with one prefix for all that is in them; rooms where it is the name of a file or folder, or a letter and that.
PREFIXES = {"arch": "arch_", "ds": "ds_", "trace": "trace_", "tools/cairn": "cairn_", "tools/pebs": "cairn_pebs_",
            "tools/qemu-ds": "qds_", "tools/playground": "play_", "tools/grab": "grab_"}
LETTERS = {"arch/firmware": "", "boot": "", "kernel": "k"}
# What others have named: registers, instructions, records and QEMU's functions; what arch calls of the kernel; C's
# library and its like.
GIVEN = re.compile(r"(cpuid|ia32|msr|ccswap|cairn_counters|qemu|kernel)_|(read|write)_(cr|dr)|(rd|wr)msr$")
OTHERS = {"memcpy", "memmove", "memset", "memcmp", "strlen", "strcmp", "strncmp", "strchr", "memchr", "snprintf",
           "vsnprintf", "kprintf", "g_array_free", "__stack_chk_fail"}
FUNCTION = re.compile(r"^(?!typedef)(?:[a-z_]\w*[\s*]+)+(\w+)\(", re.M)


def functions(text):
    """Names that a header declares or defines."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r"^{.*?^}|__attribute__", "", text, flags=re.M | re.S)
    return FUNCTION.findall(text)


def says_whose(header, name, files):
    """`files`: of the folder of the header."""
    prefix = next((PREFIXES[room] for room in PREFIXES if header.is_relative_to(room)), None)
    letter = next((LETTERS[room] for room in LETTERS if header.is_relative_to(room)), None)
    if GIVEN.match(name) or name in OTHERS or prefix and name.startswith(prefix):
        return True
    if letter is None:
        return False
    word = re.match(("" if header.parent.name == "ring3" else letter) + r"(\w{2,}?)(?:_|$)", name)
    return bool(word) and any(stem.startswith(word[1]) for stem in {header.parent.name, *(f.stem for f in files)})


def main():
    files = [pathlib.Path(line.strip()) for line in sys.stdin if line.strip()]
    for header in files:
        if header.suffix == ".h" and any(header.is_relative_to(room) for room in (*PREFIXES, *LETTERS)):
            beside = [file for file in files if file.parent == header.parent]
            for name in functions(header.read_text(encoding="utf-8")):
                if not says_whose(header, name, beside):
                    print(f"{header}: {name}")


main()
