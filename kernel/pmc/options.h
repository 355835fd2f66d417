/* SPDX-License-Identifier: MIT */
/* The options session.pmc and those that go with it. */
#pragma once

#include <stddef.h>

#include "kernel/options/options.h"
#include "trace/pmc/pmc_items.h"

extern struct kpmc_options {
    char counters[KOPT_TEXT], hooks[KOPT_TEXT];
} kpmc_options;

/* What they ask for, without `counter`; no hook where there is no source. 0, or -EINVAL with one line. */
int kpmc_parse(struct trace_pmc *pmc, char *error, size_t error_size);
