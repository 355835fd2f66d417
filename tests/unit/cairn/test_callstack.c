/* SPDX-License-Identifier: MIT */
/* Call stacks of records, by branches and the code they came from: both are made up here. */
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/export/callstack.h"
#include "tools/pebs/pebs.h"
#include "trace/wire/bts.h"

enum { OUTER = 0x1000, MIDDLE = 0x1100, INNER = 0x1200, HANDLER = 0x1300 };
/* where the branches are */
enum {
    OUTER_CALLS = OUTER + 0x10,
    OUTER_CALLS_AGAIN = OUTER + 0x20,
    MIDDLE_CALLS = MIDDLE + 0x08,
    MIDDLE_RETURNS = MIDDLE + 0x30,
    INNER_LOOPS = INNER + 0x08,
    INNER_ADDS = INNER + 0x18,
    INNER_RETURNS = INNER + 0x30,
    HANDLER_RETURNS = HANDLER + 0x10,
    INNER_CALLS_ITSELF = INNER + 0x20,
};

static const struct {
    uint64_t at;
    uint8_t code[2];
} program[] = {
    {OUTER_CALLS, {0xE8}},         {OUTER_CALLS_AGAIN, {0xE8}},     {MIDDLE_CALLS, {0xFF, 0xD0}},
    {MIDDLE_RETURNS, {0xC3}},      {INNER_LOOPS, {0x75, 0xF6}},     {INNER_ADDS, {0x01, 0xC0}},
    {INNER_RETURNS, {0xF3, 0xC3}}, {HANDLER_RETURNS, {0x48, 0xCF}}, {INNER_CALLS_ITSELF, {0xE8}},
};
static bool same_build;
static unsigned looked; /* at code */

/* In place of elf.c. */
bool cairn_elf_same_build(const struct cairn_elf *elf)
{
    (void)elf;
    return same_build;
}

size_t cairn_elf_code(struct cairn_elf *elf, uint64_t address, uint8_t *code, size_t size)
{
    (void)elf;
    looked++;
    for (size_t i = 0; i < sizeof(program) / sizeof(program[0]); i++)
        if (program[i].at == address) {
            memset(code, 0x90, size);
            memcpy(code, program[i].code, sizeof(program[i].code));
            return size;
        }
    return 0;
}

#define TID 8u

struct scene {
    struct cairn_log *log;
    struct cairn_symbol symbols[5];
    struct { /* two drains, and the records of the second: events as they lie in a buffer */
        struct {
            struct perfinfo_trace_header header;
            struct cairn_bts_epoch epoch;
        } drain[2];
        struct {
            struct perfinfo_trace_header header;
            struct cairn_bts_records head;
            struct ds_bts_record branches[256];
        } records;
    } events;
    struct cairn_piece piece;
    union {
        struct ds_pebs_basic basic;
        uint64_t words[1024];
    } lbr;
    struct cairn_record record;
    struct cairn_item item;
    struct cairn_callstack stack;
    struct cairn_branches cache;
};

static int begin(void **state)
{
    static const struct cairn_symbol symbols[] = {
        {OUTER, 0x100, {"outer", 5}},     {MIDDLE, 0x100, {"middle", 6}},
        {INNER, 0x80, {"inner", 5}},      {INNER + 0x80, 0x80, {"inner.label", 11}},
        {HANDLER, 0x100, {"handler", 7}},
    };
    struct scene *s = calloc(1, sizeof(*s));
    s->log = calloc(1, sizeof(*s->log));
    s->log->cpu = calloc(1, sizeof(*s->log->cpu));
    memcpy(s->symbols, symbols, sizeof(symbols));
    s->log->text.symbols.items = s->symbols;
    s->log->text.symbols.count = 5;
    s->log->cpus = 1;
    s->record = (struct cairn_record){.format = 4, .timed = true, .time = 500, .ip = INNER + 4};
    s->item = (struct cairn_item){.time = 500, .blame = CAIRN_BLAME_KNOWN, .tid = TID, .record = &s->record};
    same_build = true;
    *state = s;
    return 0;
}

