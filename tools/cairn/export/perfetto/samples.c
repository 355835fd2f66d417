/* SPDX-License-Identifier: MIT */
/* PEBS records, or a profile's samples, as a profiler's: PerfSample, and the InternedData that they refer to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/perfetto/writer.h"
#include "tools/cairn/model/counters.h"

enum { MAPPING_KERNEL = 1, MAPPING_OTHER, MAPPING_IMAGES /* and so on: those of a file of Windows */ };

/* Bytes of a number in hex digits, as Perfetto has a build ID. */
static size_t bytes_of(struct cairn_slice hex, uint8_t *out, size_t room)
{
    size_t n = 0;
    for (; n < room && 2 * n + 1 < hex.size; n++) {
        unsigned byte;
        char digits[3] = {hex.at[2 * n], hex.at[2 * n + 1], '\0'};
        if (sscanf(digits, "%2x", &byte) != 1)
            return 0;
        out[n] = (uint8_t)byte;
    }
    return n;
}

static bool kernel_range(const struct cairn_output *o, uint64_t *base, uint64_t *end)
{
    uint64_t size;
    if (!cairn_slice_u64(cairn_key(&o->log->text, "kernel.base"), base) ||
        !cairn_slice_u64(cairn_key(&o->log->text, "kernel.size"), &size))
        return false;
    *end = *base + size;
    return *end > *base;
}

/* The images that frames are in, as the sequence begins and each time that it forgets. */
static void put_mappings(struct cairn_output *o)
{
    uint64_t base = 0, end = 0;
    uint8_t build[32];
    static char kernel[] = "kernel.elf", other[] = "[unknown]";
    const size_t build_bytes = bytes_of(cairn_key(&o->log->text, "kernel.build_id"), build, sizeof(build));
    const bool known = kernel_range(o, &base, &end);
    uint64_t paths[] = {MAPPING_KERNEL, MAPPING_OTHER};
    Pf__InternedString id = PF__INTERNED_STRING__INIT, path[2], *ids[] = {&id}, *names[2];
    Pf__Mapping mapping[2], *mappings[2];
    Pf__InternedData data = PF__INTERNED_DATA__INIT;
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    for (int i = 0; i < 2; i++) {
        pf__interned_string__init(&path[i]);
        pf__mapping__init(&mapping[i]);
        path[i].has_iid = mapping[i].has_iid = true;
        path[i].iid = mapping[i].iid = paths[i];
        path[i].has_str = true;
        path[i].str.data = (uint8_t *)(i ? other : kernel);
        path[i].str.len = strlen(i ? other : kernel);
        mapping[i].n_path_string_ids = 1;
        mapping[i].path_string_ids = &paths[i];
        mapping[i].has_start = mapping[i].has_end = true;
        names[i] = &path[i];
        mappings[i] = &mapping[i];
    }
    mapping[0].start = known ? base : 0;
    mapping[0].end = known ? end : 0;
    if (build_bytes) {
        id.has_iid = id.has_str = mapping[0].has_build_id = true;
        id.iid = mapping[0].build_id = 1;
        id.str = (ProtobufCBinaryData){build_bytes, build};
        data.n_build_ids = 1;
        data.build_ids = ids;
    }
    data.n_mapping_paths = data.n_mappings = 2;
    data.mapping_paths = names;
    data.mappings = mappings;
    p.interned_data = &data;
    p.has_sequence_flags = true;
    p.sequence_flags = PF__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED;
    cairn_pf_put(o, &p, CAIRN_PF_SAMPLES);
}

/* What the samples are of: without, the viewer takes them for a timer's. The period where there is only one. */
static void put_event_name(struct cairn_output *o)
{
    Pf__PerfSampleDefaults__Timebase event = PF__PERF_SAMPLE_DEFAULTS__TIMEBASE__INIT;
    Pf__PerfSampleDefaults samples = PF__PERF_SAMPLE_DEFAULTS__INIT;
    Pf__TracePacketDefaults defaults = PF__TRACE_PACKET_DEFAULTS__INIT;
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    char name[CAIRN_SHOWN] = "PEBS";
    struct cairn_counters counters;
    const struct cairn_counter *only = NULL;
    unsigned sampled = 0;
    cairn_counters_read(&counters, &o->log->text, 0);
    for (unsigned i = 0; i < counters.count; i++)
        if (!counters.items[i].plain && !sampled++)
            only = &counters.items[i];
    if (sampled == 1) {
        snprintf(name, sizeof(name), "%.*s", (int)(only->event.size < sizeof(name) ? only->event.size : 0),
                 only->event.at);
        event.has_period = only->period && !only->later;
        event.period = only->period;
    }
    if (cairn_samples_any(&o->samples))
        snprintf(name, sizeof(name), "%s", cairn_samples_name(o->samples.kind, 2));
    event.name = name;
    samples.timebase = &event;
    defaults.perf_sample_defaults = &samples;
    p.trace_packet_defaults = &defaults;
    cairn_pf_put(o, &p, CAIRN_PF_SAMPLES);
}

