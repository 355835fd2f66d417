/* SPDX-License-Identifier: MIT */
/* Runs a lab's program in ring 3 (labs/lab.h), in a thread of its own. Its address space stays for the next one. */
#include "kernel/user/user.h"
#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "arch/user/user.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "labs/check.h"
#include "labs/machine/machine.h"

#define STACK_BYTES (KUSER_STACK_PAGES * (uint64_t)ARCH_PAGE_SIZE)
#define PRIORITY    8

static struct kuser user;
static bool interrupts = true;

void lab_user_interrupts(bool on)
{
    interrupts = on;
}

uint64_t lab_user_address(const void *in_program)
{
    return kuser_address(in_program);
}

static int map(uint64_t virt, const uint8_t *from, const uint8_t *to, unsigned flags)
{
    int e = 0;
    for (; from < to && !e; from += ARCH_PAGE_SIZE, virt += ARCH_PAGE_SIZE)
        e = arch_space_map(user.space, virt, arch_virt_to_phys(from), flags);
    return e;
}

static int make_space(void)
{
    user.stack = kmem_pages_alloc(KUSER_STACK_PAGES);
    if (!user.stack)
        return -ENOMEM;
    int e = arch_space_create(&user.space);
    if (!e)
        e = map(KUSER_IMAGE, kernel_user_start, kernel_user_text_end, ARCH_MAP_EXECUTE);
    if (!e)
        e = map(KUSER_STACK_TOP - STACK_BYTES, user.stack, (uint8_t *)user.stack + STACK_BYTES, ARCH_MAP_WRITE);
    if (e)
        user.space = 0; /* never used: what it has stays lost */
    return e;
}

uint64_t lab_machine_space(void)
{
    return user.space || make_space() == 0 ? user.space : 0;
}

/* The thread's first code, interrupts off. The model steps the program from its first instruction on. */
static void enter(void *unused)
{
    uint64_t *top = (uint64_t *)((uint8_t *)user.stack + STACK_BYTES);
    struct arch_trap_frame frame = {
        .rip = user.entry,
        .cs = ARCH_USER_CODE,
        .rflags = ARCH_RFLAGS_FIXED | (interrupts ? ARCH_RFLAGS_IF : 0),
        .rsp = KUSER_STACK_TOP - 8,
        .ss = ARCH_USER_DATA,
        .rdi = user.argument[0],
    };
    (void)unused;
    top[-1] = lab_user_address((const void *)(uintptr_t)lab_user_exit);
    kuser_leave(&frame);
    if (lab_is_model()) {
        struct kcpu *cpu = kcpu_this();
        cpu->arch.step_ip = frame.rip;
        cpu->arch.step_on = 1;
        frame.rflags |= ARCH_RFLAGS_TF;
    }
    arch_user_enter(&frame);
}

static void keep(struct kuser *unused)
{
    (void)unused;
}

int lab_run_user(lab_program *program, uint64_t argument, uint64_t counters)
{
    struct kthread *thread;
    if (!lab_machine_counters(counters))
        return -EFAULT;
    if (!lab_machine_space())
        return -ENOMEM;
    arch_fpu_clean(&user.fpu);
    user.entry = lab_user_address((const void *)(uintptr_t)program);
    user.argument[0] = argument;
    const struct kthread_params params = {.name = "lab",
                                          .priority = PRIORITY,
                                          .affinity = kthread_affinity(0),
                                          .flags = KTHREAD_SAMPLED | KTHREAD_USER,
                                          .entry = enter,
                                          .user = &user,
                                          .gone = keep};
    arch_timer_stop();
    (void)lab_wrmsr(IA32_PERF_GLOBAL_CTRL, counters); /* legal, by the check above */
    int e = kthread_create(&thread, &params);
    if (!e)
        e = kthread_join(thread, KWAIT_FOREVER, NULL);
    (void)lab_wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
    arch_timer_start(kopt.tick_us);
    return e;
}
