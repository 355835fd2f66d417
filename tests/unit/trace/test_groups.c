/* SPDX-License-Identifier: MIT */
/* Group masks and their words. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "trace/sessions/group_names.h"

static struct perfinfo_groupmask parse(const char *text)
{
    struct perfinfo_groupmask mask = {0};
    assert_int_equal(trace_groups_parse(text, strlen(text), &mask), 0);
    return mask;
}

/* Numbers as in NTWMI.H, not as in groups.h. */
static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t mask0, mask1, mask7;
        bool compact, full;
    } rows[] = {
        {"none", 0, 0, 0, false, false},
        {"cswitch", 0, 0x4, 0, false, true},
        {"full", 0, 0x4, 0, false, true},
        {"compact", 0, 0x104, 0, true, false},
        {"both", 0, 0x104, 0x10000000, true, true},
        {"compact+full", 0, 0x104, 0x10000000, true, true},
        {"cswitch+compact", 0, 0x104, 0x10000000, true, true},
        {"process+thread+loader+no_sysconfig", 0x10000007, 0, 0, false, false},
        {"dispatcher+priority+interrupt+dpc", 0, 0x6280, 0, false, false},
        {"profile+pmc_profile+spinlock", 0, 0x10402, 0, false, false},
        {"0x20000100", 0, 0x100, 0, false, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct perfinfo_groupmask m = parse(rows[i].text);
        assert_int_equal(m.masks[0], rows[i].mask0);
        assert_int_equal(m.masks[1], rows[i].mask1);
        assert_int_equal(m.masks[7], rows[i].mask7);
        assert_int_equal(trace_group_compact(&m), rows[i].compact);
        assert_int_equal(trace_group_full(&m), rows[i].full);
    }
    assert_int_equal(parse("0xc0000001").masks[6], 1);
    assert_int_equal(parse("0x40010000+0x40000040").masks[2], 0x10040);
}

static void test_bad_words(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "+",  "fool",        "full+", "+full", "full,dpc",
                                      "full ", "0x", "0x123456789", "20",    "0x2g",  "Full"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct perfinfo_groupmask mask = {0};
        assert_int_equal(trace_groups_parse(bad[i], strlen(bad[i]), &mask), -EINVAL);
    }
}

static void test_on(void **state)
{
    (void)state;
    struct perfinfo_groupmask m = parse("dpc+0x40000040");
    assert_true(trace_group_on(&m, 0)); /* every session's */
    assert_true(trace_group_on(&m, PERF_DPC));
    assert_true(trace_group_on(&m, PERF_SYSCALL));
    assert_false(trace_group_on(&m, PERF_PROFILE));
    assert_false(trace_group_on(&m, PERF_PROCESS));
    assert_true(trace_group_on(&m, PERF_DPC | PERF_PROFILE)); /* any of them */
}

/* Whether the list of words has this one, of `size` characters. */
static bool listed(const char *word, size_t size)
{
    for (const char *at = TRACE_GROUPS_WORDS; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (strncmp(at, word, size) == 0 && (at[size] == ',' || !at[size]))
            return true;
    return false;
}

/* The list is what can be said: each of its words is one, and each word that is shown is in it. */
static void test_list(void **state)
{
    (void)state;
    struct perfinfo_groupmask all = {0};
    char text[TRACE_GROUPS_TEXT];
    for (const char *at = TRACE_GROUPS_WORDS; *at; at += strspn(at, ", ")) {
        size_t size = strcspn(at, ",");
        assert_int_equal(trace_groups_parse(at, size, &all), 0);
        at += size;
    }
    assert_true(trace_group_compact(&all) && trace_group_full(&all) && trace_group_on(&all, PERF_CAIRN_MARK));
    for (uint32_t bit = 0; bit < 8 * PERF_MASK_SHIFT; bit++) {
        struct perfinfo_groupmask one = {0};
        one.masks[bit / PERF_MASK_SHIFT] = 1u << bit % PERF_MASK_SHIFT;
        trace_groups_show(&one, text);
        assert_true(strncmp(text, "0x", 2) == 0 || listed(text, strlen(text)));
    }
}

/* One form of switches with what there is. */
static void test_add_switches(void **state)
{
    (void)state;
    static const struct {
        const char *text, *compact, *full;
    } rows[] = {
        {"none", "compact", "full"},    {"dpc", "compact+dpc", "full+dpc"}, {"full", "both", "full"},
        {"compact", "compact", "both"}, {"both", "both", "both"},           {"0x20000100", "compact", "both"},
    };
    char text[TRACE_GROUPS_TEXT];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (unsigned compact = 0; compact < 2; compact++) {
            struct perfinfo_groupmask m = parse(rows[i].text);
            trace_group_add_switches(&m, compact);
            trace_groups_show(&m, text);
            assert_string_equal(text, compact ? rows[i].compact : rows[i].full);
        }
}

/* What is shown is what gives the mask again, whatever it is, and always fits. */
static void test_show(void **state)
{
    (void)state;
    uint64_t seed = 3;
    char text[TRACE_GROUPS_TEXT];
    for (unsigned n = 0; n < 5000; n++) {
        struct perfinfo_groupmask mask, again;
        for (unsigned i = 0; i < 8; i++)
            mask.masks[i] = (n % 2 ? PERF_MASK_BITS : test_random(&seed, UINT32_MAX) & PERF_MASK_BITS) &
                            (test_random(&seed, 3) ? UINT32_MAX : 0);
        memset(text, 'x', sizeof(text));
        trace_groups_show(&mask, text);
        assert_non_null(memchr(text, '\0', sizeof(text)));
        again = parse(text);
        assert_memory_equal(&again, &mask, sizeof(mask));
    }
    struct perfinfo_groupmask most; /* the longest there is */
    memset(&most, 0xFF, sizeof(most));
    for (unsigned i = 0; i < 8; i++)
        most.masks[i] = PERF_MASK_BITS;
    trace_groups_show(&most, text);
    assert_true(strlen(text) < TRACE_GROUPS_TEXT - 1);
    struct perfinfo_groupmask again = parse(text);
    assert_memory_equal(&again, &most, sizeof(most));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words), cmocka_unit_test(test_bad_words),    cmocka_unit_test(test_on),
        cmocka_unit_test(test_list),  cmocka_unit_test(test_add_switches), cmocka_unit_test(test_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
