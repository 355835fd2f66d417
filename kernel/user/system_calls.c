/* SPDX-License-Identifier: MIT */
/*
 * The system calls: one function for each line of kernel/user/ring3/calls.inc. A system call is a kernel call
 * (kernel/gate.h): counting is paused from its beginning to its end, except for the SYSCALL itself, which has retired,
 * and for what CALL_SPIN computes. Interrupts are off unless a call waits.
 */
#include "arch/arch.h"
#include "arch/user/registers.h"
#include "arch/user/user.h"
#include "ds/machine.h"
#include "kernel/event/event.h"
#include "kernel/gate.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/sched/threads.h"
#include "kernel/tracepoint/activity.h"
#include "kernel/user/ring3/calls.h"
#include "kernel/user/user.h"
#include "kernel/workload/workload.h"

struct call {
    struct arch_trap_frame *frame;
    struct kuser *user;
    uint64_t first, second;
};

/* An argument no program could mean. */
static _Noreturn void refuse(const struct call *c, const char *name, const char *what, uint64_t value)
{
    char why[96];
    snprintf(why, sizeof why, "system call %s: %s 0x%lx", name, what, (unsigned long)value);
    kuser_kill(c->frame, KUSER_BAD_CALL, why);
}

static _Noreturn void refuse_number(const struct call *c, uint64_t number)
{
    char why[64];
    snprintf(why, sizeof why, "system call %lu: there is no such call", (unsigned long)number);
    kuser_kill(c->frame, KUSER_BAD_CALL, why);
}

static int64_t call_exit(const struct call *c)
{
    if ((int64_t)c->first != (int16_t)c->first)
        refuse(c, "exit", "there is no code", c->first);
    kthread_exit((int)c->first);
}

static int64_t call_yield(const struct call *c)
{
    (void)c;
    kthread_yield();
    return 0;
}

static int64_t call_sleep(const struct call *c)
{
    if (c->first > KWORKLOAD_PATIENCE)
        refuse(c, "sleep", "too many ticks,", c->first);
    kthread_sleep(c->first, KWAIT_DELAY_EXECUTION);
    return 0;
}

static struct kevent *event(const struct call *c, const char *name)
{
    if (c->first >= c->user->events)
        refuse(c, name, "it has no event", c->first);
    return &c->user->event[c->first];
}

static int64_t call_wait(const struct call *c)
{
    struct kevent *e = event(c, "wait");
    if (c->second > KWORKLOAD_PATIENCE)
        refuse(c, "wait", "too many ticks,", c->second);
    return kevent_wait(e, KWAIT_USER_REQUEST, c->second);
}

static int64_t call_set(const struct call *c)
{
    kevent_set(event(c, "set"), KWAIT_INCREMENT);
    return 0;
}

/* The program's text, made one line, with its 0. */
static void copy_text(const struct call *c, const char *name, char text[CALL_TEXT_MAX + 1])
{
    if (c->second > CALL_TEXT_MAX)
        refuse(c, name, "too many bytes,", c->second);
    if (arch_copy_from_user(text, c->first, c->second) != 0)
        refuse(c, name, "it has no bytes at", c->first);
    for (uint64_t i = 0; i < c->second; i++)
        if (text[i] < ' ' || text[i] > '~')
            text[i] = '.'; /* nobody else's line begins in the middle of this one */
    text[c->second] = '\0';
}

static int64_t call_write(const struct call *c)
{
    char text[CALL_TEXT_MAX + 1];
    copy_text(c, "write", text);
    kprintf("user: %s: %s\n", kcpu_this()->current->name, text);
    return 0;
}

static int64_t call_mark(const struct call *c)
{
    char text[CALL_TEXT_MAX + 1];
    copy_text(c, "mark", text);
    if (kactivity_mark)
        kactivity_mark(text);
    return 0;
}

static int64_t call_spin(const struct call *c)
{
    if (c->first > CALL_SPIN_MAX)
        refuse(c, "spin", "too many rounds,", c->first);
    kgate_leave(true);
    for (volatile uint64_t rounds = c->first; rounds; rounds--)
        ;
    kgate_enter();
    return 0;
}

static int64_t call_stopping(const struct call *c)
{
    (void)c;
    return kworkload_stopping();
}

static int64_t call_catch(const struct call *c)
{
    c->user->catching = true;
    c->user->caught_at = c->first; /* any: it is the program that goes there */
    return 0;
}

/* To a machine that counts by single-stepping: as kstepping_interrupted. */
static void tell_machine(struct arch_trap_frame *frame)
{
    const struct ds_machine *machine = kcpu_this()->stepped;
    if (!machine)
        return;
    kpanic_hold();
    machine->stepping->system_call(machine->context, frame);
    kpanic_release();
}

static int64_t (*const calls[CALL_COUNT])(const struct call *) = {
    [CALL_EXIT] = call_exit,   [CALL_YIELD] = call_yield, [CALL_SLEEP] = call_sleep, [CALL_WAIT] = call_wait,
    [CALL_SET] = call_set,     [CALL_WRITE] = call_write, [CALL_SPIN] = call_spin,   [CALL_STOPPING] = call_stopping,
    [CALL_CATCH] = call_catch, [CALL_MARK] = call_mark,
};

void kernel_system_call(struct arch_trap_frame *frame)
{
    uint64_t flags = arch_read_rflags(); /* what SYSCALL has left of the program's: nothing that matters */
    struct kcpu *cpu = kcpu_this();
    tell_machine(frame);
    kgate_enter();
    KASSERT(!(flags & (ARCH_RFLAGS_TF | ARCH_RFLAGS_IF | RFLAGS_DF | RFLAGS_NT | RFLAGS_AC)));
    const struct call c = {frame, cpu->current->user, frame->rdi, frame->rsi};
    if (frame->rax >= CALL_COUNT)
        refuse_number(&c, frame->rax);
    frame->rax = (uint64_t)calls[frame->rax](&c);
    kuser_leave(frame);
}
