/* SPDX-License-Identifier: MIT */
/*
 * arch/paging.c as it is, on a pretended machine of a few MiB at 0 and at 4 GiB, with 4 and 5 levels, with and without
 * 1 GiB pages. What the tables say is read by a walker of this file's own. Physical memory is an array; the kernel
 * image's pages lie where the host put the symbols.
 * Longer than 500 lines: all tests are of one pretended machine, with one walker.
 */
#include <string.h>

#include "arch/arch.h"
#include "arch/internal.h"
#include "arch/memory_layout.h"
#include "arch/paging.c" /* each machine begins with its variables as they were */
#include "arch/registers.h"
#include "arch/screen/framebuffer.h"
#include "arch/user/user.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

#include "arch/upcalls.h"

#define ARENA_PAGES 512u
#define PAGE        UINT64_C(4096)
#define GIB         (UINT64_C(1) << 30)
#define ARENA       (8 * PAGE) /* its physical address: page tables and the memory map */

static uint8_t arena[ARENA_PAGES][4096] __attribute__((aligned(4096)));
static uint64_t cr3, cr4;
static bool gigabyte_pages;
static uint32_t pages_used, pages_most;

void *arch_phys_to_virt(uint64_t phys)
{
    assert_in_range(phys, ARENA, ARENA + sizeof(arena) - 1);
    return (uint8_t *)arena + (phys - ARENA);
}

void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    (void)subleaf;
    memset(out, 0, 16);
    if (leaf == 0x80000001)
        out[3] = gigabyte_pages ? 1u << 26 : 0;
    else if (leaf == 0x80000008)
        out[0] = 40;
}

uint64_t read_cr3(void)
{
    return cr3;
}

void write_cr3(uint64_t value)
{
    cr3 = value;
}

uint64_t read_cr4(void)
{
    return cr4;
}

/* A first page for the memory map, then one after the other. */
uint64_t kernel_page_permanent(void)
{
    return pages_used < pages_most ? ARENA + ++pages_used * PAGE : 0;
}

/* Pages that are freed one day: from the other end of the arena. */
#define LIVE 32u
static uint8_t live_taken[LIVE];
static uint32_t live, live_most;

uint64_t kernel_page(void)
{
    for (uint32_t i = 0; i < live_most; i++)
        if (!live_taken[i]) {
            live_taken[i] = 1;
            live++;
            uint8_t *page = arena[ARENA_PAGES - 1 - i];
            memset(page, 0, 4096);
            return ARENA + (uint64_t)(page - (uint8_t *)arena);
        }
    return 0;
}

void kernel_page_free(uint64_t phys)
{
    size_t i = ARENA_PAGES - 1 - (phys - ARENA) / PAGE;
    assert_true(i < LIVE && live_taken[i]);
    live_taken[i] = 0;
    live--;
}

/* The image: two pages of code, one of constants, three of variables, the second of which is a guard page. */
__asm__(".pushsection .bss\n"
        ".balign 4096\n"
        "kernel_text_start: .skip 8192\n"
        "kernel_text_end: kernel_rodata_start: .skip 4096\n"
        "kernel_rodata_end: kernel_data_start: .skip 12288\n"
        "kernel_data_end:\n"
        ".globl kernel_text_start, kernel_text_end, kernel_rodata_start, kernel_rodata_end\n"
        ".globl kernel_data_start, kernel_data_end\n"
        ".popsection\n");

bool arch_stack_is_guard(const void *virt)
{
    return (uint64_t)virt - ((uint64_t)kernel_data_start + PAGE) < PAGE;
}

/* ---- the machine */
#define KERNEL_PHYS (3 * GIB + 5 * PAGE)

static const struct boot_memory memory_map[] = {
    {.base = 0, .size = 0x9F000, .type = BOOT_MEMORY_CONVENTIONAL},
    {.base = 0x9F000, .size = PAGE, .type = BOOT_MEMORY_RESERVED},
    {.base = 0x100000, .size = 0x700000, .type = BOOT_MEMORY_CONVENTIONAL},
    {.base = 0x800000, .size = 0x8000, .type = BOOT_MEMORY_ACPI_NVS},
    {.base = 0x800000, .size = 0x10000, .type = BOOT_MEMORY_BOOT_SERVICES_DATA}, /* the half of it twice */
    {.base = 3 * GIB, .size = 64 * PAGE, .type = BOOT_MEMORY_LOADER_DATA},
    {.base = 0xFEC00000, .size = PAGE, .type = BOOT_MEMORY_MMIO},
    {.base = 4 * GIB, .size = 3 * GIB, .type = BOOT_MEMORY_CONVENTIONAL},
    {.base = 8 * GIB, .size = GIB, .type = BOOT_MEMORY_CONVENTIONAL}, /* half of it beyond the loader's direct map */
};
#define RANGES (sizeof(memory_map) / sizeof(memory_map[0]))

