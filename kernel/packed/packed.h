/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

extern uint32_t kpacked_on; /* option dump.pack= */
