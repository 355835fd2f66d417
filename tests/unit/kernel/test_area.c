/* SPDX-License-Identifier: MIT */
/*
 * A CPU's control area made, freed and put to use while the machine runs: the driver is the real one, the processor a
 * file of MSRs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/bts/bts.h"
#include "kernel/control/session.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/memory/mem.h"
#include "kernel/recording/ds.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_fake.h"

static struct kcpu here;

static struct ds_fake fake;

#include "kernel/windows/control_area.h"
#include "tests/unit/fake/processor.h"

static struct kds store;
const struct kds *const kds = &store;
static unsigned pages_free, pages_taken, told;
static uint32_t drains, starts, bts_drains;

void *kmem_pages_alloc(size_t pages)
{
    assert_int_equal(pages, 1);
    if (!pages_free)
        return NULL;
    pages_free--;
    pages_taken++;
    void *page = aligned_alloc(4096, 4096);
    assert_non_null(page);
    return memset(page, 0, 4096);
}

void kmem_pages_free(void *page, size_t pages)
{
    assert_non_null(page);
    assert_int_equal(pages, 1);
    pages_free++;
    pages_taken--;
    free(page);
}

void ksession_move_pebs(bool (*function)(void *argument), void *argument)
{
    told += function(argument);
}

void kds_explain(const struct ds_refusal *refusal, uint32_t number, char *text, size_t size)
{
    assert_int_equal(number, 0);
    snprintf(text, size, "%s: %x", refusal->during, refusal->msr);
}

static void before_drain(void *context, uint32_t number, uint64_t tsc)
{
    (void)context, (void)number, (void)tsc;
}

static void drained(void *context, uint32_t number, const struct ds_drain *drain)
{
    (void)context, (void)number;
    if (drain->format != DS_FORMAT_ARCH)
        assert_ptr_equal(drain->area, here.ds_area); /* still whole */
    drains += drain->reason == CAIRN_DS_STOP;
    starts += drain->reason == CAIRN_DS_START;
}

static void bts_drained(void *context, uint32_t number, const struct ds_bts_drain *drain)
{
    (void)context, (void)number;
    bts_drains += drain->reason == CAIRN_DS_STOP;
}

static uint8_t buffer[64 * 1024] __attribute__((aligned(64 * 1024))), branches[4096] __attribute__((aligned(4096)));

/* A run that has begun, on one CPU: `fake`. */
static int begin_here(void)
{
    static const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained, .bts_drained = bts_drained};
    static const struct kbeside bts = {.start = ds_bts_start};
    static struct ds_bts branch_trace;
    static struct ds_config config;
    struct ds_caps caps;
    struct ds_refusal refusal;
    char error[160];
    ds_fake_reset(&fake);
    pages_free = 10;
    pages_taken = told = drains = starts = bts_drains = 0;
    config = (struct ds_config){.records = 64, .threshold = 48};
    store = (struct kds){.pebs = true, .beside = &bts, .config = {&config}};
    processor.cpu = &here;
    here = (struct kcpu){.ds = malloc(ds_cpu_bytes()), .machine = &fake.machine, .ds_area = kmem_pages_alloc(1)};
    if (ds_detect(&fake.machine, &caps) || ds_parse_events("INST_RETIRED.ANY:1000", &config, error, sizeof error) ||
        ds_cpu_init(here.ds, 0, &fake.machine, &caps, &config, &hooks, here.ds_area, buffer, error, sizeof error) ||
        ds_bts_init(&branch_trace, here.ds, DS_BTS_CIRCULAR, DS_BTS_ALL, 64, branches) || ds_start(here.ds, &refusal) ||
        ds_bts_start(here.ds, &refusal))
        return -1;
    here.pebs_index = here.pebs_stamp = ds_pebs_index(here.ds);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    return begin_here();
}

static int begin_arch(void **state)
{
    (void)state;
    ds_fake_init_arch(&fake);
    return begin_here();
}

static int end(void **state)
{
    (void)state;
    ds_stop(here.ds);
    if (here.ds_area)
        kmem_pages_free(here.ds_area, 1);
    free(here.ds);
    return pages_taken != 0;
}

static uint64_t ds_area_register(void)
{
    return ds_fake_value(&fake, IA32_DS_AREA);
}

static void exists(void **state)
{
    (void)state;
    uint64_t address = 0;
    assert_int_equal(kcontrol_area_allocate(&address), -EEXIST);
    assert_true(address == (uint64_t)(uintptr_t)here.ds_area && address == ds_area_register());
    assert_true(ds_started(here.ds));
    assert_int_equal(pages_taken, 1);
    assert_int_equal(told, 0);
}

