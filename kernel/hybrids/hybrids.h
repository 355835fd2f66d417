/* SPDX-License-Identifier: MIT */
/* Options of hybrids, whose cores are of two kinds. */
#pragma once

#include <stdbool.h>

#include "kernel/options/options.h"

struct ds_config;

enum khybrid_cpus { KHYBRID_ALL, KHYBRID_CORE, KHYBRID_ATOM };

extern struct khybrid_options {
    char events[KOPT_TEXT]; /* of efficient cores */
    uint32_t cpus;          /* enum khybrid_cpus: which use PEBS */
} khybrid_options;

/* Whether efficient cores have events of their own, not those of pebs=. */
bool khybrid_own_events(void);
/* What efficient cores sample. 0 or -EINVAL with one line. */
int khybrid_config(struct ds_config *atom, char *error, size_t error_size);
/* A line that begins with option 'pebs' is about pebs.atom: it says so then. */
void khybrid_name_option(char *error, size_t error_size);
