/* SPDX-License-Identifier: MIT */
/* The images of each process of an ETL file, and when each was loaded: addresses of user mode mean nothing without. */
#pragma once

#include "tools/cairn/log/rundown.h"

struct cairn_etl;

struct cairn_image {
    uint32_t pid;
    uint64_t address, size;
    int64_t from, until; /* session clock; INT64_MIN and INT64_MAX where the file does not tell */
    uint64_t reach;      /* the highest end of this one and those of the process before it */
    char name[CAIRN_NAME_SHOWN];
};

struct cairn_images { /* by process, address and time */
    struct cairn_image *items;
    size_t count, room;
};

/* Gathers them from all events of the file. */
void cairn_images_read(struct cairn_images *images, const struct cairn_etl *etl);
/* The image of process `pid` that held the address then. NULL: none is known. */
const struct cairn_image *cairn_image_find(const struct cairn_images *images, uint32_t pid, int64_t time,
                                           uint64_t address);
