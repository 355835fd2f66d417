/* SPDX-License-Identifier: MIT */
/* Events that guests count and the model does not know: they read 0, and nothing else says why. */
#pragma once

#include "ds/model/model.h"

/* On a vCPU's thread: its model has changed. Keeps which of its counters that are on count nothing. */
void qds_uncounted_look(const struct ds_model *model);

/* At the end: one line to stderr that names them, or nothing. */
void qds_uncounted_print(void);
