/* SPDX-License-Identifier: MIT */
/* The file: its header, its records one by one, and the sections that describe the machine. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "tools/cairn/export/perf/perf.h"
#include "tools/cairn/log/show.h"

/* ---- records ----------------------------------------------------------------------------------------------------- */

void cairn_perf_bytes(struct cairn_perf_file *f, const void *bytes, size_t size)
{
    if (size > sizeof(f->record) - f->used)
        return;
    memcpy(f->record + f->used, bytes, size);
    f->used += (uint32_t)size;
}

void cairn_perf_32(struct cairn_perf_file *f, uint32_t value)
{
    cairn_perf_bytes(f, &value, sizeof(value));
}

void cairn_perf_64(struct cairn_perf_file *f, uint64_t value)
{
    cairn_perf_bytes(f, &value, sizeof(value));
}

void cairn_perf_string(struct cairn_perf_file *f, const char *text)
{
    static const char zeros[8];
    const size_t size = strnlen(text, 4096);
    cairn_perf_bytes(f, text, size);
    cairn_perf_bytes(f, zeros, 8 - size % 8);
}

void cairn_perf_begin(struct cairn_perf_file *f, enum perf_record_type type, uint16_t misc)
{
    const uint16_t rest[2] = {misc, 0}; /* the size comes at the end */
    f->used = 0;
    cairn_perf_32(f, type);
    cairn_perf_bytes(f, rest, sizeof(rest));
}

