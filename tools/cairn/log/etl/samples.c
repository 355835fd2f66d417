/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/samples.h"

#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/event_walk.h"

struct definition { /* of a key */
    uint64_t key;
    int64_t time;
    size_t order; /* as they came */
    bool kernel;
    struct cairn_stack_part part;
};

struct told { /* a part of a stack, of a thread's event */
    int64_t time, of;
    size_t order;
    uint64_t key; /* where `part` has no addresses yet */
    uint32_t tid, pid, cpu;
    bool keyed, kernel; /* kernel: of a key */
    struct cairn_stack_part part;
};

struct reading {
    struct {
        struct definition *items;
        size_t count, room;
    } definitions;
    struct {
        struct told *items;
        size_t count, room;
    } told;
    struct cairn_samples *samples;
    size_t open; /* stacks from here on wait for the thread to leave the kernel */
};

uint8_t cairn_samples_kind(const struct cairn_log *log)
{
    uint64_t timer = 0, counters = 0;
    for (uint32_t c = 0; c < log->cpus && log->etl && !log->own; c++) {
        timer += log->cpu[c].activity.events[CAIRN_LIVE_PROFILE];
        counters += log->cpu[c].activity.events[CAIRN_LIVE_PMC];
    }
    return timer ? CAIRN_LIVE_PROFILE : counters ? CAIRN_LIVE_PMC : CAIRN_LIVE_KINDS;
}

