/* SPDX-License-Identifier: MIT */
/* The plugin's options: -plugin build/qemu-ds.so,preset=icelake,exact=flags,truth=FILE,instructions=off,stats=on,
 * ready=on,policy.NAME=VALUE,efficient=1,kvm=on,refuse=1,memory=model,memory.l1=32K/8/4,cpi=1,ref=cycles */
#pragma once

#include "tools/qemu-ds/modelled/memory_options.h"
#include "tools/qemu-ds/run/refused.h"

struct qds_options {
    const struct ds_model_preset *preset; /* icelake unless told otherwise; with kvm=on it is `guest` */
    bool kvm;                             /* as Linux' KVM would show it */
    struct ds_model_preset guest;         /* then: what is left of it */
    struct ds_model_policy policy;
    unsigned efficient;            /* vCPUs from this on are efficient cores; UINT_MAX: none */
    struct ds_model_preset little; /* then: what they are */
    bool memory;                   /* model a memory system */
    bool reference;                /* count reference cycles by the TSC; as core cycles where the host has none */
    struct ds_model_preset hosted; /* the preset with these two: `preset`, or what kvm=on makes of it */
    struct qds_memory_config memory_config;
    unsigned cpi;      /* units of an instruction */
    bool exact_flags;  /* refuse to run where RFLAGS in records would be unknown */
    bool stats;        /* a line of totals at the end */
    bool ready;        /* blocks count what perf asks for most, before it does */
    const char *truth; /* NULL: none; points into `arguments` */
    bool instructions; /* its lines have their number, which costs time where no counter counts */
    struct qds_refused refused;
};

/* Arguments are QEMU's, "name=value". 0, or -EINVAL with one line in `why` that says what is wrong. */
int qds_options_parse(struct qds_options *options, int count, const char *const *arguments, char *why, size_t size);
