/* SPDX-License-Identifier: MIT */
/* What the switch hook costs, as it measures it itself. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* kcost_init gets kcost_bytes of zeroed memory for the CPUs in use, once, before the first session. */
size_t kcost_bytes(void);
void kcost_init(void *memory);

/* Over all CPUs and calls, in TSC cycles: the upper bounds of histogram classes, whose width is 1/16. */
struct kcost {
    uint64_t count, min, median, p99;
};
struct kcost kcost(void);
