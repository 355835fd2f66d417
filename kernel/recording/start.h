/* SPDX-License-Identifier: MIT */
/* Starts and stops the recording of a run: its Debug Store (kernel/recording/ds.h) and its sessions. */
#pragma once

#include <stddef.h>

struct perfinfo_groupmask;

/* Detection on every CPU, choice of the backend, sessions, memory. All CPUs run; nothing is recorded yet. 0, or
 * negative with one line in `error`: what is missing and what to do. Thread context. */
int krecording_init(char *error, size_t error_size);
/* Starts recording and counting on every CPU. 0, or negative with one line in `error`: then nothing runs. If only PEBS
 * or what is beside it starts, that runs, and the refusal of the other says why. Thread context. */
int krecording_start(char *error, size_t error_size);
/* Drains and stops every CPU. Thread context. */
void krecording_stop(void);

/* Adds the switch events that this processor's records need: compact or full ones. */
void krecording_add_switches(struct perfinfo_groupmask *masks);
/* Makes the sessions. Weak: by default there is one, of switches. 0, or negative with one line in `error`. */
int krecording_make_sessions(char *error, size_t error_size);
