/* SPDX-License-Identifier: MIT */
/* kernel/in_use/leave.c: what firmware has left on is left alone, or taken with one warning. */
#include <stdio.h>
#include <string.h>

#include "kernel/in_use/in_use.h"
#include "kernel/lib/print.h"
#include "kernel/recording/ds.h"
#include "tests/unit/fake/processor.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_fake.h"

static char said[512];
static struct ds_fake fake;
static struct ds_caps caps;

void kprintf(const char *format, ...)
{
    va_list args;
    const size_t n = strlen(said);
    va_start(args, format);
    vsnprintf(said + n, sizeof said - n, format, args);
    va_end(args);
}

uint32_t arch_cpu_index(void)
{
    return 3;
}

/* 330H in IA32_FIXED_CTR_CTRL, as some servers' firmware has it. */
static void detect(uint64_t control)
{
    ds_fake_init(&fake, true);
    ds_fake_reset(&fake);
    ds_fake_find(&fake, IA32_FIXED_CTR_CTRL)->value = control;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    kds_detected(&caps);
}

static void test_in_use(void **state)
{
    (void)state;
    kin_use_force = 0;
    detect(0x330);
    assert_false(caps.pebs);
    assert_string_equal(caps.reason, "FIXED_CTR1 FIXED_CTR2 in use, perhaps by firmware: ds.force=1 takes it anyway");
    assert_string_equal(said, "");
    kin_use_force = 1;
    detect(0);
    assert_true(caps.pebs);
    assert_string_equal(said, "");
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        detect(0x330);
        assert_true(caps.pebs);
        assert_string_equal(said, "ds: warning: CPU 3: FIXED_CTR1 FIXED_CTR2 in use, perhaps by firmware: "
                                  "ds.force=1 takes it anyway\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
