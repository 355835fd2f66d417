/* SPDX-License-Identifier: MIT */
/* Stacks that belong to no thread: kernel_main's and the interrupt stacks, each above a guard page. The boot
 * processor's are part of the image, because they are needed before memory can be allocated. */
#include "arch/internal.h"
#include "arch/memory_layout.h"
#include "arch/upcalls.h"
#include "kernel/lib/errno.h"

struct arch_stack arch_boot_stack __attribute__((aligned(ARCH_PAGE_SIZE)));
struct arch_stack arch_boot_ist[IST_COUNT] __attribute__((aligned(ARCH_PAGE_SIZE)));
_Static_assert(sizeof(struct arch_stack) % ARCH_PAGE_SIZE == 0 && ARCH_STACK_GUARD == ARCH_PAGE_SIZE, "guard page");

/* Whether `at` is in the guard page of one of the `count` stacks at `first`. */
static bool in_guard(uintptr_t at, const struct arch_stack *first, size_t count)
{
    uintptr_t offset = at - (uintptr_t)first;
    return offset < count * sizeof(*first) && offset % sizeof(*first) < ARCH_STACK_GUARD;
}

bool arch_stack_is_guard(const void *virt)
{
    uintptr_t at = (uintptr_t)virt;
    return in_guard(at, &arch_boot_stack, 1) || in_guard(at, arch_boot_ist, IST_COUNT) ||
           in_guard(at, (const struct arch_stack *)LAYOUT_STACKS, MAX_CPUS * IST_COUNT);
}

int arch_stack_make_ist(uint32_t index, void *tops[IST_COUNT])
{
    struct arch_stack *stacks = (struct arch_stack *)LAYOUT_STACKS + (size_t)index * IST_COUNT;

    for (unsigned i = 0; i < IST_COUNT; i++) {
        for (size_t at = 0; at < ARCH_STACK_SIZE; at += ARCH_PAGE_SIZE) {
            uint64_t page = kernel_page_permanent();
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