void cairn_perf_end(struct cairn_perf_file *f, const struct cairn_perf_where *where)
{
    if (where) {
        cairn_perf_32(f, where->pid ? where->pid : where->tid);
        cairn_perf_32(f, where->tid);
        cairn_perf_64(f, where->time);
        cairn_perf_32(f, where->cpu);
        cairn_perf_32(f, 0);
        cairn_perf_64(f, CAIRN_PERF_ID_DUMMY);
    }
    const uint16_t size = (uint16_t)f->used;
    memcpy(f->record + 6, &size, sizeof(size));
    fwrite(f->record, 1, f->used, f->to);
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

static void put_32(FILE *to, uint32_t value)
{
    fwrite(&value, sizeof(value), 1, to);
}

/* Its size comes first, and zeros fill up to 64 bytes, as perf writes it. */
static void put_string(FILE *to, const char *text)
{
    const uint32_t size = (uint32_t)strlen(text) + 1, padded = (size + 63) / 64 * 64;
    put_32(to, padded);
    fwrite(text, 1, size, to);
    for (uint32_t i = size; i < padded; i++)
        putc(0, to);
}

static void put_events(const struct cairn_output *o)
{
    const struct cairn_perf *p = o->state;
    put_32(o->file, (uint32_t)p->events.count);
    put_32(o->file, sizeof(struct perf_attr));
    for (size_t i = 0; i < p->events.count; i++) {
        const struct cairn_perf_event *e = &p->events.items[i];
        fwrite(&e->attr, sizeof(e->attr), 1, o->file);
        put_32(o->file, 1);
        put_string(o->file, e->name);
        fwrite(&e->id, sizeof(e->id), 1, o->file);
    }
}

static void put_release(const struct cairn_output *o)
{
    char text[CAIRN_SHOWN] = "Cairn ";
    if (cairn_log_grabbed(o->log))
        cairn_slice_text(text, sizeof(text), cairn_key(&o->log->text, "grab.source"));
    else
        cairn_slice_text(text + strlen(text), sizeof(text) - strlen(text), cairn_key(&o->log->text, "kernel.version"));
    put_string(o->file, text);
}

static void put_processor(const struct cairn_output *o)
{
    char brand[CAIRN_SHOWN_BRAND], text[2 * CAIRN_SHOWN];
    const char *name = cairn_show_brand(brand, o->log, 0);
    snprintf(text, sizeof(text), "%s%s", name ? name : "unknown",
             cairn_perf_emulated(o) ? "; PEBS and BTS are emulated: samples are a model's, not the processor's" : "");
    put_string(o->file, text);
}

static void put_command(const struct cairn_output *o)
{
    static const char *const words[] = {"cairn", "export", "--to", "perf.data"};
    put_32(o->file, sizeof(words) / sizeof(words[0]));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        put_string(o->file, words[i]);
}

/* The build ID of what a record of the kernel's image names. */
static void put_build_id(const struct cairn_output *o)
{
    struct {
        uint32_t type;
        uint16_t misc, size;
        int32_t pid;
        uint8_t id[20], id_size, reserved[3];
        char name[24];
    } event = {.misc = PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_BUILD_ID_SIZE,
               .size = sizeof(event),
               .pid = -1,
               .id_size = 20,
               .name = "[kernel.kallsyms]"};
    if (cairn_perf_build_id(o, event.id))
        fwrite(&event, sizeof(event), 1, o->file);
}

struct perf_clock_data {     /* one moment on two clocks */
    uint32_t version, clock; /* of Linux' clocks; which is a matter of text for perf */
    uint64_t wall_ns, clock_ns;
};
_Static_assert(sizeof(struct perf_clock_data) == 24, "HEADER_CLOCK_DATA");

static bool clock_data(const struct cairn_output *o, struct perf_clock_data *data)
{
    const struct cairn_perf *p = o->state;
    char text[CAIRN_DATE_TEXT];
    int64_t wall;
    if (!cairn_out_wall(o, &wall, text))
        return false;
    *data = (struct perf_clock_data){1, CLOCK_MONOTONIC, (uint64_t)wall, (uint64_t)p->shift};
    return true;
}

static void put_feature(const struct cairn_output *o, enum perf_feature feature)
{
    struct perf_clock_data clock;
    switch (feature) {
    case PERF_HEADER_BUILD_ID:
        put_build_id(o);
        break;
    case PERF_HEADER_OSRELEASE:
        put_release(o);
        break;
    case PERF_HEADER_VERSION:
        put_string(o->file, "cairn " CAIRN_VERSION);
        break;
    case PERF_HEADER_ARCH:
        put_string(o->file, "x86_64");
        break;
    case PERF_HEADER_NRCPUS:
        put_32(o->file, o->log->cpus);
        put_32(o->file, o->log->cpus);
        break;
    case PERF_HEADER_CPUDESC:
        put_processor(o);
        break;
    case PERF_HEADER_CMDLINE:
        put_command(o);
        break;
    case PERF_HEADER_EVENT_DESC:
        put_events(o);
        break;
    case PERF_HEADER_PMU_MAPPINGS:
        put_32(o->file, 1);
        put_32(o->file, PERF_TYPE_INTEL_BTS);
        put_string(o->file, "intel_bts");
        break;
    case PERF_HEADER_CLOCK_DATA:
        if (clock_data(o, &clock))
            fwrite(&clock, sizeof(clock), 1, o->file);
        break;
    }
}

static const enum perf_feature features[] = {
    PERF_HEADER_BUILD_ID,     PERF_HEADER_OSRELEASE,  PERF_HEADER_VERSION, PERF_HEADER_ARCH,
    PERF_HEADER_NRCPUS,       PERF_HEADER_CPUDESC,    PERF_HEADER_CMDLINE, PERF_HEADER_EVENT_DESC,
    PERF_HEADER_PMU_MAPPINGS, PERF_HEADER_CLOCK_DATA,
};
#define FEATURES_MOST (sizeof(features) / sizeof(features[0]))

/* The last only where the log knows the time: perf refuses it empty. */
static size_t feature_count(const struct cairn_output *o)
{
    struct perf_clock_data clock;
    return FEATURES_MOST - !clock_data(o, &clock);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static struct perf_file_header header_of(const struct cairn_output *o)
{
    const size_t count = ((const struct cairn_perf *)o->state)->events.count;
    struct perf_file_header h = {
        .size = sizeof(h),
        .attr_size = sizeof(struct perf_attr) + sizeof(struct perf_file_section),
        .attrs = {sizeof(h) + count * sizeof(uint64_t),
                  count * (sizeof(struct perf_attr) + sizeof(struct perf_file_section))},
    };
    memcpy(h.magic, PERF_MAGIC, sizeof(h.magic));
    h.data.offset = h.attrs.offset + h.attrs.size;
    for (size_t i = 0; i < feature_count(o); i++)
        h.features[0] |= UINT64_C(1) << features[i];
    return h;
}

void cairn_perf_file_begin(struct cairn_output *o)
{
    struct cairn_perf *p = o->state;
    const struct cairn_perf_event *events = p->events.items;
    const struct perf_file_header h = header_of(o);
    p->file.to = o->file;
    fwrite(&h, sizeof(h), 1, o->file);
    for (size_t i = 0; i < p->events.count; i++)
        fwrite(&events[i].id, sizeof(events[i].id), 1, o->file);
    for (size_t i = 0; i < p->events.count; i++) {
        const struct perf_file_section ids = {sizeof(h) + i * sizeof(uint64_t), sizeof(uint64_t)};
        fwrite(&events[i].attr, sizeof(events[i].attr), 1, o->file);
        fwrite(&ids, sizeof(ids), 1, o->file);
    }
}

int cairn_perf_file_end(const struct cairn_output *o)
{
    struct perf_file_header h = header_of(o);
    struct perf_file_section sections[FEATURES_MOST] = {0};
    const size_t count = feature_count(o);
    const off_t data_ends = ftello(o->file);
    h.data.size = (uint64_t)data_ends - h.data.offset;
    fwrite(sections, sizeof(sections[0]), count, o->file); /* their places */
    for (size_t i = 0; i < count; i++) {
        sections[i].offset = (uint64_t)ftello(o->file);
        put_feature(o, features[i]);
        sections[i].size = (uint64_t)ftello(o->file) - sections[i].offset;
    }
    if (fseeko(o->file, data_ends, SEEK_SET))
        return -errno;
    fwrite(sections, sizeof(sections[0]), count, o->file);
    if (fseeko(o->file, 0, SEEK_SET))
        return -errno;
    fwrite(&h, sizeof(h), 1, o->file);
    return 0;
}
