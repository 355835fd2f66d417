/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/perf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/export.h"
#include "tools/cairn/export/perf/perf.h"

#define EVENTS_MOST 256u

struct file {
    const uint8_t *data;
    size_t size;
    struct perf_file_header header;
    size_t count;
    struct {
        struct perf_attr attr;
        uint64_t id;
    } events[EVENTS_MOST];
};

static void expect(bool so)
{
    if (!so)
        abort();
}

static uint64_t number(const struct file *f, uint64_t at, unsigned bytes)
{
    uint64_t value = 0;
    expect(at <= f->size && f->size - at >= bytes);
    memcpy(&value, f->data + at, bytes);
    return value;
}

static void expect_inside(const struct file *f, struct perf_file_section s)
{
    expect(s.offset <= f->size && s.size <= f->size - s.offset);
}

static void read_attrs(struct file *f)
{
    const uint64_t each = sizeof(struct perf_attr) + sizeof(struct perf_file_section);
    struct perf_file_section ids;
    expect(f->header.attr_size == each && f->header.attrs.size % each == 0);
    f->count = f->header.attrs.size / each;
    expect(f->count && f->count <= EVENTS_MOST);
    for (size_t i = 0; i < f->count; i++) {
        const uint8_t *at = f->data + f->header.attrs.offset + i * each;
        memcpy(&f->events[i].attr, at, sizeof(struct perf_attr));
        memcpy(&ids, at + sizeof(struct perf_attr), sizeof(ids));
        expect(f->events[i].attr.size == sizeof(struct perf_attr) && ids.size == sizeof(uint64_t));
        f->events[i].id = number(f, ids.offset, 8);
    }
}

/* The fields of a sample are in the order of perf_event.h. */
static void read_sample(const struct file *f, uint64_t at, uint64_t end)
{
    const uint64_t id = number(f, at + 8, 8);
    size_t i = 0;
    while (i < f->count && f->events[i].id != id)
        i++;
    expect(i < f->count);
    const struct perf_attr *a = &f->events[i].attr;
    const uint64_t type = a->sample_type;
    at += 8 + 8 + 8 + 8 + 8; /* header, ID, IP, PID and TID, time */
    at += type & PERF_SAMPLE_ADDR ? 8 : 0;
    at += 8; /* CPU */
    if (type & PERF_SAMPLE_CALLCHAIN)
        at += 8 + number(f, at, 8) * 8;
    if (type & PERF_SAMPLE_BRANCH_STACK)
        at += 8 + number(f, at, 8) * 24;
    at += (type & PERF_SAMPLE_WEIGHT_STRUCT ? 8 : 0) + (type & PERF_SAMPLE_DATA_SRC ? 8 : 0);
    if (type & PERF_SAMPLE_REGS_INTR)
        at += 8 + (number(f, at, 8) ? 8u * (unsigned)__builtin_popcountll(a->sample_regs_intr) : 0u);
    expect(at == end);
}

static void read_records(const struct file *f)
{
    uint64_t at = f->header.data.offset;
    const uint64_t end = at + f->header.data.size;
    while (at < end) {
        const uint64_t type = number(f, at, 4), size = number(f, at + 6, 2);
        expect(size >= 8 && size % 8 == 0 && size <= end - at);
        if (type == PERF_RECORD_SAMPLE)
            read_sample(f, at, at + size);
        at += size + (type == PERF_RECORD_AUXTRACE ? number(f, at + 8, 8) : 0);
        expect(at <= end);
    }
}

static void read_file(struct file *f)
{
    expect(f->size >= sizeof(f->header));
    memcpy(&f->header, f->data, sizeof(f->header));
    expect(memcmp(f->header.magic, PERF_MAGIC, sizeof(f->header.magic)) == 0);
    expect_inside(f, f->header.attrs);
    expect_inside(f, f->header.data);
    read_attrs(f);
    read_records(f);
    const uint64_t table = f->header.data.offset + f->header.data.size;
    for (unsigned i = 0; i < (unsigned)__builtin_popcountll(f->header.features[0]); i++)
        expect_inside(f, (struct perf_file_section){number(f, table + 16 * i, 8), number(f, table + 16 * i + 8, 8)});
}

void fuzz_perf(const struct cairn_log *log)
{
    char folder[FUZZ_FOLDER];
    if (!fuzz_export(log, &cairn_writer_perf, "data", folder))
        return;
    struct file *f = calloc(1, sizeof(*f));
    uint8_t *data = fuzz_take_file(folder, "data", &f->size);
    f->data = data;
    read_file(f);
    free(data);
    free(f);
    expect(!rmdir(folder));
}