/* Stopped, drained, torn down, then freed, and nobody reads PebsIndex any more. */
static void freed_while_it_runs(void **state)
{
    (void)state;
    char error[160];
    ds_resume(here.ds);
    assert_true(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL) != 0 && ds_fake_value(&fake, IA32_DEBUGCTL) != 0);
    assert_int_equal(kcontrol_area_free(), 0);
    assert_int_equal(drains, 1);
    assert_int_equal(bts_drains, 1);
    assert_false(ds_started(here.ds));
    assert_int_equal(ds_area_register(), 0);
    assert_int_equal(ds_fake_value(&fake, IA32_PEBS_ENABLE), 0);
    assert_int_equal(ds_fake_value(&fake, IA32_DEBUGCTL), 0);
    assert_true(!here.ds_area && !here.pebs_index && !here.pebs_stamp);
    assert_int_equal(told, 1);
    assert_int_equal(pages_taken, 0);

    unsigned accesses = fake.accesses, moved = told;
    ds_resume(here.ds); /* as every kernel call and interrupt goes on doing */
    ds_pause(here.ds);
    assert_false(ds_pmi(here.ds));
    ds_drain(here.ds, CAIRN_DS_THRESHOLD);
    ds_drain_panic(here.ds);
    assert_int_equal(fake.accesses, accesses);
    assert_int_equal(kcontrol_area_free(), -ENOENT);
    assert_int_equal(kcontrol_area_start(error, sizeof error), -ENOENT);
    assert_int_equal(told, moved);
    assert_int_equal(fake.accesses, accesses + 1); /* IA32_MISC_ENABLE, asked by kcontrol_area_free */
}

static void begins_anew(void **state)
{
    (void)state;
    static const uint8_t zeros[4096];
    char error[160];
    uint64_t address = 0, again = 0;
    kcontrol_area_free();
    assert_int_equal(kcontrol_area_allocate(&address), 0);
    assert_true(address && address == (uint64_t)(uintptr_t)here.ds_area);
    assert_memory_equal(here.ds_area, zeros, sizeof zeros);
    assert_false(ds_started(here.ds));
    assert_null(here.pebs_stamp);
    assert_int_equal(ds_area_register(), 0);
    assert_int_equal(told, 1);
    assert_int_equal(kcontrol_area_allocate(&again), -EEXIST);
    assert_true(again == address);
    assert_int_equal(pages_taken, 1);

    assert_int_equal(kcontrol_area_start(error, sizeof error), 0);
    assert_int_equal(starts, 2);
    assert_true(ds_started(here.ds) && ds_area_register() == address);
    assert_ptr_equal(here.pebs_stamp, ds_pebs_index(here.ds));
    assert_ptr_equal(here.pebs_index, here.pebs_stamp);
    assert_int_equal(told, 2);
    assert_int_equal(kcontrol_area_start(error, sizeof error), -EBUSY);
    assert_int_equal(told, 2);
    assert_int_equal(kcontrol_area_free(), 0); /* and so on */
    assert_int_equal(kcontrol_area_allocate(&address), 0);
}

static unsigned asked;

static void asked_cpuid(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    asked++;
    fake.machine.cpuid(context, leaf, subleaf, out);
}

/* What the backend shows decides: with soft, the model. */
static void model_asked(void **state)
{
    (void)state;
    uint64_t address;
    struct ds_machine model = fake.machine;
    model.cpuid = asked_cpuid;
    here.machine = &model;
    assert_int_equal(kcontrol_area_allocate(&address), -EEXIST);
    assert_int_equal(asked, 1);
    assert_int_equal(kcontrol_area_free(), 0);
    assert_int_equal(asked, 2);
    here.machine = &fake.machine;
}

static void never_started(void **state)
{
    (void)state;
    uint64_t address;
    kcontrol_area_free();
    kcontrol_area_allocate(&address);
    unsigned drained_before = drains, moved = told;
    assert_int_equal(kcontrol_area_free(), 0); /* nothing ran: nothing to drain, nobody to tell */
    assert_int_equal(drains, drained_before);
    assert_int_equal(told, moved);
}

static void no_memory(void **state)
{
    (void)state;
    uint64_t address = 1;
    pages_free = 0;
    assert_int_equal(kcontrol_area_allocate(&address), -ENOMEM); /* as in Windows, before it looks for one */
    assert_ptr_equal(here.ds_area, here.pebs_index - 5);
    pages_free = 10;
    kcontrol_area_free();
    pages_free = 0;
    assert_int_equal(kcontrol_area_allocate(&address), -ENOMEM);
    assert_null(here.ds_area);
}

