/* SPDX-License-Identifier: MIT */
/*
 * Included before everything that Frama-C reads: what it does not know of gcc, and how loops are counted.
 *
 * With PROVE_TERMINATION each iteration of a loop in C of this repository adds to prove_steps. Eva follows each
 * iteration by itself and so knows the sum. Where it cannot, it joins iterations; then the sum has no bound, and the
 * addition is an alarm, a signed overflow. Without that alarm all loops end.
 */
#pragma once

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <__fc_builtin.h>

/* With the types that they are called with here. */
static inline bool prove_add_overflow(uint64_t a, uint64_t b, uint64_t *sum)
{
    *sum = a + b;
    return *sum < a;
}
static inline bool prove_mul_overflow(uint64_t a, uint64_t b, uint64_t *product)
{
    *product = a * b;
    return a && *product / a != b;
}
#define __builtin_add_overflow prove_add_overflow
#define __builtin_mul_overflow prove_mul_overflow
#define __builtin_memcpy       memcpy
#define __builtin_memset       memset

/* Of no use but to read a header: no proof is about its one function with such numbers. */
#define __int128 int64_t

/* Frama-C knows one thread. */
#define __atomic_store_n(to, value, order) (*(to) = (value))
#define __atomic_load_n(from, order)       (*(from))

/* Any bytes: all inputs at once. */
#define PROVE_ANY(object) Frama_C_make_unknown((char *)&(object), sizeof(object))

/* The last `size` bytes of an array of bytes: one byte more is beyond it. */
#define PROVE_LAST(array, size) ((array) + sizeof(array) - (size))

/* The end of a harness was reached: without it there are no inputs, and nothing is proved. */
#define PROVE_END() Frama_C_show_each_end()

#ifdef PROVE_TERMINATION
static int prove_steps;
/* clang-format off */
#define for(...)   for (__VA_ARGS__) if (++prove_steps < 0) ; else
#define while(...) while (++prove_steps, (__VA_ARGS__))
/* clang-format on */
#endif
