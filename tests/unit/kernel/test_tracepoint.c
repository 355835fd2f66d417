/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel's parts meet: what becomes of a drain in the trace, event by event, and of a switch on its two
 * sides; the classes of the switch hook's cost.
 * Longer than 500 lines: all tests are of one pretended kernel.
 */
#include <stdbool.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "ds/truth/truth.h"
#include "kernel/bts/bts.h"
#include "kernel/cost/cost.h"
#include "kernel/cpu.h"
#include "kernel/modellog/modellog.h"
#include "kernel/recording/ds.h"
#include "kernel/thread.h"
#include "kernel/tracepoint/drains.h"
#include "kernel/tracepoint/switch.h"
#include "kernel/tracepoint/witness.h"
#include "kernel/truth/truth.h"
#include "tests/unit/support/alone.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "trace/pmc/pmc_items.h"
#include "trace/wire/bts.h"
#include "trace/wire/model_log.h"

#define TSC(units) ((uint64_t)(units)*BOX_UNIT)
#define BASE       UINT64_C(0xFFFF900000100000)

static struct kcpu cpu;
struct kcpu *kcpu_table[MAX_CPUS] = {&cpu};
uint32_t kcpu_count = 1;

static union {
    uint16_t kind;
    struct cairn_truth_switch sw;
    struct cairn_truth_pebs pebs;
    struct cairn_truth_branch branch;
    struct cairn_truth_words words;
    struct cairn_truth_counts counts;
} truth[8];
static unsigned truths;

static struct kds store;
const struct kds *const kds = &store;
bool ktruth_kept;

void ktruth_write(uint32_t index, const void *record)
{
    assert_int_equal(index, 0);
    assert_true(ktruth_kept);
    memcpy(&truth[truths++], record, CAIRN_TRUTH_BYTES);
}

static uint32_t cost_room[2][64 * 16];
static struct ds_cpu *switched; /* whose branches were drained, and when */
static uint64_t switched_at;

static struct box box;
static volatile uint64_t pebs_index;

static void fresh(void)
{
    memset(cost_room, 0, sizeof cost_room);
    assert_true(kcost_bytes() <= sizeof cost_room);
    kcost_init(cost_room);
}

static void begin(uint32_t events)
{
    box_open(&box, 1, events, false, 8, 8192);
    fresh();
    static struct kthread someone = {.tid = 4};
    cpu = (struct kcpu){.trace = &box.hub[0], .pebs_index = &pebs_index, .current = &someone, .previous = &someone};
    truths = 0;
    ktruth_kept = true;
    pebs_index = BASE;
    box_start(&box, 0, &pebs_index);
}

/* All events, in order; `data` keeps their payloads. */
static struct naive_event event[32];
static unsigned events;

static void end(void)
{
    bool ok = true;
    uint32_t cpu_buffer;
    events = 0;
    box_stop(&box, 0, TSC(1000));
    for (uint32_t i = 0; i < trace_session_buffers(box.session); i++) {
        const uint8_t *buffer = (const uint8_t *)trace_session_buffer(box.session, i, &cpu_buffer);
        for (uint32_t at = 0; events < 32 && naive_other(buffer, &at, &event[events], &ok);)
            events++;
    }
    assert_true(ok && events < 32);
}

/* ---- drains ------------------------------------------------------------------------------------------------------ */

static uint64_t area[CAIRN_DS_AREA_MAX / 8] = {[4] = BASE};
static uint8_t records[16384] __attribute__((aligned(8)));

static uint32_t fragmented_size(unsigned format, const void *record, uint32_t left)
{
    assert_int_equal(format, DS_FORMAT_ARCH);
    return ds_arch_record_size(record, left);
}

static struct ds_drain drain_of(unsigned format, uint32_t bytes)
{
    const bool arch = format == DS_FORMAT_ARCH;
    for (size_t i = 0; i < CAIRN_DS_AREA_MAX / 8; i++)
        area[i] = i == 4 ? BASE : 0x1000 + i;
    return (struct ds_drain){.reason = CAIRN_DS_THRESHOLD,
                             .epoch = 7,
                             .tsc = TSC(20),
                             .lost = 3,
                             .format = (uint8_t)format,
                             .area = area,
                             .area_bytes = ds_area_bytes(format, true),
                             .records = bytes ? records : NULL,
                             .bytes = bytes,
                             .address = BASE,
                             .record_size = arch ? fragmented_size : ds_pebs_record_size,
                             .in_parts = arch};
}