static void not_supported(void **state)
{
    (void)state;
    static const uint64_t enables[] = {0, IA32_MISC_ENABLE_PEBS_UNAVAIL,
                                       IA32_MISC_ENABLE_PERFMON | IA32_MISC_ENABLE_PEBS_UNAVAIL};
    uint64_t address = 0;
    for (unsigned i = 0; i < 3; i++) {
        ds_fake_find(&fake, IA32_MISC_ENABLE)->value = enables[i];
        assert_int_equal(kcontrol_area_allocate(&address), -ENOTSUP);
        assert_int_equal(kcontrol_area_free(), -ENOTSUP);
    }
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value = ~IA32_MISC_ENABLE_PEBS_UNAVAIL;
    assert_int_equal(kcontrol_area_allocate(&address), -EEXIST);
    for (unsigned i = 1; i < 4; i++) {
        fake.leaf[0][i] ^= 0x20;
        assert_int_equal(kcontrol_area_allocate(&address), -ENOTSUP);
        assert_int_equal(kcontrol_area_free(), -ENOTSUP);
        fake.leaf[0][i] ^= 0x20;
    }
    ds_fake_remove(&fake, IA32_MISC_ENABLE);
    assert_int_equal(kcontrol_area_allocate(&address), -ENOTSUP);
    assert_int_equal(kcontrol_area_free(), -ENOTSUP);
    assert_int_equal(pages_taken, 1);
    assert_int_equal(told, 0);
    assert_true(ds_started(here.ds));
}

/* With architectural PEBS IA32_MISC_ENABLE says that the Debug Store has none. Should a processor not say so, the area
 * is BTS' alone, and PEBS ends and begins with it all the same. */
static void architectural_pebs(void **state)
{
    (void)state;
    char error[160];
    uint64_t address = 0;
    assert_int_equal(kcontrol_area_allocate(&address), -ENOTSUP);
    assert_int_equal(kcontrol_area_free(), -ENOTSUP);
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value &= ~(uint64_t)IA32_MISC_ENABLE_PEBS_UNAVAIL;
    assert_int_equal(kcontrol_area_allocate(&address), -EEXIST);
    assert_true(address == ds_area_register() && ds_fake_value(&fake, IA32_PEBS_BASE) == ((uintptr_t)buffer | 1));
    assert_int_equal(kcontrol_area_free(), 0);
    assert_int_equal(drains, 1);
    assert_int_equal(bts_drains, 1);
    assert_true(!ds_started(here.ds) && !here.pebs_index && !here.pebs_stamp && told == 1);
    assert_int_equal(ds_area_register() | ds_fake_value(&fake, IA32_PEBS_BASE) | ds_fake_value(&fake, IA32_PEBS_INDEX),
                     0);
    assert_int_equal(kcontrol_area_allocate(&address), 0);
    assert_int_equal(kcontrol_area_start(error, sizeof error), 0);
    assert_true(ds_area_register() == address && ds_fake_value(&fake, IA32_PEBS_BASE) == ((uintptr_t)buffer | 1));
    assert_ptr_equal(here.pebs_stamp, ds_pebs_index(here.ds));
    assert_int_equal(*here.pebs_stamp, 0);
    for (unsigned i = 4; i < 512; i++)
        assert_int_equal(((const uint64_t *)here.ds_area)[i], 0);
}

static void no_backend(void **state)
{
    (void)state;
    uint64_t address = 0;
    struct ds_cpu *kept = here.ds;
    void *area = here.ds_area;
    here.ds = NULL;
    here.ds_area = NULL;
    assert_int_equal(kcontrol_area_allocate(&address), -ENOTSUP);
    assert_int_equal(kcontrol_area_free(), -ENOTSUP);
    assert_int_equal(kcontrol_area_start(NULL, 0), -ENOENT);
    here.ds = kept;
    here.ds_area = area;
}

/* Each access of the start in turn raises #GP: it says which, and all is as before. */
static void start_refused(void **state)
{
    (void)state;
    uint64_t address;
    char error[160] = "";
    unsigned refused = 0;
    kcontrol_area_free();
    kcontrol_area_allocate(&address);
    for (unsigned n = 1; n < 200; n++) {
        fake.fault_at = fake.accesses + n;
        int e = kcontrol_area_start(error, sizeof error);
        fake.fault_at = 0;
        if (!e)
            break;
        refused++;
        assert_int_equal(e, -EFAULT);
        assert_true(strstr(error, "the set-up of ") == error);
        assert_false(ds_started(here.ds));
        assert_null(here.pebs_stamp);
        assert_int_equal(ds_area_register(), 0);
    }
    assert_true(refused > 10 && refused < 199);
    assert_int_equal(told, 2);
    assert_true(ds_started(here.ds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(exists, begin, end),
        cmocka_unit_test_setup_teardown(freed_while_it_runs, begin, end),
        cmocka_unit_test_setup_teardown(begins_anew, begin, end),
        cmocka_unit_test_setup_teardown(model_asked, begin, end),
        cmocka_unit_test_setup_teardown(never_started, begin, end),
        cmocka_unit_test_setup_teardown(no_memory, begin, end),
        cmocka_unit_test_setup_teardown(not_supported, begin, end),
        cmocka_unit_test_setup_teardown(architectural_pebs, begin_arch, end),
        cmocka_unit_test_setup_teardown(no_backend, begin, end),
        cmocka_unit_test_setup_teardown(start_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
