/* SPDX-License-Identifier: MIT */
#include "kernel/console/sinks.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

static struct {
    const struct console_sink *sink;
    unsigned inside; /* writes that have begun and not ended */
} sinks[CONSOLE_SINKS];
static unsigned sink_count;

static char early[CONSOLE_EARLY];
static size_t early_size;
static uint64_t early_missing; /* characters that were said and had no room */

__attribute__((weak)) void kconsole_announce(uint64_t bytes)
{
    (void)bytes;
}

/* A write inside a write is a panic's that has broken into it: that is let through. A third one means that writing to
 * this sink is what goes wrong: the others shall still say so. */
static void feed(unsigned i, const char *text, size_t size)
{
    if (sinks[i].inside >= 2)
        return;
    sinks[i].inside++;
    sinks[i].sink->write(sinks[i].sink->context, text, size);
    sinks[i].inside--;
}

int kconsole_add(const struct console_sink *sink)
{
    char text[96];

    if (sink_count == CONSOLE_SINKS)
        return -ENOSPC;
    const unsigned i = sink_count++; /* first: a panic may come during what follows */
    sinks[i].sink = sink;
    feed(i, early, early_size);
    if (early_missing) {
        int n = snprintf(text, sizeof text, "\n[%lu characters are missing: they came before this console was there]\n",
                         (unsigned long)early_missing);
        feed(i, text, (size_t)n);
    }
    return 0;
}

void kconsole_write(const char *text, size_t size)
{
    const size_t room = CONSOLE_EARLY - early_size, kept = size < room ? size : room;
    memcpy(early + early_size, text, kept);
    early_size += kept;
    early_missing += size - kept;
    for (unsigned i = 0; i < sink_count; i++)
        feed(i, text, size);
}

void kconsole_dump(const char *data, size_t size)
{
    for (unsigned i = 0; i < sink_count; i++)
        if (sinks[i].sink->dump)
            sinks[i].sink->dump(sinks[i].sink->context, data, size);
}

const char *kconsole_way(void)
{
    for (unsigned i = 0; i < sink_count; i++)
        if (sinks[i].sink->dump)
            return sinks[i].sink->way;
    return NULL;
}
