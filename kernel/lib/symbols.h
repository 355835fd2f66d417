/* SPDX-License-Identifier: MIT */
/* Names of addresses, for those who print one. */
#pragma once

#include <stdint.h>

/* The function or variable that `address` is in; *offset: how far from its beginning. NULL: none, or this kernel is
 * linked without kernel/symbols. Any context. */
const char *ksymbols_name(uint64_t address, uint64_t *offset);
