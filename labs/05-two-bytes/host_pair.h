/* SPDX-License-Identifier: MIT */
/* Lab 5: your encoder and Cairn's side by side. Both get the same switches; each batch must be the same, byte by byte.
 */
#pragma once

#include "task.h"
#include "trace/ccswap.h"

struct scene { /* what is being looked at: what lab_fail says if the two differ */
    const char *name, *hint, *read;
};

#define BATCH_SWITCHES 512u /* more than fit */

struct fed {
    struct cswitch sw;
    int64_t time;
};

struct batch { /* that was closed */
    uint8_t bytes[CCSWAP_BATCH_BYTES];
    uint32_t size, switches;
    int64_t time;
    enum why why;
};

struct pair {
    struct trace_ccswap cairn;
    struct encoder *yours; /* NULL: only Cairn's */
    const struct scene *scene;
    struct batch right, is;
    uint32_t right_count, is_count;                          /* batches closed */
    uint32_t whys[WHY_DRAIN + 1];                            /* right_count by reason */
    uint32_t switches;                                       /* fed in all */
    struct fed open[BATCH_SWITCHES], closed[BATCH_SWITCHES]; /* what is in the open batch; in `right` */
    uint32_t open_count;
    void (*each)(struct pair *); /* gets each batch in `right`; or NULL */
    void *context;               /* the caller's */
};

/* One pair at a time. `encode`: yours takes part. */
void pair_begin(struct pair *p, int64_t tick, bool encode, const struct scene *scene);
void pair_switch(struct pair *p, const struct cswitch *sw, int64_t time);
void pair_close(struct pair *p, int64_t time, enum why why);
/* Closes the last batch with WHY_STOP. */
void pair_end(struct pair *p, int64_t time);

const char *why_name(enum why why);
/* What a record of a batch says, in words: "LITE, slot 3, priority base + 1, state 6, delta 250". */
const char *record_text(char out[128], const uint8_t *record, uint32_t left);
