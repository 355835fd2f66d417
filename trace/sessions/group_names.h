/* SPDX-License-Identifier: MIT */
/* The groups of events by name: what the option session.1 takes, and what dump and monitor show. */
#pragma once

#include "trace/groups.h"

/* Adds what the words of "compact+dpc+spinlock" name; a group's value, 0x20010000, is a word, too. 0, or -EINVAL: a
 * word is unknown; then `mask` may have some of them. `compact` and `full` (or `cswitch`) together are `both`. */
int trace_groups_parse(const char *text, size_t size, struct perfinfo_groupmask *mask);
/* All words, for messages. */
#define TRACE_GROUPS_WORDS                                                                                             \
    "both, compact, full, cswitch, process, thread, loader, dispatcher, priority, interrupt, dpc, profile, "           \
    "pmc_profile, spinlock, cpu_config, mark, no_sysconfig, none"

#define TRACE_GROUPS_TEXT 256
/* The words that give this mask, joined by '+', "none" for no group; a bit without a word as its group's value in
 * hexadecimal. */
void trace_groups_show(const struct perfinfo_groupmask *mask, char text[TRACE_GROUPS_TEXT]);
