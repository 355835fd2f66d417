/* SPDX-License-Identifier: MIT */
/* Trials of what a processor announces: does PEBS make records (ds/trial/self_test.c)? What does a hypervisor hide
 * (ds/trial/hypervisor.c)? */
#pragma once

#include "ds/ds.h"

enum ds_tried {
    DS_TRIED_RECORDS,
    DS_TRIED_NO_RECORD, /* the counter has passed 0, PebsIndex has not moved */
    DS_TRIED_STILL,     /* the counter has not reached 0 */
    DS_TRIED_NOT,       /* PEBS of it cannot be set up: ds_cpu_init and ds_start say why */
};

#define DS_SELF_TEST_BUFFER 4096u /* a page */

/* Tests whether PEBS makes records of `event`, an event of instructions, with some hundred instructions of the kernel
 * and a driver of its own: ds_cpu_bytes at `ds`; `area`, and DS_SELF_TEST_BUFFER bytes at `buffer`, as for ds_cpu_init.
 * Adds a row to caps. Neither PEBS nor BTS may run; afterwards every register is as before. */
enum ds_tried ds_self_test(struct ds_cpu *ds, const struct ds_machine *machine, struct ds_caps *caps,
                           const struct ds_event *event, void *area, void *buffer);

/* The first event of `config` with which PEBS samples instructions, without precise distribution; NULL: none. */
const struct ds_event *ds_sampled_instructions(const struct ds_config *config);

/* The name of the hypervisor whose leaf CPUID.40000000H this is. */
const char *ds_hypervisor_name(const uint32_t leaf[4]);