static struct boot_info info;

static void machine(unsigned table_levels, bool gigabytes)
{
    memset(arena, 0, sizeof(arena));
    memcpy(arena, memory_map, sizeof(memory_map));
    pages_used = 0;
    pages_most = ARENA_PAGES - 1 - LIVE;
    gigabyte_pages = gigabytes;
    cr3 = 0;
    cr4 = table_levels == 5 ? CR4_LA57 : 0;
    device_next = LAYOUT_DEVICES;
    arch_page_tables = (struct arch_page_tables){.physical = (uint64_t)arena - ARENA};
    memset(live_taken, 0, sizeof(live_taken));
    live = 0;
    live_most = LIVE;
    info = (struct boot_info){.memory = ARENA,
                              .memory_count = RANGES,
                              .direct_map_size = 8 * GIB + GIB / 2,
                              .page_table_levels = table_levels,
                              .kernel_phys = KERNEL_PHYS,
                              .kernel_virt = (uint64_t)kernel_text_start,
                              .kernel_size = (uint64_t)(kernel_data_end - kernel_text_start)};
}

/* ---- this file's own walker */
struct mapping {
    bool there, write, execute, uncached;
    unsigned memory_type; /* entry of the PAT */
    uint64_t phys, size;
};

static struct mapping look(uint64_t top, uint64_t virt)
{
    struct mapping m = {.write = true, .execute = true};
    uint64_t table = top;
    for (int shift = info.page_table_levels == 5 ? 48 : 39;; shift -= 9) {
        uint64_t entry;
        memcpy(&entry, (uint8_t *)arch_phys_to_virt(table) + (virt >> shift & 511) * 8, 8);
        if (!(entry & 1))
            return m;
        m.write &= entry >> 1 & 1;
        m.execute &= !(entry >> 63);
        if (shift == 12 || (shift <= 30 && entry >> 7 & 1)) {
            uint64_t inside = (UINT64_C(1) << shift) - 1;
            m.there = true;
            m.uncached = (entry >> 3 & 3) == 3;
            m.size = inside + 1;
            uint64_t pat_bit = shift == 12 ? 1u << 7 : 1u << 12;
            m.memory_type = (entry & pat_bit ? 4u : 0) | (entry >> 3 & 3); /* PAT, PCD, PWT */
            entry &= shift == 12 ? UINT64_MAX : ~pat_bit;
            assert_int_equal(entry & inside & 0x000FFFFFFFFFF000, 0);
            m.phys = (entry & 0x000FFFFFFFFFF000) + (virt & inside);
            return m;
        }
        table = entry & 0x000FFFFFFFFFF000;
    }
}

static void expect(uint64_t virt, uint64_t phys, bool write, bool execute)
{
    struct mapping m = look(cr3, virt);
    assert_true(m.there);
    assert_int_equal(m.phys, phys);
    assert_int_equal(m.write, write);
    assert_int_equal(m.execute, execute);
}

/* No page anywhere is writable and executable. */
static void check_w_xor_x(uint64_t table, int level, bool write, bool execute)
{
    for (unsigned i = 0; i < 512; i++) {
        uint64_t entry;
        memcpy(&entry, (uint8_t *)arch_phys_to_virt(table) + i * 8, 8);
        bool w = write && entry >> 1 & 1, x = execute && !(entry >> 63);
        if (!(entry & 1))
            continue;
        if (level == 1 || (level <= 3 && entry >> 7 & 1))
            assert_false(w && x);
        else
            check_w_xor_x(entry & 0x000FFFFFFFFFF000, level - 1, w, x);
    }
}

static void for_all(void (*test)(void))
{
    for (unsigned n = 4; n <= 5; n++)
        for (int gigabytes = 0; gigabytes <= 1; gigabytes++) {
            machine(n, gigabytes);
            assert_int_equal(arch_paging_init(&info), 0);
            assert_true(cr3 != 0);
            test();
            check_w_xor_x(cr3, (int)n, true, true);
        }
}

