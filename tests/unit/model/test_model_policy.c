/* SPDX-License-Identifier: MIT */
/* What no manual says: each policy of the model in each of its values. */
#include <stdbool.h>
#include <string.h>

#include "ds/policy/table/table.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

static struct ds_bench bench, *b = &bench;

static struct ds_model_policy policy(const char *name, const char *value)
{
    struct ds_model_policy p = {0};
    assert_int_equal(ds_model_policy_set(&p, name, value), 0);
    return p;
}

static void policy_names(void **state)
{
    (void)state;
    struct ds_model_policy p = {0};
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++) {
        const struct ds_model_policy_row *row = &ds_model_policies[i];
        assert_string_equal(ds_model_policy_value(&p, row), row->values[0]);
        for (unsigned v = 0; row->values[v]; v++) {
            assert_int_equal(ds_model_policy_set(&p, row->name, row->values[v]), 0);
            assert_string_equal(ds_model_policy_value(&p, row), row->values[v]);
        }
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(ds_model_policies[j].field, row->field);
        assert_int_equal(ds_model_policy_set(&p, row->name, ""), -EINVAL);
        assert_int_equal(ds_model_policy_set(&p, row->name, row->values[0]), 0);
    }
    assert_int_equal(ds_model_policy_set(&p, "mood", "good"), -ENOENT);
    static const struct ds_model_policy zero;
    assert_memory_equal(&p, &zero, sizeof p);
}

static void fit(void **state) /* the three readings of 'absolute maximum', with three ways to set it */
{
    (void)state;
    enum { N_RECORDS = 4, SIZE = 32 };
    static const uint64_t maximum[] = {N_RECORDS * SIZE, N_RECORDS * SIZE + 1, (N_RECORDS - 1) * SIZE + 1};
    static const char *const value[] = {"end_le", "end_lt", "start_lt"};
    static const unsigned stored[3][3] = {
        {N_RECORDS, N_RECORDS, N_RECORDS - 1},
        {N_RECORDS - 1, N_RECORDS, N_RECORDS - 1},
        {N_RECORDS, N_RECORDS + 1, N_RECORDS},
    };
    for (unsigned v = 0; v < 3; v++)
        for (unsigned i = 0; i < 3; i++) {
            struct ds_model_policy p = policy("fit", value[v]);
            ds_bench_init(b, ds_bench_icelake(), &p, maximum[i], 1000);
            ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(1));
            ds_bench_step(b, 100, 0);
            assert_int_equal(b->stored, stored[v][i]);
            assert_int_equal(b->stored + b->dropped, 50);
        }
}

static void beyond_maximum(void **state) /* an index that no buffer explains; its sum with a record's size wraps */
{
    (void)state;
    static const char *const value[] = {"end_le", "end_lt", "start_lt"};
    for (unsigned v = 0; v < 3; v++) {
        struct ds_model_policy p = policy("fit", value[v]);
        ds_bench_init(b, ds_bench_icelake(), &p, 320, 320);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(1));
        *ds_bench_area(b, 0x28) = UINT64_MAX - 7;
        ds_bench_step(b, 2, 0); /* must not fault */
        assert_int_equal(b->dropped, 1);
        assert_int_equal(*ds_bench_area(b, 0x28), UINT64_MAX - 7);
    }
}

static void drop_reload(void **state)
{
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        struct ds_model_policy p = policy("drop_reload", keeps ? "no" : "yes");
        ds_bench_init(b, ds_bench_icelake(), &p, 0, 0);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(4), MINUS(4));
        ds_bench_step(b, 10, 0);
        assert_int_equal(b->dropped, keeps ? 6 : 2); /* armed by the 4th, each one after it tries again; or every 5th */
        assert_int_equal(STATUS(b), keeps);
        assert_int_equal(PMC(b, 0), keeps ? 6 : MINUS(4));
        assert_int_equal(b->pmis, 0);
    }
}

static uint32_t lvtpc;

static uint32_t lvtpc_of_host(void *context)
{
    (void)context;
    return lvtpc;
}

static void lvtpc_is_the_hosts(void **state) /* as it is at the moment of the PMI */
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 320, 32);
    b->model.host.lvtpc = lvtpc_of_host;
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(1));
    lvtpc = 0x55 | LVTPC_MASKED;
    ds_bench_step(b, 2, 0);
    assert_int_equal(b->pmis, 0);
    lvtpc = 0x55;
    ds_model_lvtpc_write(&b->model, lvtpc); /* the host tells of that write, too */
    assert_int_equal(b->pmis, 1);
    assert_int_equal(b->pmi[0], 0x55);
    ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, OVF_BUF);
    ds_bench_step(b, 2, 0);
    assert_int_equal(b->pmis, 2);
}

