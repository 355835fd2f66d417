/* SPDX-License-Identifier: MIT */
/*
 * The coder of packed frames: an adaptive binary range coder, and fields in it. Encoder and decoder are this one text,
 * compiled with `decode` false (trace/packed/pack.c) or true (tools/cairn/frame/unpack.c): a field at `bytes` is coded,
 * or decoded and stored there. What is coded how depends only on what was coded before.
 *
 * The range coder has 32 bits of range and carries into bytes that wait; it takes binary decisions with a probability
 * of 12 bits, and plain bits. A field is compared with up to four guesses (two context tables, what the caller says,
 * its last step). Only where all fail is it spelled: as a difference, as a value that occurred before, or byte by byte.
 * Any bytes can be coded. Nothing is allocated, and nothing read outside the unit.
 *
 * Why no library: none knows the records. On one run (mix, 20000 switches, truth, four CPUs) trace and truth shrink to
 * 32 % and 14 % of their bytes, with 172 KiB of state. zlib 6 reached 44 % and 24 % with 256 KiB; zstd 19 41 % and
 * 20 %, xz 6 38 % and 18 %, with megabytes, which are not there after a panic. Most of what is left are times.
 *
 * tests/cairn/log/unpack.py has the same in Python, for those who write a reader; a change here, or in
 * trace/packed/packed_model.h, is another CAIRN_PACK_VERSION.
 */
#pragma once

#include <stdbool.h>

#include "kernel/lib/string.h"
#include "trace/packed/packed.h"

#define PACKED       static inline /* `decode` is the same in all calls of a file: the compiler knows it */
#define PACKED_SMALL static inline __attribute__((always_inline))

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
    uint64_t value[256];                /* by their hash */
    uint64_t after[2][PACKED_CONTEXTS]; /* the value in a context */
    uint64_t time, time_before, instruction, kinds;
    uint32_t hook, hook_before;
    uint32_t next_tid[2][1024]; /* who leaves after two threads, after one */
    uint16_t state[256];        /* of a thread that leaves */
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

PACKED_SMALL void packed_put(struct packed_model *m)
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

PACKED_SMALL void packed_get(struct packed_model *m)
{
    m->bad |= m->in == m->in_end;
    m->code = m->code << 8 | (m->in < m->in_end ? *m->in++ : 0u);
}

PACKED_SMALL void packed_shift(struct packed_model *m, const bool decode)
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

PACKED_SMALL unsigned packed_bit(struct packed_model *m, packed_cell *cell, unsigned bit, const bool decode)
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

PACKED_SMALL uint64_t packed_hash(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9E3779B97F4A7C15);
    return a ^ a >> 29;
}

PACKED_SMALL unsigned packed_width(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* 1, 2, 4 or 8 bytes. */
PACKED_SMALL uint64_t packed_load(const uint8_t *from, unsigned bytes)
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

PACKED_SMALL void packed_store(uint8_t *to, uint64_t v, unsigned bytes)
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
PACKED uint64_t packed_difference(struct packed_model *m, unsigned column, unsigned bytes, uint64_t d,
                                  const bool decode)
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
    const uint64_t v = packed_value(m, column, width, way, decode ? 0 : packed_load(bytes, width), c, decode);
    if (decode)
        packed_store(bytes, v, width);
    return v;
}

#define PACKED_FIELD(at, width, column, way, ...)                                                                      \
    packed_field(m, bytes + (at), width, column, PACKED_##way, (struct packed_context){__VA_ARGS__}, decode)
#define PACKED_LAST(column) (m->seen[column].last)
