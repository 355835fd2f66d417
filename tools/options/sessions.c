/* SPDX-License-Identifier: MIT */
/* Does each session have enough buffers for its CPUs? The kernel's own rule answers this. */
#include "tools/options/sessions.h"

#include <stdio.h>

#include "kernel/lib/errno.h"
#include "kernel/options/row.h"
#include "kernel/sessions/options.h"

/* A kernel without sessions' options has one. */
static const struct ksession_option *session(uint32_t number)
{
    static const struct ksession_option none, one = {.on = 1, .clock = TRACE_CLOCK_QPC};
    char name[16];
    size_t i, n = (size_t)snprintf(name, sizeof name, "session.%u", number);
    const struct kopt_option *option = kopt_row_find(name, n, &i);
    return option ? option->field : number == 1 ? &one : &none;
}

int options_check_sessions(uint32_t cpus, char *error, size_t size)
{
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
        const struct ksession_option *o = session(number);
        const struct trace_config config = {
            .number = number,
            .cpus = cpus,
            .circular = o->circular,
            .buffer_bytes = (o->buffer_kib ? o->buffer_kib : kopt.trace_buffer_kib) * 1024,
            .buffers = o->buffers ? o->buffers : kopt.trace_buffers,
            .clock = {.type = o->clock, .multiplier = 1},
            .tick_units = 1,
        };
        if (!o->on || trace_session_bytes(&config))
            continue;
        const uint32_t least = cpus + o->circular;
        if (o->buffers)
            snprintf(error, size, "option 'session.%u': %u trace buffers are too few for %u CPUs: give at least %u",
                     number, o->buffers, cpus, least);
        else
            snprintf(error, size, "option 'trace.buffers=%u': too few for session.%u on %u CPUs: give at least %u",
                     config.buffers, number, cpus, least);
        return -EINVAL;
    }
    return 0;
}
