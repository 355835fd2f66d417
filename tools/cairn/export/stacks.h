/* SPDX-License-Identifier: MIT */
/* Where PEBS records were found: how many in each function of each thread. */
#pragma once

#include "tools/cairn/export/callstack.h"
#include "tools/cairn/export/writer.h"

struct cairn_stacks { /* zeroed: none */
    void *tree;
    size_t count; /* of different ones */
    uint64_t records;
    struct cairn_branches branches;
};

/* A stack is its frames with semicolons in between, the thread ("name:tid", or in brackets why it is not known) first.
 * No frame holds a semicolon or blank, or is empty. */
void cairn_stacks_add(struct cairn_stacks *stacks, const struct cairn_output *o, const struct cairn_item *item);
/* Stacks that begin with the same frames are neighbours, the shortest first. */
void cairn_stacks_walk(const struct cairn_stacks *stacks,
                       void (*tell)(void *context, const char *stack, uint64_t records), void *context);
void cairn_stacks_free(struct cairn_stacks *stacks);
