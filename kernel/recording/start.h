/* SPDX-License-Identifier: MIT */
/* Starts and stops the recording of a run: its Debug Store (kernel/recording/ds.h) and the sessions of its
 * options. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct ksession_params;

/* Detection on every CPU, choice of the backend, sessions, memory. All CPUs run; nothing is recorded yet. 0, or
 * negative with one line in `error`: what is missing and what to do. Thread context. */
int krecording_init(char *error, size_t error_size);
/* Starts recording and counting on every CPU. 0, or negative with one line in `error`: then nothing runs. If only PEBS
 * or what is beside it starts, that runs, and the refusal of the other says why. Thread context. */
int krecording_start(char *error, size_t error_size);
/* Drains and stops every CPU. Thread context. */
void krecording_stop(void);

/* A session of the options is about to be made. Weak: another part of the kernel may define it. The switch events that
 * 'auto' stands for are added after it, unless it sets *automatic to false. 0, or negative with one line in `error`. */
int krecording_prepare(struct ksession_params *params, bool *automatic, char *error, size_t error_size);
