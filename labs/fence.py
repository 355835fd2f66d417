#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: labs/fence.py kernel|host LAB CODE OBJECT COMPILER FLAGS...

Compiles CODE, a student's file for the lab of folder LAB, to OBJECT. Refuses what no lab is solved with: functions that
neither labs/lab.h nor the lab's task.h has, assembler, constructors, a solution. A refusal is one line: "refused: FILE:
RULE: what; what to do". In the object, the names of task.h alone are global, so that no other takes the place of one of
the check's, and what the file prints goes through student.c of labs/machine or labs/host. Exit status: 0; 1 it does not
compile, or is refused."""

import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BINUTILS = os.environ.get("OBJCOPY", "objcopy").removesuffix("objcopy")  # a prefix, where gcc is a cross compiler
PRINTS = {"kernel": ["lab_log"], "host": ["printf", "puts", "putchar"]}
COMPILER = {"memcpy", "memmove", "memset", "memcmp", "__stack_chk_fail", "__stack_chk_guard", "_GLOBAL_OFFSET_TABLE_"}
LIBRARY = {*("__popcountdi2 abort abs __assert_fail bsearch calloc free labs malloc memchr qsort realloc strchr strcmp "
             "strlen strncmp").split()}
SANITIZERS = re.compile(r"__ubsan_handle_\w+|__asan_(report_\w+|stack_(malloc|free)_\w+|(un)?register_(elf_)?globals|"
                        r"handle_no_return|option_detect_stack_use_after_return|init|version_mismatch_check_v\d+|"
                        r"(un)?poison_stack_memory|alloca_poison|allocas_unpoison|set_shadow_\w+|mem(cpy|move|set))")
SECTIONS = re.compile(r"\.(text(\.(unlikely|startup|exit|hot))?|rodata(\..*)?|data(\..*)?|bss|debug_\w+|comment|"
                      r"note\.GNU-stack|note\.gnu\.property|eh_frame|symtab|strtab|shstrtab|group)")
SANITIZED = {".init_array.00099", ".fini_array.00099"}  # AddressSanitizer's own: a pointer each
# Instructions that C does not lead to, and that reach past the lab; and bytes that are no instruction.
MACHINE = re.compile(r"(in|out|ins|outs)[bwl]?|hlt|cli|sti|(rd|wr)msr\w*|rdpmc|l[gil]dt|ltr|lmsw|clts|invlpg|invpcid|"
                     r"w?b?n?o?invd|swapgs|iret[qwl]?|int[13o]?|sys(call|enter|ret|exit)[ql]?|vm(m?call|run|launch)|"
                     r"xsetbv|l(jmp|call|ret)[qlw]?|popf[qlw]?|\(?bad\)?")
# What gcc makes of C in an assembler's file. Others read files, or hide what is there.
DIRECTIVES = re.compile(r"[248]byte|(p2)?align|ascii|base64|bss|byte|cfi_\w+|comm|data|file|globl|hidden|ident|"
                        r"internal|loc|local|long|octa|protected|quad|section|set|size|sleb128|string|text|type|"
                        r"uleb128|value|weak|zero")
# Ways to touch memory, or to define a function, that AddressSanitizer does not see.
UNSEEN = re.compile(r"\w*no_(sanitize|address_safety)\w*|__seg_[fg]s")
RAW = ("R", "LR", "uR", "UR", "u8R")  # quotation marks in such a text would hide what follows
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|\w+|\S', re.S)


class Refused(Exception):
    """RULE: what; what to do"""


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def binutil(name, *arguments):
    return output(BINUTILS + name, *arguments).splitlines()


def check_files(names, lab, code):
    """What gcc has read, or shows lines of: the file, and headers beside it, of Cairn and of the system. The course's
    own wrong/ and right/ are made of the solution."""
    for name in names:
        path = Path(name.replace("\\ ", " ")).resolve()
        known = (path.suffix == ".h" and (path.parent == code.parent or path.is_relative_to(TOP)) or
                 path.is_relative_to("/usr/include") or path.is_relative_to("/usr/lib"))
        course = code.parent in (lab / "wrong", lab / "right") and path == lab / "solution.c"
        if path != code and not known and not course:
            raise Refused(f"include: it includes {name}; include only headers, such as task.h and ds/layout.h")


def check_source(kind, text):
    """After the preprocessor. Headers of the C library have `asm("name")` in declarations, and no more."""
    hidden = re.search(r"__(asan|ubsan|sanitizer)_\w*|pch_preprocess", text)
    if hidden:
        raise Refused(f"source: it has {hidden[0]}; leave it out: nothing may hide from the check")
    text = re.sub(r"^#.*", "", text, flags=re.M)
    words = [word.strip("_") if "asm" in word else word for word in TOKEN.findall(text)]
    for i, word in enumerate(words):
        if word == "asm" and not (kind == "host" and re.match(r'asm \( (""  ?)?"\w+" \)', " ".join(words[i:i + 5]))):
            raise Refused("asm: it has assembler; use the functions of labs/lab.h instead")
        if word in RAW and words[i + 1:i + 2] and words[i + 1].startswith('"'):
            raise Refused("source: it has a text R\"...\"; write it as a plain one: nothing may hide from the check")
        # gcc hands these names to the assembler as they are: a name can have lines of assembler in it.
        if word.strip("_") in ("section", "alias", "ifunc", "weakref", "symver") and words[i + 1:i + 2] == ["("]:
            name = next((other for other in words[i + 1:] if other != "("), "")
            if name.startswith('"'):
                raise Refused(f"attribute: it has {word.strip('_')}({name!a:.40}); leave that attribute out")
        if UNSEEN.fullmatch(word) or kind == "host" and word.startswith("__builtin_ia32_"):
            raise Refused(f"attribute: it has {word}; leave it out: the check watches each access to memory")


def check_assembler(text):
    """What gcc hands to the assembler. Names in C can have lines of assembler in them; asm(), #ident lead to #APP."""
    for line in text.split("\n"):
        line = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        if line.startswith("#APP"):
            raise Refused("asm: it has assembler; use the functions of labs/lab.h instead")
        for statement in re.split("[;:]", line):
            found = re.match(r"\s*\.(?!L)(\w+)", statement)  # .L1 is a label
            if found and not DIRECTIVES.fullmatch(found[1]) or re.search(r"[\"']|/\*", statement):
                raise Refused(f"asm: a name in it leads to the assembler's {statement.strip()!a:.40}; use plain names")


