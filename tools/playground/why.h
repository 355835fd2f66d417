/* SPDX-License-Identifier: MIT */
/* What happened in a step and why, in plain sentences. */
#pragma once

#include "tools/playground/machine.h"

#define PLAY_SENTENCES PLAY_ACTIONS
#define PLAY_SENTENCE  224u

/* One sentence or two for each action of the machine's last step. Step 0: what the set-up wrote. Returns
 * how many there are. */
uint32_t play_why(const struct play_machine *machine, char said[PLAY_SENTENCES][PLAY_SENTENCE]);
