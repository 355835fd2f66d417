/* SPDX-License-Identifier: MIT */
/*
 * Threads in ring 3. Each has an address space of its own, with the programs (read and execute, or read only) and a
 * stack. Kernel memory, including the Debug Store's area and buffers, is mapped in it as everywhere, because the
 * processor writes records whatever CR3 holds. Only supervisors can access it. kernel/user/system_calls.c has the
 * system calls.
 *
 * A fault, or a system call that makes no sense, ends the thread with one line on the console.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/trapframe.h"
#include "kernel/sched/threads.h"
#include "kernel/user/ring3/programs.h"
#include "kernel/user_thread.h"

/* A thread of the kernel's that will run `program` in ring 3; sampled, as workloads' threads are. `cpu`: the only one
 * it may run on, or KTHREAD_ANY_CPU. `events` must outlive it. kthread_join frees it and its address space. 0, -EINVAL
 * (as kthread_create), -ENOMEM. */
int kuser_create(struct kthread **thread, const char *name, int priority, uint32_t cpu, user_program *program,
                 uint64_t first, uint64_t second, struct kevent *event, uint32_t events);

/* Creates a thread of a workload, on any CPU, as kworkload_thread (kernel/workload/workload.h) does. */
int kuser_add(const char *name, uint32_t number, int priority, user_program *program, uint64_t first, uint64_t second,
              struct kevent *event, uint32_t events);

/* The same without a thread, for who enters ring 3 in another way: an address space for `user`, which is a page of
 * kmem_pages_alloc, all 0. 0, or -ENOMEM. kuser_free in either case, when nobody uses it any more. */
int kuser_make_space(struct kuser *user);
void kuser_free(struct kuser *user);

/* Exit codes of those that did not exit by themselves. A program's own codes are INT16_MIN..INT16_MAX. */
#define KUSER_FAULT(vector) (0x10000 + (int)(vector))
#define KUSER_BAD_CALL      0x20000
#define KUSER_ENDED         0x30000

/* Ends a program from outside, at its next tick or call. */
void kuser_end(struct kthread *thread);

/* ---- for kernel/user/system_calls.c; on the thread's own stack, interrupts off */
/* Ends the current thread: one line that says why, and `frame`'s place. */
_Noreturn void kuser_kill(const struct arch_trap_frame *frame, int code, const char *why);
/* The last act before ring 3: leaves the gate. Does not come back where kuser_end was called. */
void kuser_leave(struct arch_trap_frame *frame);
