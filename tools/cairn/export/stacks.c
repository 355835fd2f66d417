/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/cairn/export/stacks.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/callstack.h"

/* Stacks that begin alike share these: a frame, called by the one above it. */
struct cairn_stacks_node {
    struct cairn_stacks_node *caller; /* NULL: it is a thread */
    const char *name;                 /* one for each text */
    struct cairn_stacks_node *called, *next;
    uint64_t records; /* that end here */
};

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static const char *name_of(struct cairn_stacks *stacks, const char *text)
{
    char **found = tfind(text, &stacks->names, by_text);
    if (found)
        return *found;
    const size_t size = strlen(text) + 1;
    char *name = cairn_alloc(size);
    memcpy(name, text, size);
    if (!tsearch(name, &stacks->names, by_text))
        cairn_out_of_memory();
    return name;
}

static int by_place(const void *a, const void *b)
{
    const struct cairn_stacks_node *x = a, *y = b;
    const uintptr_t callers[] = {(uintptr_t)x->caller, (uintptr_t)y->caller};
    const uintptr_t names[] = {(uintptr_t)x->name, (uintptr_t)y->name};
    return callers[0] != callers[1] ? (callers[0] > callers[1]) - (callers[0] < callers[1])
                                    : (names[0] > names[1]) - (names[0] < names[1]);
}

/* What separates frames, and frames from the count, is in none of them. */
static void clean(char *frame)
{
    for (; *frame; frame++)
        if (*frame == ';' || (unsigned char)*frame <= ' ')
            *frame = '_';
}

/* The frame that `caller` called. */
static struct cairn_stacks_node *add_frame(struct cairn_stacks *stacks, struct cairn_stacks_node *caller,
                                           char frame[CAIRN_SHOWN])
{
    clean(frame);
    const struct cairn_stacks_node key = {.caller = caller, .name = name_of(stacks, frame)};
    struct cairn_stacks_node **found = tfind(&key, &stacks->nodes, by_place), *n;
    if (found)
        return *found;
    struct cairn_stacks_node **list = caller ? &caller->called : &stacks->threads;
    n = cairn_alloc(sizeof(*n));
    *n = key;
    n->next = *list;
    *list = n;
    if (!tsearch(n, &stacks->nodes, by_place))
        cairn_out_of_memory();
    return n;
}

static void count(struct cairn_stacks *stacks, struct cairn_stacks_node *innermost)
{
    stacks->count += !innermost->records;
    innermost->records++;
    stacks->records++;
}

/* ---- PEBS records ------------------------------------------------------------------------------------------------ */

static struct cairn_stacks_node *add_cut(struct cairn_stacks *stacks, struct cairn_stacks_node *thread)
{
    char frame[CAIRN_SHOWN] = "[...]";
    return add_frame(stacks, thread, frame);
}

/* Its function, else its file. */
static struct cairn_stacks_node *add_function(struct cairn_stacks *stacks, struct cairn_stacks_node *caller,
                                              const struct cairn_output *o, uint32_t process, uint64_t address)
{
    char function[CAIRN_SHOWN];
    if ((!cairn_out_function(o, address, function) || !*function) &&
        !cairn_show_file(function, o->log, process, address))
        snprintf(function, sizeof(function), "[unknown]");
    return add_frame(stacks, caller, function);
}

void cairn_stacks_add(struct cairn_stacks *stacks, const struct cairn_output *o, const struct cairn_item *item)
{
    char frame[CAIRN_SHOWN];
    struct cairn_callstack calls;
    if (item->blame == CAIRN_BLAME_KNOWN)
        cairn_show_thread(frame, o->log, item->tid, CAIRN_SHOWN - 1);
    else
        snprintf(frame, sizeof(frame), "[%s]", cairn_blame_text(item->blame));
    const uint32_t process =
        item->blame == CAIRN_BLAME_KNOWN ? cairn_process_at(o->log, item->tid, item->time) : CAIRN_NO_TID;
    struct cairn_stacks_node *n = add_frame(stacks, NULL, frame);
    if (cairn_callstack_read(&calls, &stacks->branches, o->log, o->elf, item)) {
        n = add_cut(stacks, n);
        for (unsigned i = calls.count; i-- > 0;)
            n = add_function(stacks, n, o, process, calls.call[i]);
    }
    count(stacks, add_function(stacks, n, o, process, item->record->ip));
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static struct cairn_stacks_node *add_place(struct cairn_stacks *stacks, struct cairn_stacks_node *caller,
                                           const struct cairn_output *o, const struct cairn_sample *sample,
                                           int64_t time, uint64_t address)
{
    char frame[CAIRN_SHOWN];
    if (!cairn_sample_image(o->log, sample, time, address))
        return add_function(stacks, caller, o, sample->pid, address);
    cairn_sample_place(frame, o->log, sample, time, address);
    return add_frame(stacks, caller, frame);
}

void cairn_stacks_add_sample(struct cairn_stacks *stacks, const struct cairn_output *o, const struct cairn_item *item,
                             const struct cairn_sample *sample)
{
    uint64_t frames[CAIRN_FRAMES];
    bool cut;
    char frame[CAIRN_SHOWN];
    cairn_show_thread(frame, o->log, sample->tid, CAIRN_SHOWN - 1);
    struct cairn_stacks_node *n = add_frame(stacks, NULL, frame);
    const unsigned depth = cairn_sample_frames(sample, frames, &cut);
    if (cut)
        n = add_cut(stacks, n);
    for (unsigned i = depth; i-- > 0;)
        n = add_place(stacks, n, o, sample, item->time, frames[i]);
    count(stacks, n);
}

/* ---- in order ---------------------------------------------------------------------------------------------------- */

struct walk {
    cairn_tell_stack *tell;
    void *context;
    const char *frames[CAIRN_STACK_DEPTH];
};

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct cairn_stacks_node *const *)a)->name,
                  (*(const struct cairn_stacks_node *const *)b)->name);
}

/* What has been called by the first `depth` frames: they are no more than a stack has. */
static void walk_called(struct walk *w, const struct cairn_stacks_node *first, unsigned depth)
{
    size_t n = 0;
    for (const struct cairn_stacks_node *i = first; i; i = i->next)
        n++;
    const struct cairn_stacks_node **all = cairn_alloc((n + 1) * sizeof(*all));
    n = 0;
    for (const struct cairn_stacks_node *i = first; i; i = i->next)
        all[n++] = i;
    qsort(all, n, sizeof(*all), by_name);
    for (size_t i = 0; i < n; i++) {
        w->frames[depth] = all[i]->name;
        if (all[i]->records)
            w->tell(w->context, w->frames, depth + 1, all[i]->records);
        walk_called(w, all[i]->called, depth + 1);
    }
    free(all);
}

void cairn_stacks_walk(const struct cairn_stacks *stacks, cairn_tell_stack *tell, void *context)
{
    struct walk w = {.tell = tell, .context = context};
    walk_called(&w, stacks->threads, 0);
}

void cairn_stacks_free(struct cairn_stacks *stacks)
{
    tdestroy(stacks->nodes, free);
    tdestroy(stacks->names, free);
    cairn_branches_free(&stacks->branches);
}
