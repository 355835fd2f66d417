# SPDX-License-Identifier: MIT
"""labs/fence.py: what a student's file may contain. Each of these is a way to pass a lab without solving it."""

import re
import subprocess

import pytest

import cairn_boot as cb

FENCE = cb.ROOT / "labs" / "fence.py"
LABS = {"kernel": "01-first-record", "host": "04-records"}
FLAGS = {"kernel": "-O2 -ffreestanding -mgeneral-regs-only -fno-pie -mcmodel=kernel -mno-red-zone "
                   "-fstack-protector-strong -mstack-protector-guard=global",
         "host": "-O1 -fsanitize=address,undefined"}
OUTL = '__asm__ volatile("outl %0, %w1" : : "a"(0x10), "Nd"(0xF4));'
LEAK = r'.section .rodata\nleak: .incbin \"/etc/passwd\"\n'
SHOW = "extern const char leak[];\nconst char *lab_stop(void) { return leak; }\n"
OVER = "volatile uint8_t x = b[l]; return x;"
FREE = 'uint32_t parse(unsigned f, const uint8_t *b, uint32_t l, struct record *r) { (void)b, (void)l, (void)r; %s }'


def fence(kind, lab, code, file):
    """(status, output, object)"""
    file.write_text(code, encoding="utf-8")
    made = file.with_suffix(".o")
    done = subprocess.run([FENCE, kind, f"labs/{lab}", file, made, "gcc", "-std=gnu17", "-w", "-g", "-I.",
                           f"-Ilabs/{lab}", *FLAGS[kind].split()], cwd=cb.ROOT, capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr, made


@pytest.mark.parametrize("kind, code, rule, seen", [
    ("kernel", '#include "solution.c"', "include", "solution.c"),
    ("kernel", '#line 1 "task.h"\n#include "labs/01-first-record/solution.c"', "include", "solution.c"),
    ("host", '#include "/etc/passwd"', "include", "/etc/passwd"),
    ("kernel", f"int lab_start(const void *s) {{ {OUTL} return 0; }}", "asm", "assembler"),
    ("kernel", '#include "arch/instructions.h"\nvoid lab_stop(void) { outl(0xF4, 0x10); }', "asm", "assembler"),
    ("kernel", "%:define STOP __a##sm__\nvoid lab_stop(void) { STOP(\"hlt\"); }", "asm", "assembler"),
    ("kernel", 'int end(int) __asm__("kend");\nvoid lab_stop(void) { end(1); }', "asm", "assembler"),
    ("kernel", "extern void kend(int);\nvoid lab_stop(void) { kend(1); }", "symbol", "kend"),
    ("kernel", "void kreport_summary(void);\nvoid lab_stop(void) { kreport_summary(); }", "symbol", "kreport_summary"),
    ("kernel", "void (*end)(int); extern void kend(int) __attribute__((weak));\nvoid lab_stop(void) { end = kend; }",
     "symbol", "kend"),
    ("kernel", '#include "labs/check.h"\nunsigned long lab_stop(void) { return lab_model_dropped(); }', "symbol",
     "lab_model_dropped"),
    ("kernel", "int x;\n__attribute__((constructor)) void early(void) { x++; }", "constructor", ".init_array"),
    ("kernel", "int x;\n__attribute__((destructor)) static void late(void) { x++; }", "constructor", ".fini_array"),
    ("kernel", '__attribute__((section(".user"))) int lab_stop(void) { return 1; }', "attribute", ".user"),
    ("kernel", r'__attribute__((__section__((".data\n.incbin \"/etc/passwd\"")))) int x = 1;', "attribute", ".data"),
    ("kernel", "static void *choose(void) { return 0; }\nint lab_stop(void) __attribute__((ifunc(\"choose\")));",
     "attribute", "choose"),
    ("kernel", "int section(const char *);\nint lab_stop(void) { return section (1 ? \"a\" : \"b\"); }", "symbol",
     "section"),
    ("kernel", "unsigned long lab_stop(void) { return __builtin_ia32_rdpmc(0); }", "instruction", "rdpmc"),
    ("host", '#include <stdio.h>\n#include <unistd.h>\n'
             '__attribute__((constructor)) static void pass(void) { puts("PASS: a: b"); _exit(0); }', "constructor",
     ".init_array"),
    ("host", "__attribute__((constructor(99))) static void pass(void) { __builtin_trap(); }", "constructor",
     ".init_array.00099"),
    ("host", '#include "task.h"\n#include <stdlib.h>\n' + FREE % "exit(0);", "symbol", "exit"),
    ("host", '#include "task.h"\nint stop(int) __asm__("_exit");\n' + FREE % "return stop(0);", "symbol", "_exit"),
    ("host", '#include "task.h"\n' + FREE % '__asm__("" "syscall"); return 0;', "asm", "assembler"),
    ("host", '#include "task.h"\n__attribute__((no_sanitize("address"))) ' + FREE % "return b[-1];", "attribute",
     "no_sanitize"),
    ("host", '#include "task.h"\n#include <stdio.h>\n' +
             FREE % 'FILE *out = fopen("grades.csv", "a"); return fclose(out);', "symbol", "fclose"),
    # An error would show the line of that file.
    ("kernel", '#line 1 "/etc/passwd"\nint x = ;', "include", "/etc/passwd"),
    # Each of these brings a file of the teacher's into the program, which can print it.
    ("kernel", rf'#ident "\"\n{LEAK}.ident \""' + f"\n{SHOW}", "asm", "assembler"),
    ("kernel", f'int x;\r#ident "\\"\\n{LEAK}.ident \\""\n{SHOW}', "asm", "assembler"),
    ("kernel", f"const char *a = R\"x(\")x\"; __asm__(\"{LEAK}\"); const char *b = \"\";\n{SHOW}", "source", 'R"'),
    ("kernel", rf'__attribute__((section(u8".data\n{LEAK}#"))) int x = 1;' + f"\n{SHOW}", "asm", ".incbin"),
    ("kernel", rf'__attribute__((section(_Generic(0, int: ".data\n{LEAK}#")))) int x = 1;' + f"\n{SHOW}", "asm",
     ".incbin"),
    ("kernel", '#pragma GCC pch_preprocess "labs/mine.gch"\nint x;', "source", "pch_preprocess"),
    # Each of these hides a wrong access to memory.
    ("host", '#include "task.h"\nvoid __asan_report_load1(unsigned long a) { (void)a; }\n' + FREE % OVER, "source",
     "__asan_report_load1"),
    ("host", '#include "task.h"\n#pragma redefine_extname quiet __asan_report_load1\n'
             "void quiet(unsigned long a) { (void)a; }\n" + FREE % OVER, "source", "__asan_report_load1"),
    ("host", '#include "task.h"\nvoid __asan_unpoison_stack_memory(const void *, unsigned long);\n' +
             FREE % f"__asan_unpoison_stack_memory(b, l + 8); {OVER}", "source", "__asan_unpoison_stack_memory"),
    ("host", '#include "task.h"\n' +
             FREE % "return ((uint8_t __seg_fs *)(b - *(unsigned long __seg_fs *)0))[l];", "attribute", "__seg_fs"),
    ("host", '#include "task.h"\n__attribute__((target("sse3"))) ' +
             FREE % "typedef char v __attribute__((vector_size(16))); "
                    "return ((v)__builtin_ia32_lddqu((char *)b + l))[0];", "attribute", "__builtin_ia32_lddqu"),
    # A stack that can be executed: machine code as numbers.
    ("host", '#include "task.h"\n#include <stdlib.h>\n' +
             FREE % "int by(const void *x, const void *y) { return x < y ? (int)f : 0; } qsort(r, 2, 8, by); return 0;",
     "section", "stack"),
])
def test_refused(kind, code, rule, seen, tmp_path):
    status, output, made = fence(kind, LABS[kind], code, tmp_path / "lab.c")
    assert status == 1 and not made.exists()
    found = re.fullmatch(rf"refused: {tmp_path}/lab\.c: {rule}: (.+); (.+)\n", output)
    assert found and seen in found[1] and len(found[2]) > 10, output


def test_error_of_another_file(tmp_path):
    """The preprocessor's error would show a word of it."""
    (tmp_path / "diary").write_text("#secret\n", encoding="utf-8")
    status, output, _ = fence("kernel", "01-first-record", f'#include "{tmp_path}/diary"', tmp_path / "lab.c")
    assert status == 1 and "refused" in output and "secret" not in output


def test_letters_in_a_text(tmp_path):
    """What is hidden in code is none in a text."""
    code = '#include "task.h"\n#include <stdio.h>\n'
    code += FREE % 'return puts("; .incbin: \'press R"), puts("/* #APP \\n");'
    status, output, made = fence("host", "04-records", code, tmp_path / "lab.c")
    assert status == 0 and output == "" and made.exists()


@pytest.mark.parametrize("kind, lab", [("kernel", "01-first-record"), ("host", "04-records")])
def test_solution(kind, lab, tmp_path):
    code = (cb.ROOT / "labs" / lab / "solution.c").read_text(encoding="utf-8")
    status, output, made = fence(kind, lab, code, tmp_path / "my code.c")
    assert status == 0 and output == "" and made.exists()


def test_names_and_prints(tmp_path):
    """Only the names of task.h are global. The word asm in a text or a comment is none."""
    code = ('#include "task.h"\n#include <stdio.h>\n#include <string.h>\nint main(void) { return 0; }\n'
            'int lab_pass(void) { return 1; }\n/* asm */\n' + FREE % 'return printf("asm(%u)", f);')
    status, output, made = fence("host", "04-records", code, tmp_path / "lab.c")
    assert status == 0 and output == ""
    names = subprocess.run(["nm", "-g", made], capture_output=True, text=True, check=True).stdout.split("\n")
    assert [line.split()[-1] for line in names if " T " in line] == ["parse"]
    assert any(line.endswith("U lab_student_printf") for line in names)


def test_does_not_compile(tmp_path):
    status, output, _ = fence("kernel", "01-first-record", "int x = ;", tmp_path / "lab.c")
    assert status == 1 and "expected expression" in output and "refused" not in output
