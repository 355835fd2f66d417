/* SPDX-License-Identifier: MIT */
/* The records of a settings run, one after the other, and where in the known program each was made. */
#pragma once

#include "ds/generation.h"
#include "tools/grab/base/clock.h"
#include "tools/grab/report/known.h"
#include "tools/grab/report/settings.h"

struct grab_judged {
    const struct grab_store *store;
    struct grab_clock *clock; /* a pair before and after each setting */
    unsigned cpu, format;
    enum ds_generation generation;
    struct grab_taken taken[GRAB_SETTINGS];
};

struct grab_seen {
    const uint8_t *record; /* NULL: before the first */
    uint32_t size;
    const struct grab_drained *drain;
    bool joined; /* nothing is missing between the record before it and this one */
    bool known;  /* RIP and RCX are a state of the known program: `state` */
    struct grab_state state;
    enum grab_label eventing; /* the instruction that EventingIP names; GRAB_ELSEWHERE also where there is none */
    uint64_t counters;        /* 0: this format does not tell */
    uint64_t tsc;             /* 0: this format has none */

    /* where it is */
    size_t next_drain;
    uint64_t next_at;
    enum grab_setting_number setting;
};

/* Before the first record of a setting. */
struct grab_seen grab_seen_first(enum grab_setting_number setting);
/* The next one. False: there is none. */
bool grab_seen_next(const struct grab_judged *judged, struct grab_seen *seen);
/* How many instructions, or branches, of the loop it comes after. */
uint64_t grab_seen_count(const struct grab_seen *seen, bool branches);
