/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/cairn/export/stacks.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/callstack.h"

#define STACK_BYTES ((CAIRN_CALLS + 3u) * CAIRN_SHOWN)

struct node {
    uint64_t records;
    char text[];
};

union key { /* a node on the stack */
    struct node node;
    char bytes[sizeof(struct node) + STACK_BYTES];
};

/* A frame's end is below all that a frame can hold: what begins with the same frames is together. */
static int rank(char c)
{
    return c == ';' ? 1 : (unsigned char)c;
}

static int by_text(const void *a, const void *b)
{
    const char *x = ((const struct node *)a)->text, *y = ((const struct node *)b)->text;
    for (; *x && *x == *y; x++, y++)
        ;
    return rank(*x) - rank(*y);
}

/* What separates frames, and frames from the count, is in none of them. */
static void clean(char *frame)
{
    for (; *frame; frame++)
        if (*frame == ';' || (unsigned char)*frame <= ' ')
            *frame = '_';
}

static struct node *node_of(struct cairn_stacks *stacks, const struct node *key)
{
    struct node **found = tfind(key, &stacks->tree, by_text);
    if (found)
        return *found;
    const size_t size = strlen(key->text) + 1;
    struct node *n = cairn_alloc(sizeof(*n) + size);
    memcpy(n->text, key->text, size);
    if (!tsearch(n, &stacks->tree, by_text))
        cairn_out_of_memory();
    stacks->count++;
    return n;
}

/* Adds a frame, and what separates it. */
static size_t add_frame(char *text, size_t used, char frame[CAIRN_SHOWN])
{
    clean(frame);
    return used + (size_t)snprintf(text + used, STACK_BYTES - used, "%s%s", used ? ";" : "", frame);
}

/* Its function, else its file. */
static size_t add_function(char *text, size_t used, const struct cairn_output *o, uint32_t process, uint64_t address)
{
    char function[CAIRN_SHOWN];
    if ((!cairn_out_function(o, address, function) || !*function) &&
        !cairn_show_file(function, o->log, process, address))
        snprintf(function, sizeof(function), "[unknown]");
    return add_frame(text, used, function);
}

void cairn_stacks_add(struct cairn_stacks *stacks, const struct cairn_output *o, const struct cairn_item *item)
{
    char frame[CAIRN_SHOWN];
    struct cairn_callstack calls;
    union key key;
    char *text = key.bytes + offsetof(struct node, text);
    if (item->blame == CAIRN_BLAME_KNOWN)
        cairn_show_thread(frame, o->log, item->tid, CAIRN_SHOWN - 1);
    else
        snprintf(frame, sizeof(frame), "[%s]", cairn_blame_text(item->blame));
    const uint32_t process =
        item->blame == CAIRN_BLAME_KNOWN ? cairn_process_at(o->log, item->tid, item->time) : CAIRN_NO_TID;
    size_t used = add_frame(text, 0, frame);
    if (cairn_callstack_read(&calls, &stacks->branches, o->log, o->elf, item)) {
        snprintf(frame, sizeof(frame), "[...]");
        used = add_frame(text, used, frame);
        for (unsigned i = calls.count; i-- > 0;)
            used = add_function(text, used, o, process, calls.call[i]);
    }
    add_function(text, used, o, process, item->record->ip);
    node_of(stacks, &key.node)->records++;
    stacks->records++;
}

static void list(const void *node, VISIT visit, void *closure)
{
    const struct node ***next = closure;
    if (visit == postorder || visit == leaf)
        *(*next)++ = *(const struct node *const *)node;
}

void cairn_stacks_walk(const struct cairn_stacks *stacks,
                       void (*tell)(void *context, const char *stack, uint64_t records), void *context)
{
    const struct node **nodes = cairn_alloc((stacks->count + 1) * sizeof(*nodes)), **next = nodes;
    twalk_r(stacks->tree, list, &next);
    for (size_t i = 0; i < stacks->count; i++)
        tell(context, nodes[i]->text, nodes[i]->records);
    free(nodes);
}

void cairn_stacks_free(struct cairn_stacks *stacks)
{
    tdestroy(stacks->tree, free);
    cairn_branches_free(&stacks->branches);
}
