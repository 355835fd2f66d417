/* SPDX-License-Identifier: MIT */
/* The rows of `cairn profile`: how often an address, a function or a line was found in a thread. */
#pragma once

#include "tools/cairn/log/etl/lives.h"

struct cairn_profile_row {
    uint64_t count, ip;
    const struct cairn_etl_life *image; /* that has `ip`; NULL: none is told of */
    const char *where;                  /* function or line; NULL: not asked for */
    uint32_t tid;                       /* 0 where not asked for */
    uint8_t blame;
};

struct cairn_profile_rows { /* zeroed: none */
    struct cairn_profile_row *items;
    size_t count, room;
    size_t merged; /* rows that were left when those that are the same last became one */
};

/* Counts one. */
void cairn_profile_rows_add(struct cairn_profile_rows *rows, struct cairn_profile_row row);
/* Rows that are the same become one, by where they are. */
void cairn_profile_rows_merge(struct cairn_profile_rows *rows);
/* The same, the largest first. */
void cairn_profile_rows_order(struct cairn_profile_rows *rows);
