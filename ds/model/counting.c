/* SPDX-License-Identifier: MIT */
/*
 * From an event to a record. A PEBS counter that wraps to 0 is armed. The next event that it counts makes the
 * processor's assist write the record, clear the overflow and reload the counter from the DS area (SDM vol. 3B, "PEBS
 * Operation"). So with a reset value of -N records are N + 1 events apart. With precise distribution they are N apart,
 * as the wrap itself writes the record.
 */
#include "ds/model/internal.h"
#include "kernel/lib/errno.h"

#define PDIST_MINIMUM 128u
#define PAGE          4096u

void ds_model_act(const struct ds_model *m, struct ds_model_action action)
{
    if (m->host.acted)
        m->host.acted(m->host.context, &action);
}

bool ds_model_fits(const struct ds_model *m, uint64_t index, uint32_t size, uint64_t maximum)
{
    if (index > maximum) /* not by their sum: nobody checks what software writes into the area, and it may wrap */
        return false;
    switch (m->policy.fit) {
    case DS_MODEL_END_LT:
        return size < maximum - index;
    case DS_MODEL_START_LT:
        return index < maximum;
    default:
        return size <= maximum - index;
    }
}

/* What of `size` bytes lies on the page of the first. */
static uint32_t on_page(uint64_t address, uint32_t size)
{
    uint32_t rest = PAGE - (uint32_t)(address % PAGE);
    return size < rest ? size : rest;
}

bool ds_model_read(struct ds_model *m, uint64_t address, void *to, uint32_t size)
{
    for (uint32_t done = 0, n; done < size; done += n) {
        n = on_page(address + done, size - done);
        if (m->host.read(m->host.context, address + done, (uint8_t *)to + done, n))
            continue;
        m->fault_address = address + done;
        m->fault_write = false;
        return false;
    }
    return true;
}

static bool write_pages(struct ds_model *m, bool (*write)(void *, uint64_t, const void *, uint32_t), uint64_t address,
                        const void *from, uint32_t size)
{
    for (uint32_t done = 0, n; done < size; done += n) {
        n = on_page(address + done, size - done);
        if (write(m->host.context, address + done, (const uint8_t *)from + done, n))
            continue;
        m->fault_address = address + done;
        m->fault_write = true;
        return false;
    }
    return true;
}

bool ds_model_write(struct ds_model *m, uint64_t address, const void *from, uint32_t size)
{
    return write_pages(m, m->host.write, address, from, size);
}

bool ds_model_write_physical(struct ds_model *m, uint64_t address, const void *from, uint32_t size)
{
    return write_pages(m, m->host.write_physical, address, from, size);
}

_Static_assert(sizeof(struct ds_model_buffer) == DS_MODEL_PEBS_BUFFER - DS_MODEL_BTS_BUFFER &&
                   sizeof(struct ds_model_buffer) ==
                       offsetof(struct ds_area_60, pebs_counter_reset) - DS_MODEL_PEBS_BUFFER,
               "a buffer's four words in the DS area");

bool ds_model_read_buffer(struct ds_model *m, uint32_t at, struct ds_model_buffer *buffer)
{
    return ds_model_read(m, m->ds_area + at, buffer, sizeof *buffer);
}

bool ds_model_write_index(struct ds_model *m, uint32_t at, uint64_t index)
{
    return ds_model_write(m, m->ds_area + at + offsetof(struct ds_model_buffer, index), &index, sizeof index);
}

int ds_model_fault(struct ds_model *m)
{
    if (!m->policy.unmapped_page_fault)
        return -EFAULT;
    m->host.page_fault(m->host.context, m->fault_address, m->fault_write);
    return 0;
}

void ds_model_set_counter(struct ds_model *m, unsigned counter, uint64_t value)
{
    if (counter < DS_LBR_LOGGED)
        m->lbr_logged[counter] += value - m->value[counter];
    m->value[counter] = value;
}

uint64_t ds_model_reload_value(const struct ds_model *m, unsigned counter, uint64_t value)
{
    const uint64_t nearest = m->counter_mask + 1 - PDIST_MINIMUM;
    value &= m->counter_mask;
    return m->policy.pdist_minimum && m->pdist & DS_BIT(counter) && value > nearest ? nearest : value;
}

/* Clears the overflow of each counter in `set` and reloads it. */
static bool reload(struct ds_model *m, uint64_t set)
{
    m->armed &= ~set;
    m->global_status &= ~set;
    for (; set; set &= set - 1) {
        unsigned c = (unsigned)__builtin_ctzll(set);
        uint64_t before = m->value[c], slot;
        if (!ds_model_read(m, m->ds_area + ds_area_reset(m->preset->format, c), &slot, sizeof slot))
            return false;
        ds_model_set_counter(m, c, ds_model_reload_value(m, c, slot));
        ds_model_act(m, (struct ds_model_action){DS_MODEL_RELOADED, (uint8_t)c, 0, before, m->value[c]});
    }
    return true;
}

