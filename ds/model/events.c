/* SPDX-License-Identifier: MIT */
/*
 * From an event to a record. A PEBS counter that wraps to 0 is armed; the next event it counts makes the processor's
 * assist write the record, clear the overflow and reload the counter from the DS area (SDM vol. 3B, "PEBS Operation").
 * With a reset value of -N records are therefore N + 1 events apart; N with precise distribution, where the wrap itself
 * writes.
 */
#include "ds/model/internal.h"
#include "kernel/errno.h"

#define PDIST_MINIMUM 128u

static bool fits(const struct ds_model *m, uint64_t index, uint32_t size, uint64_t maximum)
{
    switch (m->policy.fit) {
    case DS_MODEL_END_LT:
        return index + size < maximum;
    case DS_MODEL_START_LT:
        return index < maximum;
    default:
        return index + size <= maximum;
    }
}

static bool read_area(struct ds_model *m, uint64_t offset, uint64_t *value)
{
    if (m->host.read64(m->host.context, m->ds_area + offset, value))
        return true;
    m->fault_address = m->ds_area + offset;
    return false;
}

static bool write_memory(struct ds_model *m, uint64_t address, uint64_t value)
{
    if (m->host.write64(m->host.context, address, value))
        return true;
    m->fault_address = address;
    return false;
}

/* Clears the overflow of each counter in `set` and reloads it. */
static bool reload(struct ds_model *m, uint64_t set)
{
    m->armed &= ~set;
    m->global_status &= ~set;
    for (; set; set &= set - 1) {
        unsigned c = (unsigned)__builtin_ctzll(set);
        if (!read_area(m, ds_area_reset(m->preset->format, c), &m->value[c]))
            return false;
        m->value[c] &= m->counter_mask;
        if (m->policy.pdist_minimum && m->preset->pdist & DS_BIT(c) &&
            m->value[c] > m->counter_mask + 1 - PDIST_MINIMUM)
            m->value[c] = m->counter_mask + 1 - PDIST_MINIMUM;
    }
    return true;
}

/* The DS area is read anew each time: software edits it in place. */
static int assist(struct ds_model *m, uint64_t set)
{
    uint64_t index, maximum, threshold;
    uint64_t image[DS_PEBS_RECORD_MAX / 8];
    struct ds_model_registers registers;
    if (!read_area(m, offsetof(struct ds_area_60, pebs_index), &index) ||
        !read_area(m, offsetof(struct ds_area_60, pebs_absolute_maximum), &maximum) ||
        !read_area(m, offsetof(struct ds_area_60, pebs_interrupt_threshold), &threshold))
        return -EFAULT;

    m->host.registers(m->host.context, &registers);
    uint32_t size = ds_model_build_record(m, set, &registers, image);
    struct ds_model_record record = {
        .stored = fits(m, index, size, maximum),
        .address = index,
        .size = size,
        .counters = set,
        .registers = &registers,
    };
    if (record.stored) {
        for (uint32_t i = 0; i < size / 8; i++)
            if (!write_memory(m, index + 8 * i, image[i]))
                return -EFAULT;
        index += size;
        if (!write_memory(m, m->ds_area + offsetof(struct ds_area_60, pebs_index), index))
            return -EFAULT;
        m->records++;
    } else {
        m->dropped++;
    }
    if (m->host.recorded)
        m->host.recorded(m->host.context, &record);

    uint64_t victims = set;
    if ((m->preset->format < 3) != m->policy.bystander_swapped)
        victims |= m->global_status & m->pebs_enable;
    if ((record.stored || !m->policy.drop_keeps_overflow) && !reload(m, victims))
        return -EFAULT;

    if (record.stored && index >= threshold) { /* no signal once full: the buffer stays silent until rewound */
        m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
        ds_model_raise_pmi(m);
    }
    if (set & m->interrupting)
        ds_model_raise_pmi(m);
    return 0;
}

int ds_model_retire(struct ds_model *m, unsigned events, unsigned cpl)
{
    const uint64_t *counting = m->counting[cpl != 0];
    uint64_t moved = 0, record = 0;
    bool overflow_pmi = false;
    for (unsigned e = 0; e < DS_MODEL_EVENTS; e++)
        moved |= events & 1u << e ? counting[e] : 0;
    for (; moved;
         moved &= moved - 1) { /* GP ascending, then fixed: the order the manual gives simultaneous overflows */
        unsigned c = (unsigned)__builtin_ctzll(moved);
        uint64_t bit = DS_BIT(c);
        record |= m->armed & bit; /* armed by an earlier event */
        m->value[c] = (m->value[c] + 1) & m->counter_mask;
        if (m->value[c])
            continue;
        m->global_status |= bit;
        if (m->pebs_enable & bit) {
            m->armed |= bit;
            record |= m->preset->pdist & bit;
        } else {
            overflow_pmi |= m->interrupting & bit;
        }
    }
    int e = record ? assist(m, record) : 0;
    if (overflow_pmi)
        ds_model_raise_pmi(m);
    return e;
}