def check_sections(kind, file):
    for line in binutil("readelf", "-SW", file):
        if re.search(r"\.note\.GNU-stack .* X ", line):
            raise Refused("section: its stack could be executed, as a function inside of a function has its address "
                          "taken; put that function outside")
        found = re.match(r"\s*\[\s*[1-9]\d*\]\s+(\S+)\s+(\w+)\s+\w+\s+\w+\s+(\w+)", line)
        if not found or found[2] == "RELA" or SECTIONS.fullmatch(found[1]):
            continue
        if kind == "host" and found[1] in SANITIZED and int(found[3], 16) == 8:
            continue
        if re.match(r"\.((pre)?init|fini|ctors|dtors)", found[1]):
            raise Refused(f"constructor: it has code that runs before or after the check (section {found[1]}); do that "
                          "work in the functions of task.h")
        raise Refused(f"section: it puts something into the section {found[1]}; leave the attribute out")
    for line in binutil("objdump", "-tw", file):
        if re.match(r"\w+ (.{6}O \.text|.{4}i)", line):
            raise Refused(f"section: {line.split()[-1]} is no function, but among the code; leave the attribute out")


def check_symbols(kind, file, own):
    allowed = own | COMPILER | (LIBRARY | {*PRINTS["host"]} if kind == "host" else set())
    for line in binutil("nm", "-u", file):
        name = line.split()[-1]
        if name not in allowed and not (kind == "host" and SANITIZERS.fullmatch(name)):
            headers = "labs/lab.h and task.h" if kind == "kernel" else "task.h, and printf, malloc, memcpy, qsort, ..."
            raise Refused(f"symbol: it uses {name}; use only the functions of {headers}")


def check_code(file):
    for line in binutil("objdump", "-dw", "--no-show-raw-insn", file):
        found = re.match(r"\s*[0-9a-f]+:\s+(?:(?:rep\w*|lock|data16|[c-gs]s|rex\S*)\s+)*(\S+)(.*)", line)
        if found and (MACHINE.fullmatch(found[1]) or re.search(r"%(cr|db|dr)\d", found[2])):
            raise Refused(f"instruction: it has the instruction {found[1]}; use the functions of labs/lab.h instead")


def preprocess(lab, code, source, depends, file, compiler):
    """False: it does not compile. An error may show a line of a file only if check_files knows that file."""
    done = subprocess.run([*compiler, "-E", "-H", "-fno-diagnostics-show-caret", "-MD", "-MP", "-MF", depends, "-MT",
                           file, code, "-o", source], check=False, capture_output=True, text=True, errors="replace")
    said = done.stderr.split("Multiple include guards")[0]
    check_files(re.findall(r"^\.+ (.*)", said, re.M), lab, code)
    print(re.sub(r"^\.+ .*\n", "", said, flags=re.M), end="", file=sys.stderr, flush=True)
    if done.returncode != 0:
        return False
    rule = Path(depends).read_text(encoding="utf-8").replace("\\\n", " ").splitlines()[0].split(": ", 1)[1]
    check_files(re.split(r"(?<!\\)\s+", rule.strip()), lab, code)
    return True


def compile_student(kind, lab, code, file, compiler):
    made, source, depends = f"{file}.new", f"{file}.i", str(Path(file).with_suffix(".d"))
    if not preprocess(lab, code, source, depends, file, compiler):
        return 1
    # What is compiled, and then assembled, is what has been read.
    text = Path(source).read_text(encoding="utf-8", errors="replace")
    check_files(re.findall(r'^# *(?:line *)?\d+ +"((?!<|[^"]*//")(?:[^"\\]|\\.)*)"', text, re.M), lab, code)
    check_source(kind, text)
    if subprocess.run([*compiler, "-fpreprocessed", "-S", source, "-o", f"{file}.s"], check=False).returncode != 0:
        return 1
    check_assembler(Path(f"{file}.s").read_text(encoding="utf-8", errors="replace"))
    output(compiler[0], "-c", f"{file}.s", "-o", made)
    headers = [lab / "task.h"] + ([TOP / "labs" / "lab.h"] if kind == "kernel" else [])
    text = "".join(output(compiler[0], "-fpreprocessed", "-dD", "-E", "-P", "-x", "c", header) for header in headers)
    check_sections(kind, made)
    check_symbols(kind, made, set(re.findall(r"\b(\w+)\s*\(", text)))
    check_code(made)
    Path(f"{file}.global").write_text("\n".join(sorted(set(re.findall(r"\b[A-Za-z_]\w*", text)))), encoding="utf-8")
    binutil("objcopy", f"--keep-global-symbols={file}.global",
            *(f"--redefine-sym={name}=lab_student_{name.removeprefix('lab_')}" for name in PRINTS[kind]), made, file)
    return 0


def main():
    kind, lab, code, file, *compiler = sys.argv[1:]
    try:
        return compile_student(kind, Path(lab).resolve(), Path(code).resolve(), file, compiler)
    except Refused as refused:
        print(f"refused: {code}: {refused}")
        return 1


sys.exit(main())
