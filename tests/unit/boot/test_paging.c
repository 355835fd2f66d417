/* SPDX-License-Identifier: MIT */
/* boot/paging.c: the tables it builds, walked as the processor walks them. */
#include <stdlib.h>
#include <string.h>

#include "arch/memory_layout.h"
#include "arch/page_tables.h"
#include "arch/upcalls.h"
#include "boot/info.h"
#include "boot/paging.h"
#include "kernel/lib/errno.h"
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

#define KERNEL_PHYS UINT64_C(0x7000000)
#define PAGES_MOST  20000u

static uint8_t (*memory)[4096]; /* of the tables */
static uint64_t pages, pages_most, direct_size;

uint64_t kernel_page_permanent(void)
{
    return pages < pages_most ? (uintptr_t)memory[pages++] : 0;
}

static int build_of(const struct boot_efi_memory *d, size_t count, bool gigabyte_pages, bool five_levels)
{
    const struct boot_efi_map map = {.descriptors = d, .size = count * sizeof(*d), .stride = sizeof(*d)};
    memset(memory, 0, pages * 4096);
    pages = 0;
    assert_int_equal(arch_page_tables_begin(five_levels, gigabyte_pages), 0);
    return boot_paging_build(&map, &elf, KERNEL_PHYS, &direct_size);
}

/* `extra`: of memory above the first 4 GiB, its first byte and its size. */
static int build(uint64_t extra, uint64_t size, bool gigabyte_pages, bool five_levels)
{
    const struct boot_efi_memory d = {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = extra, .pages = size / 4096};
    return build_of(&d, 1, gigabyte_pages, five_levels);
}

/* Physical address of `virt` with the XD and RW bits as all levels give them, 0 where nothing is mapped. */
static uint64_t walk(uint64_t virt)
{
    uint64_t table = arch_page_tables.root, writable = ENTRY_RW, xd = 0;
    for (unsigned level = arch_page_tables.levels;; level--) {
        uint64_t e = ((const uint64_t *)(uintptr_t)table)[virt >> (3 + 9 * level) & 511];
        if ((e & ENTRY_P) == 0)
            return 0;
        writable &= e;
        xd |= e & ENTRY_XD;
        if (level == 1 || (e & ENTRY_PS) != 0) {
            const uint64_t inside = (UINT64_C(1) << (3 + 9 * level)) - 1;
            assert_int_equal(e & ENTRY_ADDRESS & inside, 0);
            return (e & ENTRY_ADDRESS) | (virt & inside) | writable | xd | ENTRY_P;
        }
        table = e & ENTRY_ADDRESS;
    }
}

static void check(uint64_t extra, uint64_t bytes, bool gigabyte_pages, bool five_levels)
{
    assert_int_equal(build(extra, bytes, gigabyte_pages, five_levels), 0);
    const uint64_t data = ENTRY_P | ENTRY_RW | ENTRY_XD, size = direct_size;
    assert_int_equal(size, extra + bytes > GIB(4) ? (extra + bytes + GIB(1) - 1) / GIB(1) * GIB(1) : GIB(4));
    for (uint64_t at = 0; at < size; at += GIB(1)) {
        const bool there = at < GIB(4) || at >= extra / GIB(1) * GIB(1);
        assert_int_equal(walk(at), there ? at | ENTRY_P | ENTRY_RW : 0);
        assert_int_equal(walk(BOOT_DIRECT_MAP + at + 0x1000), there ? (at + 0x1000) | data : 0);
    }
    assert_int_equal(walk(BOOT_DIRECT_MAP + size - 4096), (size - 4096) | data);
    if (size < BOOT_END)
        assert_int_equal(walk(BOOT_DIRECT_MAP + size), 0);
    assert_int_equal(walk(size), 0);

    uint64_t virt = elf.virt, phys = KERNEL_PHYS;
    assert_int_equal(walk(virt - 4096), 0);
    assert_int_equal(walk(virt), phys | ENTRY_P);
    assert_int_equal(walk(virt + 0x1000), (phys + 0x1000) | ENTRY_P);
    assert_int_equal(walk(virt + 0x2000), (phys + 0x2000) | ENTRY_P | ENTRY_XD);
    assert_int_equal(walk(virt + 0x3000), 0); /* a hole between segments is a guard */
    assert_int_equal(walk(virt + 0x4000), (phys + 0x4000) | data);
    assert_int_equal(walk(virt + 0x5000), 0);
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
        const bool large = form & 1, five = form & 2;
        assert_int_equal(build(TIB(64) - 0x1000, 0x1000, large, five), 0);
        /* of the identity map, and of the rest; directories of 5 GiB, twice; of the kernel: one, one, two */
        assert_int_equal(pages, (five ? 5 : 3) + 2 * 2 - 2 + (large ? 0 : 2 * 5) + 4);
    }
}

