/* SPDX-License-Identifier: MIT */
/* The registers of architectural PEBS as a table, with their bits. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ds/arch_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/command/ds_draw.h"
#include "tools/cairn/model/arch_bits.h"

enum { BASE, INDEX, GP_CFG_C, FX_CFG_C = GP_CFG_C + 32, WORDS = FX_CFG_C + 16 };
_Static_assert(offsetof(struct ds_arch_registers, index) == 8 * INDEX, "words of the registers");
_Static_assert(offsetof(struct ds_arch_registers, gp_cfg_c) == 8 * GP_CFG_C, "words of the registers");
_Static_assert(offsetof(struct ds_arch_registers, fx_cfg_c) == 8 * FX_CFG_C, "words of the registers");
_Static_assert(sizeof(struct ds_arch_registers) == 8 * WORDS, "words of the registers");

static uint32_t msr_of(unsigned n)
{
    return n == BASE      ? IA32_PEBS_BASE
           : n == INDEX   ? IA32_PEBS_INDEX
           : n < FX_CFG_C ? IA32_PMC_GP0_CFG_C + IA32_PMC_STEP * (n - GP_CFG_C)
                          : IA32_PMC_FX0_CFG_C + IA32_PMC_STEP * (n - FX_CFG_C);
}

static uint64_t word(const struct cairn_epoch *e, unsigned n)
{
    return cairn_get64(e->area + 8 * n);
}

/* Of one of the drain's records: fragments make them larger than the log's key says. */
static uint64_t record_bytes(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *e)
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
    const uint64_t bytes = record_bytes(log, cpu, epoch);
    char where[64], due[64];
    *row = (struct cairn_area_row){.words = 1, .value = word(epoch, n)};
    if (n >= GP_CFG_C) {
        read_cfg_c(log, cpu, epoch, n, row);
        return;
    }
    snprintf(row->name, sizeof(row->name), "%s", n == BASE ? "IA32_PEBS_BASE" : "IA32_PEBS_INDEX");
    row->by = n == BASE ? 'd' : 'p';
    if (n == INDEX)
        snprintf(row->what, sizeof(row->what), "next: %s, PMI: %s", cairn_show_offset(where, b.base, b.index, bytes),
                 cairn_show_offset(due, b.base, b.threshold, bytes));
    else if (row->value)
        snprintf(row->what, sizeof(row->what), "%" PRIu64 " bytes, physical", b.maximum - b.base);
    else
        snprintf(row->what, sizeof(row->what), "no buffer");
}

static void print_bits(unsigned n, uint64_t value)
{
    char text[CAIRN_SHOWN_BITS];
    const struct cairn_bits *bits = n == BASE ? cairn_bits_base : n == INDEX ? cairn_bits_index : cairn_bits_cfg_c;
    cairn_show_all_bits(text, bits, value, n < GP_CFG_C);
    cairn_print_wrapped((unsigned)printf("       "), "", 7, (struct cairn_slice){text, (uint32_t)strlen(text)});
}

/* What it is, and what the Debug Store is beside it: without BTS the driver leaves IA32_DS_AREA alone. */
static void print_head(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch)
{
    uint64_t at;
    char head[2 * CAIRN_SHOWN];
    const bool store = cairn_show_has_store(log);
    int n =
        snprintf(head, sizeof(head), "Architectural PEBS, record format %u: the registers as this drain found them. %s",
                 epoch->format, store ? "The Debug Store" : "There is no BTS, so no Debug Store.");
    if (store && cairn_slice_is(cairn_key(&log->text, "ds.bts"), "off"))
        n += snprintf(head + n, sizeof(head) - (size_t)n, " has no part in it, and is not used: BTS is off.");
    else if (store && cairn_slice_u64(cairn_key(&log->text, "ds.cpu.%" PRIu32 ".area", cpu), &at) && at)
        n += snprintf(head + n, sizeof(head) - (size_t)n,
                      " at 0x%016" PRIx64 " (IA32_DS_AREA) holds branch records (BTS) only.", at);
    else if (store)
        n += snprintf(head + n, sizeof(head) - (size_t)n, " holds branch records (BTS) only.");
    cairn_print_wrapped(0, "", 0, (struct cairn_slice){head, (uint32_t)n});
}

void cairn_draw_registers(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch)
{
    struct cairn_area_row row;
    print_head(log, cpu, epoch);
    printf("%4s %-26s %-16s  %s\n", "msr", "field", "value", "by what it is");
    for (unsigned i = 0; i < WORDS; i += row.words) {
        cairn_register_row(log, cpu, epoch, i, &row);
        cairn_print_area_row(msr_of(i), &row);
        if (row.value || i < GP_CFG_C)
            print_bits(i, row.value);
    }
    puts("  by: d the driver writes it, p the processor moves it on; all but sizes are hex");
    const struct cairn_buffer b = cairn_epoch_buffer(epoch);
    if (cairn_draw_buffer(&b, "PEBS", "end", record_bytes(log, cpu, epoch), 0))
        puts("  # recorded  - free  . beyond the threshold");
}
