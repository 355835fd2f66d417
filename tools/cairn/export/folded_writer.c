/* SPDX-License-Identifier: MIT */
/* Folded stacks, from which flame graphs are made: "thread;function" and how many PEBS records were found there, or
 * samples of a profile. */
#include <inttypes.h>
#include <string.h>

#include "tools/cairn/base/error.h"
#include "tools/cairn/export/stacks.h"
#include "tools/cairn/model/filter.h"

/* Its first line is frames with a semicolon in between, a blank, and a number. */
static bool own(const char *start, size_t size)
{
    const char *end = memchr(start, '\n', size), *at = start;
    bool several = false;
    for (; end && at < end && (unsigned char)*at > ' '; at++)
        several |= *at == ';';
    if (!several || *at != ' ' || ++at == end)
        return false;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at == end;
}

static void record(struct cairn_output *o, const struct cairn_item *item)
{
    cairn_stacks_add(o->state, o, item);
}

static void event(struct cairn_output *o, const struct cairn_item *item, const struct cairn_live *live)
{
    (void)live;
    if (o->sample)
        cairn_stacks_add_sample(o->state, o, item, o->sample);
}

static void write_stack(void *to, const char *const *frames, unsigned depth, uint64_t records)
{
    for (unsigned i = 0; i < depth; i++)
        fprintf(to, "%s%s", i ? ";" : "", frames[i]);
    fprintf(to, " %" PRIu64 "\n", records);
}

static int end(struct cairn_output *o)
{
    const struct cairn_stacks *stacks = o->state;
    cairn_stacks_walk(stacks, write_stack, o->file);
    if (stacks->records)
        return 0;
    if (cairn_filter_on())
        cairn_error("no %s match %s, so there are no stacks", cairn_out_samples(o, 2), cairn_filter_text());
    else
        cairn_error("this log has no PEBS records%s, so there are no stacks%s",
                    o->log->own ? "" : " and no samples of a profile", o->log->own ? " (cairn info says why)" : "");
    return CAIRN_BAD;
}

static void free_stacks(struct cairn_output *o)
{
    cairn_stacks_free(o->state);
}

const struct cairn_writer cairn_writer_folded = {
    .name = "folded",
    .summary = "lines 'thread;function COUNT' for PEBS records, the input of flame graphs. With --elf, and branches "
               "(LBR, BTS) in the trace, the callers are added as far as the branches show them. From a profile of "
               "Windows, lines 'thread;caller;...;place COUNT' for its samples",
    .each = true,
    .state = sizeof(struct cairn_stacks),
    .own = own,
    .record = record,
    .event = event,
    .samples = true,
    .end = end,
    .free = free_stacks,
};
