/* SPDX-License-Identifier: MIT */
/* The processors that the model can be, by number, from the oldest to the newest: all are linked with a test. */
#pragma once

#include <stdlib.h>

#include "ds/model/model.h"

#define PRESETS 11u

static inline const struct ds_model_preset *preset_at(size_t i)
{
    const struct ds_model_preset *p = ds_model_preset_after(NULL);
    while (p && i--)
        p = ds_model_preset_after(p);
    if (!p)
        abort(); /* rows are missing */
    return p;
}
