/* SPDX-License-Identifier: MIT */
/* The workload that is defined here, for the option workload=. */
#include "kernel/options/row.h"

KOPT_WORKLOAD(user, NULL);
