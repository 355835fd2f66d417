/* SPDX-License-Identifier: MIT */
/* What the switch hook takes, measured by itself. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for the CPUs in use, once, before the first session: so many bytes. */
size_t kcost_bytes(void);
void kcost_init(void *memory);

/* One call of the hook on this CPU took so many TSC cycles. Interrupts off. */
void kcost_add(uint32_t cpu, uint64_t cycles);

/* Over all CPUs and calls, in TSC cycles: upper bounds of their classes, which are 1/16 wide. */
struct kcost {
    uint64_t count, min, median, p99;
};
struct kcost kcost(void);
