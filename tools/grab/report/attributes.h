/* SPDX-License-Identifier: MIT */
/* What each setting asks Linux for. */
#pragma once

#include <linux/perf_event.h>

#include "tools/grab/report/cores.h"
#include "tools/grab/report/settings.h"

#define GRAB_ATTRIBUTES 5u

struct grab_attributes {
    struct perf_event_attr a[GRAB_ATTRIBUTES];
    unsigned count;  /* 0: this Linux has no such event */
    unsigned needed; /* the others may be refused */
    bool group;      /* the first one leads the others */
};

/* The events of a setting. `format`: of PEBS. */
void grab_attributes(struct grab_attributes *attributes, enum grab_setting_number number, const struct grab_core *core,
                     unsigned format);
