/* SPDX-License-Identifier: MIT */
/* What a thread in ring 3 has beside struct kthread: of kernel/user/user.h, for those who list threads. */
#pragma once

#include "arch/fpu.h"
#include "kernel/thread.h"

#define KUSER_IMAGE       UINT64_C(0x400000) /* the programs, as in the kernel's image from kernel_user_start on */
#define KUSER_STACK_PAGES 4u
#define KUSER_STACK_TOP   UINT64_C(0x7FFFFFFFE000) /* a page lies empty below and above the stack */

struct kuser {
    struct arch_fpu fpu; /* while it does not run */
    uint64_t space;      /* arch_space_create */
    uint32_t process_id; /* from the same numbers as thread IDs; kthread_params.process_id */
    void *stack;         /* KUSER_STACK_PAGES pages, kernel's address */
    uint64_t entry, argument[2];
    struct kevent *event; /* what CALL_WAIT and CALL_SET name by its number */
    uint32_t events;
    bool catching; /* its next fault does not end it: it continues at caught_at, in ring 3 */
    uint64_t caught_at;
    bool ended; /* kuser_end: leaves ring 3 for good at the next interrupt or call */
};

/* The address at which a program sees this part of the kernel's image. */
static inline uint64_t kuser_address(const void *in_image)
{
    extern const uint8_t kernel_user_start[];
    return KUSER_IMAGE + ((uint64_t)in_image - (uint64_t)kernel_user_start);
}
