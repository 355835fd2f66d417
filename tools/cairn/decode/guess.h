/* SPDX-License-Identifier: MIT */
/* Guesses what unknown bytes of a Debug Store are (records of some format, or a DS area), how sure that is, and why. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_GUESS_AREA 0x100u /* beside the formats of cairn/pebs.h */

enum cairn_sure { CAIRN_SURE_NOT, CAIRN_SURE_WEAK, CAIRN_SURE_LIKELY, CAIRN_SURE_YES };

struct cairn_guess {
    unsigned format; /* of cairn/pebs.h, or CAIRN_GUESS_AREA */
    unsigned area;   /* the record format whose DS area it is */
    enum cairn_sure sure;
    size_t begin, end; /* the bytes that fit */
    size_t records;
    char why[200];
};

/* `only`: a bit for each format that it may be (CAIRN_GUESS_AREA: bit 63); UINT64_MAX: any. */
void cairn_guess(struct cairn_guess *guess, const uint8_t *bytes, size_t size, uint64_t only);
uint64_t cairn_guess_bit(unsigned format);
/* "sure", "likely", "a weak guess" */
const char *cairn_sure_name(enum cairn_sure sure);
/* "PEBS records of format 3", "records of architectural PEBS" */
const char *cairn_format_name(char out[64], unsigned format);
