/* SPDX-License-Identifier: MIT */
/* Hybrids: CPUs of one kind may sample other events than the rest, or none. Without this all sample the same. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ds_caps;
struct ds_config;

struct khybrid {
    const struct ds_config *atom; /* what efficient cores sample, where that is something else */
    /* Why the options leave such a CPU without PEBS, or NULL. */
    const char *(*left_out)(const struct ds_caps *caps);
    /* What each CPU samples, where that is not what all do. */
    void (*choose)(const struct ds_config **config);
    /* CPU `cpu` cannot do as `error` says: it samples nothing. */
    void (*give_up)(uint32_t cpu, const struct ds_config **config, char *error, size_t error_size);
    /* Once all CPUs are prepared: says which are without PEBS. 0; -EINVAL with one line in `error`: all. */
    int (*settle)(char *error, size_t error_size);
    /* Why that CPU has no PEBS, while others do. */
    const char *(*why_not)(uint32_t cpu);
};
extern const struct khybrid khybrid __attribute__((weak));
