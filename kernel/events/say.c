/* SPDX-License-Identifier: MIT */
/* An event that has to be alone on its core cannot be that beside the core's other thread: said once. */
#include "kernel/lib/print.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"

static void say_what_is_alone(const struct boot_info *info)
{
    (void)info;
    for (uint32_t i = 0; kds->pebs && i < kcpu_count; i++)
        for (uint32_t n = 0; n < kds->config[i]->events; n++)
            if (ds_event_alone(&kds->caps[i], &kds->config[i]->event[n])) {
                kprintf("ds: %s has to be alone on the core: turn Hyper-Threading off in the firmware\n",
                        kds->config[i]->event[n].name);
                return;
            }
}
KPHASE(KPHASE_READY, say_what_is_alone);
