/* SPDX-License-Identifier: MIT */
/* What the trials of workload `control` are made of: what is asked, what is expected, one verdict for each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/control.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "kernel/sysinfo.h"

struct trial {
    char name[48];   /* of the verdict */
    uint32_t asked;
    bool failed;
    char why[160];   /* of the first failure */
};

static inline void begin(struct trial *t, const char *name)
{
    *t = (struct trial){ 0 };
    snprintf(t->name, sizeof t->name, "%s", name);
}

static inline void fail(struct trial *t, const char *what, unsigned long got, unsigned long want)
{
    if (!t->failed)
        snprintf(t->why, sizeof t->why, "%s: 0x%lx, expected 0x%lx", what, got, want);
    t->failed = true;
}

static inline void expect(struct trial *t, const char *what, uint64_t got, uint64_t want)
{
    t->asked++;
    if (got != want)
        fail(t, what, (unsigned long)got, (unsigned long)want);
}

static inline void end(const struct trial *t)
{
    if (t->failed)
        kreport(KREPORT_FAIL, "control", "%s: %s", t->name, t->why);
    else
        kreport(KREPORT_PASS, "control", "%s: %u answers as expected", t->name, t->asked);
}

/* ---- class 1FH --------------------------------------------------------------------------------------------------- */

static inline kntstatus query(void *information, uint32_t length)
{
    return ksysinfo_query(SYSTEM_PERFORMANCE_TRACE_INFORMATION, information, length, NULL);
}

static inline kntstatus set(void *information, uint32_t length)
{
    return ksysinfo_set(SYSTEM_PERFORMANCE_TRACE_INFORMATION, information, length);
}

/* Loggers that do not run. Session 8 may. */
static inline uint64_t nobody(unsigned i)
{
    static const uint64_t number[] = { 0, TRACE_MAX_SESSIONS + 1, 0x1234, 0xFFFE };
    struct kcontrol_info info;
    bool eight = kcontrol_query(TRACE_MAX_SESSIONS, &info) == 0 && info.running;
    return i < 4 ? number[i] : eight ? 9 : TRACE_MAX_SESSIONS;
}
#define NOBODIES 5u

struct list {
    struct event_trace_list_information head;
    uint32_t element[6];
};

static inline uint32_t list_bytes(unsigned elements)
{
    return (uint32_t)(sizeof(struct event_trace_list_information) + elements * sizeof(uint32_t));
}

/* ProfileCounterList and ProfileEventList, on the last session that stays: kernel/workload/items.c. */
void ktrial_items(struct trial *t);
