/* SPDX-License-Identifier: MIT */
/* The numbers of some keys, in words. */
#pragma once

#include "tools/cairn/log/log.h"

/* The value of `key` as info shows it, perhaps in `out`. */
struct cairn_slice cairn_info_values_text(char out[160], const struct cairn_key *key);
