/* SPDX-License-Identifier: MIT */
/* The decoder of compressed trace buffers: the examples of MS-XCA, section 3, and input that cannot be. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tools/cairn/base/lz77.h"

/* Decodes from and into memory of exactly these sizes, so that a byte too far is seen. */
static size_t decoded(const void *in, size_t size, uint8_t **out, size_t room)
{
    uint8_t *copy = malloc(size ? size : 1);
    *out = malloc(room ? room : 1);
    assert_true(copy && *out);
    memcpy(copy, in, size);
    size_t n = cairn_lz77_decode(copy, size, *out, room);
    assert_true(n <= room);
    free(copy);
    return n;
}

static void letters(void **state)
{
    (void)state;
    static const char in[] = "\x3f\0\0\0abcdefghijklmnopqrstuvwxyz";
    uint8_t *out;
    assert_int_equal(decoded(in, sizeof(in) - 1, &out, 100), 26);
    assert_memory_equal(out, "abcdefghijklmnopqrstuvwxyz", 26);
    free(out);
}

static void a_long_match(void **state)
{
    (void)state;
    static const uint8_t in[] = {0xff, 0xff, 0xff, 0x1f, 'a', 'b', 'c', 0x17, 0x00, 0x0f, 0xff, 0x26, 0x01};
    uint8_t *out;
    for (size_t room = 0; room <= 310; room++) { /* 100 times abc; where there is less room, the beginning */
        size_t n = decoded(in, sizeof(in), &out, room);
        assert_int_equal(n, room < 300 ? room : 300);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(out[i], "abc"[i % 3]);
        free(out);
    }
}

/* The two lengths that share a byte: 10 + 5 and 10 + 9, then one of four bytes. */
static void lengths_of_every_width(void **state)
{
    (void)state;
    static const uint8_t in[] = {0,    0,    0,    0x70, 'x',  0x07, 0x00, 0x95, 0x07, 0x00,
                                 0x07, 0x00, 0x0f, 0xff, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00};
    uint8_t *out;
    size_t all = 1 + (5 + 7 + 3) + (9 + 7 + 3) + (0x10000 + 3);
    assert_int_equal(decoded(in, sizeof(in), &out, 1 << 20), all);
    for (size_t i = 0; i < all; i++)
        assert_int_equal(out[i], 'x');
    free(out);
}

static void what_cannot_be(void **state)
{
    (void)state;
    static const uint8_t before[] = {0, 0, 0, 0x40, 'a', 0x08, 0x00};            /* a match 2 back, where 1 is */
    static const uint8_t shorter[] = {0, 0, 0, 0x40, 'a', 7, 0, 15, 255, 21, 0}; /* a length that a byte would hold */
    uint8_t *out;
    assert_int_equal(decoded(before, sizeof(before), &out, 100), 1);
    free(out);
    assert_int_equal(decoded(shorter, sizeof(shorter), &out, 100), 1);
    free(out);
    for (size_t size = 0; size < sizeof(shorter); size++) { /* cut off anywhere */
        assert_true(decoded(shorter, size, &out, 100) <= 1);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters),
        cmocka_unit_test(a_long_match),
        cmocka_unit_test(lengths_of_every_width),
        cmocka_unit_test(what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
