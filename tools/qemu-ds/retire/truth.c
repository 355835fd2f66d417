/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/retire/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "ds/pebs23_layout.h"
#include "tools/qemu-ds/truth_format.h"
#include "tools/qemu-ds/vcpu/flags.h"

/* A record of architectural PEBS may come in fragments, one for each group. */
#define WORDS_MAX ((DS_ARCH_RECORD_MAX + 8 * sizeof(struct ds_arch_header)) / 8)
_Static_assert(DS_PEBS_RECORD_MAX / 8 <= WORDS_MAX, "the largest record");

struct line {
    char text[64 + 17 * (128 + WORDS_MAX)];
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static bool counts;
static struct totals {
    bool seen;
    uint64_t of[QDS_TRUTH_TOTALS], instructions;
} totals[QDS_VCPUS];

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(l->text + l->size, sizeof l->text - l->size, format, args);
    va_end(args);
    if (n > 0)
        l->size += (size_t)n;
}

/* A line's beginning, with as many instructions as have retired. */
static void begin(struct line *l, const struct qds_vcpu *v, uint64_t instructions, const char *what)
{
    l->size = 0;
    add(l, "%u %" PRIu64 " %s", v->index, counts ? instructions : 0, what);
}

static void end(struct line *l, const struct qds_vcpu *v, unsigned total)
{
    add(l, "\n");
    pthread_mutex_lock(&lock);
    if (file) {
        totals[v->index].seen = true;
        totals[v->index].of[total]++;
        totals[v->index].instructions = counts ? v->counting.instructions : 0;
        fwrite(l->text, 1, l->size, file);
    }
    pthread_mutex_unlock(&lock);
}

bool qds_truth_open(const char *name, const char *preset, int vcpus, bool counted)
{
    counts = counted;
    file = fopen(name, "w");
    return file && fprintf(file, "qemu-ds truth %d preset %s vcpus %d\n", QDS_TRUTH_VERSION, preset, vcpus) > 0;
}

bool qds_truth_close(void)
{
    bool good = true;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; file && i < QDS_VCPUS; i++) {
        if (!totals[i].seen)
            continue;
        fprintf(file, "%u %" PRIu64 " total", i, totals[i].instructions);
        for (unsigned t = 0; t < QDS_TRUTH_TOTALS; t++)
            fprintf(file, " %s %" PRIu64, qds_truth_totals[t], totals[i].of[t]);
        fprintf(file, "\n");
    }
    if (file)
        good = fprintf(file, "end\n") > 0 && !ferror(file) && fclose(file) == 0;
    file = NULL;
    pthread_mutex_unlock(&lock);
    return good;
}

bool qds_truth_counts(void)
{
    return file && counts;
}

static uint64_t word_at(const struct qds_vcpu *v, uint64_t address)
{
    const struct ds_model_host *host = &v->model.host;
    uint64_t word = 0;
    if (v->model.preset->pebs23)
        host->read_physical(host->context, address, &word, sizeof word);
    else
        host->read(host->context, address, &word, sizeof word);
    return word;
}

void qds_truth_record(struct qds_vcpu *v, const struct ds_model_record *r)
{
    struct line l;
    if (!file)
        return;
    begin(&l, v, v->counting.instructions, r->stored ? "record" : "dropped");
    add(&l, " at %" PRIx64 " counters %" PRIx64 " ip %" PRIx64 " next %" PRIx64 " flags %" PRIx64 " tsc %" PRIx64,
        r->address, r->counters, r->registers->eventing_ip, r->registers->rip, r->registers->rflags, r->registers->tsc);
    if (r->stored)
        add(&l, " words");
    for (uint32_t i = 0; r->stored && i < r->size; i += 8)
        add(&l, " %" PRIx64, word_at(v, r->address + i));
    end(&l, v, r->stored ? QDS_TRUTH_RECORDS : QDS_TRUTH_DROPPED);
}

void qds_truth_branch(struct qds_vcpu *v, const struct ds_model_branch *branch, bool stored)
{
    struct line l;
    if (!file)
        return;
    begin(&l, v, v->counting.instructions, stored ? "branch" : "branch-dropped");
    add(&l, " from %" PRIx64 " to %" PRIx64 " tsc %" PRIx64, branch->from, branch->to, qds_tsc(v));
    end(&l, v, stored ? QDS_TRUTH_BRANCHES : QDS_TRUTH_BRANCHES_DROPPED);
}

void qds_truth_pmi(struct qds_vcpu *v, uint32_t lvtpc)
{
    struct line l;
    if (!file)
        return;
    begin(&l, v, v->counting.instructions, "pmi");
    add(&l, " lvtpc %" PRIx32 " next %" PRIx64, lvtpc, v->retired_rip);
    end(&l, v, QDS_TRUTH_PMIS);
}

void qds_truth_wrmsr(struct qds_vcpu *v, uint32_t msr, uint64_t value, bool fault, bool uncounted)
{
    struct line l;
    if (!file)
        return;
    begin(&l, v, v->counting.instructions + uncounted - fault, fault ? "wrmsr-fault" : "wrmsr");
    add(&l, " msr %" PRIx32 " value %" PRIx64, msr, value);
    end(&l, v, QDS_TRUTH_WRMSRS);
}

void qds_truth_lost(struct qds_vcpu *v)
{
    struct line l;
    if (!file)
        return;
    begin(&l, v, v->counting.instructions, "lost");
    add(&l, " at %" PRIx64, v->model.fault_address);
    end(&l, v, QDS_TRUTH_LOST);
}