/* Record `i` of `size` bytes at `at`: a format 4 head, the rest its number. */
static uint32_t put_record(uint32_t at, uint32_t size, uint8_t i)
{
    memset(records + at, i, size);
    *(uint64_t *)(void *)(records + at) = ds_pebs_head(0, size);
    return at + size;
}

/* The events of one drain, `bytes` of whose records were written, in `parts` events. */
static void expect_drain(const struct ds_drain *d, uint64_t lost, uint32_t bytes, unsigned parts)
{
    const struct cairn_ds_epoch *epoch = (const void *)event[0].payload;
    assert_int_equal(events, 1 + parts);
    assert_int_equal(event[0].hook, 0xCA01);
    assert_false(event[0].has_index);
    assert_int_equal(event[0].time, 20);
    assert_int_equal(epoch->kind, CAIRN_DS_EPOCH);
    assert_int_equal(epoch->reason, d->reason);
    assert_int_equal(epoch->format, d->format);
    assert_int_equal(epoch->epoch, 7);
    assert_int_equal(epoch->tsc, TSC(20));
    assert_true(epoch->lost == lost);
    assert_int_equal(epoch->record_bytes, bytes);
    assert_int_equal(epoch->record_events, parts);
    assert_int_equal(event[0].size, sizeof *epoch + d->area_bytes);
    assert_memory_equal(epoch + 1, area, d->area_bytes);
    uint32_t at = 0;
    for (unsigned i = 0; i < parts; i++) {
        const struct cairn_ds_records *part = (const void *)event[1 + i].payload;
        assert_int_equal(event[1 + i].hook, 0xCA01);
        assert_int_equal(part->kind, CAIRN_DS_RECORDS);
        assert_int_equal(part->format, d->format);
        assert_int_equal(part->epoch, 7);
        assert_int_equal(part->part, i);
        assert_int_equal(part->address, BASE + at);
        assert_true(part->bytes && event[1 + i].size >= sizeof *part + part->bytes);
        assert_memory_equal(part + 1, records + at, part->bytes);
        at += part->bytes;
    }
    assert_int_equal(at, bytes);
}

