/* SPDX-License-Identifier: MIT */
/*
 * Lab 5: the scoreboard's program. It gives the switches of `make bench` (tests/bench/workload.h) to your encoder, or
 * to Cairn's, both compiled as for the kernel. score.sh counts the instructions. Usage: score yours|cairn SWITCHES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#include "task.h"
#include "trace/ccswap.h"
#include "trace/session.h"

#define TICK 10000 /* 1 ms in units of 100 ns */

uintptr_t __stack_chk_guard = 0x5CA1AB1E00FACADEu; /* the kernel's objects want these two */
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
    abort();
}

static uint8_t ring[64 * CCSWAP_BATCH_BYTES];
static uint32_t at, batches;

/* What becomes of a batch is the same for both. */
static void take(const void *batch, uint32_t bytes)
{
    memcpy(ring + at, batch, bytes);
    at = (at + CCSWAP_BATCH_BYTES) % sizeof ring;
    batches++;
}

void lab_batch(struct encoder *e, const void *batch, uint32_t bytes, uint32_t switches, int64_t time, enum why why)
{
    (void)e, (void)switches, (void)time, (void)why;
    take(batch, bytes);
}

static void cairn_batch(struct trace_ccswap *c, uint32_t size, uint32_t records, int64_t time, enum ccswap_close reason)
{
    (void)records, (void)time, (void)reason;
    take(c->batch.bytes, size);
}

static void *allocate(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!memory)
        exit(3);
    return memory;
}

static void yours(const struct wl_switch *w, uint32_t count)
{
    struct encoder *e[WL_CPUS];
    for (unsigned cpu = 0; cpu < WL_CPUS; cpu++)
        encoder_init(e[cpu] = allocate(encoder_bytes), TICK);
    for (; count; count--, w++) {
        const struct cswitch sw = {.old_tid = w->old_tid,
                                   .new_wait = w->new_wait,
                                   .old_state = w->old_state,
                                   .old_wait_reason = w->old_wr,
                                   .old_priority = (int8_t)w->old_prio,
                                   .old_base = (int8_t)w->old_base};
        encoder_switch(e[w->cpu], &sw, (int64_t)w->ts);
    }
}

static void cairns(const struct wl_switch *w, uint32_t count)
{
    struct trace_ccswap *c[WL_CPUS];
    for (unsigned cpu = 0; cpu < WL_CPUS; cpu++)
        trace_ccswap_init(c[cpu] = allocate(sizeof *c[cpu]), TICK, cairn_batch);
    for (; count; count--, w++) {
        const struct trace_switch sw = {.old_tid = w->old_tid,
                                        .new_wait = w->new_wait,
                                        .old_state = w->old_state,
                                        .old_wait_reason = w->old_wr,
                                        .old_state_wr = ccswap_state_wr(w->old_state, w->old_wr),
                                        .old_priority = (int8_t)w->old_prio,
                                        .old_base = (int8_t)w->old_base};
        trace_ccswap_switch(c[w->cpu], &sw, (int64_t)w->ts);
    }
}

int main(int argc, char **argv)
{
    static struct wl generator;
    const uint32_t count = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 0) : 0;
    struct wl_switch *w = allocate(count * sizeof *w);
    wl_init(&generator);
    for (uint32_t i = 0; i < count; i++)
        wl_next(&generator, &w[i]);
    (strcmp(argv[1], "yours") == 0 ? yours : cairns)(w, count);
    printf("%u batches\n", batches);
    return !batches;
}
