/* SPDX-License-Identifier: MIT */
/* The page bitmap, and which pages of a memory map are in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/errno.h"
#include "kernel/lib/rand.h"
#include "tests/unit/support/cmocka.h"

#include "kernel/memory/boot_memory.h"
#include "kernel/memory/page_bitmap.h"

/* ---- pages */
#define PAGES 1000u

static void pages_basic(void **state)
{
    (void)state;
    uint64_t bits[(PAGES + 63) / 64];
    struct kpage_bitmap map;
    assert_int_equal(kpage_bitmap_bytes(PAGES), sizeof bits);
    kpage_bitmap_init(&map, bits, PAGES);
    assert_int_equal(kpage_bitmap_take_aligned(&map, 1, 1), KPAGE_BITMAP_NONE);
    assert_true(kpage_bitmap_give(&map, 10, 5));
    assert_true(kpage_bitmap_give(&map, 60, 140)); /* over word borders */
    assert_int_equal(kpage_bitmap_take_aligned(&map, 6, 1), 60);
    assert_int_equal(kpage_bitmap_take_aligned(&map, 5, 1), 10);
    assert_int_equal(kpage_bitmap_take_aligned(&map, 135, 1), KPAGE_BITMAP_NONE);
    assert_int_equal(kpage_bitmap_take_aligned(&map, 134, 1), 66);
    assert_int_equal(map.free, 0);
    assert_true(kpage_bitmap_give(&map, PAGES - 1, 1)); /* the very last */
    assert_int_equal(kpage_bitmap_take_aligned(&map, 2, 1), KPAGE_BITMAP_NONE);
    assert_int_equal(kpage_bitmap_take_aligned(&map, 1, 1), PAGES - 1);
}

static void pages_misuse(void **state)
{
    (void)state;
    uint64_t bits[(PAGES + 63) / 64];
    struct kpage_bitmap map;
    kpage_bitmap_init(&map, bits, PAGES);
    assert_true(kpage_bitmap_give(&map, 0, 10));
    assert_false(kpage_bitmap_give(&map, 9, 2)); /* 9 is free already: 10 must not become free */
    assert_int_equal(map.free, 10);
    assert_false(kpage_bitmap_give(&map, PAGES, 1));
    assert_false(kpage_bitmap_give(&map, PAGES - 1, 2));
    assert_false(kpage_bitmap_give(&map, 20, UINT64_MAX));
    assert_int_equal(kpage_bitmap_take_aligned(&map, UINT64_MAX, 1), KPAGE_BITMAP_NONE);
}

static bool all_free(const uint8_t *owner, uint64_t first, uint64_t count)
{
    uint64_t end = first;
    while (end < PAGES && end < first + count && !owner[end])
        end++;
    return end == first + count;
}

static void pages_random(void **state)
{
    (void)state;
    static uint8_t owner[PAGES];
    uint64_t bits[(PAGES + 63) / 64], free_pages = PAGES;
    struct {
        uint64_t first, count;
    } held[64] = {0};
    struct kpage_bitmap map;
    struct krand r;
    kpage_bitmap_init(&map, bits, PAGES);
    assert_true(kpage_bitmap_give(&map, 0, PAGES));
    krand_init(&r, 3);
    for (int step = 0; step < 50000; step++) {
        uint32_t i = krand_below(&r, 64);
        if (held[i].count) {
            assert_true(kpage_bitmap_give(&map, held[i].first, held[i].count));
            memset(owner + held[i].first, 0, held[i].count);
            free_pages += held[i].count;
            held[i].count = 0;
            continue;
        }
        uint64_t n = 1 + (krand_below(&r, 4) ? krand_below(&r, 4) : krand_below(&r, 200));
        const uint64_t alignment = krand_below(&r, 2) ? 1 : UINT64_C(1) << krand_below(&r, 7);
        uint64_t first = kpage_bitmap_take_aligned(&map, n, alignment);
        for (uint64_t p = 0; p < (first == KPAGE_BITMAP_NONE ? PAGES : first); p += alignment)
            assert_false(all_free(owner, p, n)); /* it is the first such run, or there really is none */
        if (first == KPAGE_BITMAP_NONE)
            continue;
        assert_true(first + n <= PAGES && first % alignment == 0);
        for (uint64_t p = first; p < first + n; p++) {
            assert_int_equal(owner[p], 0);
            owner[p] = 1;
        }
        held[i].first = first;
        held[i].count = n;
        free_pages -= n;
        assert_int_equal(map.free, free_pages);
    }
}

