/* SPDX-License-Identifier: MIT */
/* PEBS records as perf's samples: instruction, thread, time, data address, branches, latencies, data source, registers.
 */
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/perf/perf.h"
#include "tools/cairn/export/perf/source.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/model/filter.h"
#include "tools/cairn/model/pebs_memory.h"
#include "tools/pebs/pebs.h"

#define BRANCHES 256u /* a record's, at most: 8 bits less one in MSR_PEBS_DATA_CFG */
#define XMM_BITS (UINT64_C(0xFFFFFFFF) << 32)

/* By the bits of sample_regs_intr, which are those of Linux' asm/perf_regs.h; the segments no record has. */
static const char *const registers[32] = {"RAX", "RBX",    "RCX", "RDX", "RSI", "RDI", "RBP", "RSP",
                                          "RIP", "RFLAGS", NULL,  NULL,  NULL,  NULL,  NULL,  NULL,
                                          "R8",  "R9",     "R10", "R11", "R12", "R13", "R14", "R15"};
#define GENERAL UINT64_C(0xFF03FF)
#define SECOND  INT64_C(1000000000)

struct sample { /* of a record, what perf has a place for */
    uint64_t address, source, latency, head, counters, retire;
    bool has_memory, has_source, has_latency, has_registers, has_xmm, has_retire;
    uint64_t regs[32], xmm[32];
    unsigned branches, xmms;
    struct {
        uint64_t from, to, info;
    } branch[BRANCHES];
};

static void take_register(struct sample *s, const struct cairn_pebs_field *field)
{
    for (unsigned i = 0; i < 32; i++)
        if (registers[i] && strcmp(registers[i], field->name) == 0) {
            s->regs[i] = field->value;
            s->has_registers = true;
        }
}

static void take(struct sample *s, const struct cairn_pebs_field *field)
{
    switch (field->what) {
    case CAIRN_PEBS_DATA_ADDRESS:
        s->address = field->value;
        s->has_memory = true;
        break;
    case CAIRN_PEBS_DATA_SOURCE:
        s->source = field->value;
        s->has_memory = s->has_source = true;
        break;
    case CAIRN_PEBS_LATENCY:
        s->latency = field->value;
        s->has_latency = true;
        break;
    case CAIRN_PEBS_HEAD:
        s->head = field->value;
        break;
    case CAIRN_PEBS_RETIRE:
        s->retire = field->value;
        s->has_retire = true;
        break;
    case CAIRN_PEBS_COUNTERS:
    case CAIRN_PEBS_STATUS:
        s->counters = field->value;
        break;
    case CAIRN_PEBS_RFLAGS:
    case CAIRN_PEBS_RIP:
    case CAIRN_PEBS_REGISTER:
        take_register(s, field);
        break;
    case CAIRN_PEBS_XMM_LOW:
    case CAIRN_PEBS_XMM_HIGH:
        if (s->xmms < 32)
            s->xmm[s->xmms++] = field->value;
        break;
    case CAIRN_PEBS_LBR_FROM:
        if (s->branches < BRANCHES)
            s->branch[s->branches].from = field->value;
        break;
    case CAIRN_PEBS_LBR_TO:
        if (s->branches < BRANCHES)
            s->branch[s->branches].to = field->value;
        break;
    case CAIRN_PEBS_LBR_INFO:
        if (s->branches < BRANCHES)
            s->branch[s->branches++].info = field->value;
        break;
    default:
        break;
    }
}

static void read_record(struct sample *s, const struct cairn_record *r)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field field;
    *s = (struct sample){.address = 0};
    cairn_pebs_walk(&walk, r->format, r->at, r->size);
    while (cairn_pebs_next(&walk, &field))
        take(s, &field);
    s->has_xmm = s->xmms == 32;
}

/* The counters that wrote the record, of those whose event is known. */
static uint64_t counters_of(const struct sample *s, const struct cairn_counters *on)
{
    return s->counters & on->pebs;
}

/* Core cycles from the retirement before to this one's. False: not told. */
static bool retire_latency(const struct cairn_log *log, uint32_t cpu, const struct sample *s, unsigned *latency)
{
    if (!s->has_retire)
        return cairn_retire_latency(log, cpu, s->head, s->counters, latency);
    *latency = (unsigned)(s->retire & DS_ARCH_RETIRE_LATENCY);
    return s->retire & DS_ARCH_RETIRE_VALID;
}

struct survey {
    int64_t first; /* ns */
    uint64_t registers, xmm;
};

static void survey_record(struct cairn_output *o, struct survey *y, uint32_t cpu, const struct cairn_record *r)
{
    struct cairn_perf *p = o->state;
    const int64_t ns = cairn_out_ns(o, r->time);
    struct sample s;
    unsigned latency;
    read_record(&s, r);
    y->first = ns < y->first ? ns : y->first;
    y->registers += s.has_registers;
    y->xmm += s.has_registers && s.has_xmm;
    p->sample_type |= (s.has_memory ? PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC : 0) |
                      (s.has_registers ? PERF_SAMPLE_REGS_INTR : 0) | (s.branches ? PERF_SAMPLE_BRANCH_STACK : 0) |
                      (s.has_latency || retire_latency(o->log, cpu, &s, &latency) ? PERF_SAMPLE_WEIGHT_STRUCT : 0);
    p->unnamed |= !counters_of(&s, &p->on[cpu]);
}

