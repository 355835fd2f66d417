/* SPDX-License-Identifier: MIT */
#include "tests/unit/ds/driver/driver_machine.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"

struct ds_fake fake;
struct ds_caps caps;
struct ds_cpu *ds;
void *buffer;
uint64_t area[512] __attribute__((aligned(4096)));

char order[256];
struct ds_drain last;
uint64_t last_index, before_index;
bool panic_in_drain;

void driver_before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
    strcat(order, "b");
    before_index = area[5];
}

void driver_drained(void *context, uint32_t cpu, const struct ds_drain *drain)
{
    (void)context;
    assert_int_equal(cpu, 7);
    strcat(order, "d");
    last = *drain;
    last_index = drain->area[5]; /* not yet set back */
    if (panic_in_drain) {
        panic_in_drain = false;
        ds_drain_panic(ds);
    }
}

int driver_init(const char *events, const char *groups, uint32_t records, uint32_t threshold, char *error, size_t size)
{
    struct ds_config config = {.records = records, .threshold = threshold};
    const struct ds_hooks hooks = {.before_drain = driver_before_drain, .drained = driver_drained};
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_int_equal(ds_parse_events(events, &config, error, size), 0);
    assert_int_equal(ds_parse_groups(groups, &config, error, size), 0);
    free(buffer);
    buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
    ds = realloc(ds, ds_cpu_bytes());
    order[0] = '\0';
    return ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, size);
}

void driver_begin(bool baseline, const char *events, const char *groups)
{
    char error[160] = "";
    ds_fake_init(&fake, baseline);
    if (driver_init(events, groups, 8, 6, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(fake.logged, 0); /* detection and planning write nothing */
    fake.accesses = 0;
}

void driver_start(void)
{
    struct ds_refusal refusal;
    assert_int_equal(ds_start(ds, &refusal), 0);
}

void driver_records(unsigned n)
{
    memset((uint8_t *)buffer + (area[5] - area[4]), 0xA5, n * (size_t)176);
    area[5] += n * 176;
}

void driver_expect(const struct driver_write *expected, size_t n, unsigned from)
{
    for (size_t i = 0; i < n; i++)
        if (from + i >= fake.logged || fake.log[from + i].msr != expected[i].msr ||
            fake.log[from + i].value != expected[i].value)
            fail_msg("write %zu: MSR %x = %llx, not %x = %llx", i, fake.log[from + i].msr,
                     (unsigned long long)fake.log[from + i].value, expected[i].msr,
                     (unsigned long long)expected[i].value);
    assert_int_equal(fake.logged - from, n);
}
