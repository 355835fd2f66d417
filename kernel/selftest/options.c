/* SPDX-License-Identifier: MIT */
/* The workloads that are defined here, for the option workload=. */
#include "kernel/options/row.h"

KOPT_WORKLOAD(traps, NULL);
KOPT_WORKLOAD(known, "pebs!=none,pebs.later=none"); /* it is about what PEBS counts, and uses the counters itself */
KOPT_WORKLOAD(hostile, NULL);