static void masked_pmi(void **state)
{
    (void)state;
    for (int latched = 0; latched < 2; latched++) {
        struct ds_model_policy p = policy("masked_pmi", latched ? "latched" : "lost");
        ds_bench_init(b, ds_bench_icelake(), &p, 320, 32);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(1));
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->pmis, 1);
        ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, OVF_BUF);
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->pmis, 1);
        assert_int_equal(STATUS(b), OVF_BUF); /* that stays in any case */
        ds_model_lvtpc_write(&b->model, 0xEE | LVTPC_MASKED);
        assert_int_equal(b->pmis, 1);
        ds_model_lvtpc_write(&b->model, 0xEE);
        assert_int_equal(b->pmis, latched ? 2 : 1);
        assert_int_equal(b->model.lvtpc & LVTPC_MASKED, latched ? LVTPC_MASKED : 0);
        ds_model_lvtpc_write(&b->model, 0xEE);
        assert_int_equal(b->pmis, latched ? 2 : 1);
        /* OvfBuf is still set: the next record raises one only where one may have been lost. */
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->pmis, 2);
    }
}

static void acknowledged_before_unmasked(void **state) /* then nothing waits any more, unless there is more to see */
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        ds_bench_init(b, ds_bench_icelake(), NULL, 320, 32);
        ds_model_lvtpc_write(&b->model, 0xEE | LVTPC_MASKED);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(1));
        ds_bench_write(b, IA32_A_PMC0 + 1, MINUS(1));
        ds_bench_write(b, IA32_PERFEVTSEL0 + 1,
                       INSTRUCTIONS | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_INT);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, more ? 3 : 1);
        ds_bench_step(b, 2, 0);
        assert_int_equal(STATUS(b), OVF_BUF | (more ? 2 : 0));
        ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, OVF_BUF);
        ds_model_lvtpc_write(&b->model, 0xEE);
        assert_int_equal(b->pmis, more);
    }
}

static void bystander(void **state) /* test_model.c has it by format */
{
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        struct ds_model_policy p = policy("bystander", swapped ? "swapped" : "by_format");
        ds_bench_init(b, ds_bench_skylake(), &p, 1024, 1024);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), MINUS(9));
        ds_bench_pebs_counter(b, 1, 0x00C4, MINUS(1), MINUS(9));
        ds_bench_step(b, 1, DS_BIT(DS_MODEL_BRANCH));
        ds_bench_step(b, 1, 0);
        assert_int_equal(PMC(b, 1), swapped ? MINUS(9) : 0);
    }
}

static void pdist_minimum(void **state)
{
    (void)state;
    for (int least = 0; least < 2; least++) {
        struct ds_model_policy p = policy("pdist_minimum", least ? "128" : "none");
        for (unsigned precise = 0; precise < 2; precise++) {
            ds_bench_init(b, ds_model_preset("sapphirerapids"), &p, 8192, 8192);
            ds_bench_pebs_counter(b, precise ? 0 : 1, INSTRUCTIONS, MINUS(4), MINUS(4));
            ds_bench_step(b, 4 + 127, 0);
            assert_int_equal(b->stored, !precise ? 26 : least ? 1 : 32);
            ds_bench_step(b, 1, 0);
            assert_int_equal(b->stored, !precise ? 26 : least ? 2 : 33);
        }
        for (unsigned period = 127; period < 131; period++) { /* longer ones are as they are */
            ds_bench_init(b, ds_model_preset("sapphirerapids"), &p, 8192, 8192);
            ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(4), MINUS(period));
            ds_bench_step(b, 4, 0);
            assert_int_equal(PMC(b, 0), MINUS(least && period < 128 ? 128 : period));
        }
    }
}