/* ---- tests */
static void direct_map(void)
{
    uint64_t read_only_end = KERNEL_PHYS + 3 * PAGE;
    for (size_t i = 0; i < RANGES; i++) {
        const struct boot_memory *r = &memory_map[i];
        bool is_ram = r->type != BOOT_MEMORY_RESERVED && r->type != BOOT_MEMORY_MMIO;
        const uint64_t at[] = {r->base, r->base + PAGE, r->base + r->size / 2, r->base + r->size - PAGE};
        for (size_t k = 0; k < 4; k++) {
            uint64_t phys = at[k] & ~(PAGE - 1);
            if (phys >= r->base + r->size)
                continue;
            if (is_ram && phys < info.direct_map_size)
                expect(BOOT_DIRECT_MAP + phys, phys, true, false);
            else
                assert_false(look(cr3, BOOT_DIRECT_MAP + phys).there);
        }
    }
    for (uint64_t phys = KERNEL_PHYS; phys < read_only_end; phys += PAGE) /* code and constants, seen from the side */
        expect(BOOT_DIRECT_MAP + phys, phys, false, false);
    expect(BOOT_DIRECT_MAP + read_only_end, read_only_end, true, false);
    expect(BOOT_DIRECT_MAP + KERNEL_PHYS - PAGE, KERNEL_PHYS - PAGE, true, false);
    assert_false(look(cr3, BOOT_DIRECT_MAP + 0xA0000).there); /* what the map does not name */
    assert_false(look(cr3, BOOT_DIRECT_MAP + 2 * GIB).there);
    assert_false(look(cr3, BOOT_DIRECT_MAP + 7 * GIB).there);
    assert_false(look(cr3, 0x200000).there); /* no identity map */
    assert_int_equal(look(cr3, BOOT_DIRECT_MAP + 5 * GIB).size, gigabyte_pages ? GIB : GIB / 512);
    assert_int_equal(look(cr3, BOOT_DIRECT_MAP + 0x400000).size, GIB / 512);
    assert_int_equal(look(cr3, BOOT_DIRECT_MAP + 0x100000).size, PAGE);
    const uint64_t in_each_size[] = {5 * GIB + 0x1234567, 0x412345, 0x100123};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(arch_virt_to_phys((void *)(BOOT_DIRECT_MAP + in_each_size[i])), in_each_size[i]);
    assert_true(arch_readable((void *)(BOOT_DIRECT_MAP + 4 * GIB), 3 * GIB));
    assert_false(arch_readable((void *)(BOOT_DIRECT_MAP + 4 * GIB), 3 * GIB + 1));
}

static void test_direct_map(void **state)
{
    (void)state;
    for_all(direct_map);
}

static void image(void)
{
    uint64_t virt = (uint64_t)kernel_text_start, phys = KERNEL_PHYS;
    expect(virt, phys, false, true);
    expect(virt + PAGE, phys + PAGE, false, true);
    expect(virt + 2 * PAGE, phys + 2 * PAGE, false, false);
    expect(virt + 3 * PAGE, phys + 3 * PAGE, true, false);
    assert_false(look(cr3, virt + 4 * PAGE).there); /* the guard page */
    expect(virt + 5 * PAGE, phys + 5 * PAGE, true, false);
    assert_false(look(cr3, virt + 6 * PAGE).there);
    assert_false(look(cr3, virt - PAGE).there);
    assert_int_equal(arch_virt_to_phys((void *)(virt + 123)), phys + 123);
    assert_true(arch_virt_to_phys((void *)(virt + 4 * PAGE)) == UINT64_MAX);
    assert_true(arch_readable((void *)virt, 4 * PAGE));
    assert_false(arch_readable((void *)virt, 4 * PAGE + 1));
    assert_true(arch_readable((void *)(virt + 4 * PAGE), 0));
    assert_false(arch_readable((void *)UINT64_C(0x0100000000000000), 1)); /* not canonical at any level */
    assert_false(arch_readable((void *)UINT64_MAX, 2));
}

static void test_image(void **state)
{
    (void)state;
    for_all(image);
}

