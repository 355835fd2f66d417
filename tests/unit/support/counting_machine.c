/* SPDX-License-Identifier: MIT */
#include "tests/unit/support/counting_machine.h"

#include <string.h>

#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/model_machine.h"

struct counting_machine *counting;

static void raise_pmi(void *context, uint32_t lvtpc)
{
    (void)context, (void)lvtpc;
    fail_msg("a PMI");
}

static void cpuid(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    (void)context;
    ds_model_cpuid(&counting->model, leaf, subleaf, out);
}

static int rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    (void)context;
    return msr == counting->forbidden || ds_model_rdmsr(&counting->model, msr, value) ? -EFAULT : 0;
}

/* What has run in the kernel since counters went on. */
static void count(struct counting_machine *m)
{
    const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_INSTRUCTION)};
    const uint64_t pebs = m->model.pebs;
    uint64_t select[DS_MODEL_GP_MAX];
    memcpy(select, m->model.perfevtsel, sizeof select);
    for (unsigned i = 0; i < DS_MODEL_GP_MAX; i++) {
        const enum ds_tried tried = (select[i] & 0xFF) == 0xC0 ? m->instructions : DS_TRIED_RECORDS;
        if (tried == DS_TRIED_STILL)
            ds_model_wrmsr(&m->model, IA32_PERFEVTSEL0 + i, 0);
        else if (tried == DS_TRIED_NO_RECORD)
            m->model.pebs &= ~DS_BIT(i);
    }
    for (unsigned i = 0; i < 700; i++)
        ds_model_retire(&m->model, &retired);
    for (unsigned i = 0; i < DS_MODEL_GP_MAX; i++)
        if (m->model.perfevtsel[i] != select[i])
            ds_model_wrmsr(&m->model, IA32_PERFEVTSEL0 + i, select[i]);
    m->model.pebs = pebs;
}

static int wrmsr(void *context, uint32_t msr, uint64_t value)
{
    (void)context;
    if (msr == IA32_PERF_GLOBAL_CTRL && !value && counting->model.global_ctrl && counting->model.pebs_enable)
        count(counting);
    return msr == counting->forbidden || ds_model_wrmsr(&counting->model, msr, value) ? -EFAULT : 0;
}

static uint32_t lvtpc_read(void *context)
{
    (void)context;
    return counting->model.lvtpc;
}

static void lvtpc_write(void *context, uint32_t value)
{
    (void)context;
    ds_model_lvtpc_write(&counting->model, value);
}

const struct ds_machine counting_machine_hw = {.backend = "fake",
                                               .cpuid = cpuid,
                                               .rdmsr = rdmsr,
                                               .wrmsr = wrmsr,
                                               .lvtpc_read = lvtpc_read,
                                               .lvtpc_write = lvtpc_write};

void counting_machine_reset(struct counting_machine *m, const char *preset, uint32_t signature)
{
    const struct ds_model_host host = {.read = model_machine_read,
                                       .write = model_machine_write,
                                       .read_physical = model_machine_read,
                                       .write_physical = model_machine_write,
                                       .registers = model_machine_no_registers,
                                       .raise_pmi = raise_pmi};
    memset(m, 0, sizeof *m);
    m->preset = *ds_model_preset(preset);
    if (signature)
        m->preset.signature = signature;
    ds_model_init(&m->model, &m->preset, NULL, &host);
    counting = m;
}