static int end(void **state)
{
    struct scene *s = *state;
    cairn_branches_free(&s->cache);
    free(s->log->cpu);
    free(s->log);
    free(s);
    return 0;
}

/* The record's LBR group, the newest branch last as in a trace; 0, 0 ends them. */
static void lbr(struct scene *s, const uint64_t (*branches)[2])
{
    unsigned n = 0;
    while (branches[n][0])
        n++;
    const uint64_t cfg = MSR_PEBS_DATA_CFG_LBR | msr_pebs_data_cfg_entries(n + 2);
    struct ds_pebs_lbr *entry = (void *)(&s->lbr.basic + 1);
    memset(&s->lbr, 0, sizeof(s->lbr)); /* behind these, slots that were never filled */
    s->record.size = ds_pebs_adaptive_size(cfg);
    s->lbr.basic.head = ds_pebs_head((uint32_t)cfg, s->record.size);
    for (unsigned i = 0; i < n; i++)
        entry[i] = (struct ds_pebs_lbr){.from = branches[n - 1 - i][0], .to = branches[n - 1 - i][1]};
    s->record.at = (const uint8_t *)&s->lbr;
}

static struct perfinfo_trace_header head(int64_t time, size_t size)
{
    return (struct perfinfo_trace_header){.marker = PERFINFO_MARKER64 | HOOK_VERSION_CAIRN_BTS,
                                          .size = (uint16_t)size,
                                          .hook_id = HOOK_CAIRN_BTS,
                                          .time_stamp = time};
}

/* What has been read of these events is of others. */
static void again(struct scene *s)
{
    cairn_branches_free(&s->cache);
    memset(&s->cache, 0, sizeof(s->cache));
}

/* What BTS drained behind the record: without an LBR group. */
static void bts(struct scene *s, const uint64_t (*branches)[2])
{
    struct cairn_cpu *cpu = &s->log->cpu[0];
    unsigned n = 0;
    for (; branches[n][0]; n++)
        s->events.records.branches[n] = (struct ds_bts_record){.from = branches[n][0], .to = branches[n][1]};
    const uint32_t bytes = n * (uint32_t)sizeof(struct ds_bts_record);
    s->lbr.basic.head = ds_pebs_head(0, sizeof(struct ds_pebs_basic));
    s->record.at = (const uint8_t *)&s->lbr;
    s->record.size = sizeof(struct ds_pebs_basic);
    for (unsigned i = 0; i < 2; i++) {
        s->events.drain[i].header = head(400 + 200 * i, sizeof(s->events.drain[i]));
        s->events.drain[i].epoch = (struct cairn_bts_epoch){.kind = CAIRN_BTS_EPOCH, .epoch = i, .tid = TID};
    }
    s->events.drain[1].epoch.record_bytes = bytes;
    s->events.drain[1].epoch.record_events = 1;
    const size_t size = offsetof(typeof(s->events.records), branches) + bytes;
    s->events.records.header = head(600, size);
    s->events.records.head = (struct cairn_bts_records){.kind = CAIRN_BTS_RECORDS, .epoch = 1, .bytes = bytes};
    s->piece = (struct cairn_piece){.data = (const uint8_t *)&s->events,
                                    .size = (uint32_t)(offsetof(typeof(s->events), records) + size),
                                    .hole = CAIRN_NO_HOLE};
    cpu->pieces = &s->piece;
    cpu->piece_count = 1;
    cpu->tail = CAIRN_NO_HOLE;
    cpu->bts.epochs = 2;
    again(s);
}

static bool read_stack(struct scene *s)
{
    struct cairn_elf *some = (void *)s; /* only passed on */
    return cairn_callstack_read(&s->stack, &s->cache, s->log, some, &s->item);
}

