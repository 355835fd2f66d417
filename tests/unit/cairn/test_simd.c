/* SPDX-License-Identifier: MIT */
/* The reader's own checksum and base64 against those the kernel has. */
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/base64.h"
#include "kernel/lib/crc32c.h"
#include "kernel/line8/line8.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/base/crc_base64.h"
#include "tools/cairn/base/line8.h"

#define BYTES 400u

static void fill_at_random(uint8_t *to, size_t size)
{
    static uint32_t x = 12345;
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
}

static void checksums(void **state)
{
    (void)state;
    uint8_t data[BYTES];
    fill_at_random(data, sizeof(data));
    assert_int_equal(cairn_crc32c("123456789", 9), 0xE3069283);
    for (size_t from = 0; from < 9; from++)
        for (size_t size = 0; size <= BYTES - from; size++)
            assert_int_equal(cairn_crc32c(data + from, size), kcrc32c(0, data + from, size));
}

/* Not a byte is written behind what it decodes to. */
static void every_length(void **state)
{
    (void)state;
    uint8_t data[BYTES];
    char text[KBASE64_SIZE(BYTES)];
    fill_at_random(data, sizeof(data));
    for (size_t size = 0; size <= BYTES; size++) {
        size_t length = kbase64_encode(text, data, size);
        uint8_t *to = malloc(size + 1);
        to[size] = 0x5A;
        assert_int_equal(cairn_base64_decode(to, text, length), size);
        assert_memory_equal(to, data, size);
        assert_int_equal(to[size], 0x5A);
        free(to);
    }
}

/* Every character at every place, and every length: refused where the other one refuses. */
static void every_character(void **state)
{
    (void)state;
    static const uint8_t data[72];
    char text[KBASE64_SIZE(72)];
    uint8_t a[72], b[72];
    const size_t length = kbase64_encode(text, data, sizeof(data));
    for (size_t at = 0; at < length; at++)
        for (unsigned c = 0; c < 256; c++) {
            const char was = text[at];
            text[at] = (char)c;
            long expected = cairn_base64_plain(a, text, length), is = cairn_base64_decode(b, text, length);
            assert_int_equal(is, expected);
            if (is > 0)
                assert_memory_equal(b, a, (size_t)is);
            text[at] = was;
        }
    for (size_t size = 0; size <= length; size++)
        assert_int_equal(cairn_base64_decode(b, text, size), cairn_base64_plain(a, text, size));
}

/* 8-bit lines: runs of any length, with any character anywhere, and any room. */
static void eight_bit_lines(void **state)
{
    (void)state;
    uint8_t data[BYTES], noise[BYTES], *a = malloc(BYTES), *b = malloc(BYTES);
    char text[KLINE8_MOST(BYTES)];
    for (unsigned n = 0; n < 20000; n++) {
        fill_at_random(noise, sizeof(noise));
        for (size_t i = 0; i < sizeof(data); i++)
            data[i] = noise[i] & noise[i % (1 + n % 50)]; /* runs of all lengths */
        const size_t size = n % (BYTES + 1), room = n % 7 == 0 ? size - (size && noise[0] % 2) : BYTES;
        const size_t length = kline8_encode(text, data, size);
        if (n % 3 == 0 && length)
            text[(noise[1] | (size_t)noise[2] << 8) % length] = (char)noise[3];
        char *exact = malloc(length + 1), *end = memcpy(exact + 1, text, length);
        const long expected = kline8_decode(a, room, end, length);
        uint8_t *tight = realloc(b, room ? room : 1); /* the sanitizer watches */
        assert_int_equal(cairn_line8_decode(b = tight, room, end, length), expected);
        if (expected > 0)
            assert_memory_equal(b, a, (size_t)expected);
        free(exact);
    }
    for (unsigned c = 0; c < 256; c++)
        for (size_t at = 0; at < 100; at++) {
            memset(text, 'x', 100);
            memcpy(text, "=!", 2);
            text[at] = (char)c;
            assert_int_equal(cairn_line8_decode(b = realloc(b, BYTES), BYTES, text, 100),
                             kline8_decode(a, BYTES, text, 100));
        }
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums),
        cmocka_unit_test(every_length),
        cmocka_unit_test(every_character),
        cmocka_unit_test(eight_bit_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