void cairn_perf_survey(struct cairn_output *o)
{
    struct cairn_perf *p = o->state;
    struct survey y = {.first = 0};
    struct cairn_group *group = cairn_alloc(sizeof(*group));
    p->sample_type = PERF_SAMPLE_COMMON;
    for (uint32_t c = 0; c < o->log->cpus; c++) {
        cairn_group_init(group, o->log, c);
        while (cairn_group_next(group))
            for (size_t i = 0; i < group->records.count; i++)
                survey_record(o, &y, c, &group->records.items[i]);
        cairn_group_free(group);
    }
    free(group);
    p->regs = p->sample_type & PERF_SAMPLE_REGS_INTR ? GENERAL | (y.registers == y.xmm ? XMM_BITS : 0) : 0;
    p->shift = (-y.first + SECOND - 1) / SECOND * SECOND;
}

static void put_branches(struct cairn_perf_file *f, const struct sample *s)
{
    unsigned count = 0;
    while (count < s->branches && s->branch[count].from)
        count++;
    cairn_perf_64(f, count);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t info = s->branch[i].info, missed = info >> 63;
        cairn_perf_64(f, s->branch[i].from);
        cairn_perf_64(f, s->branch[i].to);
        cairn_perf_64(f, missed | (missed ^ 1) << 1 | (info >> 62 & 1) << 2 | (info >> 61 & 1) << 3 |
                             (info & 0xFFFF) << 4);
    }
}

/* Core cycles: of the cache, or of the whole access before Alder Lake; of the instruction; to its retirement. */
static void put_weight(struct cairn_perf_file *f, const struct cairn_output *o, const struct cairn_item *item,
                       const struct sample *s)
{
    const bool apart = item->record->format >= 4 && s->latency >> 32;
    unsigned retire;
    if (!retire_latency(o->log, item->cpu, s, &retire))
        retire = 0;
    cairn_perf_32(f, (uint32_t)(apart ? s->latency >> 32 & 0xFFFF : s->latency));
    cairn_perf_32(f, (uint32_t)(apart ? s->latency & 0xFFFF : 0) | (uint32_t)retire << 16);
}

static void put_registers(struct cairn_perf_file *f, const struct cairn_perf *p, const struct sample *s)
{
    cairn_perf_64(f, s->has_registers ? PERF_SAMPLE_REGS_ABI_64 : 0);
    if (!s->has_registers)
        return;
    for (unsigned i = 0; i < 32; i++)
        if (registers[i])
            cairn_perf_64(f, s->regs[i]);
    if (p->regs & XMM_BITS)
        cairn_perf_bytes(f, s->xmm, sizeof(s->xmm));
}

static void put_sample(struct cairn_output *o, const struct cairn_item *item, const struct sample *s, uint64_t id)
{
    struct cairn_perf *p = o->state;
    struct cairn_perf_file *f = &p->file;
    const struct cairn_record *r = item->record;
    const uint32_t tid = cairn_perf_tid(item->blame, item->tid);
    cairn_perf_begin(f, PERF_RECORD_SAMPLE,
                     (uint16_t)((r->ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) |
                                (r->after ? 0 : PERF_RECORD_MISC_EXACT_IP)));
    cairn_perf_64(f, id);
    cairn_perf_64(f, r->ip);
    cairn_perf_32(f, tid);
    cairn_perf_32(f, tid);
    cairn_perf_64(f, cairn_perf_time(o, r->time));
    if (p->sample_type & PERF_SAMPLE_ADDR)
        cairn_perf_64(f, s->address);
    cairn_perf_32(f, item->cpu);
    cairn_perf_32(f, 0);
    if (p->sample_type & PERF_SAMPLE_BRANCH_STACK)
        put_branches(f, s);
    if (p->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
        put_weight(f, o, item, s);
    if (p->sample_type & PERF_SAMPLE_DATA_SRC)
        cairn_perf_64(f, cairn_perf_source(o->log, item, s->has_source, s->source));
    if (p->sample_type & PERF_SAMPLE_REGS_INTR)
        put_registers(f, p, s);
    cairn_perf_end(f, NULL);
}

void cairn_perf_sample(struct cairn_output *o, const struct cairn_item *item)
{
    const struct cairn_perf *p = o->state;
    const struct cairn_counters *on = &p->on[item->cpu];
    struct sample s;
    read_record(&s, item->record);
    const uint64_t counters = counters_of(&s, on);
    for (unsigned n = 0; n < DS_COUNTER_NUMBERS; n++)
        if (counters & DS_BIT(n))
            put_sample(o, item, &s, p->events.items[cairn_perf_event_of(p, cairn_counters_find(on, n))].id);
    if (!counters)
        put_sample(o, item, &s, p->events.items[p->other].id);
}
