/* SPDX-License-Identifier: MIT */
/* Bytes as the characters of 8-bit lines: kernel/line8/line8.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/line8/line8.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "trace/wire/format.h"

static const char never[] = "\0\t\n\r\x11\x13\x1A\x1B :=~\x7F\xFF"; /* as docs/reference/format.md has them */
#define NEVER (sizeof(never) - 1)

static bool occurs(uint8_t c)
{
    return !memchr(never, c, NEVER);
}

/* As many bytes as one key can carry, by trying each. */
static size_t longest(const uint8_t *from, size_t size)
{
    size_t best = 0;
    for (unsigned key = 0; key < 256; key++) {
        size_t n = 0;
        while (occurs((uint8_t)key) && n < size && occurs((uint8_t)(from[n] ^ key)))
            n++;
        best = n > best ? n : best;
    }
    return best;
}

/* Encodes, checks every character, decodes with exact room. Returns the number of runs. */
static size_t round_trip(const uint8_t *from, size_t size)
{
    char *text = malloc(KLINE8_MOST(size) + 1);
    uint8_t *back = malloc(size + 1);
    const size_t n = kline8_encode(text, from, size);
    size_t runs = 0, done = 0;
    assert_true(n <= KLINE8_MOST(size));
    for (size_t at = 0; at < n; runs++) {
        assert_int_equal(text[at], '=');
        assert_true(occurs((uint8_t)text[at + 1]));
        const char *end = memchr(text + at + 2, '=', n - at - 2);
        const size_t length = (size_t)((end ? end : text + n) - text) - at - 2;
        assert_int_equal(length, longest(from + done, size - done));
        for (size_t i = 0; i < length; i++) {
            assert_true(occurs((uint8_t)text[at + 2 + i]));
            assert_int_equal((uint8_t)(text[at + 2 + i] ^ text[at + 1]), from[done + i]);
        }
        at += 2 + length;
        done += length;
    }
    assert_int_equal(done, size);
    char *exact = malloc(n + 1);
    memcpy(exact, text, n);
    exact = realloc(exact, n ? n : 1); /* the sanitizer watches */
    assert_int_equal(kline8_decode(back, size, exact, n), size);
    assert_memory_equal(back, from, size);
    if (size)
        assert_int_equal(kline8_decode(back, size - 1, exact, n), -EINVAL);
    free(exact);
    free(text);
    free(back);
    return runs;
}

static void test_round_trip(void **state)
{
    (void)state;
    static uint8_t bytes[CAIRN_FRAME_PAYLOAD_MAX];
    uint64_t seed = 11;
    for (size_t n = 0; n < 200; n++) {
        const size_t size = n < 100 ? n : 1 + test_random(&seed, sizeof(bytes));
        const uint32_t values = n % 3 ? 256 : 1 + test_random(&seed, 60); /* as of a trace, which has few */
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)test_random(&seed, values);
        round_trip(bytes, size);
    }
    for (unsigned value = 0; value < 256; value++) { /* each byte alone, and all over */
        memset(bytes, (int)value, sizeof(bytes));
        assert_int_equal(round_trip(bytes, 1), 1);
        assert_int_equal(round_trip(bytes, sizeof(bytes)), 1);
    }
}

/* Random bytes, as packed ones are nearly, take 3 % more characters than bytes at most; a text two. */
static void test_size(void **state)
{
    (void)state;
    static uint8_t bytes[CAIRN_FRAME_PAYLOAD_MAX];
    uint64_t seed = 5;
    size_t runs = 0;
    for (unsigned n = 0; n < 50; n++) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)test_random(&seed, 256);
        runs += round_trip(bytes, sizeof(bytes));
    }
    assert_true(runs * 2 * 100 < 50 * sizeof(bytes) * 3);
    for (unsigned c = 0; c < 96; c++)
        bytes[c] = c == 95 ? '\n' : (uint8_t)(' ' + c);
    assert_int_equal(round_trip(bytes, 96), 1);
}

/* The bytes that leave no key the soonest: each rules out as many as it can. No run is shorter than the least. */
static void test_worst(void **state)
{
    (void)state;
    uint8_t bytes[240];
    bool out[256] = {0};
    for (size_t i = 0; i < NEVER; i++)
        out[(uint8_t)never[i]] = true;
    for (size_t n = 0; n < sizeof(bytes); n++) {
        unsigned most = 0;
        bytes[n] = 0;
        for (unsigned value = 0; value < 256; value++) {
            unsigned rules = 0;
            for (size_t i = 0; i < NEVER; i++)
                rules += !out[value ^ (uint8_t)never[i]];
            if (rules > most) {
                most = rules;
                bytes[n] = (uint8_t)value;
            }
        }
        for (size_t i = 0; i < NEVER; i++)
            out[bytes[n] ^ (uint8_t)never[i]] = true;
    }
    assert_true(longest(bytes, sizeof(bytes)) >= KLINE8_RUN_LEAST);
    assert_true(longest(bytes, sizeof(bytes)) < 100);
    round_trip(bytes, sizeof(bytes));
}

static void test_known(void **state)
{
    (void)state;
    uint8_t to[8];
    assert_int_equal(kline8_decode(to, 8, "=!ABC", 5), 3);
    assert_memory_equal(to, "`cb", 3);
    assert_int_equal(kline8_decode(to, 8, "=!A=\x80\x80\x81", 7), 3);
    assert_memory_equal(to, "`\0\x01", 3);
    assert_int_equal(kline8_decode(to, 8, "", 0), 0);
}

static void test_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {"=", "=!", "!", "!!!", "=!=!A", "=!A=", "=!A=!", "==A", "A=!A", "=!A=!=!A"};
    uint8_t to[64];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(kline8_decode(to, sizeof(to), bad[i], strlen(bad[i])), -EINVAL);
    for (size_t i = 0; i < NEVER; i++) /* at each place, the key's too */
        for (size_t at = 0; at < 40; at++) {
            char text[] = "=!0123456789abcdefghijklmnopqrstuvwxyzABC";
            text[1 + at] = never[i];
            const bool run = never[i] == '=' && at > 1 && at <= 37; /* begins another one */
            assert_int_equal(kline8_decode(to, sizeof(to), text, sizeof(text) - 1), run ? 37 : -EINVAL);
        }
    memset(to, 0x55, sizeof(to));
    assert_int_equal(kline8_decode(to, 2, "=!AB=!C", 7), -EINVAL);
    assert_int_equal(to[2], 0x55);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_size),    cmocka_unit_test(test_worst),
        cmocka_unit_test(test_known),      cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
