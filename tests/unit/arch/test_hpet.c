/* SPDX-License-Identifier: MIT */
/* arch/timers/hpet.c on registers in memory: none of any number of timers can interrupt afterwards; nothing else
 * changes. */
#include <string.h>

#include "arch/timers/hpet.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

static uint32_t registers[HPET_SIZE / 4], expected[HPET_SIZE / 4];

static void begin(uint32_t timers, uint32_t period)
{
    memset(registers, 0xA5, sizeof registers); /* timers: FSB; not INT */
    registers[HPET_CAPABILITIES / 4] = 0x80862000u | (timers - 1) << 8 | 1;
    registers[HPET_PERIOD / 4] = period;
    registers[HPET_CONFIGURATION / 4] = HPET_ENABLE | HPET_LEGACY;
    memcpy(expected, registers, sizeof registers);
}

static void silenced(void **state)
{
    (void)state;
    static const uint32_t timers[] = {1, 3, 24, 32};
    for (size_t i = 0; i < sizeof timers / sizeof timers[0]; i++) {
        begin(timers[i], 10000000);
        expected[HPET_CONFIGURATION / 4] = HPET_ENABLE;
        for (uint32_t n = 0; n < timers[i] && HPET_TIMER(n) < HPET_SIZE; n++) {
            registers[HPET_TIMER(n) / 4] = n % 2 ? 0x010CC17E : 0x00F0C17E; /* level, periodic, FSB, INT, a route */
            expected[HPET_TIMER(n) / 4] = n % 2 ? 0x010C817A : 0x00F0817A;
        }
        assert_int_equal(arch_hpet_silence(registers), 0);
        assert_memory_equal(registers, expected, sizeof registers);
    }
}

static void none_there(void **state)
{
    (void)state;
    static const uint32_t periods[] = {0, 1, HPET_PERIOD_MIN - 1, HPET_PERIOD_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++) {
        begin(32, periods[i]);
        assert_int_equal(arch_hpet_silence(registers), -ENODEV);
        assert_memory_equal(registers, expected, sizeof registers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(silenced), cmocka_unit_test(none_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
