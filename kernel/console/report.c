/* SPDX-License-Identifier: MIT */
#include "kernel/console/report.h"

#include <stdarg.h>

#include "kernel/lib/print.h"
#include "kernel/lib/string.h"

static uint32_t reported[3];

void kreport(enum kreport verdict, const char *name, const char *format, ...)
{
    static const char *const words[] = {"PASS", "FAIL", "SKIP"};
    char text[384];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    __atomic_fetch_add(&reported[verdict], 1, __ATOMIC_RELAXED);
    kprintf("%s: %s: %s\n", words[verdict], name, text);
}

void kreport_counts(uint32_t counts[3])
{
    for (int i = 0; i < 3; i++)
        counts[i] = __atomic_load_n(&reported[i], __ATOMIC_RELAXED);
}

void kreport_summary(void)
{
    uint32_t n[3];
    kreport_counts(n);
    kprintf("SUMMARY: %u passed, %u failed, %u skipped\n", n[KREPORT_PASS], n[KREPORT_FAIL], n[KREPORT_SKIP]);
}