/* Whole records, as many to an event as fit: 1400 bytes are 7 of 176, or of 200. */
static void drain_is_split(void **state)
{
    (void)state;
    static const struct {
        unsigned format, size, n, parts;
    } rows[] = {
        {4, 176, 0, 0},  {4, 176, 1, 1},  {4, 176, 7, 1},
        {4, 176, 8, 2},  {4, 176, 20, 3}, {3, 200, 7, 1},
        {3, 200, 8, 2},  {0, 144, 10, 2}, {4, DS_PEBS_RECORD_MAX_4, 3, 3},
        {4, 1400, 1, 1}, {5, 176, 8, 2},  {6, DS_PEBS_RECORD_MAX, 3, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t bytes = 0;
        for (unsigned r = 0; r < rows[i].n; r++)
            bytes = put_record(bytes, rows[i].size, (uint8_t)(r + 1));
        struct ds_drain d = drain_of(rows[i].format, bytes);
        begin(BOX_COMPACT);
        kdrain_hooks.drained(NULL, 0, &d);
        end();
        expect_drain(&d, 3, bytes, rows[i].parts);
        box_close(&box);
    }
    uint32_t bytes = 0; /* sizes that alternate: each record says its own */
    for (unsigned r = 0; r < 12; r++)
        bytes = put_record(bytes, r % 2 ? 32 : 208, (uint8_t)r);
    struct ds_drain d = drain_of(4, bytes);
    begin(BOX_COMPACT);
    kdrain_hooks.drained(NULL, 0, &d);
    end();
    expect_drain(&d, 3, bytes, 2);
    box_close(&box);
}

/* Record `i` of architectural PEBS, in fragments of these sizes. */
static uint32_t put_fragments(uint32_t at, const uint32_t *sizes, unsigned n, uint8_t i)
{
    for (unsigned f = 0; f < n; at += sizes[f++]) {
        const struct ds_arch_header header = {.format = DS_ARCH_HEADER_BASIC | sizes[f] |
                                                        (f + 1 < n ? DS_ARCH_HEADER_CONT : 0)};
        memset(records + at, i, sizes[f]);
        memcpy(records + at, &header, sizeof header);
    }
    return at;
}

/* Records of architectural PEBS: whole ones together; one that is larger than an event in parts of its own. Their
 * addresses are physical. `first`: they do not begin at the buffer's first byte. */
static void drain_of_architectural_pebs(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {224, 224, DS_ARCH_RECORD_MAX, 64, 1400 / 16 * 16, 1408};
    static const uint32_t fragments[] = {64, 176, 1264};
    static const struct {
        uint32_t at, bytes;
        bool continues;
    } parts[] = {
        {0, 448, false},     {448, 1392, false},                     /* 3504: three parts */
        {1840, 1392, true},  {3232, 720, true},   {3952, 64, false}, /* the next does not fit beside it */
        {4016, 1392, false}, {5408, 1392, false},                    /* 1408: two */
        {6800, 16, true},    {6816, 1392, false},                    /* 1504, in fragments: two */
        {8208, 112, true},   {8320, 224, false},
    };
    const struct ds_arch_registers registers = {
        .base = 0x7654000 | 4, .index = ia32_pebs_index(9000, 0x8000), .gp_cfg_c = {[3] = IA32_PMC_CFG_C_EN}};
    for (uint32_t first = 0; first <= 0x40; first += 0x40) {
        uint32_t bytes = 0;
        for (unsigned i = 0; i < 6; i++)
            bytes = put_fragments(bytes, &sizes[i], 1, (uint8_t)(i + 1));
        bytes = put_fragments(bytes, fragments, 3, 7);
        bytes = put_fragments(bytes, &sizes[0], 1, 8);
        struct ds_drain d = drain_of(DS_FORMAT_ARCH, bytes);
        d.area = (const uint64_t *)&registers;
        d.area_bytes = sizeof registers;
        d.address = 0x7654000 + first;
        begin(BOX_COMPACT);
        kdrain_hooks.drained(NULL, 0, &d);
        end();
        const struct cairn_ds_epoch *epoch = (const void *)event[0].payload;
        assert_true(epoch->format == 15 && epoch->lost == 3);
        assert_int_equal(epoch->record_bytes, bytes);
        assert_int_equal(epoch->record_events, sizeof parts / sizeof parts[0]);
        assert_int_equal(events, 1 + epoch->record_events);
        assert_int_equal(event[0].size, sizeof *epoch + sizeof registers);
        assert_memory_equal(epoch + 1, &registers, sizeof registers);
        for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            const struct cairn_ds_records *part = (const void *)event[1 + i].payload;
            assert_int_equal(part->address, 0x7654000 + first + parts[i].at);
            assert_int_equal(part->bytes, parts[i].bytes);
            assert_int_equal(part->continues, parts[i].continues);
            assert_int_equal(part->part, i);
            assert_memory_equal(part + 1, records + parts[i].at, part->bytes);
        }
        box_close(&box);
    }
    /* Cut off in a fragment: what is behind the last whole record is lost, nobody knows how much. */
    uint32_t whole = put_fragments(0, &sizes[0], 1, 1), cut = put_fragments(whole, fragments, 3, 2) - 16;
    struct ds_drain d = drain_of(DS_FORMAT_ARCH, cut);
    d.area = (const uint64_t *)&registers;
    d.area_bytes = sizeof registers;
    begin(BOX_COMPACT);
    kdrain_hooks.drained(NULL, 0, &d);
    end();
    const struct cairn_ds_epoch *epoch = (const void *)event[0].payload;
    assert_true(epoch->record_bytes == whole && epoch->lost == CAIRN_DS_LOST_UNKNOWN && events == 2);
    box_close(&box);
}

/* Nothing is found behind a record whose size makes no sense: what was lost is no longer known. */
/* A CPU that a panic stops in a drain hands its epoch over again: it is written once. */
static void panic_in_a_drain(void **state)
{
    (void)state;
    struct ds_drain d = drain_of(4, put_record(0, 176, 1));
    struct ds_bts_drain b = {.reason = CAIRN_DS_SWITCH, .epoch = 9, .tsc = TSC(20), .area = area};
    begin(BOX_COMPACT);
    kdrain_hooks.drained(NULL, 0, &d);
    kbts_drained(NULL, 0, &b);
    d.reason = b.reason = CAIRN_DS_PANIC;
    kdrain_hooks.drained(NULL, 0, &d);
    kbts_drained(NULL, 0, &b);
    d.epoch++;
    b.epoch++;
    kdrain_hooks.drained(NULL, 0, &d);
    kbts_drained(NULL, 0, &b);
    end();
    static const unsigned number[] = {7, 7, 9, 8, 8, 10}; /* of PEBS: the epoch, and its records */
    assert_int_equal(events, 6);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(((const uint32_t *)(const void *)event[i].payload)[1], number[i]);
    box_close(&box);
}