static void expect(struct scene *s, unsigned count, uint64_t first, uint64_t second)
{
    assert_true(read_stack(s));
    assert_int_equal(s->stack.count, count);
    if (count > 0)
        assert_int_equal(s->stack.call[0], first);
    if (count > 1)
        assert_int_equal(s->stack.call[1], second);
}

#define CALL_BOTH                                                                                                      \
    {OUTER_CALLS, MIDDLE},                                                                                             \
    {                                                                                                                  \
        MIDDLE_CALLS, INNER                                                                                            \
    }

static void lbr_calls(void **state)
{
    struct scene *s = *state;
    lbr(s, (const uint64_t[][2]){CALL_BOTH, {INNER_LOOPS, INNER}, {INNER_LOOPS, INNER}, {0, 0}});
    expect(s, 2, MIDDLE_CALLS, OUTER_CALLS);
    s->record.ip = INNER + 0x90; /* behind a label of the same function */
    expect(s, 2, MIDDLE_CALLS, OUTER_CALLS);
    s->record.ip = INNER_LOOPS; /* the newest may be the record's own */
    expect(s, 2, MIDDLE_CALLS, OUTER_CALLS);
    s->record.ip = OUTER + 1; /* no way there: something is missing */
    expect(s, 0, 0, 0);
}

static void lbr_returns(void **state)
{
    struct scene *s = *state;
    lbr(s, (const uint64_t[][2]){CALL_BOTH, {INNER_RETURNS, MIDDLE_CALLS + 2}, {0, 0}});
    s->record.ip = MIDDLE + 0x20;
    expect(s, 1, OUTER_CALLS, 0);
    lbr(s,
        (const uint64_t[][2]){CALL_BOTH, {INNER_RETURNS, MIDDLE_CALLS + 2}, {MIDDLE_RETURNS, OUTER_CALLS + 5}, {0, 0}});
    s->record.ip = OUTER + 0x18;
    expect(s, 0, 0, 0);
    /* not to where it was called from: nothing is known of those further out either */
    lbr(s, (const uint64_t[][2]){CALL_BOTH, {INNER_RETURNS, OUTER + 0x80}, {0, 0}});
    s->record.ip = OUTER + 0x81;
    expect(s, 0, 0, 0);
}

static void lbr_interrupt(void **state)
{
    struct scene *s = *state;
    lbr(s, (const uint64_t[][2]){CALL_BOTH, {INNER_ADDS, HANDLER}, {0, 0}});
    s->record.ip = HANDLER + 8;
    expect(s, 3, INNER_ADDS, MIDDLE_CALLS);
    lbr(s, (const uint64_t[][2]){CALL_BOTH, {INNER_ADDS, HANDLER}, {HANDLER_RETURNS, INNER_ADDS}, {0, 0}});
    s->record.ip = INNER_ADDS + 2;
    expect(s, 2, MIDDLE_CALLS, OUTER_CALLS);
}

static void lbr_missing(void **state)
{
    struct scene *s = *state;
    /* how it got from inner to middle is not there */
    lbr(s, (const uint64_t[][2]){{OUTER_CALLS, MIDDLE}, {INNER_LOOPS, INNER}, {MIDDLE_CALLS, INNER}, {0, 0}});
    expect(s, 1, MIDDLE_CALLS, 0);
    /* code the file does not have */
    lbr(s, (const uint64_t[][2]){{OUTER_CALLS, MIDDLE}, {MIDDLE + 4, MIDDLE + 6}, {MIDDLE_CALLS, INNER}, {0, 0}});
    expect(s, 1, MIDDLE_CALLS, 0);
    same_build = false;
    assert_false(read_stack(s));
    same_build = true;
    s->record.after = true; /* of such a record it is not known which instruction it is of */
    assert_false(read_stack(s));
}

