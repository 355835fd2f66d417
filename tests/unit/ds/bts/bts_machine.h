/* SPDX-License-Identifier: MIT */
/*
 * Branch tracing for its tests (test_bts*.c): the driver on a machine whose registers are the model's, so that what
 * it programs also records. What it hands over is kept.
 */
#pragma once

#include "ds/bts/bts.h"
#include "tests/unit/support/model_machine.h"

extern struct ds_model *const model;
extern struct ds_machine machine; /* since bts_prepare */
extern struct ds_cpu *ds;
extern struct ds_bts bts;
extern struct ds_caps caps;
extern uint64_t area[512];
extern struct ds_bts_record *buffer;
extern const struct ds_hooks hooks;

/* ---- for bts_prepare --------------------------------------------------------------------------------------------- */

extern uint32_t throttle; /* PMIs within a tick */

/* ---- what was handed over since ---------------------------------------------------------------------------------- */

extern unsigned pebs_drains, bts_drains;
extern struct ds_bts_drain last;
extern uint64_t taken[4096]; /* branch numbers, in the order they were handed over */
extern unsigned count;
extern bool panic_in_drain; /* the next time */

/* ---- what tests do ----------------------------------------------------------------------------------------------- */

/* A machine of `preset` where everything is to be set up. `events`: of PEBS, NULL none. */
void bts_prepare(const char *preset, const struct ds_model_policy *policy, bool stepped, const char *events);
/* Its buffer, empty, for all rings. */
void bts_buffer(enum ds_bts_mode mode, uint32_t records);
/* Everything is up, and runs: PEBS as well. */
void bts_begin(const struct ds_model_policy *policy, bool stepped, enum ds_bts_mode mode, uint32_t records);
/* Branch number `i`. */
void bts_branch(uint64_t i);
/* The interrupt that is due, if one is. */
void bts_interrupt(void);