static void reserved(void **state)
{
    (void)state;
    struct ds_model_policy p = policy("reserved", "fault");
    ds_bench_init(b, ds_bench_icelake(), &p, 320, 320);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_PEBS_ENABLE, UINT64_MAX), -EFAULT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_PERF_GLOBAL_STATUS, 0), -EFAULT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_PERF_CAPABILITIES, 0), -EFAULT);
    p = policy("reserved", "ignore");
    ds_bench_init(b, ds_bench_icelake(), &p, 320, 320);
    static const struct {
        uint32_t msr;
        uint64_t legal;
    } rows[] = {
        {IA32_PERFEVTSEL0, 0x4FFFFFFFF},
        {IA32_FIXED_CTR_CTRL, 0x11110000FFFF},
        {IA32_PERF_GLOBAL_CTRL, 0x1000F000000FF},
        {IA32_PEBS_ENABLE, 0xF000000FF},
        {MSR_PEBS_DATA_CFG, 0xFF00000F},
        {IA32_DEBUGCTL, 0x1FC3},
        {IA32_A_PMC0, DS_BIT(48) - 1},
        {IA32_FIXED_CTR0, DS_BIT(48) - 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ds_bench_write(b, rows[i].msr, UINT64_MAX);
        assert_int_equal(ds_bench_read(b, rows[i].msr), rows[i].legal);
    }
    ds_bench_write(b, IA32_PERF_GLOBAL_STATUS, UINT64_MAX);
    assert_int_equal(STATUS(b), 0);
    uint64_t capabilities = ds_bench_read(b, IA32_PERF_CAPABILITIES);
    ds_bench_write(b, IA32_PERF_CAPABILITIES, 0);
    assert_int_equal(ds_bench_read(b, IA32_PERF_CAPABILITIES), capabilities);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_DS_AREA, DS_BIT(47)), -EFAULT); /* an address, not a reserved bit */
}

static void unmapped(void **state) /* test_model.c and test_model_bts.c have it at every access */
{
    (void)state;
    for (int injected = 0; injected < 2; injected++) {
        struct ds_model_policy p = policy("unmapped", injected ? "page_fault" : "error");
        ds_bench_init(b, ds_bench_icelake(), &p, 320, 320);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
        *ds_bench_area(b, 0x28) = 0x2000; /* nothing checks what is in the area */
        *ds_bench_area(b, 0x30) = 0x3000;
        ds_bench_step(b, 1, 0);
        assert_int_equal(ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION), 0), injected ? 0 : -EFAULT);
        assert_int_equal(b->model.fault_address, 0x2000);
        assert_true(b->model.fault_write);
        assert_int_equal(b->page_faults, injected);
    }
}

/* What comes after a record that could not be written: with an error nothing more, until software sets the counter
 * anew; with #PF the record, once the page is there. */
static void unmapped_goes_on(void **state)
{
    (void)state;
    for (int injected = 0; injected < 2; injected++) {
        const struct ds_model_policy policy = {.unmapped_page_fault = injected};
        ds_bench_init(b, ds_bench_icelake(), &policy, 320, 320);
        ds_bench_pebs_counter(b, 1, INSTRUCTIONS, MINUS(2), MINUS(3));
        ds_bench_write(b, IA32_DS_AREA, 0x1000); /* nothing checks where it points */
        ds_bench_step(b, 2, 0);
        for (unsigned i = 0; i < 5; i++)
            assert_int_equal(ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION), 0), injected || i ? 0 : -EFAULT);
        assert_int_equal(b->page_faults, injected ? 5 : 0);
        assert_int_equal(b->model.lost, !injected);
        assert_int_equal(PMC(b, 1), 5);
        assert_int_equal(STATUS(b), 2);
        ds_bench_write(b, IA32_DS_AREA, DS_BENCH_BASE);
        ds_bench_step(b, 1, 0);
        assert_int_equal(b->model.records, injected);
        assert_int_equal(PMC(b, 1), injected ? MINUS(3) : 6);
        ds_bench_write(b, IA32_A_PMC0 + 1, MINUS(1));
        ds_bench_step(b, 2, 0);
        assert_int_equal(b->model.records, 1 + injected);
        assert_int_equal(STATUS(b), 0);
    }
}

static bool read_until_page(void *context, uint64_t address, void *to, uint32_t size)
{
    const uint64_t buffer[] = {ds_bench_buffer(), ds_bench_buffer(), UINT64_MAX, UINT64_MAX};
    (void)context;
    if (address % 4096 == 0)
        return false;
    if (size == sizeof buffer)
        memcpy(to, buffer, size);
    else
        memset(to, 0xEE, size);
    return true;
}

static bool write_anything(void *context, uint64_t address, const void *from, uint32_t size)
{
    (void)context, (void)address, (void)from, (void)size;
    return true;
}

