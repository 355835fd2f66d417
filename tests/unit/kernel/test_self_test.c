/* SPDX-License-Identifier: MIT */
/*
 * What is said where PEBS has no records of instructions, on two CPUs whose events the test chooses
 * (counting_machine.h).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "kernel/console/report.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/memory/mem.h"
#include "kernel/recording/ds.h"
#include "kernel/sched/cross_call.h"
#include "kernel/trial/self_test.h"
#include "tests/unit/fake/processor.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/counting_machine.h"

static struct kcpu cpus[2];
struct kcpu *kcpu_table[MAX_CPUS] = {&cpus[0], &cpus[1]};
uint32_t kcpu_count = 2;

static struct counting_machine machine[2];
static char reported[400], said[400];
static unsigned pages_live, pages_at_most;
static struct ds_caps caps[2];
static struct ds_config config, other_kind;
static const struct ds_config *each[2];

/* The processors have a Debug Store: nothing is stepped. */
const struct ds_machine *kds_machine_make(bool policies)
{
    assert_true(policies);
    return &counting_machine_hw;
}

void kds_machine_free(const struct ds_machine *made)
{
    assert_true(!made || made == &counting_machine_hw);
}

void kcross_call_all(kcross_call_function function, void *argument)
{
    for (uint32_t i = 0; i < 2; i++) {
        processor.cpu = &cpus[i];
        counting = &machine[i];
        function(argument);
    }
}

void *kmem_pages_alloc(size_t pages)
{
    if (pages_live == pages_at_most)
        return NULL;
    pages_live++;
    return memset(aligned_alloc(ARCH_PAGE_SIZE, pages * ARCH_PAGE_SIZE), 0, pages * ARCH_PAGE_SIZE);
}

void kmem_pages_free(void *address, size_t pages)
{
    (void)pages;
    free(address);
    pages_live--;
}

void kreport(enum kreport verdict, const char *name, const char *format, ...)
{
    va_list values;
    assert_int_equal(verdict, KREPORT_SKIP);
    assert_string_equal(name, "records");
    va_start(values, format);
    vsnprintf(reported, sizeof reported, format, values);
    va_end(values);
}

static void set_up(const char *preset, const char *spec)
{
    for (uint32_t i = 0; i < 2; i++) {
        cpus[i] = (struct kcpu){.arch.index = i};
        counting_machine_reset(&machine[i], preset, 0);
        assert_int_equal(ds_detect(&counting_machine_hw, &caps[i]), 0);
        each[i] = &config;
    }
    reported[0] = '\0';
    pages_at_most = 2;
    config = (struct ds_config){.records = 8, .threshold = 8};
    assert_int_equal(ds_parse_events(spec, &config, said, sizeof said), 0);
}

static void run(const char *expected)
{
    assert_int_equal(kself_test(caps, each, &config, said, sizeof said), 0);
    assert_string_equal(said, expected);
    assert_string_equal(reported, *expected ? expected + 2 : "");
    assert_int_equal(pages_live, 0);
}

#define ANOTHER ": sample another event, such as pebs=BR_INST_RETIRED.ALL_BRANCHES:1009"

static void all_is_well(void **state)
{
    static const char *const presets[] = {"penryn", "nehalem", "sandybridge", "haswell", "skylake", "icelake"};
    (void)state;
    for (unsigned i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        set_up(presets[i], "INST_RETIRED.ANY:5003:k");
        run("");
    }
    set_up("skylake", "branches:99"); /* nothing of instructions to try */
    pages_at_most = 0;
    run("");
}

static void no_record(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        char expected[200];
        set_up("skylake", "branches:99,INST_RETIRED.ANY:5003:k");
        machine[i].instructions = DS_TRIED_NO_RECORD;
        snprintf(expected, sizeof expected, "; self-test: CPU %u makes no record of INST_RETIRED.ANY:5003" ANOTHER, i);
        run(expected);
    }
    set_up("nehalem", "INST_RETIRED.ANY:499");
    machine[0].instructions = machine[1].instructions = DS_TRIED_STILL;
    run("; self-test: CPU 0 does not count INST_RETIRED.ANY:499 with PEBS" ANOTHER);
}

/* CPUs of another kind of core have another configuration, and its events are not tried. */
static void another_kind_of_core(void **state)
{
    (void)state;
    set_up("icelake", "INST_RETIRED.ANY:5003");
    machine[1].instructions = DS_TRIED_STILL;
    each[1] = &other_kind;
    run("");
}

static void no_memory(void **state)
{
    (void)state;
    set_up("skylake", "INST_RETIRED.ANY:5003");
    pages_at_most = 1;
    assert_int_equal(kself_test(caps, each, &config, said, sizeof said), -ENOMEM);
    assert_int_equal(pages_live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_well),
        cmocka_unit_test(no_record),
        cmocka_unit_test(another_kind_of_core),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("kself_test", tests, NULL, NULL);
}