static void senseless_record(void **state)
{
    (void)state;
    static const uint32_t size[] = {0, 8, 33, 0xFFF8, 177};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        uint32_t bytes = put_record(0, 176, 1);
        bytes = put_record(bytes, 176, 2);
        *(uint64_t *)(void *)(records + 176) = ds_pebs_head(0, size[i]);
        bytes = put_record(bytes, 176, 3);
        struct ds_drain d = drain_of(4, bytes);
        begin(BOX_COMPACT);
        kdrain_hooks.drained(NULL, 0, &d);
        end();
        expect_drain(&d, CAIRN_DS_LOST_UNKNOWN, 176, 1);
        box_close(&box);
    }
    struct ds_drain d = drain_of(3, 2 * 200 + 100); /* the processor was stopped in the middle of one */
    begin(BOX_COMPACT);
    kdrain_hooks.drained(NULL, 0, &d);
    end();
    expect_drain(&d, CAIRN_DS_LOST_UNKNOWN, 2 * 200, 1);
    box_close(&box);
}

/* ---- the model's log -------------------------------------------------------------------------------------------- */

static void log_entries(void **state) /* of any length, at their own time, in no batch's way */
{
    (void)state;
    struct cairn_model_action actions[48];
    begin(BOX_COMPACT);
    for (unsigned i = 0; i < 48; i++)
        actions[i] = (struct cairn_model_action){.kind = CAIRN_MODEL_ARMED, .counter = (uint8_t)i, .after = i};
    for (uint16_t n = 1; n <= 48; n += 47) {
        const struct cairn_model_entry entry = {.sequence = n, .tsc = TSC(10 + n), .actions = n, .ip = 0x1234};
        kmodellog_write(NULL, 0, &entry, actions);
    }
    end();
    assert_int_equal(events, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct cairn_model_entry *entry = (const void *)event[i].payload;
        assert_int_equal(event[i].hook, HOOK_CAIRN_MODEL);
        assert_false(event[i].has_index);
        assert_int_equal(event[i].time, i ? 58 : 11);
        assert_int_equal(entry->actions, i ? 48 : 1);
        assert_int_equal(event[i].size, sizeof *entry + entry->actions * sizeof actions[0]);
        assert_memory_equal(entry + 1, actions, entry->actions * sizeof actions[0]);
    }
    struct trace_counts n;
    kmodellog_write(NULL, 0, &(struct cairn_model_entry){.actions = 1}, actions); /* off: nothing is tried */
    trace_cpu_counts(trace_session_cpu(box.session, 0), &n);
    assert_int_equal(n.events_tried, 2 + 2); /* with the acknowledgements */
    cpu.trace = NULL;
    kmodellog_write(NULL, 0, &(struct cairn_model_entry){.actions = 1}, actions);
    box_close(&box);
}

/* ---- switches ---------------------------------------------------------------------------------------------------- */

static struct kthread old = {.tid = 12,
                             .state = KTHREAD_WAITING,
                             .wait_reason = 7,
                             .state_wr = 7,
                             .priority = 9,
                             .base_priority = 8,
                             .quantum = -2,
                             .ideal_processor = 3};
static struct kthread new = {.tid = 16, .priority = 10, .waited = 77};

static void no_batch_spans_a_drain(void **state)
{
    (void)state;
    struct ds_drain d = drain_of(4, 0);
    begin(BOX_COMPACT);
    kswitch_out(&cpu, &old, &new, TSC(10));
    kswitch_out(&cpu, &old, &new, TSC(11));
    pebs_index = BASE + 0x160;
    kdrain_hooks.before_drain(NULL, 0, TSC(20));
    pebs_index = BASE;
    kdrain_hooks.drained(NULL, 0, &d);
    kswitch_out(&cpu, &old, &new, TSC(30));
    end();
    assert_int_equal(events, 3);
    assert_int_equal(event[0].hook, 0x0525);
    assert_int_equal(event[0].index, BASE + 0x160);
    assert_int_equal(event[1].hook, 0xCA01);
    assert_int_equal(event[2].hook, 0x0525);
    assert_int_equal(event[2].index, BASE);
    struct naive_record r[4];
    assert_int_equal(naive_batch(event[0].payload, event[0].size, r, 4), 2);
    assert_int_equal(r[0].tid, 12);
    assert_int_equal(r[0].reason, 7);
    assert_int_equal(r[0].priority, 9);
    box_close(&box);
}

