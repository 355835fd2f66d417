/* SPDX-License-Identifier: MIT */
/* Dumps whose trace and truth are packed. */
#include "kernel/packed/packed.h"

#include "kernel/dump_section.h"
#include "trace/packed/pack.h"
#include "trace/packed/packed.h"

/* A dump, and one that has begun before the run: a panic finds that at whatever it was. */
static struct {
    const struct trace_dump *dump;
    struct trace_pack pack;
} packs[2];

static void form(struct trace_dump *dump)
{
    const unsigned i = packs[0].dump && packs[0].dump != dump;
    if (!kpacked_on)
        return;
    packs[i].dump = dump;
    trace_dump_pack(dump, &packs[i].pack);
    trace_dump_print(dump, CAIRN_STREAM_HEADER, "dump.pack=%u", CAIRN_PACK_VERSION);
}
KDUMP_SECTION(KDUMP_PACKING, KDUMP_FORM, form);
