/* SPDX-License-Identifier: MIT */
/* Lab 11: a solution. Read it after yours has passed. */
#include "task.h"

/* ---- 1: sampling */

/* Adds bits to a register that other counters use, too. */
static int set_bits(uint32_t msr, uint64_t bits)
{
    uint64_t value;
    const int e = lab_rdmsr(msr, &value);
    return e ? e : lab_wrmsr(msr, value | bits);
}

int lab_sample(const struct lab_sampling *s)
{
    const uint64_t start = -s->period & (DS_BIT(s->width) - 1);
    const bool adaptive = s->format >= 4;
    uint64_t enable = DS_BIT(s->counter);
    if (s->threshold && !adaptive)
        enable |= DS_BIT(s->counter) << 32; /* with PEBS_BASELINE these bits are fixed counters */
    int e = lab_wrmsr(IA32_PERFEVTSEL0 + s->counter,
                      s->event | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN | (adaptive ? IA32_PERFEVTSEL_ADAPTIVE : 0));
    if (!e)
        e = lab_wrmsr(IA32_PMC0 + s->counter, (uint32_t)start);
    if (!e && s->threshold)
        e = lab_wrmsr(MSR_PEBS_LD_LAT, s->threshold);
    if (!e && adaptive)
        e = set_bits(MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_MEMINFO);
    return e ? e : set_bits(IA32_PEBS_ENABLE, enable);
}

/* ---- 2: one record */

static enum lab_source source_of(uint64_t data_source)
{
    static const enum lab_source sources[16] = {
        [1] = LAB_L1, [2] = LAB_FILL_BUFFER, [3] = LAB_L2,       [4] = LAB_L3,        [5] = LAB_L3,
        [6] = LAB_L3, [7] = LAB_OTHER_CORE,  [0xA] = LAB_MEMORY, [0xF] = LAB_UNKNOWN, /* not cacheable */
    };
    return sources[data_source & 15]; /* bits 4 and 5: the STLB missed, the access was locked */
}

void lab_read_record(unsigned format, const uint8_t *record, unsigned loads, unsigned stores, struct lab_access *access)
{
    uint64_t counters, address, source, latency;
    if (format < 4) {
        const struct ds_pebs_fmt1 *r = (const void *)record;
        counters = r->status; /* of format 3: the counters that the record is for */
        address = r->data_linear_address;
        source = r->data_source;
        latency = r->latency;
    } else {
        const struct ds_pebs_basic *basic = (const void *)record;
        const struct ds_pebs_meminfo *memory = (const void *)(basic + 1); /* always the first group after it */
        counters = basic->counters;
        address = memory->data_linear_address;
        source = memory->data_source;
        latency = memory->latency;
    }
    access->address = address;
    access->load = counters & DS_BIT(loads);
    access->store = counters & DS_BIT(stores);
    access->latency = access->load ? (uint32_t)latency : 0;
    access->source = access->load ? source_of(source) : LAB_UNKNOWN;
}

/* ---- 3: whose address is it? */

int lab_find_object(const struct lab_object *objects, uint32_t count, uint64_t address, uint64_t *offset)
{
    for (uint32_t i = 0; i < count; i++)
        if (address - objects[i].address < objects[i].bytes) { /* below it, the difference is a huge number */
            *offset = address - objects[i].address;
            return (int)i;
        }
    return -1;
}

/* ---- 4: lines */

static uint64_t line_of(uint64_t address)
{
    return address & ~(uint64_t)(LAB_LINE_BYTES - 1);
}

static struct lab_line *find(struct lab_line *lines, uint32_t *count, uint64_t address)
{
    for (uint32_t i = 0; i < *count; i++)
        if (lines[i].address == address)
            return &lines[i];
    lines[*count] = (struct lab_line){.address = address};
    return &lines[(*count)++];
}

static bool before(const struct lab_line *a, const struct lab_line *b)
{
    return a->latency != b->latency ? a->latency > b->latency : a->address < b->address;
}

uint32_t lab_lines(const struct lab_access *accesses, uint32_t count, struct lab_line *lines)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct lab_line *line = find(lines, &found, line_of(accesses[i].address));
        line->latency += accesses[i].latency;
        line->loads += accesses[i].load;
        line->stores += accesses[i].store;
        line->changed += accesses[i].source == LAB_OTHER_CORE;
    }
    for (uint32_t i = 1; i < found; i++)
        for (uint32_t j = i; j && before(&lines[j], &lines[j - 1]); j--) {
            const struct lab_line other = lines[j];
            lines[j] = lines[j - 1];
            lines[j - 1] = other;
        }
    return found;
}

/* ---- 5: sharing */

enum lab_sharing lab_shared(const struct lab_access *accesses, uint32_t count, uint64_t line)
{
    bool several = false, stored = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct lab_access *a = &accesses[i];
        if (line_of(a->address) != line)
            continue;
        stored |= a->store;
        for (uint32_t j = 0; j < i; j++) {
            const struct lab_access *b = &accesses[j];
            if (line_of(b->address) != line || b->cpu == a->cpu)
                continue;
            several = true;
            if (b->address == a->address && (b->store || a->store))
                return LAB_TRUE_SHARING;
        }
    }
    return several && stored ? LAB_FALSE_SHARING : LAB_NOT_SHARED;
}
