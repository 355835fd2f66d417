/* SPDX-License-Identifier: MIT */
#include "kernel/phase.h"

void kphase_run(enum kphase phase, const struct boot_info *info)
{
    const struct kphase_row *const *row;
    for (ROWS_EACH(kphase, row))
        if ((*row)->phase == phase)
            (*row)->run(info);
}
