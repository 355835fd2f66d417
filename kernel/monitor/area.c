/* SPDX-License-Identifier: MIT */
/* Command `ds`: the DS area as a table and its buffers to scale, as `cairn ds` draws those of a log. With architectural
 * PEBS the area is for BTS alone, and registers say where PEBS stands. */
#include "ds/layout.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/inside.h"

enum { BASE, INDEX, MAXIMUM, THRESHOLD, POINTERS }; /* of BTS, then the same of PEBS */
enum { BTS_FIRST = 0, PEBS_FIRST = POINTERS, RESETS = 2 * POINTERS };
_Static_assert(offsetof(struct ds_area_60, pebs_buffer_base) == 8 * PEBS_FIRST, "words of the DS area");
_Static_assert(offsetof(struct ds_area_60, pebs_counter_reset) == 8 * RESETS, "reset values follow");

#define WORDS_MAX (sizeof(struct ds_area_1c0) / 8)

struct area {
    struct kmonitor_ds ds;
    uint64_t word[WORDS_MAX];
};

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void describe_pointer(const struct area *a, unsigned n, char *what, size_t size)
{
    static const char *const before[] = {"", "next: ", "end: ", "PMI: "};
    const uint64_t *first = &a->word[n - n % POINTERS];
    const uint64_t record = n < PEBS_FIRST ? sizeof(struct ds_bts_record) : a->ds.record_bytes;
    const uint64_t offset = a->word[n] - first[BASE];
    if (!first[BASE])
        snprintf(what, size, "no buffer");
    else if (n % POINTERS == BASE)
        snprintf(what, size, "where the buffer begins");
    else if (a->word[n] < first[BASE])
        snprintf(what, size, "%sbelow base", before[n % POINTERS]);
    else if (n % POINTERS == THRESHOLD && a->word[n] > first[MAXIMUM])
        snprintf(what, size, "no PMI: beyond the end");
    else if (offset >> 32)
        snprintf(what, size, "%snot in the buffer", before[n % POINTERS]);
    else if (!record)
        snprintf(what, size, "%sbase + %lu", before[n % POINTERS], (unsigned long)offset);
    else {
        const uint64_t records = offset / record, rest = offset % record;
        const int used = snprintf(what, size, "%sbase + %lu record%s", before[n % POINTERS], (unsigned long)records,
                                  kmonitor_plural(records));
        if (rest && (size_t)used < size) /* else the column is full */
            snprintf(what + used, size - (size_t)used, " + %lu", (unsigned long)rest);
    }
}

/* A reset value is minus the period, in the width of the counter. */
static void describe_reset(uint64_t value, unsigned width, char *what, size_t size)
{
    const uint64_t mask = width && width < 64 ? DS_BIT(width) - 1 : UINT64_MAX;
    if ((value & mask) == value && value >> (width ? width - 1 : 63))
        snprintf(what, size, "-%lu in %u bits", (unsigned long)((mask - value) + 1), width);
    else
        snprintf(what, size, "%lu", (unsigned long)value);
}

static void print_row(struct kmonitor *m, const struct area *a, unsigned n, char mark)
{
    static const char *const names[RESETS] = {
        "BtsBufferBase",  "BtsIndex",  "BtsAbsoluteMaximum",  "BtsInterruptThreshold",
        "PebsBufferBase", "PebsIndex", "PebsAbsoluteMaximum", "PebsInterruptThreshold"};
    const unsigned fixed = ds_area_reset(a->ds.format, ds_counter_fixed(0)) / 8; /* beyond the area for BTS alone */
    char name[32], what[29];                                                     /* the line is 80 columns */
    if (n < RESETS) {
        snprintf(name, sizeof name, "%s", names[n]);
        describe_pointer(a, n, what, sizeof what);
    } else {
        const bool is_fixed = n >= fixed;
        snprintf(name, sizeof name, "%s%u",
                 a->ds.format < 4 ? "PebsCounterReset"
                 : is_fixed       ? "PebsFixedCounterReset"
                                  : "PebsGpCounterReset",
                 is_fixed ? n - fixed : n - RESETS);
        describe_reset(a->word[n], is_fixed ? a->ds.fixed_width : a->ds.gp_width, what, sizeof what);
    }
    kmonitor_print(m, "%c %3x %-23s %016lx  %c  %s\n", mark, 8 * n, name, (unsigned long)a->word[n],
                   n % POINTERS == INDEX && n < RESETS ? 'p' : 'd', what);
}

static void print_table(struct kmonitor *m, const struct area *a)
{
    const unsigned words = a->ds.area_bytes / 8;
    kmonitor_print(m, "DS area of CPU %u, %XH form for record format %u, at 0x%lx\n", m->cpu, a->ds.area_bytes,
                   a->ds.format, (unsigned long)a->ds.area);
    kmonitor_print(m, "   at field                   value             by what it is\n");
    unsigned zeroes = 0;
    for (unsigned n = 0; n < words; n++) {
        const char mark = kmonitor_mark(m, KMONITOR_KEY(KMONITOR_KEY_AREA, m->cpu, n), a->word[n]);
        if (n < RESETS || a->word[n] || mark == '*')
            print_row(m, a, n, mark);
        else
            zeroes++;
    }
    if (zeroes)
        kmonitor_print(m, "      and %u reset values that are 0: not used\n", zeroes);
    kmonitor_print(m, "  by: d the driver writes it, p the processor; these numbers are hexadecimal\n");
}

