/* SPDX-License-Identifier: MIT */
/*
 * The samples of a profile of Windows: those of the timer (0F2EH), or where there are none, of counters (0F2FH). Other
 * events tell of their call stacks: 1820H has the addresses; 1825H and 1826H have a key, whose addresses 1822H, 1823H
 * or 1824H has. A stack belongs to the sample of its time stamp and thread. The kernel's part comes at once, the
 * program's when the thread leaves the kernel: then it is that of all samples since the thread entered.
 */
#pragma once

#include "tools/cairn/log/activity.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/show.h"

#define CAIRN_FRAMES 192u /* of a stack, as many as Windows walks; of more the innermost */

struct cairn_stack_part { /* addresses, the innermost first */
    const uint8_t *at;    /* NULL: there is none */
    uint16_t count;
    uint8_t pointer; /* bytes of one */
};

struct cairn_sample_stack {
    int64_t time; /* of the sample */
    uint32_t tid, pid;
    uint32_t cpu;   /* of the idle threads, which share a number; else 0 */
    uint32_t order; /* as they came */
    bool whole;     /* `kernel` is all of it */
    struct cairn_stack_part kernel, user;
};

struct cairn_samples {
    const struct cairn_log *log;
    uint8_t kind; /* CAIRN_LIVE_PROFILE or CAIRN_LIVE_PMC; CAIRN_LIVE_KINDS: there are none */
    struct {
        struct cairn_sample_stack *items;
        size_t count, room;
    } stacks; /* by time, thread, CPU */
};

struct cairn_sample {
    uint64_t ip;
    uint32_t tid, pid;                      /* pid: CAIRN_NO_TID: nothing tells */
    const struct cairn_sample_stack *stack; /* NULL: none is told */
};

/* What the samples of a log are of. CAIRN_LIVE_KINDS: it is no file of Windows, or has none. */
uint8_t cairn_samples_kind(const struct cairn_log *log);
const char *cairn_samples_name(uint8_t kind, uint64_t count); /* "timer sample", "PEBS records" */

static inline bool cairn_samples_any(const struct cairn_samples *samples) /* zeroed: no */
{
    return samples->kind == CAIRN_LIVE_PROFILE || samples->kind == CAIRN_LIVE_PMC;
}

/* Reads the stacks, which stay in the log. */
void cairn_samples_read(struct cairn_samples *samples, const struct cairn_log *log);
void cairn_samples_free(struct cairn_samples *samples);

/* Whether the event of the CPU is one of the samples; `live`: what it is, NULL: something else. */
bool cairn_samples_take(const struct cairn_samples *samples, uint32_t cpu, const struct cairn_live *live,
                        struct cairn_sample *sample);
/* Its addresses, the innermost, which is `ip`, first: how many. *cut: there were more. */
unsigned cairn_sample_frames(const struct cairn_sample *sample, uint64_t frames[CAIRN_FRAMES], bool *cut);
/* The image of its process, or of the kernel, that has an address; NULL: nothing tells of one. */
const struct cairn_etl_life *cairn_sample_image(const struct cairn_log *log, const struct cairn_sample *sample,
                                                int64_t time, uint64_t address);
/* That as text, "ntdll.dll+0x1230", or a function of the log's, or the bare address. */
const char *cairn_sample_place(char out[CAIRN_SHOWN], const struct cairn_log *log, const struct cairn_sample *sample,
                               int64_t time, uint64_t address);