/* How many GiBs are reached. */
static unsigned reached(const struct boot_efi_memory *d, size_t count)
{
    unsigned gibs = 0;
    assert_int_equal(build_of(d, count, true, false), 0);
    for (uint64_t at = 0; at < BOOT_END; at += GIB(1)) {
        const bool there = walk(BOOT_DIRECT_MAP + at);
        assert_true(there || at >= GIB(4));
        assert_int_equal(walk(at) != 0, there);
        gibs += there;
    }
    return gibs;
}

static void test_gibs(void **state)
{
    (void)state;
    const struct boot_efi_memory far[] = {
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = GIB(6), .pages = 1},
        {.type = BOOT_MEMORY_LOADER_DATA, .physical_start = GIB(70) - 0x1000, .pages = 2},
        {.type = BOOT_MEMORY_ACPI_RECLAIM, .physical_start = GIB(100), .pages = 3 << 18},
        {.type = BOOT_MEMORY_RUNTIME_DATA, .physical_start = BOOT_END - 0x1000, .pages = 2},
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = BOOT_END, .pages = 1},
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = GIB(200) + 0x1000, .pages = 0},
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = GIB(300) + 1, .pages = 1}, /* these two are no ranges */
        {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = GIB(300), .pages = UINT64_MAX},
    };
    assert_int_equal(reached(far, sizeof(far) / sizeof(far[0])), 4 + 1 + 2 + 3 + 1);
    assert_int_equal(direct_size, BOOT_END);
    assert_int_equal(reached(far, 0), 4);
    assert_int_equal(direct_size, GIB(4));
}

/* What nobody promises to be memory needs no tables, wherever it is. */
static void test_other_kinds(void **state)
{
    (void)state;
    static const uint32_t kinds[] = {BOOT_MEMORY_RESERVED,
                                     BOOT_MEMORY_UNUSABLE,
                                     BOOT_MEMORY_MMIO,
                                     BOOT_MEMORY_MMIO_PORT,
                                     BOOT_MEMORY_PAL_CODE,
                                     BOOT_MEMORY_PERSISTENT,
                                     15,
                                     0x70000000,
                                     0x80000000,
                                     UINT32_MAX};
    struct boot_efi_memory d[sizeof(kinds) / sizeof(kinds[0])];
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        d[i] = (struct boot_efi_memory){.type = kinds[i], .physical_start = TIB(63), .pages = UINT64_C(1) << 26};
    assert_int_equal(reached(d, sizeof(kinds) / sizeof(kinds[0])), 4);
}

/* However early memory runs out. */
static void test_no_memory(void **state)
{
    (void)state;
    assert_int_equal(build(GIB(4), GIB(1), false, true), 0);
    for (uint64_t n = pages; n-- > 1;) {
        pages_most = n;
        assert_int_equal(build(GIB(4), GIB(1), false, true), -ENOMEM);
    }
    pages_most = PAGES_MOST;
}

static int begin(void **state)
{
    (void)state;
    assert_true(BOOT_DIRECT_MAP + BOOT_END == LAYOUT_DIRECT_MAP_END);
    pages_most = PAGES_MOST;
    memory = aligned_alloc(4096, PAGES_MOST * sizeof(*memory));
    memset(memory, 0, PAGES_MOST * sizeof(*memory));
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(memory);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms), cmocka_unit_test(test_large),       cmocka_unit_test(test_holes),
        cmocka_unit_test(test_gibs),  cmocka_unit_test(test_other_kinds), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
