/* SPDX-License-Identifier: MIT */
/* Branch tracing (ds/bts) on every CPU, beside PEBS or without it: what a drain finds becomes events CA02H. */
#pragma once

#include <stdint.h>

#include "ds/bts/bts.h"

struct kbts_options { /* and kopt.beside: enum ds_bts_mode */
    uint32_t rings;   /* enum ds_bts_rings */
    uint32_t records;
};
extern struct kbts_options kbts_options;

/* Hook bts_drained (ds/ds.h): writes the epoch and its records. */
void kbts_drained(void *context, uint32_t index, const struct ds_bts_drain *drain);
