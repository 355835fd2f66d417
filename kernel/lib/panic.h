/* SPDX-License-Identifier: MIT */
/* The end of a run that went wrong: other CPUs stopped, registers, symbolised backtrace, and the trace all the same. */
#pragma once

#include <stdarg.h>

#include <stddef.h>
#include <stdint.h>

struct arch_trap_frame;

/* For broken invariants only. Any context. */
_Noreturn void kpanic(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Called by arch/panic.asm alone. */
_Noreturn void kpanic_at(struct arch_trap_frame *caller, const char *format, va_list args);

/* What an exception says, one line. `cr2`: CR2 as it was then. */
void kfault_describe(const struct arch_trap_frame *frame, uint64_t cr2, char *line, size_t size);

/* Between the two another CPU's panic does not stop this one: its NMI waits for the release. Interrupts off; short; not
 * nested. */
void kpanic_hold(void);
void kpanic_release(void);

#define KASSERT(condition)                                                                                             \
    do {                                                                                                               \
        if (__builtin_expect(!(condition), 0))                                                                         \
            kpanic("%s:%d: assertion failed: %s", __FILE__, __LINE__, #condition);                                     \
    } while (0)
