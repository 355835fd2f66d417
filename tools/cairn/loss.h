/* SPDX-License-Identifier: MIT */
/* What a run has lost: all of it is counted, but only who is told sees it. */
#pragma once

#include "tools/cairn/log.h"

/* Some lines for each kind of thing that was lost or overwritten: how much, of how much, and which option keeps more.
 * Nothing where nothing was. The first line of each begins with `label`, the others with `indent` blanks. */
void cairn_print_losses(const struct cairn_log *log, const char *label, unsigned indent);
