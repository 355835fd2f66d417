/* SPDX-License-Identifier: MIT */
/* The end of a run that went wrong: other CPUs stopped, registers, symbolised backtrace, and the trace all the same. */
#pragma once

#include <stdarg.h>

struct arch_trap_frame;

/* For broken invariants only. Any context. */
_Noreturn void kpanic(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Called by arch/panic.asm alone. */
_Noreturn void kpanic_at(struct arch_trap_frame *caller, const char *format, va_list args);

#define KASSERT(condition)                                                                                           \
    do {                                                                                                             \
        if (__builtin_expect(!(condition), 0))                                                                       \
            kpanic("%s:%d: assertion failed: %s", __FILE__, __LINE__, #condition);                                   \
    } while (0)
