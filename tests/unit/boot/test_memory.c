/* SPDX-License-Identifier: MIT */
/* boot/memory.c: the firmware's memory map, in whatever order and with whatever descriptor size. */
#include <stdlib.h>
#include <string.h>

#include "boot/memory.h"
#include "boot/save/middle.h"
#include "tests/unit/support/cmocka.h"

#define STRIDE 48 /* what EDK II uses: eight bytes more than the structure */

static uint8_t bytes[8 * STRIDE];

static struct boot_efi_map map_of(const struct boot_efi_memory *d, size_t count)
{
    memset(bytes, 0xEE, sizeof(bytes));
    for (size_t i = 0; i < count; i++)
        memcpy(bytes + i * STRIDE, &d[i], sizeof(d[i]));
    return (struct boot_efi_map){.descriptors = bytes, .size = count * STRIDE, .stride = STRIDE};
}

static const struct boot_efi_memory unsorted[] = {
    {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x100000, .pages = 0x100, .attributes = 0xF},
    {.type = BOOT_MEMORY_BOOT_SERVICES_DATA, .physical_start = 0, .pages = 1},
    {.type = BOOT_MEMORY_MMIO, .physical_start = UINT64_C(0xFF00000000), .pages = 0x100},
    {.type = 0x80000001, .physical_start = 0x1000, .pages = 2},
    {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x500000, .pages = 0},
    {.type = BOOT_MEMORY_RESERVED, .physical_start = UINT64_C(0xFD00000000), .pages = 1},
};

static void test_sorted(void **state)
{
    (void)state;
    struct boot_efi_map map = map_of(unsorted, 6);
    struct boot_memory out[8];
    uint32_t left_out;
    assert_int_equal(boot_memory_convert(&map, out, 8, &left_out), 5); /* the empty range is none */
    assert_int_equal(left_out, 0);
    const uint64_t bases[] = {0, 0x1000, 0x100000, UINT64_C(0xFD00000000), UINT64_C(0xFF00000000)};
    for (int i = 0; i < 5; i++)
        assert_int_equal(out[i].base, bases[i]);
    assert_int_equal(out[1].type, 0x80000001);
    assert_int_equal(out[1].size, 0x2000);
    assert_int_equal(out[2].attributes, 0xF);
}

static void test_left_out(void **state)
{
    (void)state;
    struct boot_efi_map map = map_of(unsorted, 6);
    struct boot_memory out[3];
    uint32_t left_out;
    memset(out, 0, sizeof(out));
    assert_int_equal(boot_memory_convert(&map, out, 2, &left_out), 2);
    assert_int_equal(left_out, 3);
    assert_int_equal(out[0].base, 0); /* the lowest are kept */
    assert_int_equal(out[1].base, 0x1000);
    assert_int_equal(out[2].size, 0);
    assert_int_equal(boot_memory_convert(&map, out, 0, &left_out), 0);
    assert_int_equal(left_out, 5);
}

static void test_odd_stride(void **state)
{
    (void)state;
    struct boot_efi_map map = map_of(unsorted, 6);
    struct boot_memory out[8];
    uint32_t left_out;
    map.size -= 1; /* half a descriptor at the end is none */
    assert_int_equal(boot_memory_convert(&map, out, 8, &left_out), 4);
    map.stride = sizeof(struct boot_efi_memory) - 1; /* older than version 1: nothing can be read from it */
    assert_int_equal(boot_memory_convert(&map, out, 8, &left_out), 0);
    map.stride = 0;
    assert_int_equal(boot_memory_convert(&map, out, 8, &left_out), 0);
}

