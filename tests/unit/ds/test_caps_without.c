// SPDX-License-Identifier: MIT
/* Detection and the plan in a driver that is linked without its wings. */
#include <stdlib.h>

#include "ds/ds.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_fake.h"

static struct ds_fake fake;
static struct ds_caps caps;

static void says_so(void **state)
{
    static const char why[] = "the processor has architectural PEBS, which this kernel is built without";
    (void)state;
    ds_fake_init_arch(&fake);
    ds_fake_refused(&fake, &caps, why);
    assert_true(caps.bts && !caps.instead);
    ds_fake_remove(&fake, IA32_DS_AREA);
    ds_fake_refused(&fake, &caps, why);
}

/* What disagrees is told first; and the Debug Store is what it was. */
static void knows_the_store(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs && caps.adaptive);
    assert_false(ds_fake_test(&caps, "errata")->ok); /* are not known */
    assert_false(ds_fake_test(&caps, "LBR_FMT")->ok);
    assert_null(caps.history);
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value |= 15u << 8;
    ds_fake_refused(&fake, &caps, "CPUID.23H has no subleaves 4 and 5: the two disagree");
}

static void refuses_branch_history(void **state)
{
    (void)state;
    struct ds_config config = {.records = 4, .threshold = 1, .groups = MSR_PEBS_DATA_CFG_LBR};
    const struct ds_hooks hooks = {0};
    struct ds_cpu *ds = malloc(ds_cpu_bytes());
    char error[160] = "";
    ds_fake_init(&fake, true);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:37", &config, error, sizeof error), 0);
    assert_int_equal(ds_cpu_init(ds, 3, &fake.machine, &caps, &config, &hooks, NULL, NULL, error, sizeof error),
                     -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': lbr: this kernel (CPU 3) has no branch history");
    free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_so),
        cmocka_unit_test(knows_the_store),
        cmocka_unit_test(refuses_branch_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
