/* SPDX-License-Identifier: MIT */
/* The end of a run that went wrong: stops the other CPUs, shows where it was, and dumps the trace all the same. */
#pragma once

#include <stdarg.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_trap_frame;

/* For broken invariants only. Any context. */
_Noreturn void kpanic(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Called by arch/panic.asm alone. */
_Noreturn void kpanic_at(struct arch_trap_frame *caller, const char *format, va_list args);

/* Weak: by default they show numbers only. Describes an exception in one line; `cr2`: the value of CR2 when it came.
 * Prints where it was; `called`: at a return address. */
void kpanic_describe(const struct arch_trap_frame *frame, uint64_t cr2, char *line, size_t size);
void kpanic_show(const struct arch_trap_frame *frame, bool called);

/* Dumps the trace up to the panic with this line. All other CPUs are stopped. Weak: by default it does nothing. */
void kpanic_dump(const char *line);

/* Whether an NMI of nobody's here is no panic. Weak (kernel/nmi): without it each is one. In the NMI. */
bool kpanic_ignores_nmi(void) __attribute__((weak));
/* Between these two calls a panic of another CPU does not stop this one: its NMI waits for the release. Interrupts off;
 * for a short time; not nested. */
void kpanic_hold(void);
void kpanic_release(void);

#define KASSERT(condition)                                                                                             \
    do {                                                                                                               \
        if (__builtin_expect(!(condition), 0))                                                                         \
            kpanic("%s:%d: assertion failed: %s", __FILE__, __LINE__, #condition);                                     \
    } while (0)
