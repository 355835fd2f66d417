/* SPDX-License-Identifier: MIT */
/* kernel/lib/format.c against the C library's own snprintf: the same text for every conversion it claims to have. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"

int kformat_snprintf(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int kformat_vsnprintf(char *to, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
#define snprintf  kformat_snprintf
#define vsnprintf kformat_vsnprintf
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#include "kernel/lib/format.c" /* its names are the C library's */
#undef snprintf
#undef vsnprintf

#define SAME(...)                                                                                                      \
    do {                                                                                                               \
        char ours[128], theirs[128];                                                                                   \
        int a = kformat_snprintf(ours, sizeof ours, __VA_ARGS__), b = snprintf(theirs, sizeof theirs, __VA_ARGS__);    \
        assert_string_equal(ours, theirs);                                                                             \
        assert_int_equal(a, b);                                                                                        \
    } while (0)

static void conversions(void **state)
{
    (void)state;
    static const long numbers[] = {0, 1, -1, 7, 99, -12345, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        long n = numbers[i];
        SAME("%ld|%5ld|%-8ld|%08ld|%024ld", n, n, n, n, n);
        SAME("%lu|%lx|%lX|%016lx|%-20lx|", (unsigned long)n, (unsigned long)n, (unsigned long)n, (unsigned long)n,
             (unsigned long)n);
        SAME("%d|%u|%x|%*d", (int)n, (unsigned)n, (unsigned)n, 9, (int)n);
        SAME("%zu|%hu|%" PRIu64, (size_t)n, (unsigned short)n, (uint64_t)n);
    }
    SAME("%s|%10s|%-10s|%.2s|%.*s|%c%%", "word", "word", "word", "word", 3, "word", 'x');
}

static void cut_text_is_terminated(void **state)
{
    (void)state;
    for (size_t size = 0; size < 12; size++) {
        char ours[16], theirs[16];
        memset(ours, 'z', sizeof ours);
        memset(theirs, 'z', sizeof theirs);
        const char *volatile format = "%s %d"; /* the compiler would warn of what is tested here */
        int a = kformat_snprintf(ours, size, "%s %d", "hello", 12345);
        int b = snprintf(theirs, size, format, "hello", 12345);
        assert_int_equal(a, b);
        assert_memory_equal(ours, theirs, sizeof ours);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(conversions), cmocka_unit_test(cut_text_is_terminated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
