/* SPDX-License-Identifier: MIT */
/*
 * The processor as the Debug Store driver sees it: CPUID, MSRs and LVTPC of the current CPU. Two real ones exist, ds/hw.c
 * (the instructions) and ds/soft.c (ds/model behind the same face), and the tests have a fake one that injects faults.
 */
#pragma once

#include <stdint.h>

struct ds_machine {
    const char *backend; /* "hw" or "soft", as it shows in every output */
    void (*cpuid)(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
    int (*rdmsr)(void *context, uint32_t msr, uint64_t *value); /* 0, or -EFAULT for #GP */
    int (*wrmsr)(void *context, uint32_t msr, uint64_t value);
    uint32_t (*lvtpc_read)(void *context);
    void (*lvtpc_write)(void *context, uint32_t value);
    void *context;
};
