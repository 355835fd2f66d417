/* SPDX-License-Identifier: MIT */
/* Mutant 6: a plain counter has counted one event less than there were. */
#include "ds/ds.h"

void __real_ds_cpu_counts(const struct ds_cpu *ds, struct ds_counts *out);
void __wrap_ds_cpu_counts(const struct ds_cpu *ds, struct ds_counts *out);

void __wrap_ds_cpu_counts(const struct ds_cpu *ds, struct ds_counts *out)
{
    __real_ds_cpu_counts(ds, out);
    out->plain[0].events -= out->plain[0].events != 0;
}
