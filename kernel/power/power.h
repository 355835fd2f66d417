/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

extern uint32_t kpower_hold; /* option end.hold= */
/* What somebody in front of the machine is to do at its restart, for the row that counts down to it; "": nothing. */
extern const char *kpower_then;
