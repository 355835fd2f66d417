/* SPDX-License-Identifier: MIT */
/* Commands: MSRs, memory, counters. */
#include "ds/layout.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/inside.h"

static const char *who(bool model)
{
    return model ? "  (model)" : "";
}

static int read_msr(struct kmonitor *m, uint32_t number, uint64_t *value, bool *model)
{
    char name[48];
    const int e = m->machine->rdmsr(m->cpu, number, value, model);
    kmonitor_msr_name(number, name, sizeof name);
    if (e == -EBUSY)
        kmonitor_say(m, "%s: CPU %u is held: only CPU %u's registers can be read now", name, m->cpu, m->here);
    else if (e)
        kmonitor_print(m, "%s: RDMSR of %XH raises #GP%s\n", name, number, who(*model));
    return e;
}

static void show_msr(struct kmonitor *m, uint32_t number)
{
    uint64_t value;
    bool model = false;
    if (read_msr(m, number, &value, &model) == 0)
        kmonitor_show_msr(m, number, value, who(model));
}

static int msr(struct kmonitor *m, unsigned words, char **word)
{
    uint32_t number;
    uint64_t value;
    bool model = false;
    if (!kmonitor_msr_named(word[0], &number)) {
        if (word[0][0] < '0' || word[0][0] > '9') {
            kmonitor_say(m, "'%.40s' is no MSR of this table: give its number, or press TAB", word[0]);
            return 0;
        }
        if (!kmonitor_number(m, word[0], UINT32_MAX, &value))
            return 0;
        number = (uint32_t)value;
    }
    if (words == 2) {
        if (!kmonitor_number(m, word[1], UINT64_MAX, &value))
            return 0;
        if (!kmonitor_msr(number)) {
            kmonitor_say(m, "%XH is no MSR of the Debug Store, the counters or the branch history: not written",
                         number);
            return 0;
        }
        const int e = m->machine->wrmsr(m->cpu, number, value, &model);
        if (e == -EBUSY)
            kmonitor_say(m, "CPU %u is held: only CPU %u's registers can be written now", m->cpu, m->here);
        else if (e)
            kmonitor_say(m, "WRMSR of %XH with 0x%lx raises #GP: nothing is written%s", number, (unsigned long)value,
                         who(model));
        if (e)
            return 0;
    }
    show_msr(m, number);
    return 0;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

#define ROW      16u
#define MEM_MOST 1024u

static int mem(struct kmonitor *m, unsigned words, char **word)
{
    uint64_t at, bytes = 64;
    if (!kmonitor_address(m, word[0], &at) || (words == 2 && !kmonitor_number(m, word[1], MEM_MOST, &bytes)))
        return 0;
    if (!bytes)
        return KMONITOR_USAGE;
    for (uint64_t done = 0; done < bytes; done += ROW) {
        uint8_t row[ROW];
        char hex[40], text[ROW + 1];
        const unsigned n = bytes - done < ROW ? (unsigned)(bytes - done) : ROW;
        if (at + done + n - 1 < at || m->machine->read(at + done, row, n) != 0) {
            kmonitor_say(m, "0x%lx: not mapped for the kernel", (unsigned long)(at + done));
            return 0;
        }
        size_t used = 0;
        for (unsigned i = 0; i < n; i++) {
            used += (size_t)snprintf(hex + used, sizeof hex - used, "%s%02x", i && i % 4 == 0 ? " " : "", row[i]);
            text[i] = row[i] >= ' ' && row[i] <= '~' ? (char)row[i] : '.';
        }
        text[n] = '\0';
        kmonitor_print(m, "%016lx  %-35s  %s\n", (unsigned long)(at + done), hex, text);
    }
    return 0;
}

static int poke(struct kmonitor *m, unsigned words, char **word)
{
    uint64_t at, value, size = 8;
    if (!kmonitor_address(m, word[0], &at) || !kmonitor_number(m, word[1], UINT64_MAX, &value) ||
        (words == 3 && !kmonitor_number(m, word[2], 8, &size)))
        return 0;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return KMONITOR_USAGE;
    if (size < 8 && value >> (8 * size)) {
        kmonitor_print(m, "0x%lx does not fit into %lu bytes\n", (unsigned long)value, (unsigned long)size);
        return 0;
    }
    const int e = m->machine->write(at, &value, size);
    if (e == -EFAULT)
        kmonitor_say(m, "0x%lx: not mapped for the kernel: nothing is written", (unsigned long)at);
    else if (e)
        kmonitor_say(m, "0x%lx: the kernel may not write there: nothing is written", (unsigned long)at);
    else
        kmonitor_say(m, "0x%lx: wrote 0x%lx", (unsigned long)at, (unsigned long)value);
    return 0;
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

/* A counter's value: how far it is from its overflow. */
static void show_counter(struct kmonitor *m, const char *name, uint32_t number, unsigned width)
{
    uint64_t value;
    bool model = false;
    if (read_msr(m, number, &value, &model) != 0)
        return;
    const uint64_t to_go = width < 64 ? DS_BIT(width) - value : -value;
    kmonitor_print(m, "%c %-24s 0x%lx",
                   kmonitor_mark(m, KMONITOR_KEY(KMONITOR_KEY_MSR, m->cpu, number & 0xFFFF), value), name,
                   (unsigned long)value);
    if (width && width <= 64 && value >> (width - 1))
        kmonitor_print(m, ": %lu more to its overflow", (unsigned long)to_go);
    kmonitor_print(m, "%s\n", who(model));
}

/* With architectural PEBS: what records of this counter contain. */
static void show_cfg_c(struct kmonitor *m, const struct kmonitor_ds *ds, unsigned counter)
{
    const uint32_t number = ds_arch_msr(counter, IA32_PMC_GP0_CFG_C, IA32_PMC_FX0_CFG_C);
    uint64_t value;
    bool model;
    if (ds->format == DS_FORMAT_ARCH && m->machine->rdmsr(m->cpu, number, &value, &model) == 0 && value)
        kmonitor_show_msr(m, number, value, who(model));
}

static void show_counters(struct kmonitor *m, const struct kmonitor_ds *ds)
{
    char name[24];
    uint64_t select = 0, fixed = 0;
    bool model;
    for (unsigned i = 0; i < ds->gp_counters; i++)
        if (m->machine->rdmsr(m->cpu, IA32_PERFEVTSEL0 + i, &select, &model) == 0 && select) {
            kmonitor_show_msr(m, IA32_PERFEVTSEL0 + i, select, who(model));
            show_cfg_c(m, ds, i);
            snprintf(name, sizeof name, "IA32_PMC%u", i);
            show_counter(m, name, IA32_PMC0 + i, ds->gp_width);
        }
    if (m->machine->rdmsr(m->cpu, IA32_FIXED_CTR_CTRL, &fixed, &model) != 0)
        return;
    for (unsigned i = 0; i < ds->fixed_counters; i++)
        if (fixed & 0xF * ia32_fixed_ctr_ctrl_os(i)) {
            show_cfg_c(m, ds, ds_counter_fixed(i));
            snprintf(name, sizeof name, "IA32_FIXED_CTR%u", i);
            show_counter(m, name, IA32_FIXED_CTR0 + i, ds->fixed_width);
        }
}

static int counters(struct kmonitor *m, unsigned words, char **word)
{
    uint32_t control[] = {IA32_PERF_GLOBAL_CTRL, IA32_PERF_GLOBAL_STATUS, IA32_PEBS_ENABLE, IA32_FIXED_CTR_CTRL};
    struct kmonitor_ds ds;
    uint64_t value;
    uint32_t lvtpc;
    bool model = false;
    (void)words, (void)word;
    if (read_msr(m, control[0], &value, &model) != 0)
        return 0;
    const bool found = m->machine->ds(m->cpu, &ds) == 0;
    if (found && ds.format == DS_FORMAT_ARCH)
        control[2] = IA32_PEBS_INDEX; /* what is on there */
    for (unsigned i = 0; i < sizeof control / sizeof control[0]; i++)
        show_msr(m, control[i]);
    if (m->machine->lvtpc(m->cpu, &lvtpc, &model) == 0)
        kmonitor_show_lvtpc(m, lvtpc, who(model));
    if (found)
        show_counters(m, &ds);
    return 0;
}

const struct kmonitor_command kmonitor_registers[] = {
    {"msr", "NAME|NUMBER [VALUE]", "read an MSR, or write VALUE and read it; a #GP is reported, and nothing is changed",
     1, 2, msr, "MSR"},
    {"mem", "ADDRESS [BYTES]", "show memory; ADDRESS may be SYMBOL or SYMBOL+OFFSET; 64 bytes, at most 1024", 1, 2, mem,
     NULL},
    {"poke", "ADDRESS VALUE [SIZE]",
     "write memory; SIZE is 1, 2, 4 or 8 bytes (8); code, constants and what is not mapped are refused", 2, 3, poke,
     NULL},
    {"counters", "", "counters, GLOBAL_STATUS and LVTPC in words", 0, 0, counters, NULL},
    {NULL, NULL, NULL, 0, 0, NULL, NULL},
};