void ds_stamp_switches(struct ds_cpu *ds, bool each)
{
    (void)ds, (void)each;
}

static const struct ds_soft_step some_step;
static const struct ds_model_record some_record;
static const struct ds_model_branch some_branch;

uint32_t ds_truth_make(uint8_t out[][CAIRN_TRUTH_BYTES], struct ds_cpu *ds, const struct ds_soft_step *step,
                       const struct ds_model_record *record)
{
    assert_ptr_equal(ds, area);
    assert_ptr_equal(step, &some_step);
    assert_ptr_equal(record, &some_record);
    out[0][0] = CAIRN_TRUTH_PEBS;
    out[1][0] = CAIRN_TRUTH_WORDS;
    return 2;
}

void ds_truth_make_branch(struct cairn_truth_branch *out, const struct ds_cpu *ds, const struct ds_soft_step *step,
                          const struct ds_model_branch *branch, bool stored)
{
    assert_ptr_equal(ds, area);
    assert_ptr_equal(step, &some_step);
    assert_ptr_equal(branch, &some_branch);
    *out = (struct cairn_truth_branch){.kind = CAIRN_TRUTH_BRANCH, .stored = stored};
}

/* Truth is written for the switches that are traced, and for those only. */
static void both_sides(void **state)
{
    (void)state;
    begin(BOX_FULL);
    kswitch_out(&cpu, &old, &new, TSC(10));
    kwitness_switch(&cpu, &new, &old, TSC(10));
    assert_int_equal(truths, 1);
    const struct cairn_truth_switch expected = {.kind = CAIRN_TRUTH_SWITCH,
                                                .old_state = KTHREAD_WAITING,
                                                .old_wait_reason = 7,
                                                .old_priority = 9,
                                                .old_base = 8,
                                                .new_priority = 10,
                                                .old_ideal_processor = 3,
                                                .old_tid = 12,
                                                .new_tid = 16,
                                                .tsc = TSC(10),
                                                .pebs_index = BASE,
                                                .new_wait = 77,
                                                .old_quantum = -2};
    assert_memory_equal(&truth[0].sw, &expected, sizeof expected);
    ktruth_kept = false;
    kswitch_out(&cpu, &old, &new, TSC(11));
    kwitness_switch(&cpu, &new, &old, TSC(11));
    ktruth_kept = true;
    end(); /* off: neither side writes, nor do drains */
    assert_int_equal(events, 2);
    kswitch_out(&cpu, &old, &new, TSC(12));
    kwitness_switch(&cpu, &new, &old, TSC(12));
    struct ds_drain d = drain_of(4, 0);
    kdrain_hooks.before_drain(NULL, 0, TSC(13));
    kdrain_hooks.drained(NULL, 0, &d);
    struct trace_counts n;
    trace_cpu_counts(trace_session_cpu(box.session, 0), &n);
    assert_int_equal(n.events_tried, 2 + 2); /* with the acknowledgements */
    cpu.trace = NULL;                        /* no session at all */
    kswitch_out(&cpu, &old, &new, TSC(14));
    kwitness_switch(&cpu, &new, &old, TSC(14));
    kdrain_hooks.before_drain(NULL, 0, TSC(14));
    kdrain_hooks.drained(NULL, 0, &d);
    assert_int_equal(truths, 1);

    struct ds_hooks hooks = kdrain_hooks;
    assert_true(!hooks.recorded && !hooks.branched && !hooks.retired);
    ktruth_hooks(&hooks);
    hooks.recorded(NULL, 0, (void *)&area, &some_step, &some_record);
    assert_int_equal(truths, 3);
    assert_int_equal(truth[1].pebs.kind, CAIRN_TRUTH_PEBS);
    assert_int_equal(truth[2].words.kind, CAIRN_TRUTH_WORDS);
    hooks.branched(NULL, 0, (void *)&area, &some_step, &some_branch, true);
    assert_int_equal(truths, 4);
    assert_true(truth[3].branch.kind == CAIRN_TRUTH_BRANCH && truth[3].branch.stored);
    ktruth_kept = false; /* not yet */
    hooks.recorded(NULL, 0, (void *)&area, &some_step, &some_record);
    hooks.branched(NULL, 0, (void *)&area, &some_step, &some_branch, true);
    assert_int_equal(truths, 4);
    box_close(&box);
}

