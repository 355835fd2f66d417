/* SPDX-License-Identifier: MIT */
/* Values of registers in words. */
#include "ds/layout.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/inside.h"

#define ITEMS   40u
#define COLUMNS 80

struct item {
    char name[32];
    const char *text;
};

struct items {
    struct item item[ITEMS];
    unsigned count;
};

static struct item *add(struct items *all)
{
    return &all->item[all->count < ITEMS - 1 ? all->count++ : all->count];
}

static void add_fields(struct items *all, const struct kmonitor_name *msr, uint64_t *rest)
{
    const struct kmonitor_name *end = kmonitor_names + kmonitor_names_count;
    for (const struct kmonitor_name *f = msr + 1; f < end && f->kind == KMONITOR_FIELD; f++) {
        const uint64_t lowest = f->mask & -f->mask, field = *rest & f->mask;
        if (!field)
            continue;
        struct item *i = add(all);
        if (f->mask == lowest)
            snprintf(i->name, sizeof i->name, "%s", f->name);
        else
            snprintf(i->name, sizeof i->name, "%s=0x%lx", f->name, (unsigned long)(field / lowest));
        i->text = f->text;
        *rest &= ~f->mask;
    }
}

/* "PMC0 to PMC7": counters whose numbers follow each other are one item. */
static void add_counters(struct items *all, const struct kmonitor_name *msr, uint64_t *rest)
{
    for (unsigned n = 0; msr->counters && n < DS_COUNTER_NUMBERS; n++) {
        if (!(*rest & DS_BIT(n)))
            continue;
        const bool fixed = n >= DS_COUNTER_FIXED;
        const unsigned base = fixed ? DS_COUNTER_FIXED : 0, end = fixed ? DS_COUNTER_NUMBERS : DS_COUNTER_FIXED;
        const char *const kind = fixed ? "FIXED_CTR" : "PMC";
        unsigned last = n;
        while (last + 1 < end && *rest & DS_BIT(last + 1))
            last++;
        struct item *i = add(all);
        if (last == n)
            snprintf(i->name, sizeof i->name, "%s%u", kind, n - base);
        else
            snprintf(i->name, sizeof i->name, "%s%u to %s%u", kind, n - base, kind, last - base);
        i->text = "";
        for (; n <= last; n++)
            *rest &= ~DS_BIT(n);
    }
}

void kmonitor_show_msr(struct kmonitor *m, uint32_t number, uint64_t value, const char *note)
{
    char name[48];
    const struct kmonitor_name *msr = kmonitor_msr(number);
    struct items all = {.item = {{"", ""}}};
    uint64_t rest = value;
    const bool in_bits =
        msr && msr + 1 < kmonitor_names + kmonitor_names_count && (msr->counters || msr[1].kind == KMONITOR_FIELD);
    if (in_bits) {
        add_counters(&all, msr, &rest); /* first: bits of fixed counters are LL_EN only where there is no baseline */
        add_fields(&all, msr, &rest);
        if (rest)
            *add(&all) = (struct item){"other bits", "this table has no name for the rest"};
    }
    char text[160];
    const struct item *only = &all.item[0];
    const int n = snprintf(text, sizeof text, "%c %-24s 0x%lx",
                           kmonitor_mark(m, KMONITOR_KEY(KMONITOR_KEY_MSR, m->cpu, number & 0xFFFF), value),
                           kmonitor_msr_name(number, name, sizeof name), (unsigned long)value);
    const int more = snprintf(text + n, sizeof text - (size_t)n, only->text[0] ? ": %s (%s)%s" : ": %s%s%s", only->name,
                              only->text, note);
    if (all.count == 1 && n + more < COLUMNS) {
        kmonitor_print(m, "%s\n", text);
        return;
    }
    kmonitor_print(m, "%.*s%s\n", n, text, note);
    for (unsigned i = 0; i < all.count; i++)
        kmonitor_print(m, "      %-22s %s\n", all.item[i].name, all.item[i].text);
}

void kmonitor_show_lvtpc(struct kmonitor *m, uint32_t value, const char *note)
{
    static const char *const modes[8] = {"fixed", "mode 1", "SMI", "mode 3", "NMI", "INIT", "mode 6", "ExtINT"};
    kmonitor_print(m, "%c %-24s 0x%x: vector 0x%x, %s, %s%s\n",
                   kmonitor_mark(m, KMONITOR_KEY(KMONITOR_KEY_LVTPC, m->cpu, 0), value), "LVTPC", value,
                   value & LVTPC_VECTOR, modes[(value & LVTPC_DELIVERY) >> 8],
                   value & LVTPC_MASKED ? "masked: no PMI" : "not masked", note);
}
