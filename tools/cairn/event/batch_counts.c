/* SPDX-License-Identifier: MIT */
#include "tools/cairn/event/batch_counts.h"

#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/event/event.h"
#include "tools/cairn/event/record.h"

bool cairn_event_own(const struct cairn_event *e)
{
    if (e->space % 8 || e->unknown_items || (e->header != ETL_PERFINFO64 && e->header != ETL_SYSTEM64))
        return false;
    if (e->hook == HOOK_CONTEXTSWAP_BATCH)
        return e->version == HOOK_VERSION_CONTEXTSWAP_BATCH && e->size <= CCSWAP_BATCH_BYTES;
    return e->hook != HOOK_CONTEXTSWAP ||
           (e->version == HOOK_VERSION_CONTEXTSWAP && e->size == sizeof(struct wmi_contextswap));
}

/*
 * A record is whole units of two bytes. A table tells which of four units begin a record: by the types in the four, and
 * by how many of them still belong to the record before. So each step takes eight bytes. A walk from record to record
 * would wait, at each one, for its first byte.
 */
struct four {
    uint64_t forms;    /* as in cairn_batch_counts */
    uint8_t begins;    /* a bit for each unit that begins a record */
    uint8_t lite;      /* and for each that begins a LITE record, */
    uint8_t full;      /* for each that has slot and state of a FULL record */
    uint8_t remaining; /* units behind the four that belong to their last record */
};
#define EACH(value)   (UINT64_C(0x0001000100010001) * (value)) /* in each of four units */
#define SECOND(field) (CCSWAP_FULL_##field##_SHIFT)            /* in the first unit of a FULL record's second dword */

static struct four four_of[256][4];
static uint64_t spread[16]; /* all bits of the units that have a bit */

static __attribute__((constructor)) void make_tables(void)
{
    for (unsigned i = 0; i < 16; i++)
        for (unsigned unit = 0; unit < 4; unit++)
            spread[i] |= (uint64_t)(i >> unit & 1 ? UINT16_MAX : 0) << 16 * unit;
    for (unsigned types = 0; types < 256; types++)
        for (unsigned before = 0; before < 4; before++) {
            struct four *f = &four_of[types][before];
            unsigned unit = before;
            f->full = before > 1 ? 1u << (before - 2) : 0; /* one that began two units before */
            for (; unit < 4; unit += ccswap_record_bytes((uint8_t)(types >> 2 * unit)) / 2) {
                const unsigned type = types >> 2 * unit & CCSWAP_TYPE_MASK;
                f->forms += UINT64_C(1) << 16 * type;
                f->begins |= 1u << unit;
                f->lite |= (type == CCSWAP_LITE) << unit;
                f->full |= (type == CCSWAP_FULL) << unit << 2 & 0xF;
            }
            f->remaining = (uint8_t)(unit - 4);
        }
}

/* The types in four units: the product has each next to the one before, from bit 48 on, and nothing else there. */
static inline unsigned types_of(uint64_t units)
{
    return (units & EACH(CCSWAP_TYPE_MASK)) * UINT64_C(0x0001000400100040) >> 48 & 0xFF;
}

struct counting {
    struct cairn_batch_counts counts;
    const struct four *last;
    uint64_t to_16, to_64; /* in each unit: 16 less the first slot that is nobody's, 64 less the states so far */
    uint64_t bad;          /* bit 4 of a unit: a slot was nobody's */
};

static inline void count_four(struct counting *c, uint64_t units)
{
    const struct four *f = c->last = &four_of[types_of(units)][c->last->remaining];
    const uint64_t lite = units & spread[f->lite], full = units & spread[f->full], told = spread[f->lite | f->full];
    const uint64_t slots = (lite >> CCSWAP_LITE_TID_SHIFT | full >> SECOND(TID)) & EACH(0xF);
    const uint64_t states = (lite >> CCSWAP_LITE_STATE_SHIFT | full >> SECOND(STATE)) & EACH(0x3F);
    c->counts.forms += f->forms;
    c->bad |= (slots + c->to_16) & told & EACH(16);
    for (; (states + c->to_64) & told & EACH(64); c->to_64 -= EACH(1))
        c->counts.states++;
}

/* Counts the records, where all slots below `tids` are somebody's, and no others. False: as cairn_batch_count. */
static bool count_units(struct cairn_batch_counts *to, const uint8_t *p, uint32_t size, uint32_t tids)
{
    struct counting c = {.counts = *to, .last = &four_of[0][0], .to_16 = EACH(16 - tids), .to_64 = EACH(64)};
    const uint32_t over = size % 8 / 2; /* units; behind them are zeros, which look like IDLE_SHORT */
    for (const uint8_t *end = p + size / 8 * 8; p < end; p += 8)
        count_four(&c, cairn_get64(p));
    if (over) {
        count_four(&c, cairn_record_load(p, p + 2 * over));
        c.counts.forms -= 4 - over;
    }
    *to = c.counts;
    return !c.bad && (over ? c.last->begins >> over & 1 : c.last->remaining == 0);
}

/* The same, where slots are nobody's that have somebody's behind them. */
static bool count_records(struct cairn_batch_counts *to, const uint8_t *p, uint32_t size, uint32_t nobodys)
{
    uint32_t bad = 0, at = 0;
    for (; at < size; at += ccswap_record_bytes(p[at])) {
        const uint64_t v = cairn_record_load(p + at, p + size);
        const struct cairn_record_form *f = cairn_record_form(v);
        const uint32_t states = f->told & (cairn_record_state(v, f) + 1);
        bad |= f->told & nobodys >> cairn_record_slot(v, f);
        to->states = states > to->states ? (uint8_t)states : to->states;
        to->forms += UINT64_C(1) << 16 * (v & CCSWAP_TYPE_MASK);
    }
    return !(bad & 1) && at == size;
}

bool cairn_batch_count(struct cairn_batch_counts *to, const struct cairn_event *e)
{
    const uint8_t *tids = e->payload + offsetof(struct ccswap_buffer, tid_table);
    struct cairn_batch_counts batch = {.count = 1};
    uint32_t nobodys = 0;
    if (cairn_event_short(e) || e->size % 2)
        return false;
    for (unsigned i = 0; i < CCSWAP_TIDS; i++)
        nobodys |= (uint32_t)!cairn_get32(tids + 4 * i) << i;
    const uint32_t somebodys = (uint32_t)__builtin_ctz(nobodys | 1u << CCSWAP_TIDS);
    const bool in_order = nobodys >> somebodys == CCSWAP_MASK(CCSWAP_TIDS - somebodys);
    const uint8_t *p = e->payload + sizeof(struct ccswap_buffer);
    const uint32_t size = e->size - sizeof(struct ccswap_buffer);
    if (!(in_order ? count_units(&batch, p, size, somebodys) : count_records(&batch, p, size, nobodys)))
        return false;
    cairn_batch_counts_add(to, &batch);
    return true;
}

void cairn_batch_counts_add(struct cairn_batch_counts *to, const struct cairn_batch_counts *more)
{
    to->forms += more->forms;
    to->count += more->count;
    to->states = more->states > to->states ? more->states : to->states;
}

struct cairn_batch_counts cairn_batch_counts_of(const uint8_t *data, uint32_t size)
{
    struct cairn_batch_counts all = {.alone = true};
    struct cairn_event e;
    for (uint32_t at = 0; at < size && all.alone; at += e.space)
        all.alone = cairn_event_at(data, size, at, &e) && cairn_event_own(&e) && e.hook == HOOK_CONTEXTSWAP_BATCH &&
                    !e.counters && cairn_batch_count(&all, &e);
    return all;
}
