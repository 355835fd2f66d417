/* SPDX-License-Identifier: MIT */
/* Prints the errata of the sampled events, from Intel's lists, on the console and in the dump. */
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/lib/print.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"
#include "trace/frames.h"

/* Of each event with errata, once for CPUs that are alike. */
static void say_what_has_errata(const struct boot_info *info)
{
    (void)info;
    for (uint32_t i = 0; kds->pebs && i < kcpu_count; i++) {
        const bool again =
            i && kds->config[i] == kds->config[i - 1] && kds->caps[i].event_errata == kds->caps[i - 1].event_errata;
        for (uint32_t n = 0; n < kds->config[i]->events && !again; n++) {
            const struct ds_event *event = &kds->config[i]->event[n];
            const char *errata = ds_event_errata(&kds->caps[i], event);
            if (errata)
                kprintf("ds: %s has errata %s: counts or records may be wrong\n", event->name, errata);
        }
    }
}
KPHASE(KPHASE_READY, say_what_has_errata);

static void dump_errata(struct trace_dump *dump)
{
    for (uint32_t cpu = 0; kds_chosen() && cpu < kcpu_count; cpu++)
        for (uint32_t i = 0; i < kds->config[cpu]->events; i++) {
            const char *errata = ds_event_errata(&kds->caps[cpu], &kds->config[cpu]->event[i]);
            if (errata)
                trace_dump_print(dump, CAIRN_STREAM_MACHINE, "ds.cpu.%u.errata.%u=%s", cpu, i, errata);
        }
}
KDUMP_SECTION(KDUMP_DEBUG_STORE, KDUMP_HEAD, dump_errata);
