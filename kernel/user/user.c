/* SPDX-License-Identifier: MIT */
#include "kernel/user/user.h"

#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "arch/registers.h"
#include "arch/user/registers.h"
#include "arch/user/user.h"
#include "kernel/gate.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/lib/symbols.h"
#include "kernel/memory/mem.h"
#include "kernel/memory/stack.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "kernel/tracepoint/stepping.h"

#define STACK_BYTES (KUSER_STACK_PAGES * (uint64_t)ARCH_PAGE_SIZE)

uint64_t kernel_page(void)
{
    void *page = kmem_pages_alloc(1);
    return page ? arch_virt_to_phys(page) : 0;
}

void kernel_page_free(uint64_t phys)
{
    kmem_pages_free(arch_phys_to_virt(phys), 1);
}

static int map(const struct kuser *user, uint64_t virt, const uint8_t *from, const uint8_t *to, unsigned flags)
{
    int e = 0;
    for (; from < to && !e; from += ARCH_PAGE_SIZE, virt += ARCH_PAGE_SIZE)
        e = arch_space_map(user->space, virt, arch_virt_to_phys(from), flags);
    return e;
}

int kuser_make_space(struct kuser *user)
{
    user->stack = kmem_pages_alloc(KUSER_STACK_PAGES);
    if (!user->stack)
        return -ENOMEM;
    int e = arch_space_create(&user->space);
    if (!e)
        e = map(user, KUSER_IMAGE, kernel_user_start, kernel_user_text_end, ARCH_MAP_EXECUTE);
    if (!e)
        e = map(user, kuser_address(kernel_user_text_end), kernel_user_text_end, kernel_user_end, 0);
    if (!e)
        e = map(user, KUSER_STACK_TOP - STACK_BYTES, user->stack, (uint8_t *)user->stack + STACK_BYTES, ARCH_MAP_WRITE);
    return e;
}

void kuser_free(struct kuser *user)
{
    if (user->space)
        arch_space_free(user->space);
    if (user->stack)
        kmem_pages_free(user->stack, KUSER_STACK_PAGES);
    kmem_pages_free(user, 1);
}

/* First code of a user thread: in ring 3 when this is through. */
static void begin(void *argument)
{
    const struct kuser *user = argument;
    struct arch_trap_frame frame = {
        .rip = user->entry,
        .cs = ARCH_USER_CODE,
        .rflags = ARCH_RFLAGS_IF | ARCH_RFLAGS_FIXED,
        .rsp = KUSER_STACK_TOP - 8, /* as after a call: the ABI's alignment */
        .ss = ARCH_USER_DATA,
        .rdi = user->argument[0],
        .rsi = user->argument[1],
    };
    kuser_leave(&frame);
    arch_user_enter(&frame);
}

int kuser_create(struct kthread **thread, const char *name, int priority, uint32_t cpu, user_program *program,
                 uint64_t first, uint64_t second, struct kevent *event, uint32_t events)
{
    bool on = kgate_enter(); /* making it is not the caller's own work */
    int e = -ENOMEM;
    struct kuser *user = kmem_pages_alloc(1);
    if (user) {
        arch_fpu_clean(&user->fpu);
        user->entry = kuser_address((const void *)(uintptr_t)program);
        user->argument[0] = first;
        user->argument[1] = second;
        user->event = event;
        user->events = events;
        e = kuser_make_space(user);
        const struct kthread_params params = {.name = name,
                                              .priority = priority,
                                              .affinity = kthread_affinity(cpu),
                                              .flags = KTHREAD_SAMPLED | KTHREAD_USER,
                                              .entry = begin,
                                              .argument = user,
                                              .user = user,
                                              .process_id = &user->process_id,
                                              .gone = kuser_free};
        if (!e)
            e = kthread_create(thread, &params);
        if (e)
            kuser_free(user);
    }
    kgate_leave(on);
    return e;
}

/* A thread of the kernel's runs in the kernel's own address space, with what the last program has left in the FPU. */
void ksched_change_user(struct kthread *old, struct kthread *next)
{
    if (old->user)
        arch_fpu_save(&old->user->fpu);
    if (next->user)
        arch_fpu_load(&next->user->fpu);
    arch_thread_in(kstack_pointer(next), next->user ? next->user->space : 0);
}

void kuser_end(struct kthread *thread)
{
    __atomic_store_n(&thread->user->ended, true, __ATOMIC_RELAXED);
}

static void end_if_asked(struct arch_trap_frame *frame)
{
    if (__atomic_load_n(&kcpu_this()->current->user->ended, __ATOMIC_RELAXED))
        kuser_kill(frame, KUSER_ENDED, "ended from outside");
}

void kuser_leave(struct arch_trap_frame *frame)
{
    end_if_asked(frame);
    struct kcpu *cpu = kcpu_this();
    KASSERT(cpu->current->gate_depth == 1);
    cpu->current->gate_depth = 0;
    ds_resume_user(cpu->active_ds, frame);
}

void kernel_user_return(struct arch_trap_frame *frame)
{
    end_if_asked(frame);
}

__attribute__((weak)) const char *ksymbols_name(uint64_t address, uint64_t *offset)
{
    (void)address, (void)offset;
    return NULL;
}

_Noreturn void kuser_kill(const struct arch_trap_frame *frame, int code, const char *why)
{
    kgate_enter(); /* counting stops before the printing */
    const struct kthread *self = kcpu_this()->current;
    uint64_t offset;
    const char *name = ksymbols_name(frame->rip, &offset);
    char where[80];
    if (name)
        snprintf(where, sizeof where, "%s+0x%lx", name, (unsigned long)offset);
    else
        snprintf(where, sizeof where, "0x%lx", (unsigned long)frame->rip);
    kprintf("user: %s (thread %u) ended at %s: %s\n", self->name, self->tid, where, why);
    kthread_exit(code);
}

/* Counting is paused as in a system call: the fault has retired nothing, and what the kernel does is not the program's.
 * Where it goes on is its own affair: an address that is none faults anew, and is not caught. */
static void go_on_if_caught(struct arch_trap_frame *frame)
{
    struct kuser *user = kcpu_this()->current->user;
    if (!user->catching)
        return;
    kgate_enter();
    user->catching = false;
    frame->rip = user->caught_at;
    kuser_leave(frame);
    arch_user_enter(frame);
}

_Noreturn void kernel_user_fault(struct arch_trap_frame *frame)
{
    char why[128];
    uint64_t cr2 = read_cr2();
    struct kcpu *cpu = kcpu_this();
    kstepping_interrupted(frame);
    ds_pause(cpu->active_ds); /* what follows is the kernel's, not the program's */
    kpanic_describe(frame, cr2, why, sizeof why);
    KASSERT(!(arch_read_rflags() & (RFLAGS_NT | ARCH_RFLAGS_TF)) && !arch_user_pages_open());
    go_on_if_caught(frame);
    kuser_kill(frame, KUSER_FAULT(frame->vector), why);
}
