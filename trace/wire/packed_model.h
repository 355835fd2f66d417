/* SPDX-License-Identifier: MIT */
/*
 * The coder of packed frames: an adaptive binary range coder, and a model of what trace and truth hold. Encoder and
 * decoder are this one text, compiled with `decode` false (trace/pack.c) or true (tools/cairn/frame/unpack.c): a field
 * at `bytes` is coded, or decoded and stored there. What is coded how depends only on what was coded before.
 *
 * The range coder has 32 bits of range and carries into bytes that wait; it takes binary decisions with a probability of
 * 12 bits, and plain bits. A field is compared with up to four guesses (context tables, the field's last value, its last
 * step); only where all fail is it spelled: as a difference, as a value that occurred before, or byte by byte. Any bytes
 * can be coded. Nothing is allocated, and nothing read outside the unit.
 *
 * docs/reference/format.md, section 17, describes the same in prose; a change here is another CAIRN_PACK_VERSION.
 */
#pragma once

#include <stdbool.h>

#include "kernel/lib/string.h"
#include "trace/wire/packed.h"

#define PACKED static inline __attribute__((always_inline))

typedef uint16_t packed_cell; /* bits 15:4: probability of 0, in 4096ths; 3:0: decisions seen, up to 15 */

/* A column is a field of some kind of record: the values of one are alike. */
enum packed_column {
    PACKED_HOOK = 0,
    PACKED_MARKER = 1,
    PACKED_SIZE = 2,
    PACKED_TIME = 3, /* 16 of them */
    PACKED_INDEX = 20,
    PACKED_DS_KIND = 21,
    PACKED_DS_EPOCH = 22,
    PACKED_DS_ADDRESS = 23,
    PACKED_DS_BYTES = 24,
    PACKED_DS_PART = 25,
    PACKED_BATCH_FIRST = 26,
    PACKED_BATCH_TID = 27,
    PACKED_BATCH_BASE = 28,
    PACKED_BATCH_STATE = 29,
    PACKED_BATCH_WAIT = 30,
    PACKED_TAIL = 31,
    PACKED_BUFFER = 32, /* 9: words of the buffer header */
    PACKED_RECORD = 48, /* 72: words of PEBS records */
    PACKED_WORD = 120,  /* 120: words of other events */
    PACKED_KIND = 240,
    PACKED_CPU = 241,
    PACKED_OLD_TID = 242,
    PACKED_NEW_TID = 243,
    PACKED_TRUTH = 256,       /* 16 for each kind */
    PACKED_TRUTH_WORDS = 512, /* 32 for each group */
    PACKED_COLUMNS = 640,
};

#define PACKED_BITS_TREES  64u
#define PACKED_BYTE_TREES  64u
#define PACKED_VALUE_TREES 16u
#define PACKED_CONTEXTS    2048u

struct packed_model {
    /* the range coder; `low`, `cache`, `pending` of the encoder, `code` of the decoder */
    uint64_t low;
    uint32_t range, code, pending, shifts; /* shifts: bytes that the decoder has read but for the first four */
    uint8_t cache;
    bool bad;     /* decoder: what no encoder writes */
    uint8_t *out; /* encoder: behind the last byte */
    const uint8_t *in, *in_end;
    /* what was seen */
    struct packed_seen {
        uint64_t last, step;
        uint32_t missed; /* bit 0: its last value was spelled; bit 1: the one before */
    } seen[PACKED_COLUMNS];
    uint64_t value[256];                                                   /* by their hash */
    uint64_t after[2][PACKED_CONTEXTS];                                    /* the value in a context */
    uint64_t time, time_before, instruction, kinds;
    uint32_t hook, hook_before;
    uint32_t next_tid[2][1024];                                            /* who leaves after two threads, after one */
    uint16_t state[256];                                                   /* of a thread that leaves */
    /* probabilities, from here on */
    packed_cell stored;
    packed_cell guess[PACKED_COLUMNS][4][4];
    packed_cell known[PACKED_COLUMNS], size[PACKED_COLUMNS][16];
    packed_cell bits[PACKED_BITS_TREES][128], top[4][65][4];
    packed_cell bytes[PACKED_BYTE_TREES][256], values[PACKED_VALUE_TREES][256];
    packed_cell form[16][4], delta_bits[64][32], delta_top[4][32][8];
    packed_cell slot[16][16], slot_guess[2], state_guess[64], states[8][512];
};

