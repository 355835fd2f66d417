/* SPDX-License-Identifier: MIT */
/* boot/config/config.c: the loader must read an option as the kernel does, whose own parser is asked beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/config/config.h"
#include "kernel/lib/number.h"
#include "kernel/options/row.h"
#include "tests/unit/support/cmocka.h"

/* What is between newlines, comments and blanks is looked at; what the kernel refuses must not be read beyond its end
 * (AddressSanitizer: the text has no room behind it). */
static bool get(const char *config, const char *name, char *value, size_t size)
{
    char *exact = strdup(config);
    assert_non_null(exact);
    bool found = config_get(exact, name, value, size);
    free(exact);
    return found;
}

static void test_as_the_kernel(void **state)
{
    static const struct {
        const char *config, *seed; /* NULL: not set */
    } rows[] = {
        {"", NULL},
        {"\n\n", NULL},
        {"seed=7", "7"},
        {"seed=7\n", "7"},
        {"seed=7\r\n", "7"},
        {"\t seed=0x1F \t\r\n", "0x1F"},
        {"# seed=7\n", NULL},
        {"#\nseed=8#7\n", "8"},
        {"seed=9 # seed=7", "9"},
        {"switches=5\nseed=3\ntruth=1\n", "3"},
        {"\r\n \t\r\nseed=18446744073709551615", "18446744073709551615"},
        {"workload=mix\n#seed=1\n", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char value[40] = "unset", error[448];
        kopt_defaults();
        assert_int_equal(kopt_parse(rows[i].config, strlen(rows[i].config), error, sizeof error), 0);
        assert_int_equal(get(rows[i].config, "seed", value, sizeof value), rows[i].seed != NULL);
        assert_string_equal(value, rows[i].seed ? rows[i].seed : "unset");
        uint64_t number = 1; /* the default */
        assert_int_equal(knumber_parse(value, strlen(value), &number), rows[i].seed != NULL);
        assert_true(number == kopt.seed);
    }
}

/* The kernel refuses these lines; they set nothing here either, or what stands there. */
static void test_what_is_wrong(void **state)
{
    char value[40] = "unset";
    (void)state;
    assert_false(get("xseed=1\nseedx=2\nseed\n=3\nseed 4\n", "seed", value, sizeof value));
    assert_false(get("serial=none seed=5\n", "seed", value, sizeof value));
    assert_string_equal(value, "unset");
    assert_true(get("seed=1\nseed=2\n", "seed", value, sizeof value));
    assert_string_equal(value, "2");
    assert_true(get("seed=\n", "seed", value, sizeof value));
    assert_string_equal(value, "");
    assert_true(get("seed=\x1b[2J\xC3\xA4\t1\n", "seed", value, sizeof value)); /* printed by the loader */
    assert_string_equal(value, "?[2J???1");
    char small[4];
    assert_true(get("seed=123456\n", "seed", small, sizeof small));
    assert_string_equal(small, "123");
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        bool good;
        uint64_t value;
    } rows[] = {{"", false, 0},
                {"0", true, 0},
                {"00", true, 0},
                {"64", true, 64},
                {"0x", false, 0},
                {"0x0", true, 0},
                {"0XfF", true, 255},
                {"0xg", false, 0},
                {"-1", false, 0},
                {"1 ", false, 0},
                {"1e3", false, 0},
                {"x10", false, 0},
                {"18446744073709551615", true, UINT64_MAX},
                {"18446744073709551616", false, 0},
                {"0xffffffffffffffff", true, UINT64_MAX},
                {"0x10000000000000000", false, 0},
                {"1:", false, 0},
                {"\xff", false, 0},
                {"0x\xff", false, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t value = 77;
        assert_int_equal(knumber_parse(rows[i].text, strlen(rows[i].text), &value), rows[i].good);
        assert_true(value == (rows[i].good ? rows[i].value : 77));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_the_kernel),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