/* A reset value whose last byte is on a page that is not mapped: the counter is what it was. */
static void half_a_reset(void **state)
{
    (void)state;
    ds_bench_init(b, ds_bench_skylake(), NULL, 320, 320);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1), 0);
    b->model.host.read = read_until_page;
    b->model.host.write = write_anything;
    ds_bench_write(b, IA32_DS_AREA, DS_BENCH_BASE + 4096 - 7 - ds_area_reset(3, 0));
    ds_bench_step(b, 1, 0);
    assert_int_equal(ds_bench_retire(b, DS_BIT(DS_MODEL_INSTRUCTION), 0), -EFAULT);
    assert_int_equal(b->model.fault_address, DS_BENCH_BASE + 4096);
    assert_int_equal(b->model.records, 1); /* it lies there */
    assert_int_equal(b->model.lost, 0);
    assert_int_equal(PMC(b, 0), 1);
}

#define LATE_SIZE 32u /* of a basic record */

/* Counters off, and `calls` chances for a record to come. */
static void off(unsigned calls)
{
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0);
    for (unsigned i = 0; i < calls; i++)
        assert_int_equal(ds_model_late(&b->model), 0);
}

/* What comes when counters have been turned off: so many records of the last event that they have counted. */
static void residual(void **state)
{
    static const char *const value[] = {"0", "1", "2", "3"};
    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        struct ds_model_policy p = policy("residual", value[n]);
        ds_bench_init(b, ds_bench_icelake(), &p, 100 * LATE_SIZE, 2 * LATE_SIZE);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1000), MINUS(1000));
        ds_bench_step(b, 5, 0);
        const uint64_t counted = b->registers.tsc, ip = b->registers.eventing_ip;
        assert_int_equal(ds_model_late(&b->model), 0); /* they are on */
        assert_int_equal(ds_bench_index(b), 0);
        b->registers.tsc += 100; /* others, later */
        b->registers.eventing_ip = 1;
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0);
        for (unsigned i = 1; i < 6; i++) {
            assert_int_equal(ds_model_late(&b->model), 0);
            assert_int_equal(ds_bench_index(b), (i < n ? i : n) * LATE_SIZE);
        }
        assert_true(b->model.records == n && b->stored == n && b->pmis == 0 && STATUS(b) == 0);
        assert_int_equal(PMC(b, 0), MINUS(1000 - 5)); /* not reloaded */
        for (unsigned i = 0; i < n; i++) {
            assert_int_equal(ds_bench_word_at(b, i * LATE_SIZE + 8), ip);
            assert_int_equal(ds_bench_word_at(b, i * LATE_SIZE + 16), 1); /* PMC0 */
            assert_int_equal(ds_bench_word_at(b, i * LATE_SIZE + 24), counted);
        }
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 1); /* nothing has been counted since */
        off(5);
        assert_int_equal(b->model.records, n);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 1);
        ds_bench_step(b, 1, 0);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 1); /* on again: what has not come yet does not */
        assert_int_equal(ds_model_late(&b->model), 0);
        assert_int_equal(b->model.records, n);
        ds_bench_step(b, 1, 0); /* PEBS off before counters: then nothing is owed */
        ds_bench_write(b, IA32_PEBS_ENABLE, 0);
        off(5);
        assert_int_equal(b->model.records, n);
    }
}

/* Where there is no room, and where there is no memory. */
static void residual_lost(void **state)
{
    (void)state;
    struct ds_model_policy p = policy("residual", "2");
    ds_bench_init(b, ds_bench_icelake(), &p, LATE_SIZE, 2 * LATE_SIZE);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1000), MINUS(1000));
    ds_bench_step(b, 5, 0);
    off(4);
    assert_true(b->model.records == 1 && b->model.dropped == 1 && b->dropped == 1);
    for (unsigned injected = 0; injected < 2; injected++)
        for (unsigned missing = 1; missing <= 2; missing++) { /* the area; the buffer */
            p.unmapped_page_fault = injected;
            ds_bench_init(b, ds_bench_icelake(), &p, 100 * LATE_SIZE, 100 * LATE_SIZE);
            ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(1000), MINUS(1000));
            ds_bench_step(b, 5, 0);
            ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, 0);
            b->accesses = 0;
            b->missing = missing;
            assert_int_equal(ds_model_late(&b->model), injected ? 0 : -EFAULT);
            assert_true(b->model.lost == 1 && b->model.records == 0 && b->page_faults == injected);
            b->missing = 0;
            assert_int_equal(ds_model_late(&b->model), 0);
            assert_int_equal(b->model.records, 1);
        }
}

/* An event that PEBS does not record on its counter counts and interrupts as without PEBS. Which these are is Intel's
 * promise, or what the generation does, or, with record, none. */
