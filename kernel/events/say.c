/* SPDX-License-Identifier: MIT */
/* What Intel's lists say of the sampled events, on the console and in the dump. */
#include "ds/events/events.h"
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"
#include "trace/frames.h"

/* An event that has to be alone on its core cannot be that beside the core's other thread: said once. */
static void say_what_is_alone(const struct boot_info *info)
{
    (void)info;
    for (uint32_t i = 0; kds->pebs && i < kcpu_count; i++)
        for (uint32_t n = 0; n < kds->config[i]->events; n++)
            if (ds_event_alone(&kds->caps[i], &kds->config[i]->event[n])) {
                kprintf("ds: %s must be alone on the core: turn Hyper-Threading off in the firmware\n",
                        kds->config[i]->event[n].name);
                return;
            }
}
KPHASE(KPHASE_READY, say_what_is_alone);

/* The numbers of a CPU's PEBS events that are `marked`; no line without any. */
static void dump_marked(struct trace_dump *d, uint32_t cpu, const char *name,
                        bool (*marked)(const struct ds_caps *caps, const struct ds_event *event), bool value)
{
    char numbers[4 * DS_MAX_COUNTERS] = "";
    for (uint32_t i = 0, used = 0; i < kds->config[cpu]->events; i++) {
        const struct ds_event *event = &kds->config[cpu]->event[i];
        if (!event->plain && marked(&kds->caps[cpu], event) == value)
            used += (uint32_t)snprintf(numbers + used, sizeof numbers - used, "%s%u", used ? " " : "", i);
    }
    if (numbers[0])
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.cpu.%u.%s=%s", cpu, name, numbers);
}

static void dump_lists(struct trace_dump *d)
{
    for (uint32_t cpu = 0; kds_chosen() && cpu < kcpu_count; cpu++) {
        dump_marked(d, cpu, "not_precise", ds_event_precise, false);
        dump_marked(d, cpu, "alone", ds_event_alone, true);
    }
}
KDUMP_SECTION(KDUMP_DEBUG_STORE, KDUMP_HEAD, dump_lists);
