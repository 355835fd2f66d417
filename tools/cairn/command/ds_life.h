/* SPDX-License-Identifier: MIT */
/* `cairn ds --life`. */
#pragma once

#include "tools/cairn/model/timeline.h"

/* How record `n` of `records`, those of one epoch by address, came to be: what the model's log has, what the trace has,
 * and of the rest that it is unseen or missing. */
void cairn_show_life(const struct cairn_log *log, const struct cairn_epoch *epoch, const struct cairn_item *records,
                     size_t n);