PACKED void packed_reset(struct packed_model *m)
{
    memset(m, 0, sizeof(*m));
    packed_cell *cells = (packed_cell *)(void *)((uint8_t *)m + offsetof(struct packed_model, stored));
    for (size_t i = 0; i < (sizeof(*m) - offsetof(struct packed_model, stored)) / sizeof(*cells); i++)
        cells[i] = 2048u << 4;
    m->range = UINT32_MAX;
}

/* ================================================================ the range coder */

PACKED void packed_put(struct packed_model *m)
{
    if ((uint32_t)m->low < 0xFF000000u || m->low >> 32) {
        const uint8_t carry = (uint8_t)(m->low >> 32);
        if (m->shifts) /* the first byte is always 0, and left out */
            *m->out++ = (uint8_t)(m->cache + carry);
        for (; m->pending; m->pending--)
            *m->out++ = (uint8_t)(0xFF + carry);
        m->cache = (uint8_t)(m->low >> 24);
    } else {
        m->pending++;
    }
    m->low = (uint32_t)m->low << 8;
}

PACKED void packed_get(struct packed_model *m)
{
    m->bad |= m->in == m->in_end;
    m->code = m->code << 8 | (m->in < m->in_end ? *m->in++ : 0u);
}

PACKED void packed_shift(struct packed_model *m, const bool decode)
{
    while (m->range < 1u << 24) {
        m->range <<= 8;
        if (decode)
            packed_get(m);
        else
            packed_put(m);
        m->shifts++;
    }
}

/* By how much a probability moves, by how often it has. */
static const uint8_t packed_rate[16] = {1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5};

PACKED unsigned packed_bit(struct packed_model *m, packed_cell *cell, unsigned bit, const bool decode)
{
    uint32_t p = *cell >> 4;
    const uint32_t n = *cell & 15, bound = (m->range >> 12) * p;
    if (decode)
        bit = m->code >= bound;
    if (bit) {
        m->range -= bound;
        if (decode)
            m->code -= bound;
        else
            m->low += bound;
        p -= p >> packed_rate[n];
        p += p == 0;
    } else {
        m->range = bound;
        p += (4096 - p) >> packed_rate[n];
        p -= p == 4096;
    }
    *cell = (packed_cell)(p << 4 | (n + (n < 15)));
    packed_shift(m, decode);
    return bit;
}

/* `n` bits as they are, the upper ones first, 16 at a time. */
PACKED uint64_t packed_plain(struct packed_model *m, uint64_t v, unsigned n, const bool decode)
{
    uint64_t all = 0;
    while (n) {
        const unsigned k = n > 16 ? 16 : n, mask = (1u << k) - 1;
        n -= k;
        m->range >>= k;
        uint32_t part = (uint32_t)(v >> n) & mask;
        if (decode) {
            part = m->code / m->range;
            m->bad |= part > mask;
            part = part > mask ? mask : part;
            m->code -= part * m->range;
        } else {
            m->low += (uint64_t)part * m->range;
        }
        packed_shift(m, decode);
        all |= (uint64_t)part << n;
    }
    return all;
}

/* A number of `n` bits, the upper ones first; tree[1] to tree[2^n - 1]. */
PACKED unsigned packed_tree(struct packed_model *m, packed_cell *tree, unsigned v, unsigned n, const bool decode)
{
    unsigned node = 1;
    for (unsigned i = n; i--;)
        node = node << 1 | packed_bit(m, &tree[node], v >> i & 1, decode);
    return node - (1u << n);
}

/* ================================================================ fields */

PACKED uint64_t packed_hash(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9E3779B97F4A7C15);
    return a ^ a >> 29;
}

