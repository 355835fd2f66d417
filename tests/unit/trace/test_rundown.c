/* SPDX-License-Identifier: MIT */
/* Rundown payloads, byte by byte, against bytes that were written down from the layouts of Windows
 * (docs/reference/format.md). */
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "trace/rundown/rundown.h"

static struct etw_payload p;

#define SAME(expected)                                                                                                 \
    do {                                                                                                               \
        assert_int_equal(p.size, sizeof(expected));                                                                    \
        assert_memory_equal(p.bytes, expected, sizeof(expected));                                                      \
    } while (0)

static int dirty(void **state)
{
    (void)state;
    memset(&p, 0xA5, sizeof(p));
    return 0;
}

/* Windows' own for its idle process has 91 bytes with the header of 16: the same length, and the same but for the key,
 * the table and the pointer in TOKEN_USER. */
static void process(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0,    0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF,
        0xFF, 0xFF, 0,    0,    0,    0,    0x00, 0x70, 0x1A, 0, 0, 0, 0, 0, 0, 0, 0,    0,
        1,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, /* TOKEN_USER */
        1,    1,    0,    0,    0,    0,    0,    5,    18,   0, 0, 0,             /* S-1-5-18 */
        'I',  'd',  'l',  'e',  0,    0,    0,    0,    0,    0, 0,
    };
    const struct etw_process idle = {.unique_process_key = UINT64_C(0x1122334455667788),
                                     .session_id = ETW_NO_SESSION,
                                     .directory_table_base = 0x1A7000};
    trace_rundown_process(&p, &idle, "Idle");
    SAME(bytes);
    assert_int_equal(16 + p.size, 0x5B);
}

static void thread(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {
        4,    0,    0,    0,    20, 1,    0,    0,    0,    0x80, 0, 0,    0,    0xD0, 0xFF, 0xFF, 0,    0x10, 0, 0,
        0,    0xD0, 0xFF, 0xFF, 0,  0xE0, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0,    0,    0xA0, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0,
        0x0F, 0,    0,    0,    0,  0,    0,    0,    0x40, 0x12, 0, 0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0,    0,    0, 0,
        0,    0,    0,    0,    0,  0,    0,    0,    8,    0,    0, 0,    'h',  0,    'o',  0,    'g',  0,    0, 0,
    };
    const struct etw_thread hog = {
        .process_id = 4,
        .thread_id = 0x114,
        .stack_base = UINT64_C(0xFFFFD00000008000),
        .stack_limit = UINT64_C(0xFFFFD00000001000),
        .user_stack_base = UINT64_C(0x7FFFFFFFE000),
        .user_stack_limit = UINT64_C(0x7FFFFFFFA000),
        .affinity = 0xF,
        .start_address = UINT64_C(0xFFFFFFFF80001240),
        .base_priority = 8,
    };
    trace_rundown_thread(&p, &hog, "hog");
    SAME(bytes);
    trace_rundown_thread(&p, &hog, NULL);
    assert_int_equal(p.size, 0x48);
    assert_int_equal(0x20 + p.size, 0x68); /* with its header: as Windows' DCStart */
    assert_memory_equal(p.bytes, bytes, p.size);
    trace_rundown_thread_name(&p, 4, 0x114, "hog");
    static const uint8_t name[] = {4, 0, 0, 0, 20, 1, 0, 0, 'h', 0, 'o', 0, 'g', 0, 0, 0};
    SAME(name);
}

static void image(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {
        0, 0, 0x40, 0,    0, 0, 0, 0, 0, 0x30, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0,   0, 0, 0,
        0, 0, 0,    0x40, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, '\\', 0, 'p', 0, 0, 0,
    };
    const struct etw_image programs = {
        .image_base = 0x400000, .image_size = 0x3000, .process_id = 12, .default_base = 0x400000};
    trace_rundown_image(&p, &programs, "\\p");
    SAME(bytes);
    static const uint8_t base[] = {0, 0, 0, 0x80, 0xFF, 0xFF, 0xFF, 0xFF};
    trace_rundown_kernel_base(&p, UINT64_C(0xFFFFFFFF80000000));
    SAME(base);
}

static void masks(void **state)
{
    (void)state;
    static const uint32_t groups[8] = {0xF, 0x406, 0x10000};
    static const uint8_t bytes[] = {0xF, 0, 0, 0, 6, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0,  0, 0, 0,
                                    0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0};
    trace_rundown_masks(&p, groups);
    SAME(bytes);
}

