/* SPDX-License-Identifier: MIT */
/* --why: whether each event was sampled by PEBS, how Linux read its records, and what to change. */
#pragma once

#include <stdio.h>

#include "tools/grab/base/store.h"

struct grab_known {     /* of the recording */
    uint64_t untold;    /* times that the ring was full for an event that came to a counter */
    uint64_t throttled; /* times that Linux throttled an event with PEBS; UINT64_MAX: unknown */
    bool certain;       /* the kernel is known to have skipped no hook */
};

/* `format`: of PEBS. */
void grab_why(FILE *to, const struct grab_store *store, unsigned format, const struct grab_known *known);
