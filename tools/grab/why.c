/* SPDX-License-Identifier: MIT */
#include "tools/grab/why.h"

#include <inttypes.h>
#include <string.h>

#include "ds/layout.h"
#include "tools/pebs/pebs.h"

#define COUNTERS 64u

struct counter {
    uint64_t records, drains;
    uint64_t reset; /* of the last drain */
    uint32_t smallest, largest;
    uint64_t groups; /* of MSR_PEBS_DATA_CFG, as its records have them */
};

struct why {
    struct counter counter[COUNTERS];
    uint64_t drains, interrupts, single, full;
};

/* The counters that a record names; format 0 names none: those that are on. */
static uint64_t counters_of(const uint8_t *record, uint32_t size, unsigned format, uint64_t enabled)
{
    uint64_t counters = UINT64_MAX;
    if (cairn_pebs_get(format, record, size, CAIRN_PEBS_COUNTERS, &counters))
        return counters;
    cairn_pebs_get(format, record, size, CAIRN_PEBS_STATUS, &counters); /* all that have overflowed */
    return counters & enabled;
}

static void count_record(struct why *w, const uint8_t *record, uint32_t size, unsigned format, uint64_t counters)
{
    uint64_t head = 0;
    if (format >= 4)
        memcpy(&head, record, sizeof head);
    for (unsigned n = 0; n < COUNTERS; n++) {
        struct counter *c = &w->counter[n];
        if (!(counters >> n & 1))
            continue;
        c->records++;
        c->smallest = c->smallest && c->smallest < size ? c->smallest : size;
        c->largest = c->largest > size ? c->largest : size;
        c->groups |= ds_pebs_head_groups(head);
    }
}

static void count_drain(struct why *w, const struct grab_store *store, const struct grab_drained *d, unsigned format)
{
    struct cairn_pebs_area area = {0};
    uint64_t seen = 0;
    uint32_t size, last = 0;
    for (uint64_t at = 0; (size = grab_record_bytes(store, d, format, at)); at += size) {
        const uint8_t *record = store->records + d->at + at;
        const uint64_t counters = counters_of(record, size, format, d->head.pebs_enabled);
        count_record(w, record, size, format, counters);
        seen |= counters;
        last = size;
    }
    if (!last)
        return;
    cairn_pebs_area(format, d->head.area, sizeof d->head.area, &area);
    w->drains++;
    w->interrupts += d->head.interrupt;
    w->single += area.pebs_threshold <= area.pebs_base + last;
    w->full += area.pebs_base + d->head.bytes + last > area.pebs_maximum;
    for (unsigned n = 0; n < COUNTERS; n++)
        if (seen >> n & 1) {
            w->counter[n].drains++;
            w->counter[n].reset = n < CAIRN_PEBS_COUNTERS_MOST ? area.reset[n] : 0;
        }
}

static void print_counter(FILE *to, unsigned n, const struct counter *c)
{
    char name[24], period[24] = "by Linux", size[32];
    if (n < DS_COUNTER_FIXED)
        snprintf(name, sizeof name, "PMC%u", n);
    else
        snprintf(name, sizeof name, "fixed %u", n - DS_COUNTER_FIXED);
    if (c->reset) /* of 48 bits on every processor with PEBS; fewer are filled with ones above */
        snprintf(period, sizeof period, "%" PRIu64, -c->reset & ((UINT64_C(1) << 48) - 1));
    snprintf(size, sizeof size, c->smallest == c->largest ? "%u" : "%u to %u", c->smallest, c->largest);
    fprintf(to, "  %-9s %12s %10" PRIu64 " %8" PRIu64 " %9.1f  %s\n", name, period, c->records, c->drains,
            (double)c->records / (double)c->drains, size);
}

static void print_groups(FILE *to, uint64_t groups)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } names[] = {{MSR_PEBS_DATA_CFG_MEMINFO, "memory"}, {MSR_PEBS_DATA_CFG_GPR, "registers"},
                 {MSR_PEBS_DATA_CFG_XMM, "XMM"},        {MSR_PEBS_DATA_CFG_LBR, "branches (LBR)"},
                 {MSR_PEBS_DATA_CFG_CNTR, "counters"},  {MSR_PEBS_DATA_CFG_METRICS, "metrics"}};
    fprintf(to, "groups: basic");
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (groups & names[i].bit)
            fprintf(to, ", %s", names[i].name);
    fputc('\n', to);
}

static void print_advice(FILE *to, const struct why *w)
{
    if (!w->drains) {
        fputs("No counter wrote a PEBS record. Linux uses PEBS only for events with :p, :pp or\n"
              "/P; without these, and for events that have no PEBS, samples come by interrupts.\n",
              to);
        return;
    }
    if (w->single)
        fprintf(to,
                "In %" PRIu64 " of the drains Linux had asked for an interrupt at each record (single\n"
                "PEBS). It collects records (large PEBS) only with a fixed period (perf record\n"
                "-c), and if records have all that the samples need. They have no call graph, and\n"
                "before Skylake no time.\n",
                w->single);
    if (w->full)
        fprintf(to,
                "In %" PRIu64 " of the drains the buffer was full: records may be lost. A longer period,\n"
                "or fewer groups in a record (no --intr-regs, -b, -d), helps.\n",
                w->full);
    if (!w->single && !w->full)
        fputs("Linux collects records (large PEBS), and no buffer was full: nothing to change.\n", to);
    fputs("If your event is not in the table, PEBS did not sample it: ask for it with :pp.\n", to);
}

void grab_why(FILE *to, const struct grab_store *store, unsigned format)
{
    struct why w = {0};
    uint64_t groups = 0;
    for (unsigned c = 0; c < GRAB_CPUS; c++)
        for (size_t i = 0; i < store->cpu[c].drain_count; i++)
            count_drain(&w, store, &store->cpu[c].drains[i], format);
    fprintf(to, "PEBS, record format %u: %" PRIu64 " drains, %" PRIu64 " of them by an interrupt\n", format, w.drains,
            w.interrupts);
    if (w.drains)
        fprintf(to, "  %-9s %12s %10s %8s %9s  %s\n", "counter", "period", "records", "drains", "a drain", "bytes");
    for (unsigned n = 0; n < COUNTERS; n++) {
        groups |= w.counter[n].groups;
        if (w.counter[n].records)
            print_counter(to, n, &w.counter[n]);
    }
    if (w.drains && format >= 4)
        print_groups(to, groups);
    print_advice(to, &w);
}