void ds_model_lose(struct ds_model *m, uint64_t counters)
{
    m->lost++;
    if (m->host.lost)
        m->host.lost(m->host.context, counters);
}

/* The record of `set` cannot be written. With #PF its counters stay armed: the next event tries again. Else there is no
 * record to come, and they go on as they wrapped, not reloaded, until software sees their overflows. */
static bool lose(struct ds_model *m, uint64_t set)
{
    if (!m->policy.unmapped_page_fault) {
        ds_model_lose(m, set);
        m->armed &= ~set;
    }
    return false;
}

bool ds_model_store_record(struct ds_model *m, const struct ds_model_record *record,
                           const struct ds_model_retired *retired, struct ds_model_buffer *buffer)
{
    if (!ds_model_write_record(m, record->counters, retired, record->registers, buffer->index))
        return false;
    buffer->index += record->size;
    if (!ds_model_write_index(m, DS_MODEL_PEBS_BUFFER, buffer->index))
        return false;
    m->records++;
    ds_model_act(m, (struct ds_model_action){DS_MODEL_STORED, 0, record->counters, record->address, buffer->index});
    return true;
}

/* One record for all counters of `set`. Adds to *pmis what it raises. False: DS memory is not mapped. The DS area is
 * read anew each time: software edits it in place. */
