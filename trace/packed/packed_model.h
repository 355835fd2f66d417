/* SPDX-License-Identifier: MIT */
/* What the coder of packed frames (trace/packed/packed_coder.h) knows of trace and truth: events, batches, PEBS
 * records, truth records. tests/cairn/log/unpack.py has the same in Python. */
#pragma once

#include "trace/packed/packed_coder.h"

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
    unsigned n = packed_tree(m, m->delta_bits[form | (unsigned)(packed_hash(tid, 4) >> 60) << 2], packed_width(delta),
                             5, decode);
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
        const unsigned form = packed_tree(m, m->form[forms & 15], decode ? 0 : bytes[at] & CCSWAP_TYPE_MASK, 2, decode);
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
    if (room < 16)
        return 0;
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
    const uint64_t tid =
        PACKED_FIELD(0x04, 4, t + 1, NEAR, PACKED_LAST(PACKED_NEW_TID), 0, PACKED_LAST(PACKED_NEW_TID));
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
        const bool tsc =
            group == CAIRN_TRUTH_STATE && word + i >= CAIRN_TRUTH_TSC_FIRST && word + i <= CAIRN_TRUTH_TSC_LAST;
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
