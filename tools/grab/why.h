/* SPDX-License-Identifier: MIT */
/* --why: which counters wrote records, how Linux read them, and what to change. */
#pragma once

#include <stdio.h>

#include "tools/grab/base/store.h"

/* `format`: of PEBS. */
void grab_why(FILE *to, const struct grab_store *store, unsigned format);
