/* SPDX-License-Identifier: MIT */
/* Branch Trace Store of one CPU: the driver's state and the functions that ds/driver/driver.c calls; private to ds/.
 * The public functions are in ds/ds.h. */
#pragma once

#include "ds/ds.h"

struct ds_bts {
    enum ds_bts_mode mode;
    uint32_t rings;   /* enum ds_bts_rings */
    uint32_t records; /* the buffer holds, the slack record not counted */
    struct ds_bts_record *buffer;
    uint64_t debugctl; /* what IA32_DEBUGCTL is while a session runs, without TR */
    bool started;
    uint32_t undos; /* of ds_cpu.undo, when ds_bts_start began */
    uint32_t epoch;
    volatile uint32_t handed; /* as struct ds_cpu's */
    uint64_t branches_before; /* stepping: the machine's count when this epoch began */
    struct ds_bts_counts counts;
};

/* Holds tracing, lets it go on; nothing without BTS. */
void ds_bts_hold(struct ds_cpu *ds);
void ds_bts_go_on(struct ds_cpu *ds);
/* The PMI handler's part: drains where the threshold was reached, and returns whether it was. Tracing is held. */
bool ds_bts_pmi(struct ds_cpu *ds);
/* Drains (reason STOP), then the mirror image of ds_bts_start. Tracing is held. */
void ds_bts_stop(struct ds_cpu *ds);
void ds_bts_drain_panic(struct ds_cpu *ds);
