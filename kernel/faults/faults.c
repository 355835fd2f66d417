/* SPDX-License-Identifier: MIT */
#include "kernel/faults/faults.h"

#include "kernel/lib/panic.h"
#include "kernel/phase.h"

static int overflow_stack(int depth)
{
    volatile char page[1024];
    page[0] = (char)depth;
    return depth < 0 ? 0 : overflow_stack(depth + 1) + page[0];
}

static void break_on_purpose(const struct boot_info *none)
{
    (void)none;
    static void *volatile null; /* volatile: the compiler must not see what it is */
    switch (kfaults_way) {
    case KFAULTS_NOW:
        kpanic("asked for with panic=now");
    case KFAULTS_NULL:
        *(volatile int *)null = 0;
        break;
    case KFAULTS_STACK:
        overflow_stack(0);
        break;
    case KFAULTS_DOUBLE:
        /* A push where no stack is: the page fault finds none either. */
        __asm__ volatile("xorl %%esp, %%esp\n\tpushq %%rax" ::: "memory");
    }
}
KPHASE(KPHASE_HALF, break_on_purpose);
