/* SPDX-License-Identifier: MIT */
#include "tools/grab/counted.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "tools/grab/base/memory.h"
#include "tools/grab/base/names.h"

#define TEXT (GRAB_NAME + 32)
#define NONE UINT32_MAX

struct counted { /* an event on one counter; the log has one for each such pair */
    char text[TEXT];
    uint32_t counter;
};

struct list {
    struct counted *items;
    size_t count, room;
};

/* NAME:PERIOD:RINGS, of an event that writes records; with a frequency the period is 0. False: it writes none. */
static bool describe(char text[TEXT], const struct grab_enabled *e)
{
    struct perf_event_attr attr = {0};
    char name[GRAB_NAME];
    memcpy(&attr, e->attr, sizeof e->attr);
    if (!attr.precise_ip || !attr.sample_period || e->of_kernel || e->counter >= DS_COUNTER_NUMBERS)
        return false;
    const char *rings = attr.exclude_kernel ? "u" : attr.exclude_user ? "k" : "uk";
    const uint64_t period = attr.freq ? 0 : attr.sample_period;
    attr.precise_ip = attr.exclude_user = attr.exclude_kernel = 0; /* so that the name has no ':' */
    grab_names_event(name, &attr);
    snprintf(text, TEXT, "%s:%" PRIu64 ":%s", name, period, rings);
    return true;
}

static size_t find(struct list *l, const char *text, uint32_t counter)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].counter == counter && strcmp(l->items[i].text, text) == 0)
            return i;
    struct counted *c = GRAB_ADD(l->items, l->count, l->room);
    strcpy(c->text, text);
    c->counter = counter;
    return l->count - 1;
}

static void dump_counters(struct trace_dump *d, struct list *l, const struct grab_one_cpu *cpu, unsigned number)
{
    uint32_t on[DS_COUNTER_NUMBERS]; /* the event of a counter */
    char text[TEXT], line[4 * DS_COUNTER_NUMBERS];
    size_t used = 0, any = 0;
    memset(on, 0xFF, sizeof on);
    for (size_t i = 0; i < cpu->enabled_count; i++) {
        const struct grab_enabled *e = &cpu->enabled[i];
        if (!describe(text, e))
            continue;
        const uint32_t event = (uint32_t)find(l, text, e->counter);
        if (on[e->counter] != NONE && on[e->counter] != event)
            return; /* one after another: which of them a record is of is not said */
        on[e->counter] = event;
        any++;
    }
    for (size_t i = 0; any && i < l->count; i++)
        used += (size_t)(on[l->items[i].counter] == i ? snprintf(line + used, sizeof line - used, "%s%" PRIu32,
                                                                 i ? " " : "", l->items[i].counter)
                                                      : snprintf(line + used, sizeof line - used, "%s-", i ? " " : ""));
    if (any)
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.cpu.%u.counters=%s", number, line);
}

static void find_all(struct list *l, const struct grab_store *store, unsigned cpus)
{
    char text[TEXT];
    for (unsigned c = 0; c < cpus; c++)
        for (size_t i = 0; i < store->cpu[c].enabled_count; i++)
            if (describe(text, &store->cpu[c].enabled[i]))
                find(l, text, store->cpu[c].enabled[i].counter);
}

void grab_counted_dump(struct trace_dump *d, const struct grab_store *store, unsigned cpus, uint64_t untold)
{
    struct list list = {0};
    find_all(&list, store, cpus);
    if (list.count <= DS_COUNTER_NUMBERS) {
        for (size_t i = 0; i < list.count; i++)
            trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.event.%zu=%s", i, list.items[i].text);
        for (unsigned c = 0; c < cpus && !untold; c++)
            dump_counters(d, &list, &store->cpu[c], c);
    }
    free(list.items);
}
