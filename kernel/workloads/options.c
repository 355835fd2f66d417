/* SPDX-License-Identifier: MIT */
/* The workloads that are defined here, for the option workload=. */
#include "kernel/options/row.h"

KOPT_WORKLOAD(pingpong, NULL);
KOPT_WORKLOAD(prodcons, NULL);
KOPT_WORKLOAD(lockfight, NULL);
KOPT_WORKLOAD(hogs, NULL);
