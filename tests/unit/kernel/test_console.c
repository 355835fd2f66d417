/* SPDX-License-Identifier: MIT */
/* The console: what is said before there is one comes to each that appears; a sink that breaks does not take the others
 * with it. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/console/sinks.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/alone.h"
#include "tests/unit/support/cmocka.h"

struct screen {
    struct console_sink sink;
    char text[3 * CONSOLE_EARLY];
    size_t size;
    unsigned panics; /* so many writes come to a write inside them */
};

static void kscreen_write(void *context, const char *text, size_t size)
{
    struct screen *s = context;
    assert_true(s->size + size < sizeof s->text);
    memcpy(s->text + s->size, text, size);
    s->text[s->size += size] = '\0';
    if (s->panics) {
        s->panics--;
        kconsole_write("panic\n", 6);
    }
}

static struct screen screens[CONSOLE_SINKS + 1];

static int begin(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CONSOLE_SINKS + 1; i++)
        screens[i].sink = (struct console_sink){.write = kscreen_write, .context = &screens[i]};
    return 0;
}

static void say(const char *text)
{
    kconsole_write(text, strlen(text));
}

static void test_replay(void **state)
{
    (void)state;
    say("one\n");
    say("two");
    assert_int_equal(kconsole_add(&screens[0].sink), 0);
    assert_string_equal(screens[0].text, "one\ntwo");
    say(" and more\n");
    assert_int_equal(kconsole_add(&screens[1].sink), 0);
    say("three\n");
    for (unsigned i = 0; i < 2; i++)
        assert_string_equal(screens[i].text, "one\ntwo and more\nthree\n");
}

/* Exactly as much as there is room for, and one character more. */
static void test_overflow(void **state)
{
    static char line[CONSOLE_EARLY];
    (void)state;
    memset(line, 'x', sizeof line);
    kconsole_write(line, sizeof line);
    kconsole_add(&screens[0].sink);
    assert_int_equal(screens[0].size, CONSOLE_EARLY);
    say("abc\n");
    assert_string_equal(screens[0].text + CONSOLE_EARLY, "abc\n"); /* it was there: nothing is missing */
    kconsole_add(&screens[1].sink);
    assert_memory_equal(screens[1].text, line, sizeof line);
    assert_string_equal(screens[1].text + CONSOLE_EARLY,
                        "\n[4 characters are missing: they came before this console was there]\n");
}

static void test_part_fits(void **state)
{
    static char line[CONSOLE_EARLY - 2];
    (void)state;
    memset(line, 'x', sizeof line);
    kconsole_write(line, sizeof line);
    say("abcde");
    kconsole_add(&screens[0].sink);
    assert_string_equal(screens[0].text + sizeof line,
                        "ab\n[3 characters are missing: they came before this console was there]\n");
}

/* A panic comes while a sink writes: its text gets through, to that sink as well; a sink that breaks at each write is
 * left alone, and the others have it all. */
static void test_panic_within(void **state)
{
    (void)state;
    kconsole_add(&screens[0].sink);
    kconsole_add(&screens[1].sink);
    screens[1].panics = 1;
    say("text\n");
    assert_string_equal(screens[0].text, "text\npanic\n");
    assert_string_equal(screens[1].text, "text\npanic\n");

    screens[1].panics = UINT32_MAX;
    say("again\n");
    assert_string_equal(screens[0].text, "text\npanic\nagain\npanic\npanic\n");
    assert_string_equal(screens[1].text, "text\npanic\nagain\npanic\n");
}

static void test_too_many(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CONSOLE_SINKS; i++)
        assert_int_equal(kconsole_add(&screens[i].sink), 0);
    assert_int_equal(kconsole_add(&screens[CONSOLE_SINKS].sink), -ENOSPC);
    say("text");
    assert_string_equal(screens[CONSOLE_SINKS - 1].text, "text");
    assert_string_equal(screens[CONSOLE_SINKS].text, "");
}

/* Memory before the serial port: the log is there, and the port may lead nowhere. */
static void test_way(void **state)
{
    (void)state;
    assert_null(kconsole_way());
    kconsole_add(&screens[0].sink); /* takes no dump */
    assert_null(kconsole_way());
    for (unsigned i = 1; i < 3; i++) {
        screens[i].sink.dump = kscreen_write;
        screens[i].sink.way = i == 1 ? "into memory" : "over serial";
        kconsole_add(&screens[i].sink);
        assert_string_equal(kconsole_way(), "into memory");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_replay, begin),    cmocka_unit_test_setup(test_overflow, begin),
        cmocka_unit_test_setup(test_part_fits, begin), cmocka_unit_test_setup(test_panic_within, begin),
        cmocka_unit_test_setup(test_too_many, begin),  cmocka_unit_test_setup(test_way, begin),
    };
    return alone_run_tests(tests, sizeof tests / sizeof tests[0]);
}
