/* SPDX-License-Identifier: MIT */
#include "tools/grab/base/index.h"

#include "ds/pebs23_layout.h"

#define NOTHING UINT64_MAX

/* At most so many bytes were in the buffer at switch `i`, by the first read behind it. */
struct bound {
    uint64_t bytes; /* NOTHING: unknown */
    bool within;    /* it was read before another thread ran */
};

/* `behind`: of the next switch; at the last one there is none. */
static struct bound bound_at(const struct grab_one_cpu *c, size_t i, const struct grab_cpu *all, struct bound behind)
{
    const struct grab_switch *s = &c->switches[i].s, *next = i + 1 < c->switch_count ? &c->switches[i + 1].s : NULL;
    const struct grab_read *read = next ? &next->read : &all->read;
    const struct bound unknown = {NOTHING, false};
    if ((next ? next->number : all->switches) != s->number + 1)
        return unknown; /* switches are missing, and what was read behind this one */
    if (read->switches == s->number + 1)
        return read->drains == s->drains ? (struct bound){read->bytes, read->tid == s->old_tid} : unknown;
    return next && next->drains == s->drains ? (struct bound){behind.bytes, false} : unknown;
}

bool grab_index_find(struct grab_one_cpu *c, const struct grab_cpu *all, struct grab_index *how)
{
    const uint64_t base = all && c->drain_count ? grab_buffer(c->drains, DS_FORMAT_ARCH).base : 0;
    struct bound bound = {NOTHING, false};
    bool known = base != 0;
    for (size_t i = c->switch_count; i--;) {
        struct grab_switch *s = &c->switches[i].s;
        bound = base ? bound_at(c, i, all, bound) : bound;
        const bool within = bound.within && !s->of_kernel, empty = !bound.bytes;
        s->index = within || empty ? base + bound.bytes : 0;
        how->empty += s->index && empty;
        how->within += s->index && !empty;
        how->unknown += !s->index;
        known &= s->index != 0;
    }
    return known;
}
