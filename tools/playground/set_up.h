/* SPDX-License-Identifier: MIT */
#pragma once

#include "tools/playground/machine.h"

/* The whole set-up of a driver, numbered as in ds/driver/driver.c. */
void play_set_up(struct play_machine *machine);