/* Of the largest free range below the limit, as far from both ends as alignment leaves it. */
static void test_middle(void **state)
{
    const uint64_t mib = 1 << 20, gib = 1 << 30;
    const struct boot_efi_memory d[] = {
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = mib, .pages = 0x4000}, /* 64 MiB */
        {.type = BOOT_MEMORY_BOOT_SERVICES_DATA, .physical_start = gib, .pages = 0x30000},
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 128 * mib, .pages = 0x8000}, /* 128 MiB */
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 3 * gib, .pages = UINT64_MAX},
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 5 * gib, .pages = 0x100000},
    };
    (void)state;
    struct boot_efi_map map = map_of(d, 3);
    assert_true(save_middle(&map, 64 * mib, 2 * mib, 4 * gib) == 160 * mib);
    assert_true(save_middle(&map, 63 * mib, 2 * mib, 4 * gib) == 160 * mib);
    assert_true(save_middle(&map, 128 * mib, 2 * mib, 4 * gib) == 128 * mib);
    assert_true(save_middle(&map, 129 * mib, 2 * mib, 4 * gib) == 0);
    assert_true(save_middle(&map, 64 * mib, 2 * mib, 192 * mib) == 0); /* from 1 MiB: not aligned */
    assert_true(save_middle(&map, 63 * mib, 2 * mib, 192 * mib) == 2 * mib);
    assert_true(save_middle(&map, 62 * mib, 2 * mib, 192 * mib) == 2 * mib);
    map = map_of(d, 5); /* a range without an end goes no further than the limit */
    assert_true(save_middle(&map, 512 * mib, 2 * mib, 4 * gib) == 3 * gib + 256 * mib);
    assert_true(save_middle(&map, 1024 * mib, 2 * mib, 4 * gib) == 3 * gib);
    map = map_of(d, 0);
    assert_true(save_middle(&map, mib, 2 * mib, 4 * gib) == 0);
}

static void test_unsound(void **state)
{
    (void)state;
    static const struct boot_efi_memory hostile[] = {
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x100000, .pages = UINT64_MAX >> 12},  /* wraps */
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x100000, .pages = UINT64_C(1) << 52}, /* 2^64 bytes: 0 */
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = UINT64_MAX - 0xFFF, .pages = 1},
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x200800, .pages = 1},
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = UINT64_C(1) << 52, .pages = 1},
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = (UINT64_C(1) << 52) - 0x1000, .pages = 2},
        {.type = 14, .physical_start = (UINT64_C(1) << 52) - 0x1000, .pages = 1}, /* persistent; the very last page */
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x300000, .pages = 1},
    };
    struct boot_efi_map map = map_of(hostile, 8);
    struct boot_memory out[8];
    uint32_t left_out;
    assert_int_equal(boot_memory_convert(&map, out, 8, &left_out), 2);
    assert_int_equal(left_out, 6);
    assert_int_equal(out[0].base, 0x300000);
    assert_int_equal(out[1].base + out[1].size, UINT64_C(1) << 52);
}

/* What is no range all the same is not free, and neither is what has no room in the list. */
static void test_claims(void **state)
{
    (void)state;
    static const struct boot_efi_memory hostile[] = {
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x100000, .pages = 0x100},
        {.type = BOOT_MEMORY_ACPI_NVS, .physical_start = 0x180800, .pages = 1},              /* of two pages */
        {.type = BOOT_MEMORY_RUNTIME_DATA, .physical_start = 0x1F0000, .pages = UINT64_MAX}, /* without an end */
    };
    struct boot_efi_map map = map_of(hostile, 3);
    struct boot_memory out[8];
    uint32_t left_out;
    assert_int_equal(boot_memory_convert(&map, out, 8, &left_out), 1);
    assert_int_equal(left_out, 3);
    assert_int_equal(out[0].base, 0x100000);
    assert_int_equal(out[0].size, 0x80000);
    static const struct boot_efi_memory many[] = {
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x100000, .pages = 0x100},
        {.type = BOOT_MEMORY_LOADER_DATA, .physical_start = 0x101000, .pages = 1},
    };
    map = map_of(many, 2);
    assert_int_equal(boot_memory_convert(&map, out, 1, &left_out), 1);
    assert_int_equal(left_out, 2);
    assert_int_equal(out[0].base, 0x102000);
    assert_int_equal(out[0].size, 0xFE000);
}

