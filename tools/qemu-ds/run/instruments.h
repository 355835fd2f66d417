/* SPDX-License-Identifier: MIT */
/*
 * The callbacks and counts that blocks are translated with, for all vCPUs together. They grow with what any vCPU needs.
 * When nothing has counted for a second, they go back to the initial set. The next time this takes two seconds, then
 * four, up to 64. After each change QEMU translates all blocks again.
 */
#pragma once

#include "tools/qemu-ds/retire/need.h"

/* At the plugin's start. `least`: what blocks have where nothing counts. `register_callbacks`: the plugin's, which QEMU
 * forgets with its blocks where qds_instruments_flush() is false. */
void qds_instruments_begin(qemu_plugin_id_t id, const struct qds_instruments *least, void (*register_callbacks)(void));

/* The model of the vCPU is about to become `to`, which may ask for others than before. False: not now, and nothing was
 * done; `must`: all the same. On the vCPU's thread, or with all standing still. */
bool qds_instruments_change(struct qds_vcpu *v, const struct ds_model *to, bool must);

/* Whether QEMU's blocks can go and the plugin's callbacks stay, by functions that plugins are not meant to call. Else
 * qemu_plugin_reset() has to do. It frees the callbacks while no vCPU executes code, but vCPUs that halt or go on call
 * theirs then: a plugin that is reset may have none for those two. */
bool qds_instruments_flush(void);

/* QEMU keeps blocks of code that is no longer in memory: has all blocks translated anew. On the vCPU's thread. */
void qds_instruments_renew(const struct qds_vcpu *v);

/* The vCPU takes an interrupt: now and then a good moment to see whether nothing counts any more. */
void qds_instruments_relax(const struct qds_vcpu *v);

/* What new blocks get. */
const struct qds_instruments *qds_instruments_planted(void);
/* Whether blocks add anything to anything: for counters of any vCPU's, or for truth=. */
bool qds_instruments_counting(void);

/* How often blocks were translated anew, and whether they count no more than the least. For the end. */
unsigned qds_instruments_changes(void);
bool qds_instruments_idle(void);