static void unlisted(void **state)
{
    (void)state;
    static const uint32_t cycles16 = 16u << 24 | 1u << 23;
    const struct {
        const char *preset;
        unsigned counter;
        uint32_t code;
        bool listed, by_generation;
    } rows[] = {
        {"penryn", 0, 0x00C0, true, true},
        {"penryn", 0, 0x00C4, false, false},
        {"penryn", 0, 0x0CC4, false, false},
        {"nehalem", 0, 0x01C0, true, true},
        {"nehalem", 0, 0x00C0, true, true}, /* by Linux alone */
        {"nehalem", 2, 0x00C4, true, true}, /* likewise */
        {"nehalem", 0, 0x003C, false, false},
        {"nehalem", 3, 0x04C4, true, true},
        {"nehalem", 1, 0x010B, true, true},
        {"sandybridge", 1, 0x01C0, true, true},
        {"sandybridge", 1, 0x00C0, false, true},
        {"haswell", 2, 0x20C4, true, true},
        {"haswell", 2, 0x40C4, false, true},
        {"haswell", 0, 0x00C4, false, true},
        {"haswell", 0, 0x01C2 | cycles16, true, true},
        {"skylake", 0, 0x01C2 | cycles16, false, false},
        {"skylake", 0, 0x01C0 | cycles16, true, true},
        {"skylake", 0, 0x00C0, false, true},
        {"skylake", 0, 0x00C0 | cycles16, true, true}, /* by Linux alone: cycles:pp */
        {"sandybridge", 0, 0x00C0 | cycles16, false, false},
        {"haswell", 0, 0x00C4 | IA32_PERFEVTSEL_INV, false, false}, /* Linux' tables have none with flags, unlisted */
        {"haswell", 0, 0x00C4 | IA32_PERFEVTSEL_EDGE, false, false},
        {"haswell", 0, 0x00C4 | IA32_PERFEVTSEL_ANY, false, false},
        {"haswell", 0, 0x20C4 | IA32_PERFEVTSEL_EDGE, true, true},
        {"skylake", 1, 0x01C0, true, true},
        {"skylake", 2, 0x40C4, true, true},
        {"skylake", 2, 0x003C, false, true},
        {"skylake", 3, 0x81D0, true, true},
        {"icelake", 0, 0x00C0, true, true},
        {"sapphirerapids", 0, 0x00C0, false, false}, /* PMC1 to PMC7 have it */
        {"sapphirerapids", 1, 0x00C0, true, true},
        {"sapphirerapids", 0, 0x00C4, true, true},
        {"sapphirerapids", 2, 0x013C, true, true},
        {"lunarlake", 9, 0x00C0, true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint8_t unlisted = 0; unlisted < 3; unlisted++) {
            const struct ds_model_policy policy = {.unlisted = unlisted};
            const bool made = unlisted == DS_MODEL_UNLISTED_RECORD ||
                              (unlisted == DS_MODEL_UNLISTED_NONE ? rows[i].listed : rows[i].by_generation);
            const uint64_t bit = DS_BIT(rows[i].counter);
            ds_bench_init_listed(b, ds_model_preset(rows[i].preset), &policy, 8192, 8192);
            ds_bench_pebs_counter(b, rows[i].counter, rows[i].code | IA32_PERFEVTSEL_INT, MINUS(1), MINUS(1000));
            for (unsigned n = 0; n < 3; n++) {
                ds_bench_retire(b, DS_BIT(DS_MODEL_EVENTS) - 1, 0);
                ds_bench_retire(b, 0, 0); /* for EDGE */
            }
            if (b->stored != made || (ds_bench_read(b, IA32_PERF_GLOBAL_STATUS) & bit) != (made ? 0 : bit) ||
                b->pmis != 1)
                fail_msg("%s, counter %u, %x, policy %d: %u records, %u PMIs", rows[i].preset, rows[i].counter,
                         rows[i].code, unlisted, b->stored, b->pmis);
            assert_int_equal(ds_bench_read(b, IA32_PEBS_ENABLE), bit); /* reads as written */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unlisted),
        cmocka_unit_test(policy_names),
        cmocka_unit_test(fit),
        cmocka_unit_test(beyond_maximum),
        cmocka_unit_test(drop_reload),
        cmocka_unit_test(masked_pmi),
        cmocka_unit_test(acknowledged_before_unmasked),
        cmocka_unit_test(lvtpc_is_the_hosts),
        cmocka_unit_test(bystander),
        cmocka_unit_test(pdist_minimum),
        cmocka_unit_test(reserved),
        cmocka_unit_test(unmapped),
        cmocka_unit_test(unmapped_goes_on),
        cmocka_unit_test(half_a_reset),
        cmocka_unit_test(residual),
        cmocka_unit_test(residual_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
