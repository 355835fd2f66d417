/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

extern uint32_t kin_use_force; /* option ds.force */