const char *cairn_samples_name(uint8_t kind, uint64_t count)
{
    return kind == CAIRN_LIVE_PROFILE ? cairn_plural(count, "timer sample", "timer samples")
           : kind == CAIRN_LIVE_PMC   ? cairn_plural(count, "counter sample", "counter samples")
                                      : cairn_plural(count, "PEBS record", "PEBS records");
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static uint64_t address_of(const struct cairn_stack_part *p, unsigned i)
{
    const uint8_t *at = p->at + (size_t)i * p->pointer;
    return p->pointer == 8 ? cairn_get64(at) : cairn_get32(at);
}

static bool in_kernel(const struct cairn_stack_part *p, unsigned i)
{
    return address_of(p, i) >> (8 * p->pointer - 1);
}

/* What is left of a payload behind `at` bytes; none: no whole address. */
static struct cairn_stack_part part_of(const struct cairn_event *e, uint32_t at)
{
    const uint32_t count = e->size > at ? (e->size - at) / e->pointer : 0;
    return (struct cairn_stack_part){count ? e->payload + at : NULL, (uint16_t)count, e->pointer};
}

/* ---- what the events tell ---------------------------------------------------------------------------------------- */

static void define(struct reading *r, const struct cairn_event *e)
{
    struct definition d = {.time = e->time, .order = r->definitions.count, .part = part_of(e, e->pointer)};
    if (!d.part.at)
        return;
    d.key = e->pointer == 8 ? cairn_get64(e->payload) : cairn_get32(e->payload);
    d.kernel = in_kernel(&d.part, d.part.count - 1u); /* a key may be one of each at the same time */
    *CAIRN_ADD(r->definitions) = d;
}

static void tell(struct reading *r, const struct cairn_event *e, uint32_t cpu)
{
    struct told t = {.time = e->time, .order = r->told.count, .keyed = e->hook != HOOK_STACK};
    if (e->size < ETL_STACK_FIXED + (t.keyed ? e->pointer : 0u))
        return;
    const uint8_t *behind = e->payload + ETL_STACK_FIXED;
    t.of = (int64_t)cairn_get64(e->payload + ETL_STACK_TIME);
    t.pid = cairn_get32(e->payload + ETL_STACK_PROCESS);
    t.tid = cairn_get32(e->payload + ETL_STACK_THREAD);
    t.cpu = t.tid ? 0 : cpu;
    t.kernel = e->hook == HOOK_STACK_KEY_KERNEL;
    if (t.keyed)
        t.key = e->pointer == 8 ? cairn_get64(behind) : cairn_get32(behind);
    else
        t.part = part_of(e, ETL_STACK_FIXED);
    *CAIRN_ADD(r->told) = t;
}

static void gather(struct reading *r, const struct cairn_log *log)
{
    struct cairn_walk walk;
    struct cairn_event e;
    for (uint32_t c = 0; c < log->cpus; c++)
        for (cairn_walk_init(&walk, log, c); cairn_walk_next(&walk, &e);) {
            if (e.unknown_items || e.version != HOOK_VERSION_STACK)
                continue;
            if (e.hook == HOOK_STACK_KEY_CREATED || e.hook == HOOK_STACK_KEY_DELETED ||
                e.hook == HOOK_STACK_KEY_RUNDOWN)
                define(r, &e);
            else if (e.hook == HOOK_STACK || e.hook == HOOK_STACK_KEY_KERNEL || e.hook == HOOK_STACK_KEY_USER)
                tell(r, &e, c);
        }
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct definition *x = a, *y = b;
    if (x->kernel != y->kernel)
        return x->kernel ? 1 : -1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Windows tells what a key stood for when it gives it up: the next time. Where nobody does, the last time counts. */
static void look_up(const struct reading *r, struct told *t)
{
    const struct definition key = {.key = t->key, .kernel = t->kernel, .time = t->time}, *all = r->definitions.items;
    size_t low = 0, high = r->definitions.count;
    while (low < high) { /* the first that is not before */
        const size_t middle = low + (high - low) / 2;
        if (by_key(&all[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < r->definitions.count && all[low].key == t->key && all[low].kernel == t->kernel)
        t->part = all[low].part;
    else if (low && all[low - 1].key == t->key && all[low - 1].kernel == t->kernel)
        t->part = all[low - 1].part;
}

/* ---- parts become stacks ----------------------------------------------------------------------------------------- */

static int by_thread(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static struct cairn_sample_stack *add(struct reading *r, const struct told *t)
{
    const uint32_t order = (uint32_t)r->samples->stacks.count;
    struct cairn_sample_stack *s = CAIRN_ADD(r->samples->stacks);
    *s = (struct cairn_sample_stack){.time = t->of, .tid = t->tid, .pid = t->pid, .cpu = t->cpu, .order = order};
    return s;
}

/* The next part of a thread. */
static void join(struct reading *r, const struct told *t)
{
    bool found = false;
    if (in_kernel(&t->part, 0)) {
        struct cairn_sample_stack *s = add(r, t);
        s->kernel = t->part;
        s->whole = !in_kernel(&t->part, t->part.count - 1u);
        return;
    }
    for (; r->open < r->samples->stacks.count; r->open++) {
        struct cairn_sample_stack *s = &r->samples->stacks.items[r->open];
        if (s->whole || s->pid != t->pid)
            continue;
        if (!s->user.at)
            s->user = t->part;
        found |= s->time == t->of;
    }
    if (!found) {
        add(r, t)->user = t->part;
        r->open = r->samples->stacks.count;
    }
}

static int by_sample(const void *a, const void *b)
{
    const struct cairn_sample_stack *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static int in_order(const void *a, const void *b)
{
    const struct cairn_sample_stack *x = a, *y = b;
    const int c = by_sample(a, b);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* Stacks of one event become one. */
static void merge(struct cairn_samples *s)
{
    struct cairn_sample_stack *all = s->stacks.items;
    size_t kept = 0;
    if (s->stacks.count)
        qsort(all, s->stacks.count, sizeof(*all), in_order);
    for (size_t i = 0; i < s->stacks.count; i++) {
        struct cairn_sample_stack *last = kept ? &all[kept - 1] : NULL;
        if (!last || by_sample(last, &all[i]) != 0) {
            all[kept++] = all[i];
            continue;
        }
        if (!last->kernel.at) {
            last->kernel = all[i].kernel;
            last->whole = all[i].whole;
        }
        if (!last->user.at)
            last->user = all[i].user;
    }
    s->stacks.count = kept;
}

void cairn_samples_read(struct cairn_samples *samples, const struct cairn_log *log)
{
    struct reading r = {.samples = samples};
    *samples = (struct cairn_samples){.log = log, .kind = cairn_samples_kind(log)};
    if (samples->kind == CAIRN_LIVE_KINDS)
        return;
    gather(&r, log);
    if (r.definitions.count)
        qsort(r.definitions.items, r.definitions.count, sizeof(*r.definitions.items), by_key);
    if (r.told.count)
        qsort(r.told.items, r.told.count, sizeof(*r.told.items), by_thread);
    for (size_t i = 0; i < r.told.count; i++) {
        struct told *t = &r.told.items[i];
        if (i && (t->tid != t[-1].tid || t->cpu != t[-1].cpu))
            r.open = samples->stacks.count;
        if (t->keyed)
            look_up(&r, t);
        if (t->part.at)
            join(&r, t);
    }
    merge(samples);
    free(r.definitions.items);
    free(r.told.items);
}

void cairn_samples_free(struct cairn_samples *samples)
{
    free(samples->stacks.items);
    *samples = (struct cairn_samples){0};
}

/* ---- a sample ---------------------------------------------------------------------------------------------------- */

static const struct cairn_sample_stack *stack_of(const struct cairn_samples *s, int64_t time, uint32_t tid,
                                                 uint32_t cpu)
{
    const struct cairn_sample_stack key = {.time = time, .tid = tid, .cpu = tid ? 0 : cpu};
    return s->stacks.count ? bsearch(&key, s->stacks.items, s->stacks.count, sizeof(key), by_sample) : NULL;
}

bool cairn_samples_take(const struct cairn_samples *samples, uint32_t cpu, const struct cairn_live *live,
                        struct cairn_sample *sample)
{
    struct cairn_live_sample is;
    if (!live || live->kind != samples->kind || !cairn_live_sample(live, &is))
        return false;
    *sample = (struct cairn_sample){.ip = is.ip, .tid = is.tid};
    sample->stack = stack_of(samples, live->time, is.tid, cpu);
    sample->pid = is.tid ? cairn_process_at(samples->log, is.tid, live->time) : 0;
    if (sample->pid == CAIRN_NO_TID && sample->stack)
        sample->pid = sample->stack->pid;
    return true;
}

unsigned cairn_sample_frames(const struct cairn_sample *sample, uint64_t frames[CAIRN_FRAMES], bool *cut)
{
    const struct cairn_sample_stack none = {0}, *s = sample->stack ? sample->stack : &none;
    const struct cairn_stack_part *const parts[] = {&s->kernel, &s->user};
    unsigned n = 0;
    frames[n++] = sample->ip;
    *cut = false;
    for (unsigned p = 0; p < 2; p++)
        for (unsigned i = 0; parts[p]->at && i < parts[p]->count; i++) {
            const uint64_t address = address_of(parts[p], i);
            if (n == 1 && i == 0 && address == sample->ip) /* it is the sample's own */
                continue;
            if (n == CAIRN_FRAMES) {
                *cut = true;
                return n;
            }
            frames[n++] = address;
        }
    return n;
}

const struct cairn_etl_life *cairn_sample_image(const struct cairn_log *log, const struct cairn_sample *sample,
                                                int64_t time, uint64_t address)
{
    const struct cairn_lives *lives = &log->etl->lives;
    const struct cairn_etl_life *image = NULL;
    if (sample->pid != CAIRN_NO_TID)
        image = cairn_lives_image(lives, sample->pid, time, address);
    return image ? image : cairn_lives_image(lives, 0, time, address);
}

const char *cairn_sample_place(char out[CAIRN_SHOWN], const struct cairn_log *log, const struct cairn_sample *sample,
                               int64_t time, uint64_t address)
{
    const struct cairn_etl_life *image = cairn_sample_image(log, sample, time, address);
    if (!image)
        return cairn_show_address(out, log, address, CAIRN_SHOWN - 1);
    const char *name = image->name[0] ? image->name : "[unnamed]";
    return cairn_show_offset(out, cairn_slice_of(name), address - image->base, CAIRN_SHOWN - 1);
}