/* ---- which pages */
#define MIB(n) (UINT64_C(n) << 20)

/* Plans and gives; how many pages are free then. */
static uint64_t free_pages_of(const struct boot_memory *memory, uint32_t count, uint64_t limit,
                              struct kboot_memory *plan)
{
    struct kpage_bitmap map;
    if (kboot_memory_plan(plan, memory, count, limit) != 0)
        return 0;
    uint64_t *bits = malloc(plan->bitmap_bytes);
    assert_non_null(bits);
    kpage_bitmap_init(&map, bits, plan->pages);
    kboot_memory_give(plan, &map);
    free(bits);
    return map.free;
}

static void pages_of_a_map(void **state)
{
    static const struct boot_memory memory[] = {
        {.base = 0, .size = MIB(1) + 0x1000, .type = BOOT_MEMORY_CONVENTIONAL}, /* its last page */
        {.base = MIB(2), .size = MIB(1), .type = BOOT_MEMORY_LOADER_DATA},
        {.base = MIB(3), .size = MIB(1), .type = BOOT_MEMORY_BOOT_SERVICES_CODE},
        {.base = MIB(4), .size = MIB(1), .type = BOOT_MEMORY_ACPI_NVS},
        {.base = MIB(5), .size = MIB(2), .type = BOOT_MEMORY_BOOT_SERVICES_DATA},
        {.base = MIB(7), .size = MIB(1), .type = BOOT_MEMORY_PERSISTENT},
        {.base = MIB(4096), .size = MIB(2), .type = BOOT_MEMORY_CONVENTIONAL},
    };
    struct kboot_memory plan;
    (void)state;
    assert_int_equal(free_pages_of(memory, 7, MIB(6), &plan), 1 + 256 + 256 - 1);
    assert_true(plan.bitmap == MIB(1) && plan.bitmap_bytes == 0x1000 && plan.pages == MIB(6) / 4096);
    assert_true(plan.left_out == MIB(3));
    assert_int_equal(free_pages_of(memory, 7, MIB(8192), &plan), 1 + 256 + 512 + 512 - 33);
    assert_true(plan.bitmap == MIB(3) && plan.bitmap_bytes == 33 * 4096 && plan.left_out == 0);
    assert_int_equal(kboot_memory_plan(&plan, memory, 1, MIB(8192)), 0); /* the bitmap is all that has room */
    assert_int_equal(kboot_memory_plan(&plan, memory, 2, MIB(1)), -ENOMEM);
    assert_int_equal(kboot_memory_plan(&plan, memory + 1, 1, MIB(8192)), -ENOMEM);
    assert_int_equal(kboot_memory_plan(&plan, memory, 0, MIB(8192)), -ENOMEM);
    const struct boot_memory far[] = {{MIB(4096) - 0x1000, 0x2000, 0, BOOT_MEMORY_CONVENTIONAL, 0}};
    assert_int_equal(kboot_memory_plan(&plan, far, 1, MIB(8192)), -ENOMEM); /* 129 KiB into 8 */
    assert_true(plan.bitmap_bytes == 33 * 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_basic),
        cmocka_unit_test(pages_misuse),
        cmocka_unit_test(pages_random),
        cmocka_unit_test(pages_of_a_map),
    };
    return cmocka_run_group_tests_name("kernel memory", tests, NULL, NULL);
}