/* With counters for PMC items: what they hold goes to the event, what was stepped of the leaving thread to the
 * truth. */
static uint64_t counter[TRACE_PMC_MAX];
static unsigned counters_read;

static void read_counters(uint32_t index, uint64_t values[TRACE_PMC_MAX])
{
    assert_int_equal(index, 0);
    memcpy(values, counter, sizeof counter);
    counters_read++;
}

static void counts_of_threads(void **state)
{
    (void)state;
    box_open(&box, 1, BOX_FULL, false, 8, 8192);
    static const struct trace_pmc items = {.count = 2, .counter = {1, 0}, .hooks = 1, .hook = {0x0524}};
    box.config.items = &items;
    trace_pmc_read = read_counters;
    assert_int_equal(trace_session_init(&box.session, &box.config, box.memory, box.size), 0);
    fresh();
    static struct kthread someone;
    cpu = (struct kcpu){.trace = &box.hub[0], .ds = (void *)&area, .previous = &someone, .current = &someone};
    truths = counters_read = 0;
    ktruth_kept = true;
    box_start(&box, 0, &pebs_index);
    store.ds.counting = 2;
    for (unsigned i = 0; i < 2; i++) { /* away, and back */
        struct kthread *out = i ? &new : &old, *in = i ? &old : &new;
        counter[0] = 70 + i;
        counter[1] = 80 + i;
        for (unsigned n = 0; n < 30 + i; n++)
            ktruth_retired(0, n < 3 + i);
        cpu.ds = (void *)&area; /* only its address counts */
        switched = NULL;
        kswitch_out(&cpu, out, in, TSC(10 + i));
        kwitness_switch(&cpu, in, out, TSC(10 + i));
    }
    store.ds.counting = 0;
    kswitch_out(&cpu, &old, &new, TSC(12));
    kwitness_switch(&cpu, &new, &old, TSC(12));
    assert_int_equal(counters_read, 3); /* the session still carries them */
    assert_int_equal(truths, 5);
    for (unsigned i = 0; i < 2; i++) {
        const struct cairn_truth_counts expected = {.kind = CAIRN_TRUTH_COUNTS,
                                                    .tid = i ? 16 : 12,
                                                    .tsc = TSC(10 + i),
                                                    .instructions = 30 + i,
                                                    .branches = 3 + i};
        assert_int_equal(truth[2 * i].sw.kind, CAIRN_TRUTH_SWITCH);
        assert_memory_equal(&truth[2 * i + 1].counts, &expected, sizeof expected);
    }
    cpu.ds = NULL;
    box_stop(&box, 0, TSC(1000));
    uint32_t at = sizeof(struct wmi_buffer_header), cpu_buffer, seen = 0;
    assert_int_equal(trace_session_buffers(box.session), 1);
    const uint8_t *buffer = (const uint8_t *)trace_session_buffer(box.session, 0, &cpu_buffer);
    for (const struct perfinfo_trace_header *e; at < ((const struct wmi_buffer_header *)(const void *)buffer)->offset;
         at += WMI_EVENT_ALIGN(e->size)) {
        e = (const void *)(buffer + at);
        const uint64_t *item = (const void *)(e + 1); /* PebsIndex, then counters 1 and 0 */
        if (e->hook_id != HOOK_CONTEXTSWAP || seen++ == 2)
            continue;
        assert_int_equal(item[1], 80 + seen - 1);
        assert_int_equal(item[2], 70 + seen - 1);
    }
    assert_int_equal(seen, 3);
    box_close(&box);
}

/* ---- branch records ---------------------------------------------------------------------------------------------- */

static struct ds_bts_record branches[200];

/* The events of one drain of branch records: an epoch, then whole records, at most 58 to an event, none across the end
 * of the buffer. */
