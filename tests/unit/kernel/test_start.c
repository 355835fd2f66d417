/* SPDX-License-Identifier: MIT */
/*
 * kernel/recording/start.c: PEBS and BTS begin on a CPU each by itself. Each access of that start in turn raises #GP:
 * the one is refused, with the line that says so, the other begins, and switches are stamped where PEBS did.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ds/bts/bts.h"
#include "kernel/cpu.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"
#include "tests/unit/fake/processor.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_fake.h"

static struct kcpu here;
struct kcpu *kcpu_table[MAX_CPUS] = {&here};
uint32_t kcpu_count = 1;

#include "kernel/recording/start.h"

static const struct kbeside bts = {.start = ds_bts_start};
static struct kds store = {.beside = &bts};
const struct kds *const kds = &store;
struct kopt kopt;

int kds_init(char *error, size_t error_size)
{
    (void)error, (void)error_size;
    return 0;
}

static struct ds_refusal why[2]; /* of BTS, of PEBS */
static unsigned refused[2];

void kds_refused(bool pebs, const struct ds_refusal *refusal, uint32_t cpu)
{
    assert_int_equal(cpu, 0);
    why[pebs] = *refusal;
    refused[pebs]++;
    if (pebs)
        snprintf(store.pebs_refusal, sizeof store.pebs_refusal, "%s", refusal->during);
}

static bool moved;
static unsigned stops;

void ksession_start_all(bool (*each)(void))
{
    moved = each();
}

void ksession_stop_all(void (*each)(void *argument))
{
    each(NULL);
    stops++;
}

int ksession_init(char *error, size_t error_size)
{
    (void)error, (void)error_size;
    return 0;
}

int ksession_create(const struct ksession_params *params, char *error, size_t error_size)
{
    (void)params, (void)error, (void)error_size;
    return 0;
}

void kcross_call_all(kcross_call_function function, void *argument)
{
    function(argument);
}

static void before_drain(void *context, uint32_t number, uint64_t tsc)
{
    (void)context, (void)number, (void)tsc;
}

static void drained(void *context, uint32_t number, const struct ds_drain *drain)
{
    (void)context, (void)number, (void)drain;
}

static void bts_drained(void *context, uint32_t number, const struct ds_bts_drain *drain)
{
    (void)context, (void)number, (void)drain;
}

static struct ds_fake fake;
static uint8_t area[4096] __attribute__((aligned(4096))), buffer[64 * 1024] __attribute__((aligned(4096))),
    branches[4096] __attribute__((aligned(4096)));

static int begin(void **state)
{
    static const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained, .bts_drained = bts_drained};
    static struct ds_bts branch_trace;
    static struct ds_config config;
    struct ds_caps caps;
    char error[160];
    (void)state;
    store.pebs = true;
    config = (struct ds_config){.records = 64, .threshold = 48};
    store.config[0] = &config;
    ds_fake_init(&fake, true);
    ds_fake_reset(&fake);
    processor.cpu = &here;
    here = (struct kcpu){.ds = malloc(ds_cpu_bytes())};
    if (ds_detect(&fake.machine, &caps) || ds_parse_events("INST_RETIRED.ANY:1000", &config, error, sizeof error) ||
        ds_cpu_init(here.ds, 0, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error) ||
        ds_bts_init(&branch_trace, here.ds, DS_BTS_CIRCULAR, DS_BTS_ALL, 64, branches))
        return -1;
    here.pebs_index = ds_pebs_index(here.ds);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(here.ds);
    return 0;
}

static void nothing_is_refused(void **state)
{
    (void)state;
    char error[200] = "";
    assert_int_equal(krecording_start(error, sizeof error), 0);
    assert_true(ds_started(here.ds) && !moved && !stops && !refused[0] && !refused[1]);
    assert_ptr_equal(here.pebs_stamp, here.pebs_index);
    krecording_stop();
    assert_false(ds_started(here.ds));
    stops = 0;
}

enum { NONE = 10, BTS, PEBS }; /* was refused */

static int refused_by(unsigned access)
{
    char error[200] = "";
    fake.fault_at = fake.accesses + access;
    assert_int_equal(krecording_start(error, sizeof error), 0);
    const bool of_pebs = refused[1] != 0;
    assert_in_range(refused[0] + refused[1], 0, 1);
    assert_true(moved == of_pebs);
    assert_ptr_equal(here.pebs_stamp, of_pebs ? NULL : here.pebs_index);
    assert_true(ds_started(here.ds) && !stops);
    if (!refused[0] && !refused[1])
        return NONE;
    assert_string_equal(why[of_pebs].during, of_pebs ? "the set-up of PEBS" : "the set-up of BTS");
    return of_pebs ? PEBS : BTS;
}

static void each_by_itself(void **state) /* in a process of its own: what was refused stays refused */
{
    (void)state;
    unsigned count[PEBS + 1] = {0};
    for (unsigned n = 1; n < 200 && !count[NONE]; n++) {
        int status;
        const pid_t child = fork();
        if (!child)
            _exit(refused_by(n));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) >= NONE && WEXITSTATUS(status) <= PEBS);
        count[WEXITSTATUS(status)]++;
    }
    assert_true(count[PEBS] > 10 && count[BTS] > 2 && count[NONE] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(each_by_itself, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
