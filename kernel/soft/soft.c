/* SPDX-License-Identifier: MIT */
/* Option ds=soft: a model of a processor for each CPU, which single-stepping drives (ds/soft). */
#include "ds/soft/soft.h"

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/memory/mem.h"
#include "kernel/recording/backend.h"
#include "kernel/soft/model_log.h"
#include "kernel/soft/options.h"
#include "kernel/tracepoint/drains.h"
#include "trace/frames.h"

static size_t pages(void)
{
    return (ds_soft_bytes() + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE;
}

static const struct ds_machine *make(bool policies)
{
    struct ds_soft *soft = kmem_pages_alloc(pages());
    if (!soft || ds_soft_init(soft, ksoft_options.preset, policies ? &ksoft_options.policy : NULL) != 0)
        return NULL; /* the option has only presets that there are */
    if (ksoft_options.log) {
        kdrain_hooks.logged = ksoft_logged;
        ds_soft_log(soft);
    }
    return ds_soft_machine(soft);
}

static void unmake(const struct ds_machine *machine)
{
    kmem_pages_free(machine->context, pages());
}

static void dump(struct trace_dump *d)
{
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.preset=%s", ksoft_options.preset);
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++)
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.policy.%s=%s|%s", ds_model_policies[i].name,
                         ds_model_policy_value(&ksoft_options.policy, &ds_model_policies[i]),
                         ds_model_policies[i].question);
}

static void dump_end(struct trace_dump *d, uint32_t cpu)
{
    if (ksoft_options.log)
        trace_dump_print(d, CAIRN_STREAM_END, "end.cpu.%u.log=%u", cpu,
                         ds_soft_logged(kcpu_table[cpu]->machine->context));
}

static const struct kbackend soft = {.name = "soft", .make = make, .free = unmake, .dump = dump, .dump_end = dump_end};
ROWS_ADD(kbackend, soft);
