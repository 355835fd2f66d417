/* SPDX-License-Identifier: MIT */
#pragma once

#include "tools/playground/machine.h"

/* The PMI is taken: the handler's first step. Then one step more of it, until in_handler is 0 again. */
void play_handler_enter(struct play_machine *machine);
void play_handler_step(struct play_machine *machine);