static void begin(struct cairn_output *o, struct cairn_pf_stacks *s)
{
    if (s->begun)
        return;
    const size_t images = o->log->etl ? o->log->etl->lives.images.count : 0;
    memset(s->slot, 0, sizeof(s->slot));
    s->used = 0;
    s->begun = true;
    free(s->mapped);
    s->mapped = cairn_alloc(images + 1);
    put_mappings(o);
    put_event_name(o);
}

static void put_interned(struct cairn_output *o, Pf__InternedData *data)
{
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    p.interned_data = data;
    p.has_sequence_flags = true;
    p.sequence_flags = PF__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
    cairn_pf_put(o, &p, CAIRN_PF_SAMPLES);
}

/* The mapping of an image of Windows, described before its first frame. */
static uint64_t mapping_of(struct cairn_output *o, struct cairn_pf_stacks *s, const struct cairn_etl_life *image)
{
    const size_t index = (size_t)(image - o->log->etl->lives.images.items);
    uint64_t iid = MAPPING_IMAGES + index;
    Pf__InternedString path = PF__INTERNED_STRING__INIT, *paths[] = {&path};
    Pf__Mapping mapping = PF__MAPPING__INIT, *mappings[] = {&mapping};
    Pf__InternedData data = PF__INTERNED_DATA__INIT;
    if (s->mapped[index])
        return iid;
    s->mapped[index] = true;
    path.has_iid = path.has_str = mapping.has_iid = mapping.has_start = mapping.has_end = true;
    path.iid = mapping.iid = iid;
    path.str = (ProtobufCBinaryData){strlen(image->name), (uint8_t *)image->name};
    mapping.start = image->base;
    mapping.end = image->size > UINT64_MAX - image->base ? UINT64_MAX : image->base + image->size;
    mapping.n_path_string_ids = 1;
    mapping.path_string_ids = &iid;
    data.n_mapping_paths = data.n_mappings = 1;
    data.mapping_paths = paths;
    data.mappings = mappings;
    put_interned(o, &data);
    return iid;
}

/* "ntdll.dll+0x1230" of an image of Windows, whose functions nothing names. */
static bool name_of(struct cairn_output *o, const struct cairn_pf_place *place, char name[CAIRN_SHOWN])
{
    if (!place->image)
        return cairn_out_function(o, place->address, name);
    cairn_show_offset(name, cairn_slice_of(place->image->name), place->address - place->image->base, CAIRN_SHOWN - 1);
    return true;
}

static void put_frame(struct cairn_output *o, struct cairn_pf_stacks *s, const struct cairn_pf_place *place,
                      uint64_t iid)
{
    char function[CAIRN_SHOWN];
    uint64_t base = 0, end;
    const uint64_t address = place->address;
    const bool in_kernel = kernel_range(o, &base, &end) && address >= base && address < end;
    const uint64_t mapping = place->image ? mapping_of(o, s, place->image) : in_kernel ? MAPPING_KERNEL : MAPPING_OTHER;
    Pf__InternedString name = PF__INTERNED_STRING__INIT, *names[] = {&name};
    Pf__Frame frame = PF__FRAME__INIT, *frames[] = {&frame};
    Pf__InternedData data = PF__INTERNED_DATA__INIT;
    if (name_of(o, place, function)) {
        name.has_iid = name.has_str = frame.has_function_name_id = true;
        name.iid = frame.function_name_id = iid;
        name.str = (ProtobufCBinaryData){strlen(function), (uint8_t *)function};
        data.n_function_names = 1;
        data.function_names = names;
    }
    frame.has_iid = frame.has_mapping_id = frame.has_rel_pc = true;
    frame.iid = iid;
    frame.mapping_id = mapping;
    frame.rel_pc = place->image ? address - place->image->base : in_kernel ? address - base : address;
    data.n_frames = 1;
    data.frames = frames;
    put_interned(o, &data);
}

static void put_stack(struct cairn_output *o, uint64_t iid, uint64_t *frames, size_t depth)
{
    Pf__Callstack stack = PF__CALLSTACK__INIT, *stacks[] = {&stack};
    Pf__InternedData data = PF__INTERNED_DATA__INIT;
    stack.has_iid = true;
    stack.iid = iid;
    stack.n_frame_ids = depth;
    stack.frame_ids = frames;
    data.n_callstacks = 1;
    data.callstacks = stacks;
    put_interned(o, &data);
}

