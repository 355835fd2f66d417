/* SPDX-License-Identifier: MIT */
/* Where PEBS records were found, or a profile's samples: how many in each function of each thread, by the callers as
 * far as they are known. */
#pragma once

#include "tools/cairn/export/callstack.h"
#include "tools/cairn/export/writer.h"

#define CAIRN_STACK_DEPTH (CAIRN_FRAMES + 2u) /* frames at most: thread, callers that are not told, addresses */
_Static_assert(CAIRN_FRAMES > CAIRN_CALLS, "those of a record are fewer");

struct cairn_stacks { /* zeroed: none */
    void *names, *nodes;
    struct cairn_stacks_node *threads; /* the outermost frames */
    size_t count;                      /* of different ones */
    uint64_t records;                  /* or samples */
    struct cairn_branches branches;
};

/* The first frame of a stack is the thread ("name:tid", or in brackets why it is not known). No frame holds a semicolon
 * or blank, or is empty. */
void cairn_stacks_add(struct cairn_stacks *stacks, const struct cairn_output *o, const struct cairn_item *item);
/* The same of a sample; frames without a function's name are those of images ("ntdll.dll+0x1230"). */
void cairn_stacks_add_sample(struct cairn_stacks *stacks, const struct cairn_output *o, const struct cairn_item *item,
                             const struct cairn_sample *sample);
/* Stacks that begin with the same frames are neighbours, the shortest first. The names stay as long as `stacks`, and
 * equal ones are at the same place. */
typedef void cairn_tell_stack(void *context, const char *const *frames, unsigned depth, uint64_t records);
void cairn_stacks_walk(const struct cairn_stacks *stacks, cairn_tell_stack *tell, void *context);
void cairn_stacks_free(struct cairn_stacks *stacks);
