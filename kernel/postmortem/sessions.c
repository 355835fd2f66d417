/* SPDX-License-Identifier: MIT */
#include "kernel/recording/sessions.h"
#include "kernel/cpu.h"
#include "kernel/postmortem/postmortem.h"
#include "trace/postmortem/freeze.h"

void kpostmortem_settle(void)
{
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (kcpu_table[i]->trace)
            trace_hub_settle(kcpu_table[i]->trace);
}

void kpostmortem_freeze(uint64_t tsc)
{
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (kcpu_table[i]->trace)
            trace_hub_freeze(kcpu_table[i]->trace, tsc);
    for (uint32_t n = 1; n <= TRACE_MAX_SESSIONS; n++) {
        struct ksession *s = ksession_get(n);
        if (s && s->running)
            s->stop_tsc = tsc;
        if (s)
            s->running = false;
    }
}
