/* SPDX-License-Identifier: MIT */
/* `cairn decode`: what has been read, and its two ways out, for people and as JSON. */
#pragma once

#include "tools/cairn/decode/guess.h"
#include "tools/cairn/decode/text.h"
#include "tools/cairn/log/log.h"

struct cairn_decoded {
    const char *name; /* of the file */
    const struct cairn_bytes *bytes;
    struct cairn_guess what;
    bool told; /* the caller said what it is */
    bool has_address;
    uint64_t address; /* of byte 0 */
    uint64_t records_most;
    const struct cairn_log *log; /* nothing in it but symbols of --elf */
    bool has_data_cfg;
    uint64_t data_cfg;
    /* Found out on the way: where what can be read ends; what is wrong and where, empty: nothing is. */
    size_t end, wrong_at;
    char wrong[160];
};

/* The record at `at`; of one that is cut off what is there, and `wrong` says so. False: there is none. `wrong` says
 * what is expected, unless all have come. */
bool cairn_decoded_record(struct cairn_decoded *d, size_t at, struct cairn_record *record);
/* Bytes behind `end` of which all are 0. */
bool cairn_decoded_rest_is_zero(const struct cairn_decoded *d);

/* These fill `end` and `wrong`. */
void cairn_decoded_text(struct cairn_decoded *d);
void cairn_decoded_json(struct cairn_decoded *d);