/* ---- to scale ---------------------------------------------------------------------------------------------------- */

#define COLUMNS 72u

static unsigned column(uint64_t offset, uint64_t span)
{
    return offset >= span ? COLUMNS : (unsigned)(offset * COLUMNS / span);
}

static void draw(struct kmonitor *m, const struct area *a, const char *name, unsigned first, uint64_t record)
{
    const bool arch = first == PEBS_FIRST && a->ds.format == DS_FORMAT_ARCH;
    const char *const marks[] = {"base", "index", arch ? "end" : "absolute maximum", "threshold"};
    const uint64_t *at = &a->word[first];
    char picture[COLUMNS + 1];
    uint64_t offset[POINTERS], span = 0;
    if (!at[BASE]) {
        kmonitor_print(m, "%s buffer: none\n", name);
        return;
    }
    for (unsigned i = 0; i < POINTERS; i++) {
        offset[i] = at[i] - at[BASE];
        span = offset[i] > span ? offset[i] : span;
    }
    if (!offset[MAXIMUM] || span >> 32) {
        kmonitor_print(m, "%s buffer: these pointers describe none\n", name);
        return;
    }
    kmonitor_print(m, "%s buffer: room for %lu records of %lu bytes\n", name,
                   (unsigned long)(record ? offset[MAXIMUM] / record : 0), (unsigned long)record);
    for (unsigned c = 0; c < COLUMNS; c++)
        picture[c] = c < column(offset[INDEX], span)        ? '#'
                     : c >= column(offset[MAXIMUM], span)   ? '_'
                     : c >= column(offset[THRESHOLD], span) ? '.'
                                                            : '-';
    picture[COLUMNS] = '\0';
    kmonitor_print(m, "  %s\n", picture);
    for (unsigned i = 0; i < POINTERS; i++) {
        const unsigned c = column(offset[i], span);
        if (c > COLUMNS / 2)
            kmonitor_print(m, "  %*s ^\n", (int)c - 1, marks[i]);
        else
            kmonitor_print(m, "  %*s^ %s\n", (int)c, "", marks[i]);
    }
}

static void explain_marks(struct kmonitor *m, bool arch)
{
    kmonitor_print(m, "  # recorded  - free  . beyond the threshold%s\n", arch ? "" : "  _ beyond the maximum");
}

/* PEBS' registers, and its buffer by them. The words of the area are used for that: they have been shown. */
static void show_arch(struct kmonitor *m, struct area *a)
{
    const struct kmonitor_ds *d = &a->ds;
    uint64_t *pebs = &a->word[PEBS_FIRST];
    kmonitor_print(m, "architectural PEBS of CPU %u: not in the DS area, which is for BTS alone\n", m->cpu);
    kmonitor_show_msr(m, IA32_PEBS_BASE, d->base, "");
    kmonitor_show_msr(m, IA32_PEBS_INDEX, d->index, "");
    pebs[BASE] = d->buffer;
    pebs[INDEX] = d->buffer + ia32_pebs_index_wr(d->index);
    pebs[MAXIMUM] = d->buffer + ia32_pebs_base_bytes(d->base);
    pebs[THRESHOLD] = d->buffer + ia32_pebs_index_thresh(d->index);
    draw(m, a, "PEBS", PEBS_FIRST, d->record_bytes);
    explain_marks(m, true);
}

static int ds(struct kmonitor *m, unsigned words, char **word)
{
    static struct area a; /* not on an interrupt's stack */
    (void)words, (void)word;
    if (m->machine->ds(m->cpu, &a.ds) != 0) {
        kmonitor_say(m, "there is no Debug Store on CPU %u: backend %s", m->cpu, m->machine->backend);
        return 0;
    }
    const bool arch = a.ds.format == DS_FORMAT_ARCH;
    if (!a.ds.area && arch && a.ds.base) {
        show_arch(m, &a);
        return 0;
    }
    if (!a.ds.area) {
        kmonitor_say(m, "%s of CPU %u is 0: nothing is set up. `event` does that before the run",
                     arch ? "IA32_PEBS_BASE" : "IA32_DS_AREA", m->cpu);
        return 0;
    }
    if (a.ds.area_bytes > sizeof a.word || m->machine->read(a.ds.area, a.word, a.ds.area_bytes) != 0) {
        kmonitor_say(m, "IA32_DS_AREA of CPU %u is 0x%lx: not mapped for the kernel", m->cpu, (unsigned long)a.ds.area);
        return 0;
    }
    print_table(m, &a);
    draw(m, &a, "BTS", BTS_FIRST, sizeof(struct ds_bts_record));
    if (arch) {
        show_arch(m, &a);
        return 0;
    }
    draw(m, &a, "PEBS", PEBS_FIRST, a.ds.record_bytes);
    explain_marks(m, false);
    return 0;
}

const struct kmonitor_command kmonitor_areas[] = {
    {"ds", "", "the DS area or PEBS' registers, buffers to scale", 0, 0, ds, NULL},
    {NULL, NULL, NULL, 0, 0, NULL, NULL},
};
