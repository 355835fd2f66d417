/* SPDX-License-Identifier: MIT */
/* What is put together without printf is what printf prints. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/unit/support/cmocka.h"
#include "tools/cairn/base/put.h"

/* Around each power of ten and of two. */
static void each(void (*check)(uint64_t value))
{
    for (uint64_t value = 0; value < 2000; value++)
        check(value);
    for (uint64_t ten = 1000; ten < UINT64_MAX / 10; ten *= 10)
        for (uint64_t value = ten - 2; value < ten + 3; value++)
            check(value);
    for (unsigned bit = 11; bit < 64; bit++)
        for (uint64_t value = (UINT64_C(1) << bit) - 2; value < (UINT64_C(1) << bit) + 3; value++)
            check(value);
    check(UINT64_MAX);
}

static void check_number(uint64_t value)
{
    char put[64], printed[64];
    for (unsigned width = 0; width < 25; width++) {
        *cairn_put_number(put, value, width) = '\0';
        snprintf(printed, sizeof(printed), "%*" PRIu64, (int)width, value);
        assert_string_equal(put, printed);
    }
}

static void check_digits(uint64_t value)
{
    char put[32], printed[32];
    uint64_t most = 10;
    for (unsigned digits = 1; digits < 10; digits++, most *= 10) {
        *cairn_put_digits(put, (uint32_t)(value % most), digits) = '\0';
        snprintf(printed, sizeof(printed), "%0*" PRIu64, (int)digits, value % most);
        assert_string_equal(put, printed);
    }
}

static void numbers(void **state)
{
    (void)state;
    each(check_number);
}

static void digits(void **state)
{
    (void)state;
    each(check_digits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
