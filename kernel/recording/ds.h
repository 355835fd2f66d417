/* SPDX-License-Identifier: MIT */
/* Brings up what the options ask for: the Debug Store of every CPU and the trace sessions over them. */
#pragma once

#include <stdint.h>

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/cpu.h"
#include "kernel/recording/backend.h"
#include "kernel/recording/beside.h"

struct kds {
    const char *backend;          /* "hw", "soft" or "off" */
    const struct kbackend *other; /* it is this one; NULL: the processors' own, or off */
    char reason[576];             /* one sentence: why this backend; and what the self-test has found wrong */
    struct ds_caps *hw_caps;      /* [kcpu_count]: what the processors themselves answered */
    struct ds_caps *caps;         /* [kcpu_count]: what the backend in use answered; NULL: off */
    struct ds_config ds;          /* what the CPUs sample */
    const struct ds_config *config[MAX_CPUS]; /* what each CPU does: that, or another; without events: no PEBS */
    bool pebs;                    /* PEBS runs: with a backend, but with pebs=none or where there is no PEBS */
    char pebs_refusal[160];       /* one sentence: why PEBS did not start (on some CPU); or "" */
    const struct kbeside *beside; /* runs beside it, on every CPU that has not refused it; NULL: nothing does */
    char beside_refusal[320];     /* one sentence: why that, though asked for, does not run (on some CPU); or "" */
    size_t buffer_bytes;          /* of each PEBS buffer */
};
extern const struct kds *const kds; /* written by kds_init, kds_remark and kds_refused alone */

/* Whether PEBS runs on this CPU. */
static inline bool kds_samples(uint32_t cpu)
{
    return kds->pebs && kds->config[cpu]->events;
}

/* PEBS runs, and what each CPU samples is known: a dump may come before. */
static inline bool kds_chosen(void)
{
    return kds->pebs && kds->config[kcpu_count - 1];
}

/* What this CPU does, or where PEBS does not run on it, what others do. */
static inline const struct ds_config *kds_planned(uint32_t cpu)
{
    return kds->config[cpu]->events ? kds->config[cpu] : &kds->ds;
}

/* The name of PEBS that runs on this CPU without the Debug Store (struct ds_caps); NULL: it is the Debug Store's, or
 * does not run. */
static inline const char *kds_instead(uint32_t cpu)
{
    return kds_samples(cpu) ? kds->caps[cpu].instead : NULL;
}

/* Detection on every CPU, choice of the backend, memory. All CPUs run; nothing is recorded yet. 0, or negative with one
 * line in `error`: what is missing and what to do. Thread context. */
int kds_init(char *error, size_t error_size);
/* A machine like the session's on the CPUs: the processor itself, or a new one that counts by single-stepping (see
 * struct kbackend). NULL: no memory. kds_machine_free also takes NULL. */
const struct ds_machine *kds_machine_make(bool policies);
void kds_machine_free(const struct ds_machine *machine);
/* Pages for a PEBS buffer of `bytes` bytes, ds_buffer_bytes or the largest of several, as this CPU's driver needs them;
 * NULL: there is no memory. To be freed with kmem_pages_free. */
void *kds_buffer_alloc(uint32_t cpu, size_t bytes);
/* From here on `to` has the registers of this CPU, or whoever calls (NULL); with the session's driver, that has them
 * again. In the gate, or interrupts off; counting is paused. */
void kds_lend(struct ds_cpu *to);
/* Called after this CPU's processor was detected: another part of the kernel may remove something from `caps`. Weak. */
void kds_detected(struct ds_caps *caps);
/* Sets the limit of PMIs within a tick, once it is known whose Debug Store it will be. Weak. */
void kds_limit(struct ds_config *config);
/* More to say in kds->reason. */
void kds_remark(const char *text);
/* PEBS (else what is beside it) did not start on this CPU: keeps the line that says why. */
void kds_refused(bool pebs, const struct ds_refusal *refusal, uint32_t cpu);
/* One line: which access raised #GP, and when. */
void kds_explain(const struct ds_refusal *refusal, uint32_t cpu, char *text, size_t size);
