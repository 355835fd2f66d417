/* SPDX-License-Identifier: MIT */
/* The end of a run that went wrong: other CPUs stopped, registers, symbolised backtrace, and the trace all the same. */
#pragma once

/* For broken invariants only. Any context. */
_Noreturn void kpanic(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define KASSERT(condition)                                                                                           \
    do {                                                                                                             \
        if (__builtin_expect(!(condition), 0))                                                                       \
            kpanic("%s:%d: assertion failed: %s", __FILE__, __LINE__, #condition);                                   \
    } while (0)
