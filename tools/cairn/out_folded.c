/* SPDX-License-Identifier: MIT */
/* Folded stacks, as flame graphs are made from: "thread;function" and how many PEBS records were found there. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/bytes.h"
#include "tools/cairn/command.h"
#include "tools/cairn/writer.h"

struct folded {
    void *stacks; /* of struct stack, tsearch()'s */
};

struct stack {
    uint64_t count;
    char text[];
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct stack *)a)->text, ((const struct stack *)b)->text);
}

/* Text, and a semicolon in its first line. */
static bool own(const char *start, size_t size)
{
    const char *line = memchr(start, '\n', size);
    return line && memchr(start, ';', (size_t)(line - start)) && !memchr(start, '\0', size);
}

/* What separates frames, or ends them, is not to be in one. */
static void clean(char *frame)
{
    for (; *frame; frame++)
        if (*frame == ';' || (unsigned char)*frame <= ' ')
            *frame = '_';
}

static void record(struct cairn_output *o, const struct cairn_item *item)
{
    struct folded *f = o->state;
    char thread[CAIRN_SHOWN], function[CAIRN_SHOWN];
    if (item->blame == CAIRN_BLAME_KNOWN)
        cairn_show_thread(thread, o->log, item->tid, CAIRN_SHOWN - 1);
    else
        snprintf(thread, sizeof(thread), "[%s]", cairn_blame_text(item->blame));
    if (!cairn_out_function(o, item->record->ip, function))
        snprintf(function, sizeof(function), "[unknown]");
    clean(thread);
    clean(function);
    const size_t size = strlen(thread) + strlen(function) + 2;
    struct stack *s = cairn_alloc(sizeof(*s) + size);
    snprintf(s->text, size, "%s;%s", thread, function);
    struct stack **found = tsearch(s, &f->stacks, by_text);
    if (!found)
        exit(CAIRN_UNREADABLE);
    (*found)->count++;
    if (*found != s)
        free(s);
}

static void write_stack(const void *node, VISIT visit, void *to)
{
    const struct stack *s = *(const struct stack *const *)node;
    if (visit == postorder || visit == leaf)
        fprintf(to, "%s %" PRIu64 "\n", s->text, s->count);
}

static int end(struct cairn_output *o)
{
    struct folded *f = o->state;
    twalk_r(f->stacks, write_stack, o->file);
    return 0;
}

static void free_stacks(struct cairn_output *o)
{
    tdestroy(((struct folded *)o->state)->stacks, free);
}

const struct cairn_writer cairn_writer_folded = {
    .name = "folded",
    .state = sizeof(struct folded),
    .own = own,
    .record = record,
    .end = end,
    .free = free_stacks,
};
