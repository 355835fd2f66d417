/* SPDX-License-Identifier: MIT */
/* Numbers to positions: all that were added, no others, whatever the numbers. */
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/base/number_map.h"

static void all_that_were_added(void **state)
{
    (void)state;
    static const uint32_t strides[] = {1, 2, 4, 256, 65536, 0x9E3779B1, UINT32_MAX};
    for (unsigned i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
        enum { COUNT = 20000 };
        struct cairn_map map = {0};
        assert_int_equal(cairn_map_find(&map, 0), 0);
        for (uint32_t n = 0; n < COUNT; n++) {
            assert_int_equal(cairn_map_find(&map, n * strides[i]), 0);
            cairn_map_add(&map, n * strides[i], n);
            assert_int_equal(cairn_map_find(&map, n / 2 * strides[i]), n / 2 + 1);
        }
        for (uint32_t n = 0; n < COUNT; n++)
            assert_int_equal(cairn_map_find(&map, n * strides[i]), n + 1);
        assert_true(map.used == COUNT && (size_t)2 * COUNT <= (size_t)1 << map.bits);
        cairn_map_free(&map);
        assert_int_equal(cairn_map_find(&map, strides[i]), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_that_were_added)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
