/* SPDX-License-Identifier: MIT */
/* Checks whether the note and the memory of the last run hold a log that can be saved. Pure: the loader, the host's
 * unit tests and a fuzzer compile the same code. It trusts no byte. */
#pragma once

#include "boot/save/save_format.h"

/* numbers that are kept in the note: never changed, only added to */
enum save_refusal {
    SAVE_GOOD = 0,
    SAVE_BAD_NOTE = 1,
    SAVE_TAKEN = 2, /* the firmware uses the memory; not found out in here */
    SAVE_ABSENT = 3,
    SAVE_OTHER_VERSION = 4,
    SAVE_BAD_HEADER = 5,
    SAVE_OTHER_RUN = 6,
    SAVE_HALF_WRITTEN = 7,
    SAVE_ALREADY = 8,
    SAVE_BAD_TEXT = 9,
    SAVE_OTHER_MACHINE = 10,
};
#define SAVE_REFUSALS 11u

/* Why, in words that go behind "it is not saved: "; of any number. */
const char *save_words(uint32_t refusal);

/* `size` bytes of a note at `v` (of which no more than the structure are read): an area may be where it says.
 * `machine`: this one's words. SAVE_OTHER_MACHINE: those of the note can be printed. */
enum save_refusal save_check_note(const struct save_note *v, size_t size, const char machine[SAVE_MACHINE]);

/* The header, all SAVE_HEADER_BYTES of it: afterwards used is from 1 to what the area has room for. `v`: checked. */
enum save_refusal save_check_header(const struct save_header *h, const struct save_note *v);

/* The text, `h->used` bytes. `bad`: pieces that are not what they were, `first`: the number of the first of them. */
enum save_refusal save_check_text(const struct save_header *h, const uint8_t *text, uint32_t *bad, uint32_t *first);

/* What header.crc must be. */
uint32_t save_header_crc(const struct save_header *h);
/* Of the text's piece `n`, which begins below h->used. */
uint32_t save_piece_crc(const struct save_header *h, const uint8_t *text, uint32_t n);
/* How many pieces `used` bytes are. */
uint32_t save_pieces(uint64_t used);
