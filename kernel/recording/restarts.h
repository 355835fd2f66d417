/* SPDX-License-Identifier: MIT */
/* Option session.restarts: a thread that stops and starts sessions 2 and up while the workload runs. */
#pragma once

#include <stdint.h>

/* Starts the thread, if the option asks for it. It spreads its restarts over the middle half of the run, counted in
 * switches from `first` (ksched_switches) on. Thread context. */
void krestart_begin(uint64_t first);
/* Waits until it has done them all, and reports. Thread context. */
void krestart_finish(void);
