/* SPDX-License-Identifier: MIT */
#include "arch/tscsync/exchange.h"

#include "arch/instructions.h"

void arch_tsc_answer(struct arch_tsc_exchange *exchange)
{
    const uint32_t asked = __atomic_load_n(&exchange->asked, __ATOMIC_ACQUIRE);
    if (asked == exchange->answered)
        return;
    exchange->theirs = arch_ordered_tsc();
    __atomic_store_n(&exchange->answered, asked, __ATOMIC_RELEASE);
}

void arch_tsc_measure(struct arch_tsc_exchange *exchange, struct arch_tsc_bounds *bounds, uint64_t cycles,
                      uint64_t limit)
{
    const uint64_t begin = arch_ordered_tsc();
    uint64_t received = begin;

    *bounds = (struct arch_tsc_bounds){.low = INT64_MIN, .high = INT64_MAX};
    while (bounds->rounds < ARCH_TSC_LEAST || (bounds->rounds < ARCH_TSC_ROUNDS && received - begin < cycles)) {
        const uint32_t number = exchange->asked + 1;
        const uint64_t sent = arch_ordered_tsc();
        __atomic_store_n(&exchange->asked, number, __ATOMIC_RELEASE);
        while (__atomic_load_n(&exchange->answered, __ATOMIC_ACQUIRE) != number) {
            if (arch_ordered_tsc() - sent >= limit)
                return;
            __asm__ volatile("pause" ::: "memory");
        }
        received = arch_ordered_tsc();
        const int64_t low = (int64_t)(exchange->theirs - received), high = (int64_t)(exchange->theirs - sent);
        bounds->low = low > bounds->low ? low : bounds->low;
        bounds->high = high < bounds->high ? high : bounds->high;
        bounds->rounds++;
    }
}
