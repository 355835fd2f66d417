/* SPDX-License-Identifier: MIT */
#include "kernel/cpu.h"

struct kcpu *kcpu_table[MAX_CPUS];
uint32_t kcpu_count;
