/* SPDX-License-Identifier: MIT */
/* What an instruction does with memory, by its bytes, in 64-bit mode. `certain` holds in all modes: there an
 * instruction is one that 64-bit mode has, too, or not certain. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qds_access_decoded {
    bool accesses; /* it may read or write data; false: it does not */
    bool certain;  /* whenever it retires, it has read data just where `loads`, and written just where `stores` */
    bool loads, stores;
    bool prefetch; /* PREFETCHNTA, T0, T1, T2 or W, none of which accesses memory in QEMU */
    bool locked;   /* it reads and writes in one: LOCK, or XCHG with memory */
    bool flushes;  /* it changes where pages lie: MOV to CR0, CR3 or CR4, INVLPG, INVPCID, RSM */
    int8_t page;   /* flushes only the page at the address in this register, as instructions number them; else -1 */
};

/* Whether the byte is a prefix, other than LOCK, in 64-bit mode. Elsewhere what looks like REX is an instruction of one
 * byte, and so is never part of a longer one's beginning. */
bool qds_is_prefix(uint8_t byte);

struct qds_access_decoded qds_access_decode(const uint8_t *code, size_t size);