static void branches_are_split(void **state)
{
    (void)state;
    static const struct {
        uint32_t first[2], count[2], parts;
    } rows[] = {
        {{0, 0}, {0, 0}, 0},   {{0, 0}, {1, 0}, 1},     {{0, 0}, {58, 0}, 1},    {{0, 0}, {59, 0}, 2},
        {{0, 0}, {200, 0}, 4}, {{199, 0}, {1, 199}, 5}, {{58, 0}, {116, 58}, 3},
    };
    static struct kthread running = {.tid = 44};
    for (size_t i = 0; i < sizeof branches / sizeof branches[0]; i++)
        branches[i] = (struct ds_bts_record){.from = i, .to = 1000 + i};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        drain_of(4, 0); /* an area */
        struct ds_bts_drain d = {
            .reason = CAIRN_DS_START, .mode = DS_BTS_CIRCULAR, .epoch = 9, .tsc = TSC(20), .area = area};
        begin(BOX_COMPACT);
        cpu.current = &running;
        kbts_drained(NULL, 0, &d);
        d.reason = CAIRN_DS_THRESHOLD;
        d.mode = i % 2 ? DS_BTS_INTERRUPT : DS_BTS_CIRCULAR;
        d.lost = 3;
        for (unsigned r = 0; r < 2; r++) {
            d.run[r] = (struct ds_bts_run){branches + rows[i].first[r], rows[i].count[r]};
            d.records += rows[i].count[r];
        }
        kbts_drained(NULL, 0, &d);
        end();
        const struct cairn_bts_epoch *epoch = (const void *)event[1].payload;
        assert_int_equal(events, 2 + rows[i].parts);
        assert_int_equal(event[1].hook, 0xCA02);
        assert_int_equal(event[1].time, 20);
        assert_int_equal(epoch->kind, CAIRN_BTS_EPOCH);
        assert_int_equal(epoch->reason, CAIRN_DS_THRESHOLD);
        assert_int_equal(epoch->interrupting, i % 2);
        assert_int_equal(epoch->epoch, 9);
        assert_int_equal(epoch->tsc, TSC(20));
        assert_int_equal(epoch->lost, 3);
        assert_int_equal(epoch->record_bytes, 24 * d.records);
        assert_int_equal(epoch->record_events, rows[i].parts);
        assert_int_equal(epoch->tid, 44);
        assert_memory_equal(epoch->area, area, sizeof epoch->area);
        uint32_t expected = rows[i].first[0], left = rows[i].count[0];
        for (uint32_t n = 0; n < rows[i].parts; n++) {
            const struct cairn_bts_records *part = (const void *)event[2 + n].payload;
            const struct ds_bts_record *record = (const void *)(part + 1);
            if (!left) {
                expected = rows[i].first[1];
                left = rows[i].count[1];
            }
            assert_int_equal(event[2 + n].hook, 0xCA02);
            assert_int_equal(part->kind, CAIRN_BTS_RECORDS);
            assert_int_equal(part->epoch, 9);
            assert_int_equal(part->part, n);
            assert_int_equal(part->address, (uintptr_t)&branches[expected]);
            assert_int_equal(part->bytes, 24 * (left < 58 ? left : 58));
            for (uint32_t at = 0; at < part->bytes / 24; at++, left--)
                assert_int_equal(record[at].from, expected++);
        }
        assert_int_equal(left, 0);
        box_close(&box);
    }
}

/* At a switch the outgoing thread's branches are drained, before the switch is written; after it they are the incoming
 * one's. */
void ds_switch(struct ds_cpu *ds, uint64_t tsc)
{
    switched = ds;
    switched_at = tsc;
    if (!ds)
        return;
    const struct ds_bts_drain d = {.reason = CAIRN_DS_SWITCH,
                                   .mode = DS_BTS_INTERRUPT,
                                   .tsc = tsc,
                                   .area = area,
                                   .records = 1,
                                   .run = {{branches, 1}}};
    kbts_drained(NULL, 0, &d);
}

