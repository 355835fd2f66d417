/* SPDX-License-Identifier: MIT */
/* Option ds=soft: a model of a processor for each CPU, which single-stepping drives (ds/soft). */
#include "ds/soft/soft.h"

#include "arch/arch.h"
#include "kernel/memory/mem.h"
#include "kernel/recording/backend.h"
#include "kernel/soft/options.h"
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
    return ds_soft_machine(soft);
}

static void unmake(const struct ds_machine *machine)
{
    kmem_pages_free(machine->context, pages());
}

static void dump(struct trace_dump *d)
{
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.preset=%s", ksoft_options.preset);
}

static const struct kbackend soft = {.name = "soft", .make = make, .free = unmake, .dump = dump};
ROWS_ADD(kbackend, soft);
