/* SPDX-License-Identifier: MIT */
/* What the registers of architectural PEBS mean. */
#include <inttypes.h>
#include <stdio.h>

#include "ds/area_words.h"
#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/model/ds_words.h"

enum { BASE, INDEX, GP_CFG_C, FX_CFG_C = GP_CFG_C + 32, WORDS = FX_CFG_C + 16 };
_Static_assert(offsetof(struct ds_arch_registers, index) == 8 * INDEX, "words of the registers");
_Static_assert(offsetof(struct ds_arch_registers, gp_cfg_c) == 8 * GP_CFG_C, "words of the registers");
_Static_assert(offsetof(struct ds_arch_registers, fx_cfg_c) == 8 * FX_CFG_C, "words of the registers");
_Static_assert(sizeof(struct ds_arch_registers) == 8 * WORDS, "words of the registers");

static uint64_t word(const struct cairn_epoch *e, unsigned n)
{
    return cairn_get64(e->area + 8 * n);
}

uint64_t cairn_drain_record_bytes(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *e)
{
    uint64_t bytes = 0;
    if (e->records && e->bytes_seen == e->record_bytes && e->record_bytes % e->records == 0)
        return e->record_bytes / e->records;
    cairn_ds_number(&log->text, cpu, "record_bytes", &bytes);
    return bytes;
}

static void read_cfg_c(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *e, unsigned n,
                       struct cairn_area_row *row)
{
    const bool fixed = n >= FX_CFG_C;
    const unsigned end = fixed ? WORDS : FX_CFG_C, i = n - (fixed ? FX_CFG_C : GP_CFG_C);
    unsigned last = n;
    while (!row->value && last + 1 < end && !word(e, last + 1))
        last++;
    row->words = last + 1 - n;
    row->by = 'd';
    if (row->words > 1)
        snprintf(row->name, sizeof(row->name), "IA32_PMC_%s%u..%u_CFG_C", fixed ? "FX" : "GP", i, i + last - n);
    else
        snprintf(row->name, sizeof(row->name), "IA32_PMC_%s%u_CFG_C", fixed ? "FX" : "GP", i);
    if (!row->value) {
        snprintf(row->what, sizeof(row->what), "not used");
        return;
    }
    if (!(row->value & IA32_PMC_CFG_C_EN))
        snprintf(row->what, sizeof(row->what), "no PEBS");
    else if (row->value & IA32_PMC_CFG_C_RELOAD)
        cairn_show_reset(row->what, row->value & IA32_PMC_CFG_C_RELOAD);
    else
        snprintf(row->what, sizeof(row->what), "not reloaded");
    cairn_show_counter(row->counter, log, cpu, fixed ? ds_counter_fixed(i) : i);
}

void cairn_register_row(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch, unsigned n,
                        struct cairn_area_row *row)
{
    const struct cairn_buffer b = cairn_epoch_buffer(epoch);
    const uint64_t bytes = cairn_drain_record_bytes(log, cpu, epoch);
    char where[48], due[48];
    *row = (struct cairn_area_row){.words = 1, .value = word(epoch, n)};
    if (n >= GP_CFG_C) {
        read_cfg_c(log, cpu, epoch, n, row);
        return;
    }
    snprintf(row->name, sizeof(row->name), "%s", n == BASE ? "IA32_PEBS_BASE" : "IA32_PEBS_INDEX");
    row->by = n == BASE ? 'd' : 'p';
    if (n == INDEX)
        snprintf(row->what, sizeof(row->what), "next: %s, PMI: %s",
                 ds_word_place(where, sizeof(where), b.base, b.index, bytes),
                 ds_word_place(due, sizeof(due), b.base, b.threshold, bytes));
    else if (row->value)
        snprintf(row->what, sizeof(row->what), "%" PRIu64 " bytes, physical", b.maximum - b.base);
    else
        snprintf(row->what, sizeof(row->what), "no buffer");
}