static void machine(void **state)
{
    (void)state;
    uint8_t bytes[0x33C] = {0x88, 0x13, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0x10, 0, 0, 0, 0x10, 0, 0, 'A', 0, 'B'};
    static const uint8_t tail[] = {0, 0, 0, 0, 0, 0, 0, 0,    0xFF, 0xEF, 0xFF, 0xFF, 0xFF, 0x7F,
                                   0, 0, 9, 0, 6, 0, 3, 0x8E, 1,    1,    0,    0,    0,    0};
    memcpy(bytes + 0x320, tail, sizeof(tail));
    const struct etw_cpu_config c = {.mhz = 5000,
                                     .number_of_processors = 2,
                                     .mem_size = 512,
                                     .page_size = 4096,
                                     .allocation_granularity = 4096,
                                     .highest_user_address = UINT64_C(0x7FFFFFFFEFFF),
                                     .processor_architecture = ETW_ARCHITECTURE_AMD64,
                                     .processor_level = 6,
                                     .processor_revision = 0x8E03,
                                     .nx_enabled = 1,
                                     .pae_enabled = 1};
    trace_rundown_cpu_config(&p, &c, "AB");
    SAME(bytes);
    assert_int_equal(0x20 + p.size, 0x35C); /* with its header: as Windows' */

    static const uint8_t group[] = {1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0};
    trace_rundown_processor_group(&p, 3);
    SAME(group);
    static const uint8_t all[] = {1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    trace_rundown_processor_group(&p, 64);
    SAME(all);
    static const uint8_t more[] = {2, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0, 0, 0, 0};
    trace_rundown_processor_group(&p, 65); /* the 65th CPU is the first of a second group */
    SAME(more);
    trace_rundown_processor_group(&p, 256);
    assert_int_equal(p.size, 4 + 4 * 8);
    assert_true(trace_rundown_group(128, 1) == UINT64_MAX && trace_rundown_group(128, 2) == 0);
    static const uint8_t numbers[] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0};
    trace_rundown_processor_numbers(&p, 3);
    SAME(numbers);
    static const uint8_t last[] = {3, 0, 63, 0}; /* of group 3 */
    trace_rundown_processor_numbers(&p, 256);
    assert_int_equal(p.size, 4 + 4 * 256);
    assert_memory_equal(p.bytes + p.size - sizeof(last), last, sizeof(last));
}

static void interval(void **state)
{
    (void)state;
    static const uint8_t expected[] = {0,   0, 0,   0, 0x10, 0x27, 0,   0, 0x50, 0xC3, 0, 0,
                                       'T', 0, 'i', 0, 'm',  0,    'e', 0, 'r',  0,    0, 0};
    trace_rundown_profile_interval(&p, 10000, 50000);
    SAME(expected);
}

/* Names of any length end where they must. */
static void long_names(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    struct etw_process process = {.process_id = 4};
    struct etw_image image_of = {.process_id = 4};
    struct etw_thread thread_of = {.process_id = 4};
    trace_rundown_process(&p, &process, name);
    assert_int_equal(p.size, 0x24 + 0x1C + 64 + 1 + 3 * 2);
    trace_rundown_thread(&p, &thread_of, name);
    assert_int_equal(p.size, 0x48 + 2 * 65);
    trace_rundown_image(&p, &image_of, name);
    assert_int_equal(p.size, 0x38 + 2 * 65);
    assert_int_equal(p.bytes[p.size - 1] | p.bytes[p.size - 2], 0);
    assert_int_equal(p.bytes[p.size - 4], 'x');
    struct etw_cpu_config c = {.mhz = 1};
    trace_rundown_cpu_config(&p, &c, name);
    assert_int_equal(p.bytes[0x14 + 2 * 63], 'x');
    assert_int_equal(p.bytes[0x14 + 2 * 64], 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(process, dirty),  cmocka_unit_test_setup(thread, dirty),
        cmocka_unit_test_setup(image, dirty),    cmocka_unit_test_setup(masks, dirty),
        cmocka_unit_test_setup(machine, dirty),  cmocka_unit_test_setup(long_names, dirty),
        cmocka_unit_test_setup(interval, dirty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
