/* SPDX-License-Identifier: MIT */
/* The events between switches (trace/wire/activity.h): threads made ready, priorities, interrupts, DPCs, samples,
 * marks. */
#pragma once

#include "tools/cairn/log/log.h"
#include "tools/cairn/log/show.h"

enum cairn_live_kind {
    CAIRN_LIVE_READY,          /* 0532H */
    CAIRN_LIVE_PRIORITY,       /* 0530H */
    CAIRN_LIVE_BASE_PRIORITY,  /* 0531H */
    CAIRN_LIVE_INTERRUPT,      /* 0F43H */
    CAIRN_LIVE_DPC,            /* 0F44H */
    CAIRN_LIVE_TIMER_DPC,      /* 0F45H */
    CAIRN_LIVE_PROFILE,        /* 0F2EH */
    CAIRN_LIVE_PMC,            /* 0F2FH */
    CAIRN_LIVE_PMC_CONFIG,     /* 0F30H; of this and what follows the truth does not tell */
    CAIRN_LIVE_MARK,           /* 0F22H */
    CAIRN_LIVE_INTERVAL,       /* 0F48H */
    CAIRN_LIVE_INTERVAL_START, /* 0F49H */
    CAIRN_LIVE_INTERVAL_END,   /* 0F4AH */
    CAIRN_LIVE_KINDS,
};

/* Whether the event is one of these and can be read: then *live is all but its piece. */
bool cairn_live_of(const struct cairn_event *event, struct cairn_live *live);

/* Counts and lists the event where it is one of these. *live: whether; false where it is, but cannot be read. */
bool cairn_live_index(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *event,
                      uint32_t piece, bool *live);

/* The thread it names: made ready, of another priority, sampled. False: it names none. */
bool cairn_live_thread(const struct cairn_live *live, uint32_t *tid);

/* A sample of the timer's (0F2EH) or of a counter's (0F2FH). False: it is none. */
struct cairn_live_sample {
    uint64_t ip;
    uint32_t tid;
};
bool cairn_live_sample(const struct cairn_live *live, struct cairn_live_sample *sample);

/* How many of these there are of which the truth tells: all but marks and configurations. */
size_t cairn_live_told(const struct cairn_cpu *cpu);

uint16_t cairn_live_hook(enum cairn_live_kind kind);
/* "ready thread" */
const char *cairn_live_name(enum cairn_live_kind kind);

/* The names of a PMC configuration, one after another: `*at` is 0 at first. False: there is no more. */
bool cairn_live_pmc_name(const struct cairn_live *live, uint32_t *at, char *out, size_t room);

/* What the event says, in one line of any length below CAIRN_LIVE_TEXT. */
#define CAIRN_LIVE_TEXT 512u
const char *cairn_live_show(char out[CAIRN_LIVE_TEXT], const struct cairn_log *log, const struct cairn_live *live);
