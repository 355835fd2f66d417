/* SPDX-License-Identifier: MIT */
/* Can the processor of ds.preset= do what the options ask? The kernel's own detection and plan answer this, on its
 * model. */
#include "tools/options/processor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/bts/bts.h"
#include "ds/model/model.h"
#include "kernel/lib/errno.h"
#include "kernel/options/row.h"

static void model_cpuid(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    ds_model_cpuid(context, leaf, subleaf, out);
}

static int model_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    return ds_model_rdmsr(context, msr, value) ? -EFAULT : 0;
}

static int model_wrmsr(void *context, uint32_t msr, uint64_t value)
{
    return ds_model_wrmsr(context, msr, value) ? -EFAULT : 0;
}

/* The word of an option that a kernel may be built without: its position, 0 then. */
static uint32_t word_of(const char *name)
{
    size_t i;
    const struct kopt_option *option = kopt_row_find(name, strlen(name), &i);
    return option ? *(const uint32_t *)option->field : 0;
}

int options_check_processor(char *error, size_t size)
{
    size_t i;
    const struct kopt_option *option = kopt_row_find("ds.preset", strlen("ds.preset"), &i);
    if (!option) /* a kernel without backend soft */
        return 0;
    const char *preset = option->field;
    struct ds_model model;
    const struct ds_model_host nobody = {0}; /* nothing retires */
    const struct ds_machine machine = {
        .backend = "soft", .cpuid = model_cpuid, .rdmsr = model_rdmsr, .wrmsr = model_wrmsr, .context = &model};
    const struct ds_hooks hooks = {0};
    struct ds_caps caps;
    ds_model_init(&model, ds_model_preset(preset), NULL, &nobody); /* no policy decides what it has */
    ds_detect(&machine, &caps);
    const char *why = kopt.beside ? ds_bts_refusal(&caps, (enum ds_bts_rings)word_of("bts.rings")) : NULL;
    if (why) {
        snprintf(error, size, "option 'bts': ds.preset=%s: %s", preset, why);
        return -EINVAL;
    }
    struct ds_cpu *ds = malloc(ds_cpu_bytes());
    if (!ds) {
        snprintf(error, size, "no memory");
        return -ENOMEM;
    }
    /* Planning touches neither area nor buffer. */
    int e = ds_cpu_init(ds, 0, &machine, &caps, &kopt_ds_config, &hooks, NULL, NULL, error, size);
    e = e ? e : kopt_check_plan(ds, error, size); /* not started: it is asked, and that is all */
    free(ds);
    return e;
}
