/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

extern uint32_t knmi_panics; /* option nmi=: enum knmi_option */
enum knmi_option { KNMI_IGNORE, KNMI_PANIC };
