/* SPDX-License-Identifier: MIT */
/* The report on the screen, or whatever the firmware's console is: lines, and below them the step that runs, which
 * stays there if the machine hangs. Source: UEFI specification, "Simple Text Output Protocol". */
#include "kernel/lib/string.h"
#include "tools/report/report.h"

#define COLUMNS 80u

static CHAR16 text[3 * REPORT_LINE]; /* for one call of the firmware's: each may take long */
static size_t used;
static size_t step; /* columns of the one that is shown */

static void add(char c)
{
    if (c == '\n')
        text[used++] = L'\r';
    text[used++] = (CHAR16)c;
}

static void send(void)
{
    text[used] = 0;
    used = 0;
    ST->ConOut->OutputString(ST->ConOut, text);
}

static void blank_step(void)
{
    if (!step)
        return;
    add('\r');
    for (; step; step--)
        add(' ');
    add('\r');
}

/* Whole words where it is wider than the screen. */
void report_show(const char *line, size_t n)
{
    blank_step();
    for (size_t column = 0; n; line++, n--) {
        const char *blank = *line == ' ' ? memchr(line + 1, ' ', n - 1) : NULL;
        const size_t word = (size_t)((blank ? blank : line + n - 1) - line);
        const bool wide = *line == ' ' && column && column + word >= COLUMNS;
        add(wide ? '\n' : *line);
        column = wide ? 0 : column + 1;
    }
    send();
}

void report_show_step(const char *name)
{
    blank_step();
    for (const char *at = "step="; *at; at++, step++)
        add(*at);
    for (; *name && step < COLUMNS - 1; name++, step++)
        add(*name);
    send();
}
