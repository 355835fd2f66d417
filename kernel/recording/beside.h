/* SPDX-License-Identifier: MIT */
/* What CPUs record beside PEBS (ds/driver/beside.h), or without it, where option kopt.beside asks for it. It runs on
 * every CPU, or on none; PEBS and it start each by itself. Without it, there is no such option. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ds_caps;
struct ds_cpu;
struct ds_refusal;
struct kcpu;

struct kbeside {
    const char *name;
    const char *(*refusal)(const struct ds_caps *caps); /* why such a CPU cannot do what the options say; or NULL */
    /* Memory and driver state of a CPU that has cpu->ds. 0, or negative with one line in `error`. */
    int (*prepare)(struct kcpu *cpu, char *error, size_t error_size);
    int (*start)(struct ds_cpu *ds, struct ds_refusal *refusal); /* behind ds_start, and as it */
};
extern const struct kbeside kbeside __attribute__((weak));
