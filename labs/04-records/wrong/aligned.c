/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 4; hint: memory. Takes the bytes for a structure, which only an aligned address allows. */
#include "task.h"

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    const struct ds_pebs_fmt3 *all = (const void *)bytes;
    if (format > 3 || left < ds_pebs_fixed_size(format))
        return 0;
    r->has = HAS_GPR | HAS_MEMORY | HAS_COUNTERS | HAS_TSC | HAS_EVENTING_IP | HAS_TX;
    r->rflags = all->fmt2.fmt1.registers.rflags;
    return ds_pebs_fixed_size(format);
}