PACKED unsigned packed_width(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* 1, 2, 4 or 8 bytes. */
PACKED uint64_t packed_load(const uint8_t *from, unsigned bytes)
{
    uint64_t v = *from;
    if (bytes == 2)
        v |= (uint64_t)from[1] << 8;
    else if (bytes == 4)
        v = *(const uint32_t __attribute__((may_alias, aligned(1))) *)from;
    else if (bytes == 8)
        v = *(const uint64_t __attribute__((may_alias, aligned(1))) *)from;
    return v;
}

PACKED void packed_store(uint8_t *to, uint64_t v, unsigned bytes)
{
    for (; bytes; bytes--, v >>= 8)
        *to++ = (uint8_t)v;
}

/* How a value is spelled that no guess is. */
enum packed_way {
    PACKED_CLOCK, /* no guess: the difference from `base` */
    PACKED_FAR,   /* one of the 256 known values, or the difference */
    PACKED_NEAR,  /* byte by byte: few values occur */
};

struct packed_context {
    uint64_t first, second; /* what the value may depend on */
    uint64_t base;          /* what it may be, or be near to */
};

/* The difference `d` of a field of `bytes`: the number of its bits, two more bits, the rest. */
PACKED uint64_t packed_difference(struct packed_model *m, unsigned column, unsigned bytes, uint64_t d, const bool decode)
{
    const unsigned unused = 64 - 8 * bytes;
    const int64_t s = (int64_t)(d << unused) >> unused;
    uint64_t z = (uint64_t)s << 1 ^ (uint64_t)(s >> 63); /* the sign is bit 0 */
    unsigned n = packed_tree(m, m->bits[column % PACKED_BITS_TREES], packed_width(z), 7, decode);
    if (n > 64) {
        m->bad = true;
        n = 64;
    }
    if (n > 1) {
        const unsigned top = n > 2 ? 2 : 1, low = n - 1 - top;
        const uint64_t upper =
            packed_tree(m, m->top[column % 4][n], (unsigned)(z >> low) & ((1u << top) - 1), top, decode);
        const uint64_t lower = packed_plain(m, z & ((UINT64_C(1) << low) - 1), low, decode);
        z = UINT64_C(1) << (n - 1) | upper << low | lower;
    } else {
        z = n;
    }
    return z >> 1 ^ (0 - (z & 1));
}

PACKED uint64_t packed_far(struct packed_model *m, unsigned column, unsigned bytes, uint64_t v, uint64_t base,
                           uint64_t mask, const bool decode)
{
    unsigned at = (unsigned)(packed_hash(v, 5) >> 56);
    if (!packed_bit(m, &m->known[column], m->value[at] != v, decode)) {
        at = packed_tree(m, m->values[column % PACKED_VALUE_TREES], at, 8, decode);
        return m->value[at] & mask;
    }
    v = (base + packed_difference(m, column, bytes, v - base, decode)) & mask;
    m->value[packed_hash(v, 5) >> 56] = v;
    return v;
}

PACKED uint64_t packed_near(struct packed_model *m, unsigned column, uint64_t v, uint64_t mask, const bool decode)
{
    uint64_t all = 0;
    unsigned n = packed_tree(m, m->size[column], (packed_width(v) + 7) / 8, 4, decode);
    if (n > 8) {
        m->bad = true;
        n = 8;
    }
    while (n--)
        all = all << 8 | packed_tree(m, m->bytes[(column * 2 + (n > 0)) % PACKED_BYTE_TREES],
                                     (unsigned)(v >> 8 * n) & 255, 8, decode);
    return all & mask;
}

PACKED uint64_t packed_value(struct packed_model *m, unsigned column, unsigned bytes, enum packed_way way, uint64_t v,
                             struct packed_context c, const bool decode)
{
    struct packed_seen *seen = &m->seen[column];
    uint64_t *first = &m->after[0][packed_hash(c.first + 1, column) >> 53];
    uint64_t *second = &m->after[1][packed_hash(c.second + 7, 3 * column + 1) >> 53];
    const uint64_t mask = UINT64_MAX >> (64 - 8 * bytes);
    const uint64_t guess[4] = {*first & mask, *second & mask, c.base & mask, (seen->last + seen->step) & mask};
    bool missed = true;
    for (unsigned i = 0; i < 4 && missed && way != PACKED_CLOCK; i++) {
        bool again = false; /* a guess that has failed */
        for (unsigned j = 0; j < i; j++)
            again |= guess[j] == guess[i];
        if (!again && !packed_bit(m, &m->guess[column][i][seen->missed & 3], v != guess[i], decode)) {
            v = guess[i];
            missed = false;
        }
    }
    if (missed)
        v = way == PACKED_CLOCK ? (c.base + packed_difference(m, column, bytes, v - c.base, decode)) & mask
            : way == PACKED_FAR ? packed_far(m, column, bytes, v, c.base, mask, decode)
                                : packed_near(m, column, v, mask, decode);
    seen->missed = seen->missed << 1 | missed;
    seen->step = v - seen->last;
    seen->last = v;
    *first = *second = v;
    return v;
}

/* The field of `width` bytes at `bytes`. */
PACKED uint64_t packed_field(struct packed_model *m, uint8_t *bytes, unsigned width, unsigned column,
                             enum packed_way way, struct packed_context c, const bool decode)
{
    const uint64_t v =
        packed_value(m, column, width, way, decode ? 0 : packed_load(bytes, width), c, decode);
    if (decode)
        packed_store(bytes, v, width);
    return v;
}

#define PACKED_FIELD(at, width, column, way, ...)                                                                      \
    packed_field(m, bytes + (at), width, column, PACKED_##way, (struct packed_context){__VA_ARGS__}, decode)
#define PACKED_LAST(column) (m->seen[column].last)

/* ================================================================ the trace */

/* A record of the batch whose head is at `head`: who leaves, his state, when. `tids`: the two that left before. */
PACKED unsigned packed_slot(struct packed_model *m, const uint8_t *head, unsigned slot, const uint32_t *tids,
                            unsigned *used, const bool decode)
{
    uint32_t *next[2] = {&m->next_tid[0][packed_hash(tids[0], tids[1]) >> 54],
                         &m->next_tid[1][packed_hash(tids[0], 3) >> 54]};
    unsigned guess[2] = {CCSWAP_TIDS, CCSWAP_TIDS};
    bool hit = false;
    for (unsigned i = 0; i < CCSWAP_TIDS; i++)
        for (unsigned j = 0; j < 2; j++)
            if (packed_load(head + 8 + 4 * i, 4) == *next[j] && *next[j])
                guess[j] = i;
    for (unsigned j = 0; j < 2 && !hit; j++)
        if (guess[j] < CCSWAP_TIDS && !(j && guess[1] == guess[0]) &&
            !packed_bit(m, &m->slot_guess[j], slot != guess[j], decode)) {
            slot = guess[j];
            hit = true;
        }
    if (!hit)
        slot = packed_tree(m, m->slot[*used < CCSWAP_TIDS ? *used : CCSWAP_TIDS - 1], slot, 4, decode);
    if (slot >= *used)
        *used = slot + 1;
    *next[0] = *next[1] = (uint32_t)packed_load(head + 8 + 4 * slot, 4);
    return slot;
}

/* LITE: state and priority, nine bits. */
PACKED unsigned packed_lite(struct packed_model *m, uint32_t tid, unsigned state, const bool decode)
{
    const unsigned thread = (unsigned)(packed_hash(tid, 9) >> 56);
    if (!packed_bit(m, &m->state_guess[thread % 64], state != m->state[thread], decode))
        return m->state[thread];
    state = packed_tree(m, m->states[thread % 8], state, 9, decode);
    m->state[thread] = (uint16_t)state;
    return state;
}

/* FULL: state and priority, eleven bits; the wait, seventeen. */
PACKED unsigned packed_full(struct packed_model *m, uint32_t tid, unsigned word, const bool decode)
{
    const struct packed_context thread = {.first = tid};
    const uint64_t state = packed_value(m, PACKED_BATCH_STATE, 2, PACKED_NEAR, word & 0x7FF, thread, decode);
    const uint64_t wait = packed_value(m, PACKED_BATCH_WAIT, 4, PACKED_NEAR, word >> 11, thread, decode);
    m->bad |= state > 0x7FF || wait > 0x1FFFF;
    return (unsigned)(state & 0x7FF) | (unsigned)(wait & 0x1FFFF) << 11;
}

PACKED uint32_t packed_delta(struct packed_model *m, unsigned form, uint32_t tid, uint32_t delta, const bool decode)
{
    const unsigned most = form == CCSWAP_IDLE_SHORT ? 14 : form == CCSWAP_LITE ? 17 : 30;
    unsigned n = packed_tree(m, m->delta_bits[form | (unsigned)(packed_hash(tid, 4) >> 60) << 2], packed_width(delta), 5,
                             decode);
    if (n > most) {
        m->bad = true;
        n = most;
    }
    if (n < 2)
        return n;
    const unsigned top = n < 4 ? n - 1 : 3, low = n - 1 - top;
    const unsigned upper = packed_tree(m, m->delta_top[form][n], delta >> low & ((1u << top) - 1), top, decode);
    return 1u << (n - 1) | upper << low | (uint32_t)packed_plain(m, delta & ((1u << low) - 1), low, decode);
}

/* 0525H: `size` bytes, which are whole records behind the head. */
PACKED void packed_batch(struct packed_model *m, uint8_t *bytes, unsigned size, const bool decode)
{
    uint32_t tids[2] = {0, 0};
    unsigned forms = 0, used = 0;
    uint64_t tid = 0;
    PACKED_FIELD(0, 8, PACKED_BATCH_FIRST, CLOCK, .base = m->time_before);
    for (unsigned i = 0; i < CCSWAP_TIDS; i++)
        tid = PACKED_FIELD(8 + 4 * i, 4, PACKED_BATCH_TID, NEAR, tid, tid * 31 + i, 0);
    for (unsigned i = 0; i < CCSWAP_TIDS; i++)
        PACKED_FIELD(0x48 + i, 1, PACKED_BATCH_BASE, NEAR, packed_load(bytes + 8 + 4 * i, 4), 1, 0);
    for (unsigned at = sizeof(struct ccswap_buffer); at < size && !m->bad;) {
        const unsigned form =
            packed_tree(m, m->form[forms & 15], decode ? 0 : bytes[at] & CCSWAP_TYPE_MASK, 2, decode);
        const unsigned width = ccswap_record_bytes((uint8_t)form);
        if (width > size - at) {
            m->bad = true;
            return;
        }
        const uint64_t v = decode ? 0 : packed_load(bytes + at, width);
        unsigned slot = 0, rest = 0;
        uint32_t leaves = 0;
        if (form == CCSWAP_LITE) {
            slot = packed_slot(m, bytes, v >> 2 & 15, tids, &used, decode);
            leaves = (uint32_t)packed_load(bytes + 8 + 4 * slot, 4);
            rest = packed_lite(m, leaves, v >> 6 & 511, decode);
        } else if (form == CCSWAP_FULL) {
            slot = packed_slot(m, bytes, v >> 32 & 15, tids, &used, decode);
            leaves = (uint32_t)packed_load(bytes + 8 + 4 * slot, 4);
            rest = packed_full(m, leaves, (unsigned)(v >> 36), decode);
        }
        const uint32_t was = form == CCSWAP_LITE ? (uint32_t)v >> 15 : (uint32_t)v >> 2;
        const uint64_t delta = packed_delta(m, form, leaves, was, decode);
        if (decode && form == CCSWAP_LITE)
            packed_store(bytes + at, form | slot << 2 | rest << 6 | delta << 15, width);
        else if (decode)
            packed_store(bytes + at, form | delta << 2 | (uint64_t)slot << 32 | (uint64_t)rest << 36, width);
        tids[1] = tids[0];
        tids[0] = leaves;
        forms = forms << 2 | form;
        at += width;
    }
}

/* Records of PEBS: `size` bytes from `at` on. */
PACKED void packed_records(struct packed_model *m, uint8_t *bytes, unsigned at, unsigned size, unsigned format,
                           const bool decode)
{
    static const uint16_t fixed[4] = {0x90, 0xB0, 0xC0, 0xC8};
    uint64_t before[2] = {0, 0}, ip = 0;
    unsigned next = at, i = 0;
    for (; at + 8 <= size; at += 8, i++) {
        if (at == next)
            i = 0;
        const unsigned column = PACKED_RECORD + (i < 40 ? i : 40 + (i - 40) % 32);
        const uint64_t v = PACKED_FIELD(at, 8, column, FAR, packed_hash(i < 2 ? before[0] : ip, 3),
                                        packed_hash(before[0], before[1]), PACKED_LAST(column));
        if (i == 0) {
            const unsigned record = format < 4 ? fixed[format] : (unsigned)(v >> 48) & ~7u;
            next = at + (record < 8 ? 8 : record);
        }
        ip = i == 0 ? 0 : i == 1 ? v : ip;
        before[1] = before[0];
        before[0] = v;
    }
}

/* Whether the records of a batch fill it. */
PACKED bool packed_is_batch(const uint8_t *bytes, unsigned size)
{
    unsigned at = sizeof(struct ccswap_buffer);
    while (at < size)
        at += ccswap_record_bytes(bytes[at]);
    return at == size;
}

/* The payload of an event, from `at` on. */
PACKED void packed_payload(struct packed_model *m, uint8_t *bytes, unsigned at, unsigned size, unsigned hook,
                           const bool decode)
{
    if (hook == HOOK_CAIRN_DS && size >= at + sizeof(struct cairn_ds_records)) {
        const uint64_t kind = PACKED_FIELD(at, 4, PACKED_DS_KIND, NEAR, 0, 0, 0);
        at += 4;
        if ((kind & 0xFFFF) == CAIRN_DS_RECORDS) {
            PACKED_FIELD(at, 4, PACKED_DS_EPOCH, NEAR, 0, 0, PACKED_LAST(PACKED_DS_EPOCH));
            PACKED_FIELD(at + 4, 8, PACKED_DS_ADDRESS, FAR, 0, 0, PACKED_LAST(PACKED_DS_ADDRESS));
            PACKED_FIELD(at + 12, 4, PACKED_DS_BYTES, NEAR, 0, 0, 0);
            PACKED_FIELD(at + 16, 4, PACKED_DS_PART, NEAR, PACKED_LAST(PACKED_DS_PART), 0, 0);
            packed_records(m, bytes, at + 20, size, (unsigned)(kind >> 16) & 255, decode);
            return;
        }
    }
    const unsigned columns = (unsigned)(packed_hash(hook, 1) >> 55);
    uint64_t before[2] = {0, 0};
    for (unsigned i = 0; at < size; i++) {
        const unsigned width = at % 8 ? 4 : 8, column = PACKED_WORD + (columns + 7 * i) % 120;
        const uint64_t v = PACKED_FIELD(at, width, column, FAR, packed_hash(before[0], i),
                                        packed_hash(before[0], before[1]), PACKED_LAST(column));
        before[1] = before[0];
        before[0] = v;
        at += width;
    }
}

/* One event; `room`: bytes there are for it. Returns its size with padding; 0: none can be so. */
PACKED unsigned packed_event(struct packed_model *m, uint8_t *bytes, unsigned room, const bool decode)
{
    const unsigned hook = (unsigned)PACKED_FIELD(6, 2, PACKED_HOOK, NEAR, m->hook, m->hook_before, 0);
    const uint64_t marker = PACKED_FIELD(0, 4, PACKED_MARKER, NEAR, hook, hook, 0);
    const unsigned size = (unsigned)PACKED_FIELD(4, 2, PACKED_SIZE, NEAR, hook, (uint64_t)m->hook << 16 | hook, 0);
    const unsigned end = WMI_EVENT_ALIGN(size), time = PACKED_TIME + (unsigned)(packed_hash(hook, 1) >> 55) % 16;
    if (size < 16 || end > CAIRN_ITEM_MAX || end > room)
        return 0;
    m->time_before = m->time;
    m->time = PACKED_FIELD(8, 8, time, CLOCK, .base = m->time);
    m->hook_before = m->hook;
    m->hook = hook;
    unsigned at = 16;
    if (marker & PERFINFO_ITEM_PEBS_INDEX && end >= 24) {
        PACKED_FIELD(at, 8, PACKED_INDEX, FAR, 0, 0, PACKED_LAST(PACKED_INDEX));
        at += 8;
    }
    const bool batch = hook == HOOK_CONTEXTSWAP_BATCH && size >= at + sizeof(struct ccswap_buffer);
    if (batch) {
        packed_batch(m, bytes + at, size - at, decode);
        for (at = size; at < end; at++)
            PACKED_FIELD(at, 1, PACKED_TAIL, NEAR, 0, 0, 0);
    } else {
        packed_payload(m, bytes, at, end, hook, decode);
    }
    return end;
}

PACKED void packed_buffer_header(struct packed_model *m, uint8_t *bytes, const bool decode)
{
    for (unsigned i = 0; i < sizeof(struct wmi_buffer_header) / 8; i++)
        PACKED_FIELD(8 * i, 8, PACKED_BUFFER + i, FAR, 0, 0, 0);
}

/* ================================================================ the truth */

PACKED void packed_truth_switch(struct packed_model *m, uint8_t *bytes, const bool decode)
{
    const unsigned t = PACKED_TRUTH + 16 * CAIRN_TRUTH_SWITCH;
    const uint64_t left = PACKED_LAST(PACKED_OLD_TID), came = PACKED_LAST(PACKED_NEW_TID);
    const uint64_t old = PACKED_FIELD(0x08, 4, PACKED_OLD_TID, NEAR, came, left, came);
    const uint64_t new = PACKED_FIELD(0x0C, 4, PACKED_NEW_TID, NEAR, packed_hash(old, left), old, 0);
    const uint64_t state = PACKED_FIELD(0x02, 2, t, NEAR, old, packed_hash(old, new), 0);
    PACKED_FIELD(0x04, 1, t + 1, NEAR, old, packed_hash(state, old), 0);
    PACKED_FIELD(0x05, 1, t + 2, NEAR, old, 0, 0);
    PACKED_FIELD(0x06, 1, t + 3, NEAR, new, 0, 0);
    PACKED_FIELD(0x07, 1, t + 4, NEAR, old, 0, 0);
    m->time = PACKED_FIELD(0x10, 8, t + 5, CLOCK, .base = m->time);
    PACKED_FIELD(0x18, 8, t + 6, FAR, 0, 0, PACKED_LAST(t + 6));
    PACKED_FIELD(0x20, 4, t + 7, NEAR, new, 0, 0);
    PACKED_FIELD(0x24, 4, t + 8, NEAR, old, new, 0);
    PACKED_FIELD(0x28, 8, t + 9, FAR, 0, 0, 0);
}

/* PEBS record, branch, swallowed samples. */
PACKED void packed_truth_record(struct packed_model *m, uint8_t *bytes, unsigned t, const bool decode)
{
    PACKED_FIELD(0x02, 2, t, NEAR, 0, 0, 0);
    const uint64_t tid = PACKED_FIELD(0x04, 4, t + 1, NEAR, PACKED_LAST(PACKED_NEW_TID), 0, PACKED_LAST(PACKED_NEW_TID));
    m->time = PACKED_FIELD(0x08, 8, t + 2, CLOCK, .base = m->time);
    const uint64_t from =
        PACKED_FIELD(0x10, 8, t + 3, FAR, packed_hash(tid, PACKED_LAST(t + 3)), tid, PACKED_LAST(t + 3));
    m->instruction = PACKED_FIELD(0x18, 8, t + 4, FAR, from, packed_hash(from, tid), from);
    PACKED_FIELD(0x20, 8, t + 5, FAR, 0, 0, PACKED_LAST(t + 5));
    PACKED_FIELD(0x28, 4, t + 6, NEAR, 0, 0, 0);
    PACKED_FIELD(0x2C, 4, t + 7, NEAR, 0, 0, 0);
}

PACKED void packed_truth_words(struct packed_model *m, uint8_t *bytes, const bool decode)
{
    const unsigned t = PACKED_TRUTH + 16 * CAIRN_TRUTH_WORDS;
    const unsigned head = (unsigned)PACKED_FIELD(0x02, 2, t, NEAR, PACKED_LAST(t), 0, 0);
    PACKED_FIELD(0x04, 4, t + 1, FAR, 0, 0, 0);
    const unsigned group = head & 255, word = head >> 8;
    uint64_t before[2] = {PACKED_LAST(t + 2), 0};
    for (unsigned i = 0; i < CAIRN_TRUTH_PER_RECORD; i++) {
        const unsigned column = PACKED_TRUTH_WORDS + group % 4 * 32 + (word + i) % 32;
        const bool tsc = group == CAIRN_TRUTH_STATE && word + i >= CAIRN_TRUTH_TSC_FIRST &&
                         word + i <= CAIRN_TRUTH_TSC_LAST;
        const uint64_t v = PACKED_FIELD(8 + 8 * i, 8, column, FAR, packed_hash(m->instruction, 3),
                                        packed_hash(before[0], before[1]), tsc ? m->time : PACKED_LAST(column));
        before[1] = before[0];
        before[0] = v;
    }
    PACKED_LAST(t + 2) = before[0];
}

PACKED void packed_truth_other(struct packed_model *m, uint8_t *bytes, unsigned t, const bool decode)
{
    const uint64_t head = PACKED_FIELD(0x02, 2, t, NEAR, 0, 0, 0);
    const uint64_t tid = PACKED_FIELD(0x04, 4, t + 1, NEAR, PACKED_LAST(PACKED_NEW_TID), 0, 0);
    uint64_t before = 0;
    for (unsigned i = 0; i < 5; i++)
        before = PACKED_FIELD(8 + 8 * i, 8, t + 2 + i, FAR, packed_hash(before, tid), packed_hash(before, head),
                              PACKED_LAST(t + 2 + i));
}

/* One record of CAIRN_TRUTH_BYTES. */
PACKED void packed_truth(struct packed_model *m, uint8_t *bytes, const bool decode)
{
    const unsigned kind = (unsigned)PACKED_FIELD(0, 1, PACKED_KIND, NEAR, m->kinds, m->kinds & 0xFFFF, 0);
    const unsigned t = PACKED_TRUTH + 16 * (kind % 16);
    m->kinds = m->kinds << 8 | kind;
    PACKED_FIELD(1, 1, PACKED_CPU, NEAR, 0, 0, 0);
    if (kind == CAIRN_TRUTH_SWITCH)
        packed_truth_switch(m, bytes, decode);
    else if (kind == CAIRN_TRUTH_PEBS || kind == CAIRN_TRUTH_BRANCH || kind == CAIRN_TRUTH_SWALLOWED)
        packed_truth_record(m, bytes, t, decode);
    else if (kind == CAIRN_TRUTH_WORDS)
        packed_truth_words(m, bytes, decode);
    else
        packed_truth_other(m, bytes, t, decode);
}

/* ================================================================ items */

/* `size` bytes as they are. */
PACKED void packed_bytes(struct packed_model *m, uint8_t *bytes, unsigned size, const bool decode)
{
    for (unsigned i = 0; i < size; i++) {
        const uint64_t v = packed_plain(m, decode ? 0 : bytes[i], 8, decode);
        if (decode)
            bytes[i] = (uint8_t)v;
    }
}
