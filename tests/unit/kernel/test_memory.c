/* SPDX-License-Identifier: MIT */
/* The page bitmap, which pages of a memory map are in it, and the small-object heap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/errno.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/rand.h"
#include "tests/unit/support/cmocka.h"

#include "kernel/memory/boot_memory.h"
#include "kernel/memory/heap.h"
#include "kernel/memory/page_bitmap.h"

/* ---- kpanic: expected at times */
static jmp_buf panicked;
static char panic_line[160];

_Noreturn void kpanic(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(panic_line, sizeof panic_line, format, args);
    va_end(args);
    longjmp(panicked, 1);
}

#define ASSERT_PANICS(words, statement)                                                                                \
    do {                                                                                                               \
        if (setjmp(panicked) == 0) {                                                                                   \
            statement;                                                                                                 \
            fail_msg("no panic: %s", #statement);                                                                      \
        }                                                                                                              \
        assert_non_null(strstr(panic_line, words));                                                                    \
    } while (0)

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
                              struct kboot_memory *plan, uint32_t *refused)
{
    struct kpage_bitmap map;
    if (kboot_memory_plan(plan, memory, count, limit) != 0)
        return 0;
    uint64_t *bits = malloc(plan->bitmap_bytes);
    assert_non_null(bits);
    kpage_bitmap_init(&map, bits, plan->pages);
    *refused = kboot_memory_give(plan, &map);
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
    uint32_t refused;
    (void)state;
    assert_int_equal(free_pages_of(memory, 7, MIB(6), &plan, &refused), 1 + 256 + 256 - 1);
    assert_true(plan.bitmap == MIB(1) && plan.bitmap_bytes == 0x1000 && plan.pages == MIB(6) / 4096);
    assert_true(plan.left_out == MIB(3) && refused == 0);
    assert_int_equal(free_pages_of(memory, 7, MIB(8192), &plan, &refused), 1 + 256 + 512 + 512 - 33);
    assert_true(plan.bitmap == MIB(3) && plan.bitmap_bytes == 33 * 4096 && plan.left_out == 0 && refused == 0);
    assert_int_equal(kboot_memory_plan(&plan, memory, 1, MIB(8192)), 0); /* the bitmap is all that has room */
    assert_int_equal(kboot_memory_plan(&plan, memory, 2, MIB(1)), -ENOMEM);
    assert_int_equal(kboot_memory_plan(&plan, memory + 1, 1, MIB(8192)), -ENOMEM);
    assert_int_equal(kboot_memory_plan(&plan, memory, 0, MIB(8192)), -ENOMEM);
    const struct boot_memory far[] = {{MIB(4096) - 0x1000, 0x2000, 0, BOOT_MEMORY_CONVENTIONAL, 0}};
    assert_int_equal(kboot_memory_plan(&plan, far, 1, MIB(8192)), -ENOMEM); /* 129 KiB into 8 */
    assert_true(plan.bitmap_bytes == 33 * 4096);
}

/* A map that boot_memory_convert would not give: the bitmap's own pages stay its own. */
static void pages_named_twice(void **state)
{
    static const struct boot_memory memory[] = {
        {.base = MIB(1), .size = 0x2000, .type = BOOT_MEMORY_CONVENTIONAL},
        {.base = MIB(1) + 0x1000, .size = MIB(300), .type = BOOT_MEMORY_CONVENTIONAL},
        {.base = MIB(1) + 0x1000, .size = MIB(1), .type = BOOT_MEMORY_CONVENTIONAL},
    };
    struct kboot_memory plan;
    uint32_t refused;
    (void)state;
    /* three pages do not fit into the first range: they are the second one's, which the first one would give away */
    assert_int_equal(free_pages_of(memory, 2, MIB(512), &plan, &refused), MIB(300) / 4096 - 3);
    assert_true(plan.bitmap == MIB(1) + 0x1000 && plan.bitmap_bytes == 0x3000 && refused == 1);
    assert_int_equal(free_pages_of(memory, 3, MIB(512), &plan, &refused), MIB(300) / 4096 - 3);
    assert_int_equal(refused, 2);
}

/* ---- heap */
static unsigned live_pages, page_limit;

