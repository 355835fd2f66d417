/* SPDX-License-Identifier: MIT */
/* What CPUs record beside PEBS (ds/driver/beside.h), or without it, if kopt.beside is set. A CPU on which it does
 * not start goes on without it (kds->beside_refusal). PEBS and it start independently. A kernel may be linked without
 * it: then &kbeside is NULL. */
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
