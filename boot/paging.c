/* SPDX-License-Identifier: MIT */
#include "boot/paging.h"

#include "boot/info.h"

#define ENTRIES   512u
#define SIZE_2M   (UINT64_C(1) << 21)
#define SIZE_1G   (UINT64_C(1) << 30)
#define SIZE_512G (UINT64_C(1) << 39)

/* How many naturally aligned pieces the kernel's addresses touch. */
static uint64_t kernel_pieces(const struct boot_elf *elf, uint64_t piece)
{
    return (elf->virt + elf->size - 1) / piece - elf->virt / piece + 1;
}

/* The first GiB from the n-th on that the direct map reaches; BOOT_GIBS: none. */
static uint64_t next_gib(const struct boot_paging *p, uint64_t n)
{
    while (n < BOOT_GIBS && p->gibs.bits[n / 64] >> n % 64 == 0)
        n = (n / 64 + 1) * 64;
    return n < BOOT_GIBS ? n + (uint64_t)__builtin_ctzll(p->gibs.bits[n / 64] >> n % 64) : BOOT_GIBS;
}

uint64_t boot_paging_direct_size(const struct boot_paging *p)
{
    uint64_t end = 0;
    for (uint64_t n = next_gib(p, 0); n < BOOT_GIBS; n = next_gib(p, n + 1))
        end = n + 1;
    return end * SIZE_1G;
}

uint64_t boot_paging_pages(const struct boot_paging *p)
{
    uint64_t pages = 1 + p->five_levels; /* PML4, PML5 */
    for (uint64_t n = next_gib(p, 0), pdpt = BOOT_GIBS; n < BOOT_GIBS; n = next_gib(p, n + 1)) {
        pages += pdpt != n / ENTRIES; /* page-directory-pointer table */
        pages += !p->gigabyte_pages;  /* page directory */
        pdpt = n / ENTRIES;
    }
    pages += 1 + kernel_pieces(p->elf, SIZE_1G) + kernel_pieces(p->elf, SIZE_2M);
    return pages;
}

struct pool {
    uint64_t *next;
    uint64_t left;
};

static uint64_t *new_table(struct pool *pool)
{
    if (pool->left == 0)
        __builtin_trap(); /* boot_paging_pages is wrong */
    uint64_t *table = pool->next;
    pool->next += ENTRIES;
    pool->left--;
    return table;
}

/* The table an entry points to, new where there is none. Permissions are decided in the last level. */
static uint64_t *next_table(struct pool *pool, uint64_t *entry)
{
    if ((*entry & BOOT_PTE_P) == 0)
        *entry = (uintptr_t)new_table(pool) | BOOT_PTE_P | BOOT_PTE_RW;
    return (uint64_t *)(uintptr_t)(*entry & BOOT_PTE_ADDRESS);
}

/* The identity map and the direct map share their lower tables; XD in the PML4 entry covers all below it. */
static void map_physical(const struct boot_paging *p, struct pool *pool, uint64_t *pml4)
{
    const uint64_t leaf = BOOT_PTE_P | BOOT_PTE_RW | BOOT_PTE_PS;
    for (uint64_t n = next_gib(p, 0); n < BOOT_GIBS; n = next_gib(p, n + 1)) {
        uint64_t *pdpte = &next_table(pool, &pml4[n / ENTRIES])[n % ENTRIES];
        if (p->gigabyte_pages) {
            *pdpte = (n * SIZE_1G) | leaf;
            continue;
        }
        uint64_t *pd = next_table(pool, pdpte);
        for (uint64_t i = 0; i < ENTRIES; i++)
            pd[i] = (n * SIZE_1G + i * SIZE_2M) | leaf;
    }
    const uint64_t first = BOOT_DIRECT_MAP / SIZE_512G % ENTRIES;
    for (uint64_t i = 0; i < BOOT_GIBS / ENTRIES; i++)
        if (pml4[i] & BOOT_PTE_P)
            pml4[first + i] = pml4[i] | BOOT_PTE_XD;
}

static void map_segment(const struct boot_paging *p, const struct boot_elf_segment *s, struct pool *pool,
                        uint64_t *pml4)
{
    uint64_t bits = BOOT_PTE_P;
    if (s->flags & BOOT_ELF_W)
        bits |= BOOT_PTE_RW;
    if ((s->flags & BOOT_ELF_X) == 0)
        bits |= BOOT_PTE_XD;
    uint64_t first = s->virt & ~(BOOT_PAGE_SIZE - 1);
    for (uint64_t at = first; at < s->virt + s->memory_size; at += BOOT_PAGE_SIZE) {
        uint64_t *pdpt = next_table(pool, &pml4[at / SIZE_512G % ENTRIES]);
        uint64_t *pd = next_table(pool, &pdpt[at / SIZE_1G % ENTRIES]);
        uint64_t *pt = next_table(pool, &pd[at / SIZE_2M % ENTRIES]);
        pt[at / BOOT_PAGE_SIZE % ENTRIES] = (p->kernel_phys + (at - p->elf->virt)) | bits;
    }
}

uint64_t boot_paging_build(const struct boot_paging *p, void *memory, uint64_t pages)
{
    struct pool pool = {.next = memory, .left = pages};
    uint64_t *pml4 = new_table(&pool);
    map_physical(p, &pool, pml4);
    for (uint32_t i = 0; i < p->elf->segment_count; i++)
        map_segment(p, &p->elf->segments[i], &pool, pml4);
    if (!p->five_levels)
        return (uintptr_t)pml4;
    /* Both halves of the 48-bit address space, at the two ends of the 57-bit one. */
    uint64_t *pml5 = new_table(&pool);
    pml5[0] = pml5[ENTRIES - 1] = (uintptr_t)pml4 | BOOT_PTE_P | BOOT_PTE_RW;
    return (uintptr_t)pml5;
}
