/* SPDX-License-Identifier: MIT */
/* Writes the log, in the kernel's own format (docs/reference/format.md), with the kernel's own trace session. */
#pragma once

#include "tools/grab/base/clock.h"
#include "tools/grab/base/kernel.h"
#include "tools/grab/base/machine.h"
#include "tools/grab/base/maps.h"
#include "tools/grab/base/rings.h"
#include "tools/grab/base/store.h"

enum grab_full { GRAB_FULL_AUTO, GRAB_FULL_ALWAYS, GRAB_FULL_NEVER }; /* 0524H: auto: if records have no time */

struct grab_log {
    struct grab_store *store;
    const struct grab_clock *clock;
    const struct grab_kernel *kernel;
    const struct grab_rings *rings;
    struct grab_maps *maps;
    const struct grab_source *source;
    const char *workload; /* the command, in one line */
    enum grab_full full;
    unsigned cpus;
};

struct grab_written { /* what came of it */
    uint64_t records, branches, switches, lost_switches, lost_bytes;
    uint64_t lost_events;        /* as in struct grab_cpu */
    uint64_t drains, bts_drains; /* that brought any */
    unsigned format;
    bool nothing; /* no record of PEBS or BTS came: there is no file */
};

/* 0, or errno of the file. */
int grab_log_write(const struct grab_log *log, const char *path, struct grab_written *written);
