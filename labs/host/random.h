/* SPDX-License-Identifier: MIT */
/* Numbers that the checks on the host draw. The seed alone decides them. */
#pragma once

#include <stdint.h>

/* The next number: xorshift64*, which begins at lab_seed. */
uint64_t lab_random(void);
/* The next one below `limit`, which is not 0. */
uint32_t lab_below(uint32_t limit);
