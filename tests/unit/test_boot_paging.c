/* SPDX-License-Identifier: MIT */
/* boot/paging.c: the tables it builds, walked as the processor walks them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/layout.h"
#include "boot/info.h"
#include "boot/paging.h"

#define GIB(n) (UINT64_C(n) << 30)
#define TIB(n) (UINT64_C(n) << 40)

static const struct boot_elf elf = {
    .virt = BOOT_KERNEL_BASE + 0x1FF000, /* crosses a 2 MiB border at once */
    .size = 0x5000,
    .segment_count = 3,
    .segments = {{.virt = BOOT_KERNEL_BASE + 0x1FF000, .memory_size = 0x1001, .flags = BOOT_ELF_R | BOOT_ELF_X},
                 {.virt = BOOT_KERNEL_BASE + 0x201000, .memory_size = 0x1000, .flags = BOOT_ELF_R},
                 {.virt = BOOT_KERNEL_BASE + 0x203010, .memory_size = 0x10, .flags = BOOT_ELF_R | BOOT_ELF_W}},
};

struct tables {
    struct boot_paging paging;
    void *memory;
    uint64_t cr3;
};

static struct tables build(uint64_t top, bool gigabyte_pages, bool five_levels)
{
    struct tables t = {.paging = {.direct_map_size = boot_paging_direct_size(top, gigabyte_pages),
                                  .gigabyte_pages = gigabyte_pages,
                                  .five_levels = five_levels,
                                  .elf = &elf,
                                  .kernel_phys = 0x7000000}};
    uint64_t pages = boot_paging_pages(&t.paging);
    t.memory = aligned_alloc(4096, pages * 4096);
    memset(t.memory, 0, pages * 4096);
    t.cr3 = boot_paging_build(&t.paging, t.memory, pages);
    return t;
}

/* Physical address of `virt` with the XD and RW bits as all levels give them, 0 where nothing is mapped. */
static uint64_t walk(const struct tables *t, uint64_t virt)
{
    uint64_t table = t->cr3, writable = BOOT_PTE_RW, xd = 0;
    for (int level = t->paging.five_levels ? 4 : 3;; level--) {
        uint64_t e = ((const uint64_t *)(uintptr_t)table)[virt >> (12 + 9 * level) & 511];
        if ((e & BOOT_PTE_P) == 0)
            return 0;
        writable &= e;
        xd |= e & BOOT_PTE_XD;
        if (level == 0 || (e & BOOT_PTE_PS) != 0) {
            uint64_t offset = virt & ((UINT64_C(1) << (12 + 9 * level)) - 1);
            assert_int_equal(e & BOOT_PTE_ADDRESS & ((UINT64_C(1) << (12 + 9 * level)) - 1), 0);
            return (e & BOOT_PTE_ADDRESS) | offset | writable | xd | BOOT_PTE_P;
        }
        table = e & BOOT_PTE_ADDRESS;
    }
}

static void check(uint64_t top, bool gigabyte_pages, bool five_levels)
{
    struct tables t = build(top, gigabyte_pages, five_levels);
    const uint64_t data = BOOT_PTE_P | BOOT_PTE_RW | BOOT_PTE_XD;
    uint64_t size = t.paging.direct_map_size;
    for (uint64_t at = 0; at < size; at += GIB(1)) {
        assert_int_equal(walk(&t, at), at | BOOT_PTE_P | BOOT_PTE_RW);
        assert_int_equal(walk(&t, BOOT_DIRECT_MAP + at + 0x1000), (at + 0x1000) | data);
    }
    assert_int_equal(walk(&t, BOOT_DIRECT_MAP + size - 4096), (size - 4096) | data);
    assert_int_equal(walk(&t, BOOT_DIRECT_MAP + size), 0);
    assert_int_equal(walk(&t, size), 0);

    uint64_t virt = elf.virt, phys = t.paging.kernel_phys;
    assert_int_equal(walk(&t, virt - 4096), 0);
    assert_int_equal(walk(&t, virt), phys | BOOT_PTE_P);
    assert_int_equal(walk(&t, virt + 0x1000), (phys + 0x1000) | BOOT_PTE_P);
    assert_int_equal(walk(&t, virt + 0x2000), (phys + 0x2000) | BOOT_PTE_P | BOOT_PTE_XD);
    assert_int_equal(walk(&t, virt + 0x3000), 0); /* a hole between segments is a guard */
    assert_int_equal(walk(&t, virt + 0x4000), (phys + 0x4000) | data);
    assert_int_equal(walk(&t, virt + 0x5000), 0);
    free(t.memory);
}

static void test_forms(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        check(0, form & 1, form & 2);
        check(GIB(5) + 0x1000, form & 1, form & 2);
    }
}

static void test_large(void **state)
{
    (void)state;
    check(TIB(2), true, false);
    check(TIB(1), false, true);
}

static void test_direct_size(void **state)
{
    (void)state;
    assert_int_equal(boot_paging_direct_size(0, true), GIB(4));
    assert_int_equal(boot_paging_direct_size(GIB(4), false), GIB(4));
    assert_int_equal(boot_paging_direct_size(GIB(4) + 1, false), GIB(4) + 0x200000);
    assert_int_equal(boot_paging_direct_size(GIB(4) + 1, true), GIB(5));
    assert_int_equal(boot_paging_direct_size(UINT64_MAX, true), BOOT_PAGING_MAX_DIRECT);
    assert_true(BOOT_DIRECT_MAP + BOOT_PAGING_MAX_DIRECT == LAYOUT_DIRECT_MAP_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_direct_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
