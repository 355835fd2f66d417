/* SPDX-License-Identifier: MIT */
/* Clocks that count up all the time, to measure the TSC with: the ACPI PM timer and the HPET. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/clock/frequency.h"

/* A clock of known frequency that counts up, modulo mask + 1. */
struct arch_timer {
    uint64_t hz;
    uint32_t mask;
    uint32_t (*read)(void);
};

/* The TSC's frequency by this timer; false: it stands still, stops, jumps, or counts too fast for its width. */
bool arch_timer_measure(const struct arch_timer *timer, struct arch_interval *interval);
