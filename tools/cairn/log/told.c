/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/told.h"

#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/number_map.h"
#include "tools/cairn/event/etl_layout.h"
#include "trace/groups.h"
#include "trace/rundown/rundown.h"

static const struct row {
    uint32_t hook;
    uint8_t version, class, what;
    uint32_t least; /* bytes of payload */
} rows[] = {
/* clang-format off */
#define PROCESS(hook, what) {hook, HOOK_VERSION_PROCESS, CAIRN_CLASS_PROCESS, what, sizeof(struct etw_process) + 4}
#define THREAD(hook, what)  {hook, HOOK_VERSION_THREAD, CAIRN_CLASS_THREAD, what, sizeof(struct etw_thread)}
#define IMAGE(hook, what)   {hook, HOOK_VERSION_IMAGE, CAIRN_CLASS_IMAGE, what, sizeof(struct etw_image)}
#define OTHER(hook, version, bytes) {hook, version, CAIRN_CLASS_OTHER, CAIRN_TOLD_OTHER, bytes}
    /* clang-format on */
    PROCESS(HOOK_PROCESS_START, CAIRN_TOLD_START),
    PROCESS(HOOK_PROCESS_END, CAIRN_TOLD_END),
    PROCESS(HOOK_PROCESS_DC_START, CAIRN_TOLD_DC_START),
    PROCESS(HOOK_PROCESS_DC_END, CAIRN_TOLD_DC_END),
    THREAD(HOOK_THREAD_START, CAIRN_TOLD_START),
    THREAD(HOOK_THREAD_END, CAIRN_TOLD_END),
    THREAD(HOOK_THREAD_DC_START, CAIRN_TOLD_DC_START),
    THREAD(HOOK_THREAD_DC_END, CAIRN_TOLD_DC_END),
    {HOOK_THREAD_SET_NAME, HOOK_VERSION_THREAD_NAME, CAIRN_CLASS_THREAD, CAIRN_TOLD_NAME,
     sizeof(struct etw_thread_name)},
    IMAGE(HOOK_IMAGE_LOAD, CAIRN_TOLD_START),
    IMAGE(HOOK_IMAGE_UNLOAD, CAIRN_TOLD_END),
    IMAGE(HOOK_IMAGE_DC_START, CAIRN_TOLD_DC_START),
    IMAGE(HOOK_IMAGE_DC_END, CAIRN_TOLD_DC_END),
    OTHER(HOOK_KERNEL_BASE, HOOK_VERSION_KERNEL_BASE, 8),
    OTHER(HOOK_HEADER_EXTENSION, HOOK_VERSION_HEADER, sizeof(struct etw_header_extension)),
    OTHER(HOOK_GROUP_MASKS_END, HOOK_VERSION_HEADER, sizeof(struct etw_header_extension)),
    OTHER(HOOK_RUNDOWN_COMPLETE, HOOK_VERSION_HEADER, 0),
    OTHER(HOOK_CPU_CONFIG, HOOK_VERSION_CPU_CONFIG, sizeof(struct etw_cpu_config)),
    OTHER(HOOK_PROCESSOR_GROUP, HOOK_VERSION_PROCESSOR, 12),
    OTHER(HOOK_PROCESSOR_NUMBER, HOOK_VERSION_PROCESSOR, 8),
};

static const struct row *find(uint32_t hook)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].hook == hook)
            return &rows[i];
    return NULL;
}

static const uint32_t group_of_class[CAIRN_STRETCHES] = {PERF_PROCESS, PERF_THREAD, PERF_LOADER};

uint32_t cairn_told_group(uint32_t hook)
{
    const struct row *r = find(hook);
    return r && r->class < CAIRN_STRETCHES ? group_of_class[r->class] : 0;
}

/* ---- index ------------------------------------------------------------------------------------------------------- */

bool cairn_told_index(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *e)
{
    const struct row *r = find(e->hook);
    if (!r || e->version != r->version || e->unknown_items || e->pointer != 8)
        return true;
    if (e->size < r->least)
        return false;
    struct cairn_told *n = CAIRN_ADD(cpu->told);
    n->payload = cairn_hold(log, cpu, e->payload, e->size);
    n->time = e->time;
    n->size = e->size;
    n->hook = (uint16_t)e->hook;
    n->version = e->version;
    n->class = r->class;
    n->what = r->what;
    memcpy(n->stretch, cpu->told.stretch, sizeof(n->stretch));
    return true;
}

void cairn_stretch_begin(struct cairn_cpu *cpu, struct cairn_ack *a)
{
    struct perfinfo_groupmask masks;
    memcpy(&masks, a->event.masks, sizeof(masks));
    for (unsigned i = 0; i < CAIRN_STRETCHES; i++) {
        bool on = a->event.what != CAIRN_SESSION_STOP && trace_group_on(&masks, group_of_class[i]);
        if (on && (a->event.what == CAIRN_SESSION_START || !cpu->told.stretch[i]))
            cpu->told.stretch[i] = ++cpu->told.stretches[i];
        if (!on)
            cpu->told.stretch[i] = 0;
    }
    memcpy(a->stretch, cpu->told.stretch, sizeof(a->stretch));
}

void cairn_told_read(struct cairn_rundown *r, const struct cairn_told *t)
{
    const struct cairn_event e = {
        .payload = t->payload,
        .size = t->size,
        .hook = t->hook,
        .version = t->version,
        .pointer = 8,
    };
    cairn_rundown_read(r, &e);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

struct known { /* while names are looked for */
    struct cairn_text *text;
    size_t stream;           /* names of the log's own stream */
    struct cairn_map by_tid; /* positions behind those */
};

/* Whether the log's own names have it. */
static bool named(const struct known *k, uint32_t tid)
{
    size_t low = 0, high = k->stream;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (k->text->names.items[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->stream && k->text->names.items[low].tid == tid;
}

static void name_thread(struct known *k, const struct cairn_told *told)
{
    struct cairn_rundown r;
    cairn_told_read(&r, told);
    if (named(k, r.tid) || (!r.tid && (told->what != CAIRN_TOLD_DC_START || !r.name[0])))
        return;
    uint32_t at = r.tid ? cairn_map_find(&k->by_tid, r.tid) : 0;
    if (!at) {
        *CAIRN_ADD(k->text->names) = (struct cairn_name){.tid = r.tid, .flag = r.tid ? '-' : 'i', .name = {"", 0}};
        at = (uint32_t)k->text->names.count;
        if (r.tid)
            cairn_map_add(&k->by_tid, r.tid, at - 1);
    }
    struct cairn_name *n = &k->text->names.items[at - 1];
    if (told->what == CAIRN_TOLD_START || told->what == CAIRN_TOLD_DC_START)
        n->base = r.base_priority;
    if (r.name[0] && !n->name.size)
        n->name = cairn_text_keep(k->text, r.name);
}

void cairn_told_names(struct cairn_log *log)
{
    struct known k = {.text = &log->text, .stream = log->text.names.count};
    for (uint32_t c = 0; c < log->cpus; c++)
        for (size_t i = 0; i < log->cpu[c].told.count; i++)
            if (log->cpu[c].told.items[i].class == CAIRN_CLASS_THREAD)
                name_thread(&k, &log->cpu[c].told.items[i]);
    cairn_map_free(&k.by_tid);
    size_t kept = k.stream;
    for (size_t i = k.stream; i < k.text->names.count; i++) /* some were never given a name */
        if (k.text->names.items[i].name.size)
            k.text->names.items[kept++] = k.text->names.items[i];
    k.text->names.count = kept;
    if (kept > k.stream)
        cairn_text_order_names(k.text);
}