static void pages(void)
{
    char *virt = (char *)UINT64_C(0xFFFFD00000001000);
    assert_int_equal(arch_map_page(virt, 0x5000, ARCH_MAP_WRITE | ARCH_MAP_EXECUTE), -EINVAL);
    assert_int_equal(arch_map_page(virt + 1, 0x5000, ARCH_MAP_WRITE), -EINVAL);
    assert_int_equal(arch_map_page(virt, 0x5001, ARCH_MAP_WRITE), -EINVAL);
    assert_int_equal(arch_map_page(virt, UINT64_C(1) << 40, ARCH_MAP_WRITE), -EINVAL);
    assert_false(look(cr3, (uint64_t)virt).there);
    assert_int_equal(arch_map_page(virt, 0x5000, ARCH_MAP_WRITE), 0);
    expect((uint64_t)virt, 0x5000, true, false);
    assert_int_equal(arch_map_page(virt, 0x6000, ARCH_MAP_WRITE), -EEXIST);
    expect((uint64_t)virt, 0x5000, true, false);
    assert_int_equal(arch_map_page((void *)(BOOT_DIRECT_MAP + 5 * GIB), 0x6000, 0), -EEXIST); /* in a large page */
    assert_int_equal(arch_map_page(virt + PAGE, 0x7000, 0), 0);
    expect((uint64_t)virt + PAGE, 0x7000, false, false);

    pages_most = pages_used;
    assert_int_equal(arch_map_page((void *)UINT64_C(0xFFFFE00000000000), 0x8000, ARCH_MAP_WRITE), -ENOMEM);
    pages_most = ARENA_PAGES - 1 - LIVE;
}

static void test_pages(void **state)
{
    (void)state;
    for_all(pages);
}

static void devices(void)
{
    uint64_t first = (uint64_t)arch_map_device(0xFED00404, 16), second = (uint64_t)arch_map_device(0xFEE00FFC, 8);
    assert_int_equal(first, LAYOUT_DEVICES + 0x404);
    expect(first, 0xFED00404, true, false);
    assert_true(look(cr3, first).uncached);
    expect(second, 0xFEE00FFC, true, false); /* two pages */
    expect(second + 4, 0xFEE01000, true, false);
    assert_true(look(cr3, second + 4).uncached);
    assert_false(look(cr3, BOOT_DIRECT_MAP + 0x100000).uncached);
    assert_null(arch_map_device(UINT64_C(1) << 40, 8));
    assert_null(arch_map_device((UINT64_C(1) << 40) - 4, 8));
    assert_null(arch_map_device(0xFED00000, 0));
    assert_null(arch_map_device(0xFED00000, (size_t)8 * GIB)); /* more than its window */
}

/* Whoever names them, and whatever for: no registers are in memory. */
static void memory_is_no_device(void)
{
    /* clang-format off */
    static const struct { uint64_t phys, size; bool is; } cases[] = {
        { 0, 0x20, true },                 { 0x9EFFF, 1, true },          { 0x9F000, 1, false },
        { 0xFFFFF, 1, false },             { 0xFFFFF, 2, true },          { 0x807FFF, 1, true },
        { 0x810000, PAGE, false },         { 3 * GIB - 1, 1, false },     { 3 * GIB - 1, 2, true },
        { 3 * GIB + 64 * PAGE, 1, false }, { 0xFEC00000, 0x20, false },   { 7 * GIB - 1, 1, true },
        { 7 * GIB, GIB, false },           { 7 * GIB, GIB + 1, true },    { 9 * GIB - 1, 1, true },
        { 9 * GIB, UINT64_MAX, false },    { 7 * GIB, UINT64_MAX, true }, { UINT64_MAX, UINT64_MAX, false },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint64_t phys = cases[i].phys, size = cases[i].size;
        assert_int_equal(arch_is_memory(&info, phys, size), cases[i].is);
        if (!cases[i].is && size > PAGE)
            continue;
        assert_int_equal(arch_map_device(phys, size) == NULL, cases[i].is);
        assert_int_equal(arch_map_framebuffer(phys, size) == NULL, cases[i].is);
    }
}

static void test_memory_is_no_device(void **state)
{
    (void)state;
    for_all(memory_is_no_device);
}

static void test_devices(void **state)
{
    (void)state;
    for_all(devices);
}

