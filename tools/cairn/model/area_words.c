/* SPDX-License-Identifier: MIT */
/* What the words of a DS area mean: pointers, and reset values of counters. */
#include <inttypes.h>
#include <stdio.h>

#include "ds/area_words.h"
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

static uint64_t word(const struct area *a, unsigned n)
{
    return cairn_get64(a->epoch->area + 8 * n);
}

static void read_pointer(const struct area *a, unsigned n, struct cairn_area_row *row)
{
    const unsigned first = n - n % DS_WORD_POINTERS;
    uint64_t pointer[DS_WORD_POINTERS];
    unsigned counter;
    for (unsigned i = 0; i < DS_WORD_POINTERS; i++)
        pointer[i] = word(a, first + i);
    snprintf(row->name, sizeof(row->name), "%s", ds_word_name(a->epoch->format, n, &counter));
    ds_word_pointer(row->what, sizeof(row->what), pointer, n - first,
                    first == DS_WORD_BTS ? sizeof(struct ds_bts_record) : a->record_bytes);
}

const char *cairn_show_reset(char out[CAIRN_SHOWN], uint64_t value)
{
    static const unsigned widths[] = {32, 40, 48, 64};
    unsigned i = 0;
    while (i < 3 && value >> widths[i])
        i++;
    ds_word_reset(out, CAIRN_SHOWN, value, widths[i]);
    return out;
}

static void read_reset(const struct area *a, unsigned n, struct cairn_area_row *row)
{
    const unsigned fixed = ds_area_reset(a->epoch->format, ds_counter_fixed(0)) / 8;
    const uint32_t words = a->epoch->area_bytes / 8;
    unsigned i, next, last = n;
    const char *kind = ds_word_name(a->epoch->format, n, &i);
    while (!row->value && last + 1 < words && !word(a, last + 1) &&
           ds_word_name(a->epoch->format, last + 1, &next) == kind)
        last++;
    row->words = last + 1 - n;
    if (row->words > 1)
        snprintf(row->name, sizeof(row->name), "%s%u..%u", kind, i, i + last - n);
    else
        snprintf(row->name, sizeof(row->name), "%s%u", kind, i);
    if (row->value) {
        cairn_show_reset(row->what, row->value);
        cairn_show_counter(row->counter, a->log, a->cpu, n < fixed ? i : ds_counter_fixed(i));
    } else {
        snprintf(row->what, sizeof(row->what), "not used");
    }
}

static void read_row(const struct area *a, unsigned n, struct cairn_area_row *row)
{
    *row = (struct cairn_area_row){.words = 1, .value = word(a, n), .by = ds_word_by(n)};
    if (n < DS_WORD_RESETS)
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
