/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Whether the processor of ds.preset= has the events, counters, periods, groups and BTS that the options in force ask
 * for; after kopt_check. 0, or negative with one line in `error`, the kernel's own. */
int options_check_processor(char *error, size_t size);
