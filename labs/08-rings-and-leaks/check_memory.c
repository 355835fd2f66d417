/* SPDX-License-Identifier: MIT */
/* Lab 8: memory that is good for the Debug Store, and memory that is not. */
#include "labs/check.h"

#include "arch/arch.h"
#include "arch/upcalls.h"
#include "check_parts.h"
#include "kernel/memory/mem.h"
#include "kernel/user_thread.h"

#define SECTION "SDM vol. 3B, \"Debug Store (DS) Mechanism\""

/* Pages of the check's own, in the last slots for stacks, which no thread ever gets. */
#define ODD (KSTACK_BASE + (KSTACK_COUNT - 2) * KSTACK_SLOT)
enum { GOOD, GOOD_TOO, READ_ONLY, GOOD_3, UNTOUCHED, ABSENT, UNWRITTEN };

static const char *const words[] = {"fit", "exposed", "absent", "read-only", "untouched"};

static uint64_t odd(unsigned page)
{
    return ODD + page * (uint64_t)ARCH_PAGE_SIZE;
}

static void map(unsigned page, unsigned flags)
{
    const uint64_t phys = kernel_page_permanent();
    if (!phys || kmem_map_page((void *)odd(page), phys, flags) != 0)
        lab_fail("memory", "Give the machine more memory.", "./run-qemu.sh --help", "no memory for the check's pages");
}

static void make_pages(void)
{
    map(GOOD, ARCH_MAP_WRITE);
    map(GOOD_TOO, ARCH_MAP_WRITE);
    map(READ_ONLY, 0);
    map(GOOD_3, ARCH_MAP_WRITE);
    map(UNTOUCHED, ARCH_MAP_WRITE);
    map(UNWRITTEN, ARCH_MAP_WRITE);
    *(volatile uint8_t *)odd(GOOD) = 1;
    *(volatile uint8_t *)odd(GOOD_TOO) = 1;
    *(volatile uint8_t *)odd(GOOD_3) = 1;
    (void)*(volatile uint8_t *)odd(READ_ONLY);
    (void)*(volatile uint8_t *)odd(UNWRITTEN); /* Accessed, but not Dirty */
}

static const char *hint_of(enum lab_fitness right)
{
    switch (right) {
    case LAB_EXPOSED:
        return "What ring 3 can access, a program can read, and perhaps write. Records of the kernel and of other "
               "programs would lie open, and the program could say where the processor writes next. Look in both "
               "address spaces. Exposed comes before absent: one space may lack a page that the other one exposes.";
    case LAB_ABSENT:
        return "The processor writes a record whatever page tables are active, and cannot handle a page fault there. "
               "All pages have to be mapped in both address spaces.";
    case LAB_READ_ONLY:
        return "The processor writes to these pages.";
    case LAB_UNTOUCHED:
        return "The first access to a page sets its Accessed bit, the first write its Dirty bit. The processor has to "
               "find both set: write to the memory before you use it.";
    default:
        return "Nothing is wrong with this memory. All its pages, from that of the first byte to that of the last one, "
               "are mapped, writable, touched and closed to ring 3.";
    }
}

static void check(uint64_t address, uint64_t bytes, enum lab_fitness right, bool several)
{
    const enum lab_fitness given = lab_ds_memory(address, bytes);
    if (given == right)
        return;
    lab_fail(several ? "pages" : words[right],
             several ? "Look at each page that the memory touches, and at no other: from the page of the first byte to "
                       "that of the last one."
                     : hint_of(right),
             SECTION, "lab_ds_memory says %s for %lu bytes at 0x%lx; expected %s",
             (unsigned)given < sizeof words / sizeof words[0] ? words[given] : "no such value", (unsigned long)bytes,
             (unsigned long)address, words[right]);
}

void lab_check_memory(void)
{
    const uint64_t page = ARCH_PAGE_SIZE, own = (uintptr_t)lab_need_memory(3 * page);
    make_pages();
    check(own, sizeof(struct ds_area_a0), LAB_FIT, false);
    check(odd(GOOD), page, LAB_FIT, false);
    check(KUSER_STACK_TOP - page, page, LAB_EXPOSED, false); /* the program's stack: the kernel's tables lack it */
    check(KUSER_IMAGE, 64, LAB_EXPOSED, false);
    check(odd(ABSENT), 8, LAB_ABSENT, false);
    check(UINT64_C(0x123456789000), 8, LAB_ABSENT, false);
    check(odd(READ_ONLY), 64, LAB_READ_ONLY, false);
    check(odd(UNTOUCHED), 64, LAB_UNTOUCHED, false);
    check(odd(UNWRITTEN), 64, LAB_UNTOUCHED, false);

    check(odd(GOOD), 2 * page, LAB_FIT, true); /* ends where the read-only page begins */
    check(odd(GOOD) + 8, 2 * page, LAB_READ_ONLY, true);
    check(odd(GOOD), 2 * page + 1, LAB_READ_ONLY, true);
    check(odd(GOOD), 4 * page, LAB_READ_ONLY, true); /* the third page of four */
    check(odd(GOOD_3) + page - 1, 1, LAB_FIT, true);
    check(odd(GOOD_3) + page - 1, 2, LAB_UNTOUCHED, true);
    check(odd(GOOD), 6 * page, LAB_ABSENT, true);
    check(own, 3 * page, LAB_FIT, true);
    lab_pass("memory", "17 places for DS memory");
}