/* The slot of a call stack, the caller's with one more address. There is room. */
static size_t node(struct cairn_output *o, struct cairn_pf_stacks *s, uint64_t caller,
                   const struct cairn_pf_place *place)
{
    const size_t slots = sizeof(s->slot) / sizeof(s->slot[0]);
    size_t at = ((place->address ^ caller << 48) * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & (slots - 1);
    while (s->slot[at].iid && (s->slot[at].place.address != place->address || s->slot[at].place.image != place->image ||
                               s->slot[at].caller != caller))
        at = (at + 1) & (slots - 1);
    if (!s->slot[at].iid) {
        s->slot[at].place = *place;
        s->slot[at].caller = caller;
        s->slot[at].iid = ++s->last_iid;
        s->used++;
        if (!caller)
            put_frame(o, s, place, s->slot[at].iid);
    }
    return at;
}

uint64_t cairn_pf_stack(struct cairn_output *o, struct cairn_pf_stacks *s, const struct cairn_pf_place *places,
                        size_t depth)
{
    uint64_t frames[CAIRN_PF_DEPTH], caller = 0;
    size_t at = 0;
    if (s->used + 2 * depth > CAIRN_PF_NODES)
        s->begun = false;
    begin(o, s);
    for (size_t i = 0; i < depth; i++) {
        frames[i] = s->slot[node(o, s, 0, &places[i])].iid;
        at = node(o, s, caller, &places[i]);
        caller = s->slot[at].iid;
    }
    if (!s->slot[at].written)
        put_stack(o, s->slot[at].iid, frames, depth);
    s->slot[at].written = true;
    return s->slot[at].iid;
}

static void put_sample(struct cairn_output *o, const struct cairn_item *item, Pf__PerfSample *s, int64_t time)
{
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    s->has_cpu = true;
    s->cpu = item->cpu;
    p.perf_sample = s;
    p.has_timestamp = p.has_sequence_flags = true;
    p.timestamp = cairn_pf_time(o, time);
    p.sequence_flags = PF__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
    cairn_pf_put(o, &p, CAIRN_PF_SAMPLES);
}

/* The record's function behind those who had called, where branches tell them: never all, then. */
static uint64_t calls_of(struct cairn_output *o, struct cairn_pf_stacks *stacks, const struct cairn_item *item,
                         protobuf_c_boolean *cut)
{
    struct cairn_callstack calls;
    struct cairn_pf_place places[CAIRN_CALLS + 1] = {0};
    size_t depth = 0;
    *cut = cairn_callstack_read(&calls, &stacks->branches, o->log, o->elf, item);
    for (unsigned i = *cut ? calls.count : 0; i-- > 0;)
        places[depth++].address = calls.call[i];
    places[depth++].address = item->record->ip;
    return cairn_pf_stack(o, stacks, places, depth);
}

void cairn_pf_sample(struct cairn_output *o, struct cairn_pf_stacks *stacks, const struct cairn_item *item)
{
    Pf__PerfSample s = PF__PERF_SAMPLE__INIT;
    const bool known = item->blame == CAIRN_BLAME_KNOWN;
    s.callstack_iid = calls_of(o, stacks, item, &s.has_unwind_error);
    s.unwind_error = PF__PERF_SAMPLE__STACK_UNWIND_ERROR__UNWIND_ERROR_MAX_FRAMES_EXCEEDED;
    s.has_pid = s.has_tid = s.has_cpu_mode = s.has_callstack_iid = true;
    s.pid = (uint32_t)(known ? cairn_pf_process(o, item->tid) : CAIRN_PF_UNKNOWN);
    s.tid = known ? item->tid : (uint32_t)cairn_pf_blame_tid(item->blame);
    s.cpu_mode = item->record->ip >> 63 ? PF__PERF_SAMPLE__CPU_MODE__MODE_KERNEL : PF__PERF_SAMPLE__CPU_MODE__MODE_USER;
    put_sample(o, item, &s, item->record->time);
}

void cairn_pf_profile_sample(struct cairn_output *o, struct cairn_pf_stacks *stacks, const struct cairn_item *item)
{
    const struct cairn_sample *sample = o->sample;
    Pf__PerfSample s = PF__PERF_SAMPLE__INIT;
    struct cairn_pf_place places[CAIRN_PF_DEPTH];
    uint64_t frames[CAIRN_FRAMES];
    bool cut;
    const unsigned depth = cairn_sample_frames(sample, frames, &cut);
    for (unsigned i = 0; i < depth; i++) {
        const uint64_t address = frames[depth - 1 - i];
        places[i] = (struct cairn_pf_place){address, cairn_sample_image(o->log, sample, item->time, address)};
    }
    s.callstack_iid = cairn_pf_stack(o, stacks, places, depth);
    s.has_unwind_error = cut;
    s.unwind_error = PF__PERF_SAMPLE__STACK_UNWIND_ERROR__UNWIND_ERROR_MAX_FRAMES_EXCEEDED;
    s.has_pid = s.has_tid = s.has_cpu_mode = s.has_callstack_iid = true;
    s.pid = sample->pid < CAIRN_PF_UNKNOWN ? sample->pid : (uint32_t)cairn_pf_process(o, sample->tid);
    s.tid = sample->tid;
    s.cpu_mode = sample->ip >> 63 ? PF__PERF_SAMPLE__CPU_MODE__MODE_KERNEL : PF__PERF_SAMPLE__CPU_MODE__MODE_USER;
    put_sample(o, item, &s, item->time);
}

void cairn_pf_lost_samples(struct cairn_output *o, struct cairn_pf_stacks *stacks, const struct cairn_item *item,
                           uint64_t lost)
{
    Pf__PerfSample s = PF__PERF_SAMPLE__INIT;
    begin(o, stacks);
    s.has_kernel_records_lost = true;
    s.kernel_records_lost = lost;
    put_sample(o, item, &s, item->time);
}
