/* SPDX-License-Identifier: MIT */
/* What something else uses stays as it is. */
#include "ds/in_use/in_use.h"
#include "kernel/in_use/in_use.h"
#include "kernel/recording/ds.h"

void kds_detected(struct ds_caps *caps)
{
    if (!kin_use_force)
        ds_leave_alone(caps);
}
