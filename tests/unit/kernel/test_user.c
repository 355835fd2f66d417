/* SPDX-License-Identifier: MIT */
/* The kernel's side of a program's fault, without the processor: what it counts of the kernel's own. */
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "arch/registers.h"
#include "arch/user/registers.h"
#include "arch/user/user.h"
#include "kernel/cpu.h"
#include "kernel/gate.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/symbols.h"
#include "kernel/memory/mem.h"
#include "kernel/tracepoint/stepping.h"
#include "tests/unit/support/cmocka.h"

static struct kcpu this_cpu;
static bool counting;

bool arch_user_pages_open(void)
{
    return false;
}

uint64_t read_cr2(void)
{
    return 0x1234;
}

#include "kernel/lib/print.h"
#include "kernel/sched/threads.h"
#include "kernel/user/user.h"
#include "tests/unit/fake/processor.h"

struct kcpu *kcpu_table[MAX_CPUS];
uint32_t kcpu_count;

/* ---- the Debug Store: whether it counts -------------------------------------------------------------------------- */

static struct ds_cpu *const some_ds = (struct ds_cpu *)&this_cpu; /* only its address counts */

void ds_pause(struct ds_cpu *ds)
{
    assert_ptr_equal(ds, some_ds);
    counting = false;
}

void ds_resume(struct ds_cpu *ds)
{
    (void)ds;
    counting = true;
}

void ds_resume_user(struct ds_cpu *ds, struct arch_trap_frame *frame)
{
    (void)frame;
    ds_resume(ds);
}

void kstepping_interrupted(struct arch_trap_frame *frame)
{
    (void)frame;
    assert_true(counting);
}

/* ---- what a fault leads to --------------------------------------------------------------------------------------- */

static jmp_buf left; /* for good: 1 the thread has ended, 2 it is back in ring 3 */
static int exit_code;
static bool described;

void kpanic_describe(const struct arch_trap_frame *frame, uint64_t cr2, char *line, size_t size)
{
    assert_false(counting);
    assert_true(frame->vector == 14 && cr2 == 0x1234);
    snprintf(line, size, "a fault");
    described = true;
}

const char *ksymbols_name(uint64_t address, uint64_t *offset)
{
    (void)address, (void)offset;
    assert_false(counting);
    return NULL;
}

void kprintf(const char *format, ...)
{
    (void)format;
    assert_false(counting);
}

_Noreturn void kthread_exit(int code)
{
    assert_false(counting);
    exit_code = code;
    longjmp(left, 1);
}

_Noreturn void arch_user_enter(struct arch_trap_frame *frame)
{
    (void)frame;
    longjmp(left, 2);
}

/* ---- what making a program takes: none is made here ------------------------------------------------------------- */

const uint8_t kernel_user_start[1], kernel_user_text_end[1], kernel_user_end[1];

_Noreturn void kpanic(const char *format, ...)
{
    fail_msg("%s", format);
    abort();
}

void *kmem_pages_alloc(size_t count)
{
    (void)count;
    return NULL;
}

void kmem_pages_free(void *pages, size_t count)
{
    (void)pages, (void)count;
}

int kthread_create(struct kthread **thread, const struct kthread_params *params)
{
    (void)thread, (void)params;
    return -ENOMEM;
}

uint64_t arch_virt_to_phys(const void *virt)
{
    return (uint64_t)(uintptr_t)virt;
}

void arch_thread_in(void *stack_top, uint64_t space)
{
    (void)stack_top, (void)space;
}

int arch_space_create(uint64_t *space)
{
    (void)space;
    return -ENOMEM;
}

int arch_space_map(uint64_t space, uint64_t virt, uint64_t phys, unsigned flags)
{
    (void)space, (void)virt, (void)phys, (void)flags;
    return -ENOMEM;
}

void arch_space_free(uint64_t space)
{
    (void)space;
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* A program that counts faults at 500H. */
static int fault(struct kuser *user)
{
    static struct kthread thread;
    static struct arch_trap_frame frame;
    thread = (struct kthread){.user = user, .flags = KTHREAD_SAMPLED | KTHREAD_USER};
    processor.cpu = &this_cpu;
    this_cpu = (struct kcpu){.current = &thread, .active_ds = some_ds};
    frame = (struct arch_trap_frame){.vector = 14, .rip = 0x500};
    counting = true;
    described = false;
    int how = setjmp(left);
    if (!how)
        kernel_user_fault(&frame);
    assert_true(described);
    assert_int_equal(frame.rip, how == 2 ? 0x700 : 0x500);
    return how;
}

/* From its first act on the kernel works for itself: where the processor's own counters run on after a fault, they
 * would count the description of it, and sample it, as the program's. */
static void nothing_of_a_fault_is_counted(void **state)
{
    (void)state;
    struct kuser user = {0};
    assert_int_equal(fault(&user), 1);
    assert_false(counting);
    assert_int_equal(exit_code, KUSER_FAULT(14));
}

static void a_caught_fault_counts_on_in_the_program(void **state)
{
    (void)state;
    struct kuser user = {.catching = true, .caught_at = 0x700};
    assert_int_equal(fault(&user), 2);
    assert_true(counting && !user.catching);
    assert_int_equal(this_cpu.current->gate_depth, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_of_a_fault_is_counted),
        cmocka_unit_test(a_caught_fault_counts_on_in_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
