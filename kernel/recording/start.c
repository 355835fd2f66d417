/* SPDX-License-Identifier: MIT */
#include "kernel/recording/start.h"

#include "kernel/cpu.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

/* If records have no TSC, only PebsIndex tells which thread they belong to: then each switch needs its own PebsIndex,
 * and only 0524H has one. */
void krecording_add_switches(struct perfinfo_groupmask *masks)
{
    bool compact = true;
    for (uint32_t i = 0; kds->pebs && i < kcpu_count; i++)
        compact &= ds_pebs_has_tsc(kds->caps[i].format);
    trace_group_add_switches(masks, compact);
}

__attribute__((weak)) int krecording_make_sessions(char *error, size_t error_size)
{
    struct ksession_params params = {
        .number = 1,
        .clock = TRACE_CLOCK_QPC,
        .live = kopt.live,
        .buffer_kib = kopt.trace_buffer_kib,
        .buffers = kopt.trace_buffers,
    };
    krecording_add_switches(&params.masks);
    return ksession_create(&params, error, error_size);
}

int krecording_init(char *error, size_t error_size)
{
    int e = kds_init(error, error_size);
    e = e ? e : ksession_init(error, error_size);
    return e ? e : krecording_make_sessions(error, error_size);
}

/* ---- start and stop: on every CPU, interrupts off ---------------------------------------------------------------- */

/* The first CPU whose PEBS, or what is beside it, did not start. */
static struct failure {
    int error;
    struct ds_refusal refusal;
    uint32_t cpu;
} failure, beside_failure;

static void note(struct failure *f, int error, const struct ds_refusal *refusal)
{
    int none = 0;
    if (error && __atomic_compare_exchange_n(&f->error, &none, error, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        f->refusal = *refusal;
        f->cpu = kcpu_this()->arch.index;
    }
}

/* PEBS and what is beside it begin on this CPU, each by itself. True: PEBS did not, so that its switches carry no
 * PebsIndex. */
static bool start_cpu(void)
{
    struct kcpu *cpu = kcpu_this();
    struct ds_refusal refusal;
    if (!cpu->ds)
        return false;
    const int pebs = ds_start(cpu->ds, &refusal);
    note(&failure, pebs, &refusal);
    if (kds->beside)
        note(&beside_failure, kds->beside->start(cpu->ds, &refusal), &refusal);
    if (!pebs || !cpu->pebs_stamp)
        return false;
    cpu->pebs_stamp = NULL;
    return true;
}

static void stop_cpu(void *unused)
{
    (void)unused;
    struct kcpu *cpu = kcpu_this();
    if (cpu->ds)
        ds_stop(cpu->ds);
}

int krecording_start(char *error, size_t error_size)
{
    for (uint32_t i = 0; i < kcpu_count; i++)
        kcpu_table[i]->pebs_stamp = kds_samples(i) ? kcpu_table[i]->pebs_index : NULL;
    ksession_start_all(start_cpu);
    if (beside_failure.error)
        kds_refused(false, &beside_failure.refusal, beside_failure.cpu);
    if (!failure.error)
        return 0;
    kds_refused(true, &failure.refusal, failure.cpu);
    if (kds->beside && !beside_failure.error)
        return 0; /* each by itself: that is recorded all the same */
    snprintf(error, error_size, "%s", kds->pebs_refusal);
    ksession_stop_all(stop_cpu);
    return failure.error;
}

void krecording_stop(void)
{
    ksession_stop_all(stop_cpu);
}
