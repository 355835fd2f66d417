/* SPDX-License-Identifier: MIT */
/* The registers of architectural PEBS as a table, with their bits. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/command/ds_draw.h"
#include "tools/cairn/model/arch_bits.h"

enum { BASE, INDEX, GP_CFG_C, FX_CFG_C = GP_CFG_C + 32, WORDS = FX_CFG_C + 16 };

static uint32_t msr_of(unsigned n)
{
    return n == BASE      ? IA32_PEBS_BASE
           : n == INDEX   ? IA32_PEBS_INDEX
           : n < FX_CFG_C ? IA32_PMC_GP0_CFG_C + IA32_PMC_STEP * (n - GP_CFG_C)
                          : IA32_PMC_FX0_CFG_C + IA32_PMC_STEP * (n - FX_CFG_C);
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
        n += snprintf(head + n, sizeof(head) - (size_t)n, " is separate, and not used, because BTS is off.");
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
    printf("%4s %-26s %-16s  %s\n", "msr", "field", "value", "by meaning");
    for (unsigned i = 0; i < WORDS; i += row.words) {
        cairn_register_row(log, cpu, epoch, i, &row);
        cairn_print_area_row(msr_of(i), &row);
        if (row.value || i < GP_CFG_C)
            print_bits(i, row.value);
    }
    puts("  by: d the driver writes it, p the processor advances it; hexadecimal but sizes");
    const struct cairn_buffer b = cairn_epoch_buffer(epoch);
    if (cairn_draw_buffer(&b, "PEBS", "end", cairn_drain_record_bytes(log, cpu, epoch), 0))
        puts("  # recorded  - free  . beyond the threshold");
}