static bool assist(struct ds_model *m, uint64_t set, const struct ds_model_retired *retired, unsigned *pmis)
{
    struct ds_model_buffer buffer;
    struct ds_model_registers registers;
    if (!ds_model_read_buffer(m, DS_MODEL_PEBS_BUFFER, &buffer))
        return lose(m, set);

    m->host.registers(m->host.context, &registers);
    const uint32_t size = ds_model_record_size(m, set);
    const bool stored = ds_model_fits(m, buffer.index, size, buffer.maximum);
    const bool reloads = stored || !m->policy.drop_keeps_overflow;
    uint64_t victims = set;
    if ((m->preset->format < 3) != m->policy.bystander_swapped)
        victims |= m->global_status & m->pebs;
    const struct ds_model_record record = {
        .stored = stored,
        .address = buffer.index,
        .size = size,
        .counters = set,
        .swallowed = reloads ? victims & ~set & m->armed : 0,
        .registers = &registers,
    };
    for (uint64_t c = record.swallowed; c; c &= c - 1)
        m->swallowed++;
    if (stored && !ds_model_store_record(m, &record, retired, &buffer))
        return lose(m, set);
    if (!stored) {
        m->dropped++;
        ds_model_act(m, (struct ds_model_action){DS_MODEL_DROPPED, 0, set, buffer.index, buffer.maximum});
    }
    if (m->host.recorded)
        m->host.recorded(m->host.context, &record);

    if (reloads && !reload(m, victims))
        return false;

    if (stored)
        ds_model_act(m, (struct ds_model_action){DS_MODEL_COMPARED, 0, 0, buffer.index, buffer.threshold});
    if (stored && buffer.index >= buffer.threshold) /* no signal once full: silent until rewound */
        *pmis += ds_model_reached(m, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
    if (set & m->interrupting) /* a second interrupt, after that of the threshold */
        ++*pmis;
    return true;
}

static uint64_t lowest_bit(uint64_t v)
{
    return v & -v;
}

/* The counters that events move, each by itself. */
static uint64_t counted(const struct ds_model *m, unsigned ring, uint64_t events)
{
    uint64_t moved = 0;
    for (; events; events &= events - 1)
        moved |= m->counting[ring][__builtin_ctzll(events)];
    return moved;
}

/* The counters that an instruction moves by its events together. */
static uint64_t conditional(struct ds_model *m, unsigned ring, uint64_t events)
{
    uint64_t moved = 0;
    for (uint64_t set = m->conditional[ring]; set; set &= set - 1) {
        unsigned c = (unsigned)__builtin_ctzll(set);
        bool holds = (events >> m->condition[c].event & 1) != m->condition[c].inverted;
        if (holds && !(m->condition[c].edge && m->asserted & DS_BIT(c)))
            moved |= DS_BIT(c);
        m->asserted = holds ? m->asserted | DS_BIT(c) : m->asserted & ~DS_BIT(c);
    }
    return moved;
}

/* A counter has wrapped: to 0, but for slots, of which an instruction has several. */
static void overflow(struct ds_model *m, unsigned c, uint64_t before)
{
    const uint64_t bit = DS_BIT(c);
    if (!m->preset->pebs23 || m->preset->pebs23->flagged(m, c))
        m->global_status |= bit;
    ds_model_act(m, (struct ds_model_action){DS_MODEL_OVERFLOWED, (uint8_t)c, 0, before, m->value[c]});
    if (!(m->pebs & bit))
        return;
    m->armed |= bit;
    ds_model_act(m, (struct ds_model_action){DS_MODEL_ARMED, (uint8_t)c, 0, 0, 0});
}

/* What follows when an instruction has moved its counters: those of `overflowed` have wrapped, those of `record` were
 * armed before. */
static int settle(struct ds_model *m, const struct ds_model_retired *retired, uint64_t overflowed, uint64_t record)
{
    uint64_t interrupt = overflowed & ~m->pebs & m->interrupting; /* one PMI, however many bits in GLOBAL_STATUS */
    bool mapped = true, there = true, bts_pmi = false; /* linear memory; physical memory, which no #PF can bring back */
    unsigned pmis = 0;
    record |= overflowed & m->pebs & m->pdist;
    if (overflowed & m->reloaders)
        m->preset->pebs23->auto_reload(m, overflowed);
    /* Simultaneous overflows come GP ascending, then fixed: PMC1's interrupt before an assist of PMC2, not of PMC0. */
    if (interrupt && lowest_bit(interrupt) < lowest_bit(record)) {
        ds_model_counter_pmi(m);
        interrupt = 0;
    }
    /* PEBS record before branch record, and their PMIs when both are stored. */
    if (record && m->preset->pebs23)
        there = m->preset->pebs23->assist(m, record, retired, &pmis);
    else if (record)
        mapped = assist(m, record, retired, &pmis);
    if (retired->branch && ds_model_store_branch)
        mapped &= ds_model_store_branch(m, retired->branch, retired->cpl, &bts_pmi);
    for (pmis += interrupt != 0; pmis; pmis--)
        ds_model_counter_pmi(m);
    if (bts_pmi)
        ds_model_bts_pmi(m);
    const int e = mapped ? 0 : ds_model_fault(m);
    return there ? e : -EFAULT;
}

/* Moves counters, and does what follows. */
static int move(struct ds_model *m, uint64_t moved, const struct ds_model_retired *retired)
{
    uint64_t overflowed = 0, record = 0;
    for (; moved; moved &= moved - 1) {
        unsigned c = (unsigned)__builtin_ctzll(moved);
        uint64_t bit = DS_BIT(c), by = (retired->by ? retired->by[c] : 1) * m->scale[c];
        if (!by)
            continue;
        record |= m->armed & m->pebs & bit; /* armed by an earlier event */
        const uint64_t before = m->value[c];
        m->value[c] = (before + by) & m->counter_mask;
        if (m->value[c] >= by || !(m->counters & bit)) /* a tally is no counter: it has no overflow */
            continue;
        overflowed |= bit;
        overflow(m, c, before);
    }
    /* Its entry has what it has been counted as, too; a record's history, the branch. */
    if (retired->branch && ds_model_remember_branch)
        ds_model_remember_branch(m, retired->branch, retired->cpl);
    return overflowed || record || retired->branch ? settle(m, retired, overflowed, record) : 0;
}

/* What a branch adds to the events: that it enters the history, where something counts that in this ring. */
static uint64_t inserted(const struct ds_model *m, const struct ds_model_branch *branch, unsigned ring)
{
    const bool counts = ds_model_inserted && m->counting[ring][DS_MODEL_LBR_INSERT] | m->conditional[ring];
    return counts ? ds_model_inserted(m, branch) : 0;
}

int ds_model_retire(struct ds_model *m, const struct ds_model_retired *retired)
{
    const unsigned ring = retired->cpl != 0;
    uint64_t events = retired->events, moved = 0;
    if (!(m->global_status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ)) {
        events |= retired->branch ? inserted(m, retired->branch, ring) : 0;
        moved = counted(m, ring, events) | conditional(m, ring, events);
    }
    if (ds_model_late_is && m->policy.residual && moved & m->pebs)
        ds_model_late_is(m, lowest_bit(moved & m->pebs), retired);
    return move(m, moved, retired);
}

int ds_model_interrupt(struct ds_model *m, const struct ds_model_branch *branch, unsigned cpl)
{
    const struct ds_model_retired nothing = {.cpl = cpl, .branch = branch};
    const bool frozen = m->global_status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
    return move(m, frozen ? 0 : counted(m, cpl != 0, inserted(m, branch, cpl != 0)), &nothing);
}
