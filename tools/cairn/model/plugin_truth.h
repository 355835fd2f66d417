/* SPDX-License-Identifier: MIT */
/*
 * What qemu-ds says it did (truth=FILE, docs/reference/qemu-ds.md): the processor's own account, if QEMU
 * is the processor.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cairn/log/log.h"
#include "tools/qemu-ds/truth_format.h"

struct cairn_plugin_record { /* a PEBS record */
    uint64_t address, counters, ip, next, flags, tsc;
    size_t first;   /* of cairn_plugin.words */
    uint32_t words; /* 0: dropped, the buffer was full */
};

struct cairn_plugin_branch { /* a BTS record that was stored */
    uint64_t from, to, tsc;  /* tsc: 0: unknown */
};

struct cairn_plugin {
    struct cairn_plugin_cpu {
        struct {
            struct cairn_plugin_record *items;
            size_t count, room;
        } records; /* in the order of the file */
        struct {
            struct cairn_plugin_branch *items;
            size_t count, room;
        } branches;
        uint64_t instructions;             /* of its last line */
        uint64_t totals[QDS_TRUTH_TOTALS]; /* by enum qds_truth_total */
        bool whole;                        /* so the file itself says */
    } cpu[MAX_CPUS];                       /* by vCPU */
    struct {
        uint64_t *items;
        size_t count, room;
    } words; /* of all records */
};

#define CAIRN_PLUGIN_REFUSAL 120u
/* Reads all of such a file. 0; -EINVAL: it is none, or not whole: `why` says what is wrong, and where. In both cases
 * there is something to free. */
int cairn_plugin_read(struct cairn_plugin *plugin, const char *data, size_t size, char why[CAIRN_PLUGIN_REFUSAL]);
void cairn_plugin_free(struct cairn_plugin *plugin);
