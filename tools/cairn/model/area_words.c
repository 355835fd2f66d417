/* SPDX-License-Identifier: MIT */
/* What the words of a DS area mean: pointers, and reset values of counters. */
#include <inttypes.h>
#include <stdio.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/ds_words.h"

struct area {
    const struct cairn_log *log;
    const struct cairn_epoch *epoch;
    uint32_t cpu;
    uint64_t record_bytes; /* of PEBS; 0: unknown */
};

enum { BTS_BASE, BTS_INDEX, BTS_MAXIMUM, BTS_THRESHOLD, PEBS_BASE, PEBS_INDEX, PEBS_MAXIMUM, PEBS_THRESHOLD, POINTERS };
_Static_assert(offsetof(struct ds_area_60, pebs_interrupt_threshold) == 8 * PEBS_THRESHOLD, "words of the DS area");
_Static_assert(offsetof(struct ds_area_60, pebs_counter_reset) == 8 * POINTERS, "reset values follow");

static const struct {
    const char *name; /* Windows' */
    char by;          /* 'd': the driver writes it, 'p': the processor does, once the driver has set it to base */
} pointers[POINTERS] = {
    {"BtsBufferBase", 'd'},  {"BtsIndex", 'p'},  {"BtsAbsoluteMaximum", 'd'},  {"BtsInterruptThreshold", 'd'},
    {"PebsBufferBase", 'd'}, {"PebsIndex", 'p'}, {"PebsAbsoluteMaximum", 'd'}, {"PebsInterruptThreshold", 'd'},
};

static uint64_t word(const struct area *a, unsigned n)
{
    return cairn_get64(a->epoch->area + 8 * n);
}

const char *cairn_show_offset(char out[64], uint64_t base, uint64_t at, uint64_t record_bytes)
{
    const size_t size = 64;
    uint64_t offset = at - base, rest = record_bytes ? offset % record_bytes : offset;
    int n = snprintf(out, size, "base");
    if (at < base) {
        snprintf(out, size, "below base");
        return out;
    }
    if (record_bytes && offset >= record_bytes)
        n += snprintf(out + n, size - (size_t)n, " + %" PRIu64 " %s", offset / record_bytes,
                      cairn_plural(offset / record_bytes, "record", "records"));
    if (rest)
        snprintf(out + n, size - (size_t)n, " + %" PRIu64, rest);
    return out;
}

static void read_pointer(const struct area *a, unsigned n, struct cairn_area_row *row)
{
    unsigned first = n < PEBS_BASE ? BTS_BASE : PEBS_BASE;
    uint64_t bytes = first == BTS_BASE ? sizeof(struct ds_bts_record) : a->record_bytes;
    char where[64] = "";
    cairn_show_offset(where, word(a, first), word(a, n), bytes);
    snprintf(row->name, sizeof(row->name), "%s", pointers[n].name);
    row->by = pointers[n].by;
    if (!word(a, first) && first == BTS_BASE)
        snprintf(row->what, sizeof(row->what), "no buffer");
    else if (n == first)
        snprintf(row->what, sizeof(row->what), "where the buffer begins");
    else if (n == first + 3 && word(a, n) > word(a, first + 2))
        snprintf(row->what, sizeof(row->what), "no PMI: beyond the end");
    else
        snprintf(row->what, sizeof(row->what), "%s: %s",
                 n == first + 1   ? "next"
                 : n == first + 2 ? "end"
                                  : "PMI",
                 where);
}

const char *cairn_show_reset(char out[CAIRN_SHOWN], uint64_t value)
{
    static const unsigned widths[] = {32, 40, 48, 64};
    for (unsigned i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        uint64_t sign = DS_BIT(widths[i] - 1), below = sign - 1;
        if (value & sign && !(value & ~(sign | below))) {
            snprintf(out, CAIRN_SHOWN, "-%" PRIu64 " in %u bits", (sign - (value & below)), widths[i]);
            return out;
        }
    }
    snprintf(out, CAIRN_SHOWN, "%" PRIu64, value);
    return out;
}

/* The first word of fixed counters. */
static unsigned fixed_from(const struct area *a)
{
    return ds_area_reset(a->epoch->format, ds_counter_fixed(0)) / 8;
}

/* Which counter's reset value word `n` is, and the name of all of its kind. */
static unsigned counter_of(const struct area *a, unsigned n, const char **kind)
{
    unsigned fixed = fixed_from(a);
    *kind = a->epoch->format < 4 ? "PebsCounterReset" : n < fixed ? "PebsGpCounterReset" : "PebsFixedCounterReset";
    return n < fixed ? n - POINTERS : n - fixed;
}

static void read_reset(const struct area *a, unsigned n, struct cairn_area_row *row)
{
    const char *kind, *next;
    unsigned i = counter_of(a, n, &kind), last = n;
    uint32_t words = a->epoch->area_bytes / 8;
    row->by = 'd';
    while (!row->value && last + 1 < words && !word(a, last + 1) && (counter_of(a, last + 1, &next), next == kind))
        last++;
    row->words = last + 1 - n;
    if (row->words > 1)
        snprintf(row->name, sizeof(row->name), "%s%u..%u", kind, i, i + last - n);
    else
        snprintf(row->name, sizeof(row->name), "%s%u", kind, i);
    if (row->value) {
        cairn_show_reset(row->what, row->value);
        cairn_show_counter(row->counter, a->log, a->cpu, n < fixed_from(a) ? i : ds_counter_fixed(i));
    } else {
        snprintf(row->what, sizeof(row->what), "not used");
    }
}

static void read_row(const struct area *a, unsigned n, struct cairn_area_row *row)
{
    *row = (struct cairn_area_row){.words = 1, .value = word(a, n)};
    if (n < POINTERS)
        read_pointer(a, n, row);
    else
        read_reset(a, n, row);
}

void cairn_area_row(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch, unsigned n,
                    struct cairn_area_row *row)
{
    struct area a = {.log = log, .epoch = epoch, .cpu = cpu};
    if (epoch->format == DS_FORMAT_ARCH) {
        cairn_register_row(log, cpu, epoch, n, row);
        return;
    }
    cairn_ds_number(&log->text, cpu, "record_bytes", &a.record_bytes);
    read_row(&a, n, row);
}
