/* SPDX-License-Identifier: MIT */
/* lab_log for the student's code (labs/fence.py): what it prints is no verdict of the check's. */
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "labs/machine/machine.h"

void lab_student_log(const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *c = line; *c; c++)
        if (*c < ' ')
            *c = ' ';
    kprintf("| %s\n", line);
}