static void branches_go_with_their_thread(void **state)
{
    (void)state;
    begin(BOX_FULL);
    cpu.ds = (void *)&area; /* only its address counts */
    cpu.current = &old;
    const struct ds_bts_drain start = {.reason = CAIRN_DS_START, .tsc = TSC(5), .area = area};
    kbts_drained(NULL, 0, &start);
    cpu.previous = &old;
    cpu.current = &new;
    kswitch_out(&cpu, &old, &new, TSC(10));
    assert_ptr_equal(switched, cpu.ds);
    assert_int_equal(switched_at, TSC(10));
    cpu.previous = &new;
    cpu.current = &old;
    kswitch_out(&cpu, &new, &old, TSC(11));
    cpu.ds = NULL;
    end();
    static const uint16_t hooks[] = {0xCA02, 0xCA02, 0xCA02, 0x524, 0xCA02, 0xCA02, 0x524};
    static const uint32_t tids[] = {12, 12, 0, 0, 16, 0, 0};
    assert_int_equal(events, 7);
    for (unsigned i = 0; i < 7; i++) {
        const struct cairn_bts_epoch *epoch = (const void *)event[i].payload;
        assert_int_equal(event[i].hook, hooks[i]);
        if (tids[i])
            assert_int_equal(epoch->tid, tids[i]);
    }
    assert_int_equal(((const struct cairn_bts_epoch *)(const void *)event[1].payload)->reason, CAIRN_DS_SWITCH);
    kbts_drained(NULL, 0, &start); /* the session is over: nothing is written, nothing breaks */
    box_close(&box);
}

/* ---- cost -------------------------------------------------------------------------------------------------------- */

static void cost_classes(void **state)
{
    (void)state;
    uint64_t before = 0;
    for (unsigned octave = 0; octave < 63; octave++)
        for (uint64_t i = 0; i < 64; i++) {
            uint64_t v = (UINT64_C(1) << octave) + (octave < 6 ? i & ((1u << octave) - 1) : i << (octave - 6));
            fresh();
            kswitch_took(0, v);
            const uint64_t bound = kcost().median;
            assert_true(bound >= before || octave < 6);
            before = bound;
            assert_true(bound >= v && bound - v <= v / 16 + 1);
        }
    kswitch_took(0, UINT64_MAX);
}

static void costs(void **state)
{
    (void)state;
    begin(BOX_COMPACT);
    struct kcost none = kcost();
    assert_true(!none.count && !none.min && !none.median && !none.p99);
    kswitch_out(&cpu, &old, &new, TSC(10));
    struct kcost one = kcost();
    assert_true(one.count == 1 && one.min && one.median >= one.min && one.p99 == one.median);
    kswitch_out(&cpu, &old, &new, TSC(11));
    assert_true(kcost().count == 2 && kcost().min <= one.min);
    box_close(&box);
}

static void costs_of_cpus(void **state)
{
    (void)state;
    static struct kcpu second;
    kcpu_table[1] = &second;
    kcpu_count = 2;
    fresh();
    static const struct {
        uint32_t cpu, calls;
        uint64_t cycles;
    } rows[] = {{1, 34, 10}, {0, 10, 100}, {1, 6, 100}, {1, 49, 1000}, {0, 1, 50000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) /* 50 took up to 100 cycles, 99 up to 1000 */
        for (uint32_t n = 0; n < rows[i].calls; n++)
            kswitch_took(rows[i].cpu, rows[i].cycles);
    struct kcost cost = kcost();
    kcpu_count = 1;
    assert_int_equal(cost.count, 100);
    assert_int_equal(cost.min, 10);
    assert_int_equal(cost.median, 104);
    assert_int_equal(cost.p99, 1024);
}

static void epochs(void **state) /* which one runs, whether or not anybody is told of it */
{
    (void)state;
    static const struct {
        uint8_t reason, epoch;
        bool runs;
    } then[] = {
        {CAIRN_DS_START, 7, true}, {CAIRN_DS_THRESHOLD, 8, true}, {CAIRN_DS_STOP, 8, false}, {CAIRN_DS_START, 7, true}};
    cpu = (struct kcpu){0};
    for (uint32_t i = 0, epoch; i < 4; i++) {
        kdrain_hooks.drained(NULL, 0, &(struct ds_drain){.reason = then[i].reason, .epoch = 7});
        assert_true(kdrain_epoch(0, &epoch) == then[i].runs && epoch == then[i].epoch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_are_split),
        cmocka_unit_test(branches_go_with_their_thread),
        cmocka_unit_test(drain_is_split),
        cmocka_unit_test(drain_of_architectural_pebs),
        cmocka_unit_test(panic_in_a_drain),
        cmocka_unit_test(senseless_record),
        cmocka_unit_test(no_batch_spans_a_drain),
        cmocka_unit_test(log_entries),
        cmocka_unit_test(both_sides),
        cmocka_unit_test(counts_of_threads),
        cmocka_unit_test(cost_classes),
        cmocka_unit_test(costs),
        cmocka_unit_test(costs_of_cpus),
        cmocka_unit_test(epochs),
    };
    return alone_run_tests(tests, sizeof tests / sizeof tests[0]);
}