static void *page_get(void)
{
    if (live_pages == page_limit)
        return NULL;
    live_pages++;
    return aligned_alloc(4096, 4096);
}

static void page_put(void *page)
{
    live_pages--;
    free(page);
}

static void heap_sizes(void **state)
{
    (void)state;
    struct kheap heap;
    page_limit = 100;
    kheap_init(&heap, page_get, page_put);
    for (size_t bytes = 1; bytes <= KHEAP_MAX; bytes++) {
        uint8_t *o = kheap_alloc(&heap, bytes);
        assert_non_null(o);
        assert_int_equal((uintptr_t)o % 16, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(o[i], 0);
        memset(o, 0xFF, bytes);
        assert_int_equal(heap.live, 1);
        kheap_free(&heap, o);
        assert_int_equal(live_pages, 0); /* an empty page goes back */
    }
    ASSERT_PANICS("2017 bytes", kheap_alloc(&heap, KHEAP_MAX + 1));
    ASSERT_PANICS("0 bytes", kheap_alloc(&heap, 0));
}

static void heap_out_of_memory(void **state)
{
    (void)state;
    struct kheap heap;
    void *o[4];
    page_limit = 2;
    kheap_init(&heap, page_get, page_put);
    for (int i = 0; i < 4; i++)
        assert_non_null(o[i] = kheap_alloc(&heap, KHEAP_MAX));
    assert_null(kheap_alloc(&heap, KHEAP_MAX));
    assert_null(kheap_alloc(&heap, 1));
    for (int i = 0; i < 4; i++)
        kheap_free(&heap, o[i]);
    assert_int_equal(live_pages, 0);
}

static void heap_misuse(void **state)
{
    (void)state;
    struct kheap heap;
    page_limit = 100;
    kheap_init(&heap, page_get, page_put);
    uint8_t *keep = kheap_alloc(&heap, 100), *o = kheap_alloc(&heap, 100);
    ASSERT_PANICS("no object", kheap_free(&heap, o + 8));
    kheap_free(&heap, o);
    ASSERT_PANICS("twice", kheap_free(&heap, o));
    o[50] = 1;
    ASSERT_PANICS("after it was freed", kheap_alloc(&heap, 100));
    o[50] = 0xD5; /* what a free object is filled with */
    assert_ptr_equal(kheap_alloc(&heap, 100), o);
    kheap_free(&heap, o);
    kheap_free(&heap, keep);
    assert_int_equal(live_pages, 0);
}

static void heap_random(void **state)
{
    (void)state;
    static struct {
        uint8_t *o;
        size_t bytes;
        uint8_t fill;
    } held[200];
    struct kheap heap;
    struct krand r;
    page_limit = 60;
    kheap_init(&heap, page_get, page_put);
    krand_init(&r, 11);
    for (int step = 0; step < 50000; step++) {
        uint32_t i = krand_below(&r, 200);
        if (held[i].o) {
            for (size_t k = 0; k < held[i].bytes; k++)
                assert_int_equal(held[i].o[k], held[i].fill);
            kheap_free(&heap, held[i].o);
            held[i].o = NULL;
            continue;
        }
        held[i].bytes = 1 + krand_below(&r, krand_below(&r, 8) ? 200 : KHEAP_MAX);
        held[i].fill = (uint8_t)step;
        if ((held[i].o = kheap_alloc(&heap, held[i].bytes)))
            memset(held[i].o, held[i].fill, held[i].bytes);
    }
    for (int i = 0; i < 200; i++)
        if (held[i].o)
            kheap_free(&heap, held[i].o);
    assert_int_equal(heap.live, 0);
    assert_int_equal(live_pages, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_basic),        cmocka_unit_test(pages_misuse),      cmocka_unit_test(pages_random),
        cmocka_unit_test(pages_of_a_map),     cmocka_unit_test(pages_named_twice), cmocka_unit_test(heap_sizes),
        cmocka_unit_test(heap_out_of_memory), cmocka_unit_test(heap_misuse),       cmocka_unit_test(heap_random),
    };
    return cmocka_run_group_tests_name("kernel memory", tests, NULL, NULL);
}
