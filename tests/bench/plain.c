/* SPDX-License-Identifier: MIT */
#include "tests/bench/plain.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"

void plain_add(struct plain_cpu *cpu, const uint8_t *batch, uint32_t size)
{
    if (cpu->size + size + 16 > cpu->room) {
        cpu->room = 2 * cpu->room + size + 16;
        cpu->batches = realloc(cpu->batches, cpu->room);
        if (!cpu->batches)
            abort();
    }
    memcpy(cpu->batches + cpu->size, &size, sizeof(size));
    memcpy(cpu->batches + cpu->size + 4, batch, size);
    cpu->size += size + 4;
}

static void decode(struct plain_cpu *c, struct plain_switch *sw)
{
    const uint8_t *p = c->next, *tids = c->batch + offsetof(struct ccswap_buffer, tid_table);
    const uint8_t *bases = c->batch + offsetof(struct ccswap_buffer, thread_base_priority);
    const uint32_t low = cairn_get32(p), high = cairn_get32(p + 4);
    uint32_t slot;
    sw->form = *p & CCSWAP_TYPE_MASK;
    sw->old_tid = sw->wait = sw->state = sw->priority = 0;
    switch (sw->form) {
    case CCSWAP_IDLE_SHORT:
        c->time += (low & UINT16_MAX) >> CCSWAP_IDLE_SHORT_DELTA_SHIFT;
        break;
    case CCSWAP_IDLE:
        c->time += low >> CCSWAP_IDLE_DELTA_SHIFT;
        break;
    case CCSWAP_LITE:
        c->time += low >> CCSWAP_LITE_DELTA_SHIFT;
        slot = low >> CCSWAP_LITE_TID_SHIFT & CCSWAP_MASK(CCSWAP_TID_BITS);
        sw->old_tid = cairn_get32(tids + 4 * slot);
        sw->state = low >> CCSWAP_LITE_STATE_SHIFT & CCSWAP_MASK(CCSWAP_STATE_BITS);
        sw->priority =
            (uint8_t)(bases[slot] + (low >> CCSWAP_LITE_PRIINC_SHIFT & CCSWAP_MASK(CCSWAP_LITE_PRIINC_BITS)));
        break;
    default:
        c->time += low >> CCSWAP_FULL_DELTA_SHIFT;
        sw->old_tid = cairn_get32(tids + 4 * (high >> CCSWAP_FULL_TID_SHIFT & CCSWAP_MASK(CCSWAP_TID_BITS)));
        sw->state = high >> CCSWAP_FULL_STATE_SHIFT & CCSWAP_MASK(CCSWAP_STATE_BITS);
        sw->priority = high >> CCSWAP_FULL_PRIORITY_SHIFT & CCSWAP_MASK(CCSWAP_PRIORITY_BITS);
        sw->wait = high >> CCSWAP_FULL_WAIT_SHIFT;
    }
    sw->time = (int64_t)c->time;
    c->next += ccswap_record_bytes(*p);
}

/* The switch behind the one that is ahead. */
static void step(struct plain_cpu *c)
{
    c->now = c->ahead;
    if (c->next == c->end) {
        if (c->at == c->batches + c->size) {
            c->more = 0;
            c->ahead.old_tid = 0;
            return;
        }
        c->batch = c->at + 4;
        c->end = c->at = c->batch + cairn_get32(c->at);
        c->next = c->batch + sizeof(struct ccswap_buffer);
        memcpy(&c->time, c->batch, sizeof(c->time));
    }
    decode(c, &c->ahead);
    c->now.new_tid = c->ahead.old_tid;
}

uint64_t plain_read(struct plain *plain, uint64_t *sum)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < plain->cpus; i++) {
        struct plain_cpu *c = &plain->cpu[i];
        c->at = c->batches;
        c->next = c->end = NULL;
        c->more = c->size != 0;
        c->ahead = (struct plain_switch){.cpu = (uint8_t)i};
        if (c->more)
            step(c);
    }
    for (;;) {
        struct plain_cpu *first = NULL;
        for (uint32_t i = 0; i < plain->cpus; i++)
            if (plain->cpu[i].more && (!first || plain->cpu[i].ahead.time < first->ahead.time))
                first = &plain->cpu[i];
        if (!first)
            return count;
        step(first);
        *sum += (uint64_t)first->now.time ^ first->now.old_tid ^ first->now.new_tid ^ first->now.state;
        count++;
    }
}
