/* SPDX-License-Identifier: MIT */
/*
 * The machine runs. A step is one instruction of the program or one step of the PMI handler. Every step depends only on
 * the settings and its number: to go back, the machine begins again.
 */
#pragma once

#include "tools/playground/machine.h"

/* Step 0: the processor is set up as a driver does it, the program is about to begin. */
void play_steps_begin(struct play_machine *machine, const struct play_settings *settings);
/* One step. False: the run has its last step behind it. */
bool play_steps_next(struct play_machine *machine);
