/* SPDX-License-Identifier: MIT */
#include "tests/unit/ds/bts/bts_machine.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"

struct ds_model *const model = &model_machine.model;
struct ds_machine machine;

uint64_t area[512] __attribute__((aligned(4096)));
struct ds_bts_record *buffer;
struct ds_cpu *ds;
struct ds_bts bts;
struct ds_caps caps;

unsigned pebs_drains, bts_drains;
struct ds_bts_drain last;
uint64_t taken[4096];
unsigned count;
bool panic_in_drain;
uint32_t throttle;

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu, (void)d;
    pebs_drains++;
}

static void bts_drained(void *context, uint32_t cpu, const struct ds_bts_drain *d)
{
    (void)context;
    assert_int_equal(cpu, 3);
    assert_ptr_equal(d->area, area);
    assert_true(model->bts_records == 0 || model_machine.held || !(model->debugctl & IA32_DEBUGCTL_TR));
    last = *d;
    bts_drains++;
    unsigned before = count;
    for (unsigned r = 0; r < 2; r++)
        for (uint32_t i = 0; i < d->run[r].count; i++) {
            const struct ds_bts_record *b = &d->run[r].at[i];
            assert_true(b >= buffer && b->to == b->from + 0x1000 && count < 4096);
            taken[count++] = b->from;
        }
    assert_int_equal(count - before, d->records);
    if (panic_in_drain) {
        panic_in_drain = false;
        ds_drain_panic(ds);
    }
}

const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained, .bts_drained = bts_drained};

void bts_prepare(const char *preset, const struct ds_model_policy *policy, bool stepped, const char *events)
{
    struct ds_config config = {.records = 8, .threshold = 6, .throttle = throttle};
    char error[160] = "";
    model_machine_reset(ds_model_preset(preset), policy, NULL);
    machine = stepped ? model_machine_stepped : model_machine_hw;
    pebs_drains = bts_drains = count = 0;
    panic_in_drain = false;
    ds_detect(&machine, &caps);
    model_machine.accesses = 0;
    if (events && ds_parse_events(events, &config, error, sizeof error))
        fail_msg("%s", error);
    static uint64_t pebs[2048];
    ds = realloc(ds, ds_cpu_bytes());
    memset(area, events ? 0 : 0xA5, sizeof area);
    if (ds_cpu_init(ds, 3, &machine, &caps, &config, &hooks, area, pebs, error, sizeof error))
        fail_msg("%s", error);
}

void bts_buffer(enum ds_bts_mode mode, uint32_t records)
{
    free(buffer);
    buffer = calloc(1, ds_bts_buffer_bytes(records));
    assert_int_equal(ds_bts_init(&bts, ds, mode, DS_BTS_ALL, records, buffer), 0);
}

void bts_begin(const struct ds_model_policy *policy, bool stepped, enum ds_bts_mode mode, uint32_t records)
{
    struct ds_refusal refusal;
    bts_prepare("icelake", policy, stepped, "INST_RETIRED.ANY:100000");
    bts_buffer(mode, records);
    assert_int_equal(ds_start(ds, &refusal), 0);
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    assert_int_equal(last.reason, CAIRN_DS_START);
    ds_resume(ds);
}

void bts_branch(uint64_t i)
{
    const struct ds_model_branch b = {.from = i, .to = i + 0x1000};
    const struct ds_model_retired retired = {
        .events = DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_BRANCH) | DS_BIT(DS_MODEL_BRANCH_TAKEN), .branch = &b};
    assert_int_equal(ds_model_retire(model, &retired), 0);
}

void bts_interrupt(void)
{
    struct arch_trap_frame frame = {0};
    if (!model_machine.pmi)
        return;
    model_machine.pmi = false;
    assert_true(ds_pmi(ds));
    ds_resume_frame(ds, &frame);
}
