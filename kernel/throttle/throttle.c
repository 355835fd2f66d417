/* SPDX-License-Identifier: MIT */
/* The limit of PMIs within a tick. */
#include "kernel/throttle/throttle.h"
#include "arch/arch.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"

/* A tick is 1 ms by default. 100 PMIs of some microseconds each take a good part of it; then threads run for a tick. */
#define LIMIT_HW 100

void kds_limit(struct ds_config *config)
{
    config->throttle = kthrottle_limit ? kthrottle_limit : kds->other ? 0 : LIMIT_HW;
    config->tick_tsc = arch_tsc_hz() / 1000000 * kopt.tick_us;
}
