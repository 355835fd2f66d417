/* SPDX-License-Identifier: MIT */
/* What a part of the kernel has found out, in short, for the card at the end of a run (kernel/card). */
#pragma once

#include "kernel/lib/rows.h"

struct kcard_row {
    /* Calls `put` for each fact, in the order of the card. The name has no blank and no '='. Any context, a
     * panic, too. */
    void (*tell)(void (*put)(const char *name, const char *value));
};
ROWS(kcard, const struct kcard_row);
