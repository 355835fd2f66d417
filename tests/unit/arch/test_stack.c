/* SPDX-License-Identifier: MIT */
/* arch/boot_stacks.c: what is mapped and what is called a guard page are the two halves of each stack. */
#include "arch/internal.h"
#include "arch/memory_layout.h"
#include "arch/upcalls.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

static uint64_t pages_left;
static unsigned mapped;

uint64_t kernel_page_permanent(void)
{
    return pages_left ? pages_left-- * ARCH_PAGE_SIZE : 0;
}

int arch_map_page(void *virt, uint64_t phys, unsigned flags)
{
    assert_true(phys != 0);
    assert_int_equal(flags, ARCH_MAP_WRITE);
    assert_false(arch_stack_is_guard(virt));
    assert_false(arch_stack_is_guard((char *)virt + ARCH_PAGE_SIZE - 1));
    mapped++;
    return 0;
}

/* One stack whose highest address is `top`. */
static void check_stack(const char *top)
{
    const char *bottom = top - ARCH_STACK_SIZE;
    assert_false(arch_stack_is_guard(top - 1));
    assert_false(arch_stack_is_guard(bottom));
    assert_true(arch_stack_is_guard(bottom - 1));
    assert_true(arch_stack_is_guard(bottom - ARCH_STACK_GUARD));
}

static void test_boot_stacks(void **state)
{
    (void)state;
    check_stack((const char *)arch_boot_stack.bytes + ARCH_STACK_SIZE);
    for (unsigned i = 0; i < IST_COUNT; i++)
        check_stack((const char *)arch_boot_ist[i].bytes + ARCH_STACK_SIZE);
}

static void test_other_processors(void **state)
{
    (void)state;
    void *tops[IST_COUNT];

    pages_left = (MAX_CPUS - 1) * IST_COUNT * (ARCH_STACK_SIZE / ARCH_PAGE_SIZE);
    for (uint32_t cpu = 1; cpu < MAX_CPUS; cpu++) {
        assert_int_equal(arch_stack_make_ist(cpu, tops), 0);
        for (unsigned i = 0; i < IST_COUNT; i++)
            check_stack(tops[i]);
    }
    assert_int_equal(pages_left, 0);
    assert_int_equal(mapped, (MAX_CPUS - 1) * IST_COUNT * (ARCH_STACK_SIZE / ARCH_PAGE_SIZE));
    assert_int_equal(arch_stack_make_ist(1, tops), -ENOMEM);
}

static void test_elsewhere(void **state)
{
    (void)state;
    assert_false(arch_stack_is_guard(NULL));
    assert_false(arch_stack_is_guard(state));
    assert_false(arch_stack_is_guard((const void *)(LAYOUT_STACKS - 1)));
    assert_false(arch_stack_is_guard((const void *)LAYOUT_DEVICES));
    assert_false(arch_stack_is_guard((const void *)UINTPTR_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boot_stacks),
        cmocka_unit_test(test_other_processors),
        cmocka_unit_test(test_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
