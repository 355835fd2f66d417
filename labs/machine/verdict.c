/* SPDX-License-Identifier: MIT */
#include "kernel/console/end.h"
#include "kernel/console/report.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "labs/check.h"

static char line[256];

void lab_pass(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    kreport(KREPORT_PASS, name, "%s", line);
}

void lab_fail(const char *name, const char *hint, const char *read, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    kreport(KREPORT_FAIL, name, "%s", line);
    kprintf("hint: %s\nread: %s\n", hint, read);
    kreport_summary();
    kend(false);
}
