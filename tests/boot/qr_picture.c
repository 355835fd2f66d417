/* SPDX-License-Identifier: MIT */
/* The QR code of standard input, as a picture (PGM) on standard output: test_card.py. */
#include <stdint.h>
#include <stdio.h>

#include "kernel/card/qr.h"

#define SIDE 3u /* pixels of a module */

int main(void)
{
    static struct qr q;
    static char text[QR_MOST_BYTES + 2];
    const size_t size = fread(text, 1, sizeof text, stdin);
    if (kcard_qr(&q, text, size) != 0) {
        fprintf(stderr, "qr-picture: %zu bytes and more are too many\n", size);
        return 1;
    }
    const uint32_t all = (q.size + 2 * QR_QUIET) * SIDE;
    printf("P5 %u %u 255\n", all, all);
    for (uint32_t y = 0; y < all; y++)
        for (uint32_t x = 0; x < all; x++) {
            const uint32_t row = y / SIDE - QR_QUIET, column = x / SIDE - QR_QUIET; /* at the edge larger than any */
            putchar(row < q.size && column < q.size && (q.module[row][column] & 1) ? 0 : 255);
        }
    return ferror(stdout) != 0;
}