static void test_free_twice(void **state)
{
    (void)state;
    static const struct boot_efi_memory hostile[] = {
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x100000, .pages = 0x100},
        {.type = BOOT_MEMORY_BOOT_SERVICES_CODE, .physical_start = 0x1FF000, .pages = 3},
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x180000, .pages = 0x10},
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x100000, .pages = 0x100},
    };
    struct boot_efi_map map = map_of(hostile, 4);
    struct boot_memory out[8];
    uint32_t left_out;
    assert_int_equal(boot_memory_convert(&map, out, 8, &left_out), 2);
    assert_int_equal(left_out, 3);
    assert_true(out[0].base == 0x100000 && out[0].size == 0x100000);
    assert_true(out[1].base == 0x200000 && out[1].size == 0x2000);
}

static void test_overlaps(void **state)
{
    (void)state;
    static const struct boot_efi_memory hostile[] = {
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x100000, .pages = 0x100},
        {.type = BOOT_MEMORY_MMIO, .physical_start = 0x110000, .pages = 1}, /* in the midst: what is behind stays */
        {.type = BOOT_MEMORY_RESERVED, .physical_start = 0x1F0000, .pages = 0x100},       /* over its end */
        {.type = BOOT_MEMORY_BOOT_SERVICES_DATA, .physical_start = 0x1F8000, .pages = 2}, /* nothing is left of it */
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = 0x2F0000, .pages = 0x20},
    };
    struct boot_efi_map map = map_of(hostile, 5);
    struct boot_memory out[8];
    uint32_t left_out;
    assert_int_equal(boot_memory_convert(&map, out, 8, &left_out), 4);
    assert_int_equal(left_out, 2);
    const uint64_t expected[][2] = {{0x110000, 0x1000}, {0x111000, 0xDF000}, {0x1F0000, 0x100000}, {0x2F0000, 0x20000}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(out[i].base, expected[i][0]);
        assert_int_equal(out[i].size, expected[i][1]);
    }
}

/* Any map at all: what comes out is in order, sound, and no page of a free range is anything else. */
static void test_random(void **state)
{
    (void)state;
    static const uint32_t types[] = {BOOT_MEMORY_CONVENTIONAL,
                                     BOOT_MEMORY_BOOT_SERVICES_DATA,
                                     BOOT_MEMORY_RESERVED,
                                     BOOT_MEMORY_MMIO,
                                     14,
                                     0x80000001};
    srand(1);
    for (int turn = 0; turn < 20000; turn++) {
        struct boot_efi_memory d[8];
        struct boot_memory out[8];
        uint32_t left_out, capacity = (uint32_t)rand() % 9;
        for (int i = 0; i < 8; i++) {
            d[i] = (struct boot_efi_memory){.type = types[rand() % 6], .pages = (uint64_t)rand() % 64};
            d[i].physical_start = (uint64_t)rand() % 128 * 0x1000;
            if (rand() % 8 == 0)
                d[i].pages = UINT64_MAX >> rand() % 64;
            if (rand() % 8 == 0)
                d[i].physical_start = UINT64_MAX >> rand() % 64 << rand() % 13;
        }
        struct boot_efi_map map = map_of(d, 8);
        uint32_t count = boot_memory_convert(&map, out, capacity, &left_out);
        assert_true(count <= capacity);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(out[i].size && out[i].size % 0x1000 == 0 && out[i].base % 0x1000 == 0);
            assert_true(out[i].base < UINT64_C(1) << 52 && out[i].size <= (UINT64_C(1) << 52) - out[i].base);
            assert_true(i == 0 || out[i - 1].base <= out[i].base);
            for (uint32_t k = 0; k < count; k++)
                if (i != k && boot_memory_is_free(out[i].type))
                    assert_true(out[k].base >= out[i].base + out[i].size || out[k].base + out[k].size <= out[i].base);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted), cmocka_unit_test(test_left_out),   cmocka_unit_test(test_odd_stride),
        cmocka_unit_test(test_middle), cmocka_unit_test(test_unsound),    cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_claims), cmocka_unit_test(test_free_twice), cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