/* Combining by PA4 of the PAT, in large pages where physical and virtual address allow; no memory. */
static void framebuffer(void)
{
    const uint64_t phys = 0xD0003000, size = 5 * GIB / 512 + 0x1800; /* 10 MiB and more */
    arch_map_device(0xFED00000, 16);                                 /* something before it */
    uint64_t virt = (uint64_t)arch_map_framebuffer(phys, size);
    assert_true(virt >= LAYOUT_DEVICES + PAGE);
    const uint64_t at[] = {0, 0x1FC000, 0x1FD000, 5 * GIB / 512 - 1, size - 1};
    for (size_t k = 0; k < sizeof at / sizeof at[0]; k++) {
        expect(virt + at[k], phys + at[k], true, false);
        assert_int_equal(look(cr3, virt + at[k]).memory_type, 4);
    }
    assert_int_equal(look(cr3, virt + 0x1FD000).size, GIB / 512);
    assert_int_equal(look(cr3, virt).size, PAGE);
    assert_false(look(cr3, (virt & ~(PAGE - 1)) + 5 * GIB / 512 + 0x2000).there);
    uint64_t next = (uint64_t)arch_map_device(0xFED00000, 16);
    assert_int_equal(look(cr3, next).memory_type, 3);
    assert_null(arch_map_framebuffer(0x8000000, 0)); /* nothing */
    assert_null(arch_map_framebuffer(UINT64_C(1) << 40, PAGE));
    assert_null(arch_map_framebuffer(0x300000, PAGE)); /* memory */
    assert_null(arch_map_framebuffer(0xF0000, 0x11000));
    assert_null(arch_map_framebuffer(3 * GIB - PAGE, PAGE + 1));
    assert_null(arch_map_framebuffer(8 * GIB + GIB / 2, PAGE)); /* memory, though beyond the direct map */
    assert_non_null(arch_map_framebuffer(0xA0000, 0x10000));
    assert_non_null(arch_map_framebuffer(0x9F000, PAGE)); /* reserved: where some put it */
}

static void test_framebuffer(void **state)
{
    (void)state;
    for_all(framebuffer);
}

/* Tables in memory the map leaves out, across a page boundary. What is there already is not mapped again. */
static void reach(void)
{
    uint64_t phys = ARENA + 100 * PAGE + 0x123;
    const uint8_t *at = arch_paging_reach(phys, PAGE);
    assert_ptr_equal(at, arch_phys_to_virt(phys));
    expect((uint64_t)at, phys, false, false);
    expect((uint64_t)at + PAGE - 1, phys + PAGE - 1, false, false);
    uint32_t used = pages_used;
    assert_ptr_equal(arch_paging_reach(phys + 1, 2), at + 1);
    assert_int_equal(pages_used, used);
    assert_null(arch_paging_reach(UINT64_MAX - 1, 8));
    assert_null(arch_paging_reach(UINT64_C(1) << 46, 1));
}

static void test_reach(void **state)
{
    (void)state;
    for_all(reach);
}

/* The trampoline's tables: all the kernel has, and one page more, which the kernel's own do not have. */
static void identity(void)
{
    uint64_t copy = kernel_page_permanent();
    assert_int_equal(arch_paging_identity(copy, 0x9E000), 0);
    struct mapping m = look(copy, 0x9E000);
    assert_true(m.there && m.execute && !m.write);
    assert_int_equal(m.phys, 0x9E000);
    assert_false(look(copy, 0x9D000).there);
    if (info.page_table_levels == 4) /* with 5 the host's image and 0x9E000 share an entry of the top table */
        assert_false(look(cr3, 0x9E000).there);
    assert_int_equal(look(copy, (uint64_t)kernel_text_start).phys, KERNEL_PHYS);
    assert_int_equal(look(copy, BOOT_DIRECT_MAP + 0x5000).phys, 0x5000);
    check_w_xor_x(copy, (int)info.page_table_levels, true, true);
}

static void test_identity(void **state)
{
    (void)state;
    for_all(identity);
}

/* A program's address space: the kernel's half as everywhere, for supervisors; its own pages for both, W^X. */
struct rights {
    bool there, user, write, execute;
};

static struct rights rights(uint64_t top, uint64_t virt)
{
    struct rights r = {true, true, true, true};
    for (int shift = info.page_table_levels == 5 ? 48 : 39;; shift -= 9) {
        uint64_t entry;
        memcpy(&entry, (uint8_t *)arch_phys_to_virt(top) + (virt >> shift & 511) * 8, 8);
        if (!(entry & 1))
            return (struct rights){0};
        r.write &= entry >> 1 & 1;
        r.user &= entry >> 2 & 1;
        r.execute &= !(entry >> 63);
        if (shift == 12 || (shift <= 30 && entry >> 7 & 1))
            return r;
        top = entry & 0x000FFFFFFFFFF000;
    }
}

