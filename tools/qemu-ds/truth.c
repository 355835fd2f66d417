/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/truth.h"

#include <inttypes.h>
#include <stdio.h>

static FILE *file;

bool qds_truth_open(const char *name)
{
    file = fopen(name, "w");
    return file != NULL;
}

void qds_truth_close(void)
{
    if (file)
        fclose(file);
    file = NULL;
}

void qds_truth_record(struct qds_vcpu *v, const struct ds_model_record *r)
{
    if (file)
        fprintf(file, "%u record %s %" PRIx64 " %" PRIu32 " counters %" PRIx64 " ip %" PRIx64 " next %" PRIx64
                      " flags %" PRIx64 " tsc %" PRIx64 "\n",
                v->index, r->stored ? "at" : "dropped", r->address, r->size, r->counters, r->registers->eventing_ip,
                r->registers->rip, r->registers->rflags, r->registers->tsc);
}

void qds_truth_pmi(struct qds_vcpu *v, uint32_t lvtpc)
{
    if (file)
        fprintf(file, "%u pmi %" PRIx32 " next %" PRIx64 "\n", v->index, lvtpc, v->retired_rip);
}

void qds_truth_wrmsr(struct qds_vcpu *v, uint32_t msr, uint64_t value, bool fault)
{
    if (file)
        fprintf(file, "%u wrmsr %" PRIx32 " %" PRIx64 "%s\n", v->index, msr, value, fault ? " #GP" : "");
}

void qds_truth_lost(struct qds_vcpu *v)
{
    if (file)
        fprintf(file, "%u lost %" PRIx64 " not mapped\n", v->index, v->model.fault_address);
}
