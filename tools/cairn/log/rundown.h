/* SPDX-License-Identifier: MIT */
/* Windows' events about processes, threads and images (docs/reference/etl.md): what they name. Any version, with
 * pointers of 4 or 8 bytes. Fields that a short payload does not have are left out. */
#pragma once

#include "tools/cairn/log/log.h"

#define CAIRN_NAME_SHOWN 264u /* the name of a file has at most 255 characters */

enum cairn_rundown_kind { CAIRN_RUNDOWN_NONE, CAIRN_RUNDOWN_PROCESS, CAIRN_RUNDOWN_THREAD, CAIRN_RUNDOWN_IMAGE };

struct cairn_rundown {
    uint8_t kind;
    bool ends;    /* it goes; or, with `rundown`, is there at the end */
    bool rundown; /* it was there before, or is there still: nothing happens to it */
    uint32_t pid, tid, parent;
    int32_t base_priority; /* of a thread, where `has_base` */
    bool has_base;
    uint64_t address, size;      /* of an image */
    char name[CAIRN_NAME_SHOWN]; /* printable; of an image without its folders; "" where it has none */
};

/* kind CAIRN_RUNDOWN_NONE: the event is about something else, or too short. */
void cairn_rundown_read(struct cairn_rundown *r, const struct cairn_event *event);
