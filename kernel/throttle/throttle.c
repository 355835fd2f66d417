/* SPDX-License-Identifier: MIT */
/* The limit of PMIs within a tick. */
#include "kernel/throttle/throttle.h"
#include "arch/arch.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"

/* Of 1 ms: with some microseconds each they take a good part of it, and then threads have one. */
#define LIMIT_HW 100

void kds_limit(struct ds_config *config)
{
    config->throttle = kthrottle_limit ? kthrottle_limit : kds->other ? 0 : LIMIT_HW;
    config->tick_tsc = arch_tsc_hz() / 1000000 * kopt.tick_us;
}
