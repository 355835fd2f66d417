/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

extern uint32_t kx2apic_mode; /* option x2apic=: enum arch_x2apic */
