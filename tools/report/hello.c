/* SPDX-License-Identifier: MIT */
/* The page of labs/00-hello: what it prints is kept until the firmware has the processor again. */
#include "tools/report/hello.h"

#include "kernel/lib/string.h"
#include "tools/report/report.h"

static CHAR16 page[4096];
static UINTN used;

UINTN report_hello_print(const CHAR16 *format, ...)
{
    va_list args;
    va_start(args, format);
    const UINTN n = UnicodeVSPrint(page + used, sizeof page - used * sizeof page[0], (CHAR16 *)format, args);
    va_end(args);
    used += n;
    return n;
}

static void run(void *unused)
{
    BOOLEAN virtual;
    (void)unused;
    hello(&virtual);
}

void report_hello(void)
{
    struct report_trap trap;
    char line[REPORT_LINE];
    unsigned n = 0;
    const int e = report_call(run, NULL, &trap);
    for (UINTN i = 0; i < used; i++) {
        if (page[i] != L'\n' && n < sizeof line - 1) {
            line[n++] = (char)page[i];
            continue;
        }
        line[n] = '\0';
        n = 0;
        report_say("%s", line);
    }
    if (e)
        report_say_trap("hello", &trap);
}
