/* SPDX-License-Identifier: MIT */
/* Finds frames in a log and checks them, a part of it at a time: parts are far enough apart for several threads. */
#pragma once

#include "tools/cairn/base/ahead.h"
#include "tools/cairn/frame/frame_chain.h"

#define CAIRN_SCAN_FOUND 256u

struct cairn_found {          /* a frame, or what looks like a damaged one */
    struct cairn_chain chain; /* of the frame alone; of a damaged one `at`, and number and stream as read */
    uint64_t end;             /* offset behind it */
    uint32_t size, crc;       /* as in struct cairn_frame */
    bool good, numbered;
    uint8_t flaw; /* where it is not good */
};

struct cairn_scanned {
    struct cairn_found found[CAIRN_SCAN_FOUND];
    uint32_t count;
    uint64_t done; /* all up to this offset */
    bool ends;     /* the part */
    bool failed;   /* it cannot be read on */
};

struct cairn_scan {             /* of every part whose turn it is */
    struct cairn_source source; /* of struct cairn_scanned */
    struct cairn_window window;
    uint64_t at, stop, next; /* in this part; where it ends; where the next one begins */
    uint32_t scans;
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
};

/* Scan number `which` of `scans`, which take turns at the parts. `blocks`: room for so many. */
void cairn_scan_init(struct cairn_scan *scan, struct cairn_input *input, uint32_t which, uint32_t scans,
                     struct cairn_scanned *blocks, uint32_t room);