static void expect_rights(uint64_t space, uint64_t virt, bool user, bool write, bool execute)
{
    struct rights r = rights(space, virt);
    assert_true(r.there);
    assert_int_equal(r.user, user);
    assert_int_equal(r.write, write);
    assert_int_equal(r.execute, execute);
}

static void spaces(void)
{
    const uint64_t virt = 0x400000, stack = ARCH_USER_END - PAGE;
    char *kernel = (char *)UINT64_C(0xFFFFD00000001000);
    uint64_t space, other;
    assert_int_equal(arch_map_page(kernel, 0x5000, ARCH_MAP_WRITE), 0);
    assert_int_equal(arch_space_create(&space), 0);
    assert_int_equal(arch_space_create(&other), 0);
    assert_int_equal(arch_space_map(space, virt, 0x10000, ARCH_MAP_WRITE | ARCH_MAP_EXECUTE), -EINVAL);
    assert_int_equal(arch_space_map(space, virt + 1, 0x10000, 0), -EINVAL);
    assert_int_equal(arch_space_map(space, virt, 0x10001, 0), -EINVAL);
    assert_int_equal(arch_space_map(space, virt, UINT64_C(1) << 40, 0), -EINVAL);
    assert_int_equal(arch_space_map(space, ARCH_USER_END, 0x10000, 0), -EINVAL);
    assert_int_equal(arch_space_map(space, (uint64_t)kernel + PAGE, 0x10000, 0), -EINVAL);
    assert_int_equal(arch_space_map(space, virt, 0x10000, ARCH_MAP_EXECUTE), 0);
    assert_int_equal(arch_space_map(space, virt, 0x11000, 0), -EEXIST);
    assert_int_equal(arch_space_map(space, virt + PAGE, 0x11000, 0), 0);
    assert_int_equal(arch_space_map(space, stack, 0x12000, ARCH_MAP_WRITE), 0);
    expect_rights(space, virt, true, false, true);
    expect_rights(space, virt + PAGE, true, false, false);
    expect_rights(space, stack, true, true, false);
    assert_int_equal(look(space, stack + 5).phys, 0x12005);
    assert_false(rights(other, virt).there || rights(other, stack).there || rights(cr3, stack).there);
    check_w_xor_x(space, (int)info.page_table_levels, true, true);

    /* The kernel's, also what it maps later, but for a new entry of its top table. */
    const uint64_t kernels[] = {BOOT_DIRECT_MAP + 0x100000, (uint64_t)kernel, (uint64_t)kernel + PAGE};
    assert_int_equal(arch_map_page(kernel + PAGE, 0x6000, ARCH_MAP_WRITE), 0);
    for (unsigned i = 0; i < 3; i++)
        expect_rights(space, kernels[i], false, true, false);
    if (info.page_table_levels == 4)
        assert_int_equal(arch_map_page((void *)UINT64_C(0xFFFFE00000000000), 0x7000, 0), -EBUSY);

    arch_space_use(space);
    assert_int_equal(cr3, space);
    assert_true(arch_readable(kernel, 2 * PAGE));
    assert_false(arch_readable((void *)virt, 1)); /* SMAP */
    arch_space_use(0);
    assert_false(rights(cr3, stack).there);

    assert_true(live > 2);
    live_most = live; /* a page with tables of its own: there is no memory for them */
    assert_int_equal(arch_space_map(space, UINT64_C(1) << 40, 0x13000, 0), -ENOMEM);
    assert_int_equal(arch_space_create(&other), -ENOMEM);
    arch_space_free(other);
    arch_space_free(space);
    assert_int_equal(live, 0);
}

static void test_spaces(void **state)
{
    (void)state;
    for_all(spaces);
}

/* However early memory runs out: an error, and the old tables stay in force. */
static void test_no_memory(void **state)
{
    (void)state;
    machine(4, false);
    assert_int_equal(arch_paging_init(&info), 0);
    uint32_t needed = pages_used;
    for (uint32_t n = 0; n < needed; n++) {
        machine(4, false);
        pages_most = n;
        assert_int_equal(arch_paging_init(&info), -ENOMEM);
        assert_int_equal(cr3, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct_map),  cmocka_unit_test(test_image),
        cmocka_unit_test(test_pages),       cmocka_unit_test(test_devices),
        cmocka_unit_test(test_framebuffer), cmocka_unit_test(test_memory_is_no_device),
        cmocka_unit_test(test_reach),       cmocka_unit_test(test_identity),
        cmocka_unit_test(test_no_memory),   cmocka_unit_test(test_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
