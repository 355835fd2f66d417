/* SPDX-License-Identifier: MIT */
/* PebsIndex of architectural PEBS at the switches of a CPU. It is in a register that BPF cannot read; what Linux read
 * first behind a switch tells it if no record can have been made in between. */
#pragma once

#include "tools/grab/base/store.h"

struct grab_index {   /* how many switches */
    uint64_t within;  /* Linux read it within the switch, with counters that count only users' code */
    uint64_t empty;   /* it was 0 at the first read behind the switch; only Linux lowers it, and reads it before */
    uint64_t unknown; /* otherwise */
};

/* Puts it into c->switches, as an address, and counts into `how`. 0 stays where it is unknown. `all`: of that CPU,
 * after the recording; NULL: a hook may have been skipped, so that nothing is known. True: it is known at every
 * switch. */
bool grab_index_find(struct grab_one_cpu *c, const struct grab_cpu *all, struct grab_index *how);
