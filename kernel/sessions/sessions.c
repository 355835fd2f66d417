/* SPDX-License-Identifier: MIT */
#include "kernel/sessions/sessions.h"

#include "kernel/dump_section.h"
#include "kernel/options/options.h"
#include "kernel/recording/start.h"
#include "kernel/sessions/options.h"
#include "trace/frames.h"
#include "trace/sessions/group_names.h"

__attribute__((weak)) int ksession_prepare(struct ksession_params *params, bool *automatic, char *error,
                                           size_t error_size)
{
    (void)params, (void)automatic, (void)error, (void)error_size;
    return 0;
}

int krecording_make_sessions(char *error, size_t error_size)
{
    int e = 0;
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS && !e; number++) {
        const struct ksession_option *o = &ksession_options[number - 1];
        struct ksession_params params = {
            .number = number,
            .masks = o->masks,
            .clock = o->clock,
            .circular = o->circular,
            .live = kopt.live && !o->circular,
            .buffer_kib = o->buffer_kib ? o->buffer_kib : kopt.trace_buffer_kib,
            .buffers = o->buffers ? o->buffers : kopt.trace_buffers,
        };
        bool automatic = o->automatic;
        if (!o->on || (e = ksession_prepare(&params, &automatic, error, error_size)) != 0)
            continue;
        if (automatic)
            krecording_add_switches(&params.masks);
        e = ksession_create(&params, error, error_size);
    }
    return e;
}

void kdump_session_more(struct trace_dump *d, const struct trace_config *config)
{
    char groups[TRACE_GROUPS_TEXT];
    trace_groups_show(&config->masks, groups);
    trace_dump_print(d, CAIRN_STREAM_SESSION, "session.%u.groups=%s", config->number, groups);
}
