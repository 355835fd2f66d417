/* SPDX-License-Identifier: MIT */
/*
 * Each CPU's PROCESSOR_PROFILE_CONTROL_AREA on a running machine: what SystemProcessorProfileControlArea does
 * (kernel/windows/sysinfo.h). kds_init makes the first areas. Each function acts on the CPU it runs on; a thread that
 * needs a certain CPU sets its affinity. Thread context.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ds/ds.h"

/* A zeroed area for this CPU, which nothing uses before kcontrol_area_start. 0; -EEXIST: there is one; both give its
 * address. -ENOTSUP: no PEBS by the processor the backend in use shows, or no backend; -ENOMEM: no page, which comes
 * before everything else. */
int kcontrol_area_allocate(uint64_t *address);

/* Stops PEBS and BTS on this CPU, drains them, tears them down, takes the area from whoever reads PebsIndex, and frees
 * it. 0, -ENOTSUP as above, -ENOENT: there is none. */
int kcontrol_area_free(void);

/* PEBS and BTS, as the run's options have them, begin anew with this CPU's area. Windows leaves that to drivers. 0;
 * -ENOENT: no area; -EBUSY: they run; -EFAULT: the processor did not let them, one line in `error`. */
int kcontrol_area_start(char *error, size_t size);
