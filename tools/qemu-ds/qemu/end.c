/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/qemu/end.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void qds_refuse(const char *format, ...)
{
    char why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    fprintf(stderr, "qemu-ds: %s\n", why);
    exit(1);
}

void qds_out_of_memory(void)
{
    fprintf(stderr, "qemu-ds: out of memory\n");
    abort(); /* QEMU's own way to end may want locks that are held here */
}
