/* SPDX-License-Identifier: MIT */
/* boot/paging.c: the tables it builds, walked as the processor walks them. */
#include <stdlib.h>
#include <string.h>

#include "arch/memory_layout.h"
#include "boot/info.h"
#include "boot/paging.h"
#include "tests/unit/support/cmocka.h"

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
    uint64_t size; /* of the direct map */
};

/* `extra`: of memory above the first 4 GiB, its first byte and its size. */
static struct tables build(uint64_t extra, uint64_t size, bool gigabyte_pages, bool five_levels)
{
    const struct boot_efi_memory d = {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = extra, .pages = size / 4096};
    struct tables t = {
        .paging = {
            .gigabyte_pages = gigabyte_pages, .five_levels = five_levels, .elf = &elf, .kernel_phys = 0x7000000}};
    boot_memory_gibs(&(struct boot_efi_map){.descriptors = &d, .size = sizeof(d), .stride = sizeof(d)}, &t.paging.gibs);
    t.size = boot_paging_direct_size(&t.paging);
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

static void check(uint64_t extra, uint64_t bytes, bool gigabyte_pages, bool five_levels)
{
    struct tables t = build(extra, bytes, gigabyte_pages, five_levels);
    const uint64_t data = BOOT_PTE_P | BOOT_PTE_RW | BOOT_PTE_XD, size = t.size;
    assert_int_equal(size, extra + bytes > GIB(4) ? (extra + bytes + GIB(1) - 1) / GIB(1) * GIB(1) : GIB(4));
    for (uint64_t at = 0; at < size; at += GIB(1)) {
        const bool there = at < GIB(4) || at >= extra / GIB(1) * GIB(1);
        assert_int_equal(walk(&t, at), there ? at | BOOT_PTE_P | BOOT_PTE_RW : 0);
        assert_int_equal(walk(&t, BOOT_DIRECT_MAP + at + 0x1000), there ? (at + 0x1000) | data : 0);
    }
    assert_int_equal(walk(&t, BOOT_DIRECT_MAP + size - 4096), (size - 4096) | data);
    if (size < BOOT_GIBS << 30)
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
        check(0, GIB(1), form & 1, form & 2);
        check(GIB(4), GIB(1) + 0x1000, form & 1, form & 2);
        check(GIB(7) - 0x1000, 0x2000, form & 1, form & 2);
    }
}

static void test_large(void **state)
{
    (void)state;
    check(0, TIB(2), true, false);
    check(0, TIB(1), false, true);
}

/* Tables are for what is there: a little memory at the end of what can be reached costs no more than elsewhere. */
static void test_holes(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        check(TIB(64) - 0x1000, 0x1000, form & 1, form & 2);
        check(GIB(511), GIB(2), form & 1, form & 2);
        struct tables t = build(TIB(64) - 0x1000, 0x1000, form & 1, form & 2);
        const bool large = form & 1, five = form & 2;
        /* PML4, PML5; two page-directory-pointer tables; directories of 5 GiB; of the kernel: one, one, two */
        assert_int_equal(boot_paging_pages(&t.paging), 1 + five + 2 + (large ? 0 : 5) + 4);
        free(t.memory);
    }
}

static void test_direct_size(void **state)
{
    (void)state;
    assert_true(BOOT_DIRECT_MAP + (BOOT_GIBS << 30) == LAYOUT_DIRECT_MAP_END);
    struct boot_paging p = {.gibs = {.bits = {0xF}}};
    assert_int_equal(boot_paging_direct_size(&p), GIB(4));
    p.gibs.bits[BOOT_GIBS / 64 - 1] = UINT64_C(1) << 63;
    assert_int_equal(boot_paging_direct_size(&p), TIB(64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_direct_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
