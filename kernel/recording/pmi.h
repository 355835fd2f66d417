/* SPDX-License-Identifier: MIT */
/* The performance-monitoring interrupt. Its handler only queues a DPC, in which the driver works. */
#pragma once

#include <stdint.h>

/* Once, boot processor, before the Debug Store starts anywhere. */
void kpmi_init(void);

/* For ds_hooks.overflowed: the interrupt came because the plain counter of the session's `event` has overflowed on this
 * CPU. */
void kpmi_overflowed(void *context, uint32_t cpu, uint32_t event);
