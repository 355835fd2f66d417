/* SPDX-License-Identifier: MIT */
#include "trace/pack.h"

#include "kernel/dump/dump.h"
#include "kernel/options/options.h"

struct trace_pack *kdump_pack(void)
{
    static struct trace_pack pack;
    return kopt.dump_pack ? &pack : NULL;
}