static void bts_calls(void **state)
{
    struct scene *s = *state;
    bts(s,
        (const uint64_t[][2]){CALL_BOTH, {INNER_RETURNS, MIDDLE_CALLS + 2}, {MIDDLE_RETURNS, OUTER_CALLS + 5}, {0, 0}});
    expect(s, 2, MIDDLE_CALLS, OUTER_CALLS);
    s->events.drain[1].epoch.lost = 1;
    again(s);
    assert_false(read_stack(s));
    s->events.drain[1].epoch.lost = CAIRN_DS_LOST_UNKNOWN;
    again(s);
    assert_false(read_stack(s));
    s->events.drain[1].epoch.lost = 0;
    again(s);
    s->item.tid = TID + 4;
    assert_false(read_stack(s));
    s->item.tid = TID;
    s->item.blame = CAIRN_BLAME_LOSS;
    assert_false(read_stack(s));
    s->item.blame = CAIRN_BLAME_KNOWN;
    s->record.timed = false;
    assert_false(read_stack(s));
    s->record.timed = true;
    s->item.time = 600; /* when it was drained: before or after */
    assert_false(read_stack(s));
    s->item.time = 500;
    again(s); /* records of a CPU come in the order of time */
    s->events.drain[1].epoch.record_bytes += sizeof(struct ds_bts_record); /* one is missing in the log */
    again(s);
    assert_false(read_stack(s));
}

/* Twice there, from two places: what is common is told. */
static void bts_which(void **state)
{
    struct scene *s = *state;
    bts(s, (const uint64_t[][2]){CALL_BOTH,
                                 {INNER_RETURNS, MIDDLE_CALLS + 2},
                                 {MIDDLE_RETURNS, OUTER_CALLS + 5},
                                 {OUTER_CALLS_AGAIN, MIDDLE},
                                 {MIDDLE_CALLS, INNER},
                                 {INNER_RETURNS, MIDDLE_CALLS + 2},
                                 {0, 0}});
    expect(s, 1, MIDDLE_CALLS, 0);
    s->record.ip = MIDDLE + 2;
    expect(s, 0, 0, 0);
    s->record.ip = OUTER + 4; /* before the first */
    expect(s, 0, 0, 0);
    s->record.ip = HANDLER + 4; /* never there */
    assert_false(read_stack(s));
}

/* However many records are of a drain, its branches are looked at once. */
static void bts_once(void **state)
{
    struct scene *s = *state;
    bts(s,
        (const uint64_t[][2]){CALL_BOTH, {INNER_RETURNS, MIDDLE_CALLS + 2}, {MIDDLE_RETURNS, OUTER_CALLS + 5}, {0, 0}});
    looked = 0;
    for (unsigned i = 0; i < 8; i++) {
        s->record.ip = i % 2 ? INNER + 4 : MIDDLE + 4;
        expect(s, i % 2 ? 2 : 1, i % 2 ? MIDDLE_CALLS : OUTER_CALLS, OUTER_CALLS);
    }
    assert_int_equal(looked, 4);
}

static void too_deep(void **state)
{
    struct scene *s = *state;
    uint64_t branches[CAIRN_CALLS + 4][2] = {CALL_BOTH};
    for (unsigned i = 2; i < CAIRN_CALLS + 3; i++) {
        branches[i][0] = INNER_CALLS_ITSELF;
        branches[i][1] = INNER;
    }
    lbr(s, (const uint64_t(*)[2])branches);
    expect(s, CAIRN_CALLS, INNER_CALLS_ITSELF, INNER_CALLS_ITSELF);
    assert_int_equal(s->stack.call[CAIRN_CALLS - 1], INNER_CALLS_ITSELF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lbr_calls, begin, end),
        cmocka_unit_test_setup_teardown(lbr_returns, begin, end),
        cmocka_unit_test_setup_teardown(lbr_interrupt, begin, end),
        cmocka_unit_test_setup_teardown(lbr_missing, begin, end),
        cmocka_unit_test_setup_teardown(bts_calls, begin, end),
        cmocka_unit_test_setup_teardown(bts_which, begin, end),
        cmocka_unit_test_setup_teardown(bts_once, begin, end),
        cmocka_unit_test_setup_teardown(too_deep, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
