/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* trace_hub_settle and trace_hub_freeze of every CPU; all other CPUs are stopped. */
void kpostmortem_settle(void);
void kpostmortem_freeze(uint64_t tsc);
