/* SPDX-License-Identifier: MIT */
/* The workloads that are defined here, for the option workload=. */
#include "kernel/options/row.h"

KOPT_WORKLOAD(mix, NULL);
KOPT_WORKLOAD(sleepers, NULL);
