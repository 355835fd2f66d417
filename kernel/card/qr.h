/* SPDX-License-Identifier: MIT */
/*
 * QR codes, ISO/IEC 18004: bytes, error correction level M, versions 1 to 20. Section and table names below are that
 * standard's. Pure, also compiled on the host; no memory but the caller's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define QR_MOST_BYTES 666u /* version 20 */
#define QR_MOST_SIZE  97u  /* modules a side, without the quiet zone */
#define QR_QUIET      4u   /* modules of paper on each side */

struct qr {
    uint32_t size;                              /* modules a side */
    uint8_t module[QR_MOST_SIZE][QR_MOST_SIZE]; /* [row][column]; bit 0: dark; the others are for the encoder */
};

/* The smallest code that holds the text, with the mask of the lowest penalty. 0, or -EINVAL: it is too long. */
int kcard_qr(struct qr *qr, const char *text, size_t size);
