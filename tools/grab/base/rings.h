/* SPDX-License-Identifier: MIT */
/* Loads the BPF programs, starts and stops them on each CPU, and takes events out of the rings. */
#pragma once

#include <stdint.h>

#include "tools/grab/base/kernel.h"
#include "tools/grab/base/store.h"

struct grab_rings; /* private */

/* 0, or GRAB_REFUSED: it has said why. `ring_bytes`: of the ring of drains of each CPU, a power of 2. */
int grab_rings_open(struct grab_rings **rings, const struct grab_kernel *kernel, struct grab_store *store,
                    uint32_t ring_bytes);
/* What the counters count is to be told, too; before grab_rings_start. 0, or GRAB_REFUSED: it has said why. `needed`:
 * it is refused, too, where the kernel cannot tell. */
int grab_rings_watch(struct grab_rings *rings, const struct grab_kernel *kernel, bool needed);
/* Every CPU that is online records from here on, and its Debug Store, if Linux has set it up, has been taken. 0, or
 * GRAB_REFUSED: it has said why. */
int grab_rings_start(struct grab_rings *rings);
/* Takes what there is. */
void grab_rings_take(struct grab_rings *rings);
/* None records any more, and everything has been taken. */
void grab_rings_stop(struct grab_rings *rings);
/* As grab_machine_cpus() was: those with rings are 0 to one less. */
unsigned grab_rings_cpus(const struct grab_rings *rings);
/* The counts of a CPU. */
const struct grab_cpu *grab_rings_cpu(const struct grab_rings *rings, unsigned cpu);
/* How often the kernel could not run the hook of the drains, because another kprobe or BPF program ran; of switches
 * likewise. UINT64_MAX: this kernel does not count it. */
void grab_rings_skipped(const struct grab_rings *rings, uint64_t *drains, uint64_t *switches);
/* How often Linux throttled an event with PEBS: stopped it until the next tick. UINT64_MAX: unknown. */
uint64_t grab_rings_throttled(const struct grab_rings *rings);
/* Whether no hook was skipped, for certain. */
bool grab_rings_complete(const struct grab_rings *rings);
/* Says so, if it happened or may have, and which CPUs came online too late. */
void grab_rings_tell_skipped(const struct grab_rings *rings);
void grab_rings_close(struct grab_rings *rings);
