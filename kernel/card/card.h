/* SPDX-License-Identifier: MIT */
/*
 * The card: what a stranger's photograph of the screen is to tell. At most CARD_ROWS rows of words "name=value" (a
 * value with blanks is between quotes): the version, the verdict, the processor, its Debug Store, and what other parts
 * of the kernel have found out (kernel/lib/card.h). The last word, sum=, is a check sum of the others, so that `cairn
 * info` knows whether a person has copied them well. docs/reference/format.md, "The card". words.c is pure, and also
 * compiled on the host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CARD_ROWS    8u
#define CARD_COLUMNS 78u /* 640 pixels show 79 */

struct card {
    char text[CARD_ROWS * (CARD_COLUMNS + 1) + 1]; /* rows end with '\n' */
    size_t size;
    unsigned rows, column, left_out; /* rows: that have begun; left_out: words that had no room */
};

/* Adds a word, cut where a row ends; the name has at most 32 characters. One that does not fit is counted, and no other
 * is added behind it. `card` is zeroed at first. */
void kcard_put(struct card *card, const char *name, const char *value);
/* Adds more= where words are left out, and sum=. */
void kcard_end(struct card *card);

/* ---- processor.c: words about the processor, for the kernel's card and a report's -------------------------------- */

struct ds_caps;

/* Who it is. `microcode`, `cpus`: NULL, 0: not known. */
void kcard_processor(struct card *card, const uint64_t *microcode, uint32_t cpus);
/* Its Debug Store, in words of these names. */
void kcard_caps(struct card *card, const char *pebs, const char *bts, const struct ds_caps *caps);
