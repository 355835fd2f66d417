/* SPDX-License-Identifier: MIT */
/* The names that Windows has for what a performance counter counts (trace/pmc_sources.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* NULL: there is no such source. */
const char *trace_pmc_name(uint16_t source);
/* Its number, -ENOENT: `size` bytes of `name` name none. */
int trace_pmc_find(const char *name, size_t size);
