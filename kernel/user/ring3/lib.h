/* SPDX-License-Identifier: MIT */
/* All that a program has: system calls, its arguments and its stack. Programs are C in one section, without variables
 * of their own and without a library; they share only events. kernel/user/system_calls.c says what a call does. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/errno.h"
#include "kernel/user/ring3/calls.h"

static inline int64_t lib_call(uint64_t number, uint64_t first, uint64_t second)
{
    int64_t result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second) : "rcx", "r11", "memory");
    return result;
}

__attribute__((noreturn)) static inline void lib_exit(int code)
{
    lib_call(CALL_EXIT, (uint64_t)(int64_t)code, 0);
    __builtin_unreachable();
}

static inline void lib_yield(void)
{
    lib_call(CALL_YIELD, 0, 0);
}

static inline void lib_sleep(uint64_t ticks)
{
    lib_call(CALL_SLEEP, ticks, 0);
}

/* 0, or -ETIMEDOUT. */
static inline int lib_wait(uint64_t event, uint64_t ticks)
{
    return (int)lib_call(CALL_WAIT, event, ticks);
}

static inline void lib_set(uint64_t event)
{
    lib_call(CALL_SET, event, 0);
}

/* A line on the console; unprintable characters become '.'. */
static inline void lib_write(const char *text, size_t size)
{
    lib_call(CALL_WRITE, (uint64_t)text, size);
}

/* Likewise into the trace, for the sessions that want marks. */
static inline void lib_mark(const char *text, size_t size)
{
    lib_call(CALL_MARK, (uint64_t)text, size);
}

/* Computes inside the kernel: counted as this thread's own, at CPL 0. */
static inline void lib_spin(uint64_t rounds)
{
    lib_call(CALL_SPIN, rounds, 0);
}

/* 1: the run ends, and so shall the program. */
static inline int lib_stopping(void)
{
    return (int)lib_call(CALL_STOPPING, 0, 0);
}
