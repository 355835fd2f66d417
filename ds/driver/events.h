/* SPDX-License-Identifier: MIT */
/* The events beyond the architectural ones, and what they need: ds/events, if it is linked. Private to ds/. */
#pragma once

#include "ds/driver/driver.h"

#define DS_EVENTS_UNLISTED "no list of its events here: the architectural ones only"

/* The first name of a kind and counter is Intel's, those after it are aliases: perf's, and Intel's on other processors.
 * perf also takes Intel's names, in lower case. */
struct ds_event_name {
    const char *name;
    uint8_t kind; /* enum ds_event_kind */
    int8_t fixed;
};

struct ds_events {
    const struct ds_event_name *names; /* the last has no name */

    /* ---- pebs= */

    /* Called after the period is parsed. If the event needs a further word, takes it from *at. Returns NULL, or, if the
     * word is missing or wrong, what it should be. */
    const char *(*parse)(struct ds_event *event, const char **at);
    /* For a word at an event that has no use for it: returns which event it is for; NULL if it is no such word. */
    const char *(*stray)(const char *word, size_t size);

    /* ---- detection */

    /* Fills caps->generation and event_errata from EAX of CPUID.01H and 1AH; returns the verdict of its row. */
    const char *(*find)(struct ds_caps *caps, uint32_t signature, uint32_t core_type);

    /* ---- the plan. Functions with `error` return 0, or -EINVAL with one line there. */

    /* Counters that no event may have, and why, for a message that one is missing: ", as ...". */
    uint64_t (*reserved)(const struct ds_cpu *ds, const char **why);
    /* Whether this processor counts the event at all, and beside the others. */
    int (*check)(const struct ds_cpu *ds, const struct ds_event *event, char *error, size_t size);
    /* What an event with a counter needs besides: ds->setting, load_latency_enable, an auxiliary counter. */
    int (*plan)(struct ds_cpu *ds, const struct ds_counter *counter, char *error, size_t size);
};
extern const struct ds_events ds_events __attribute__((weak));

/* Takes the word behind a colon at *at, if there is a colon: else `word` is empty, and *at stays. */
bool ds_event_word(const char **at, const char **word, size_t *size);
/* Decimal, from 1 to 2^47 - 1. */
bool ds_event_period(const char *s, size_t size, uint64_t *period);
