/* SPDX-License-Identifier: MIT */
/* Stacks that no thread owns: kernel_main's and the interrupt stacks, each above a guard page. The boot processor's are
 * part of the image, for they are needed before there is memory to allocate. */
#include "arch/internal.h"
#include "arch/layout.h"
#include "kernel/errno.h"

struct arch_stack arch_boot_stack __attribute__((aligned(ARCH_PAGE_SIZE)));
struct arch_stack arch_boot_ist[IST_COUNT] __attribute__((aligned(ARCH_PAGE_SIZE)));
_Static_assert(sizeof(struct arch_stack) % ARCH_PAGE_SIZE == 0 && ARCH_STACK_GUARD == ARCH_PAGE_SIZE, "guard page");

bool arch_stack_is_guard(const void *virt)
{
    uintptr_t at = (uintptr_t)virt;
    if (at - (uintptr_t)arch_boot_stack.guard < ARCH_STACK_GUARD)
        return true;
    for (unsigned i = 0; i < IST_COUNT; i++)
        if (at - (uintptr_t)arch_boot_ist[i].guard < ARCH_STACK_GUARD)
            return true;
    return false;
}

int arch_stack_make_ist(uint32_t index, void *tops[IST_COUNT])
{
    struct arch_stack *stacks = (struct arch_stack *)LAYOUT_STACKS + (size_t)index * IST_COUNT;

    for (unsigned i = 0; i < IST_COUNT; i++) {
        for (size_t at = 0; at < ARCH_STACK_SIZE; at += ARCH_PAGE_SIZE) {
            uint64_t page = kmem_early_page();
            if (!page)
                return -ENOMEM;
            int error = arch_map_page(stacks[i].bytes + at, page, ARCH_MAP_WRITE);
            if (error)
                return error;
        }
        tops[i] = stacks[i].bytes + ARCH_STACK_SIZE;
    }
    return 0;
}
