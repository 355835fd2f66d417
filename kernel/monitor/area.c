/* SPDX-License-Identifier: MIT */
/* Command `ds`: the DS area as a table and its buffers to scale, as `cairn ds` draws those of a log. With architectural
 * PEBS the area is for BTS alone, and registers say where PEBS stands. */
#include "ds/area_words.h"
#include "ds/layout.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/inside.h"

#define WORDS_MAX (DS_AREA_BYTES_MAX / 8)

struct area {
    struct kmonitor_ds ds;
    uint64_t word[WORDS_MAX];
};

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void print_row(struct kmonitor *m, const struct area *a, unsigned n, char mark)
{
    const struct kmonitor_ds *d = &a->ds;
    unsigned counter;
    char name[32], what[29]; /* the line is 80 columns */
    const char *kind = ds_word_name(d->format, n, &counter);
    if (n < DS_WORD_RESETS) {
        snprintf(name, sizeof name, "%s", kind);
        ds_word_pointer(what, sizeof what, &a->word[n - n % DS_WORD_POINTERS], n % DS_WORD_POINTERS,
                        n < DS_WORD_PEBS ? sizeof(struct ds_bts_record) : d->record_bytes);
    } else {
        const bool fixed = 8 * n >= ds_area_reset(d->format, ds_counter_fixed(0));
        snprintf(name, sizeof name, "%s%u", kind, counter);
        ds_word_reset(what, sizeof what, a->word[n], fixed ? d->fixed_width : d->gp_width);
    }
    kmonitor_print(m, "%c %3x %-23s %016lx  %c  %s\n", mark, 8 * n, name, (unsigned long)a->word[n], ds_word_by(n),
                   what);
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
        if (n < DS_WORD_RESETS || a->word[n] || mark == '*')
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

static void draw(struct kmonitor *m, const struct area *a, const char *name, unsigned first, uint64_t record)
{
    const bool arch = first == DS_WORD_PEBS && a->ds.format == DS_FORMAT_ARCH;
    const char *const marks[] = {"base", "index", arch ? "end" : "absolute maximum", "threshold"};
    const uint64_t *at = &a->word[first];
    char picture[COLUMNS + 1];
    const uint64_t span = ds_word_picture(picture, COLUMNS, at, 0);
    if (!at[DS_WORD_BASE] || !span) {
        kmonitor_print(m, "%s buffer: %s\n", name, at[DS_WORD_BASE] ? "these pointers describe none" : "none");
        return;
    }
    kmonitor_print(m, "%s buffer: room for %lu records of %lu bytes\n  %s\n", name,
                   (unsigned long)(record ? (at[DS_WORD_MAXIMUM] - at[DS_WORD_BASE]) / record : 0),
                   (unsigned long)record, picture);
    for (unsigned i = 0; i < DS_WORD_POINTERS; i++) {
        const unsigned c = ds_word_column(at[i] - at[DS_WORD_BASE], span, COLUMNS);
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
    uint64_t *pebs = &a->word[DS_WORD_PEBS];
    kmonitor_print(m, "architectural PEBS of CPU %u: not in the DS area, which is for BTS alone\n", m->cpu);
    kmonitor_show_msr(m, IA32_PEBS_BASE, d->base, "");
    kmonitor_show_msr(m, IA32_PEBS_INDEX, d->index, "");
    pebs[DS_WORD_BASE] = d->buffer;
    pebs[DS_WORD_INDEX] = d->buffer + ia32_pebs_index_wr(d->index);
    pebs[DS_WORD_MAXIMUM] = d->buffer + ia32_pebs_base_bytes(d->base);
    pebs[DS_WORD_THRESHOLD] = d->buffer + ia32_pebs_index_thresh(d->index);
    draw(m, a, "PEBS", DS_WORD_PEBS, d->record_bytes);
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
    draw(m, &a, "BTS", DS_WORD_BTS, sizeof(struct ds_bts_record));
    if (arch) {
        show_arch(m, &a);
        return 0;
    }
    draw(m, &a, "PEBS", DS_WORD_PEBS, a.ds.record_bytes);
    explain_marks(m, false);
    return 0;
}

const struct kmonitor_command kmonitor_areas[] = {
    {"ds", "", "the DS area or PEBS' registers, buffers to scale", 0, 0, ds, NULL},
    {NULL, NULL, NULL, 0, 0, NULL, NULL},
};
