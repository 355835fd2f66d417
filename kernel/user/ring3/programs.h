/* SPDX-License-Identifier: MIT */
/* The entry points of the programs, as symbols. The kernel never calls them; it passes them to kuser_create. */
#pragma once

#include <stdint.h>

typedef void user_program(uint64_t first, uint64_t second);

user_program user_yielder;  /* seed */
user_program user_sleeper;  /* seed */
user_program user_computer; /* seed; exits with -EIO where somebody has written to its stack */
user_program user_vector;   /* seed; exits with -EIO where a register of SSE has changed by itself */
user_program user_player;   /* its event, the other one's */
