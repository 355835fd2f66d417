/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

extern uint32_t kpower_hold; /* option end.hold= */
