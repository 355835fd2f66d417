/* SPDX-License-Identifier: MIT */
#include "kernel/windows/trial.h"

#include "kernel/console/report.h"
#include "kernel/lib/string.h"
#include "kernel/recording/sessions.h"

void ktrial_begin(struct ktrial *t, const char *name)
{
    *t = (struct ktrial){0};
    snprintf(t->name, sizeof t->name, "%s", name);
}

void ktrial_fail(struct ktrial *t, const char *what, unsigned long got, unsigned long want)
{
    if (!t->failed)
        snprintf(t->why, sizeof t->why, "%s: 0x%lx, expected 0x%lx", what, got, want);
    t->failed = true;
}

void ktrial_expect(struct ktrial *t, const char *what, uint64_t got, uint64_t want)
{
    t->asked++;
    if (got != want)
        ktrial_fail(t, what, (unsigned long)got, (unsigned long)want);
}

void ktrial_end(const struct ktrial *t)
{
    if (t->failed)
        kreport(KREPORT_FAIL, "control", "%s: %s", t->name, t->why);
    else
        kreport(KREPORT_PASS, "control", "%s: %u answers as expected", t->name, t->asked);
}

kntstatus ktrial_query(void *information, uint32_t length)
{
    return ksysinfo_query(SYSTEM_PERFORMANCE_TRACE_INFORMATION, information, length, NULL);
}

kntstatus ktrial_set(void *information, uint32_t length)
{
    return ksysinfo_set(SYSTEM_PERFORMANCE_TRACE_INFORMATION, information, length);
}

uint64_t ktrial_nobody(unsigned i)
{
    static const uint64_t number[] = {0, TRACE_MAX_SESSIONS + 1, 0x1234, 0xFFFE};
    const struct ksession *last = ksession_get(TRACE_MAX_SESSIONS);
    bool eight = last && last->running;
    return i < 4 ? number[i] : eight ? 9 : TRACE_MAX_SESSIONS;
}

uint32_t ktrial_list_bytes(unsigned elements)
{
    return (uint32_t)(sizeof(struct event_trace_list_information) + elements * sizeof(uint32_t));
}
