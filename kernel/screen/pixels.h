/* SPDX-License-Identifier: MIT */
/*
 * Rectangles and glyphs in the framebuffer of UEFI's Graphics Output Protocol. Writes only: reading a framebuffer is
 * slow. Pure, also compiled on the host.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "boot/info.h"
#include "kernel/screen/font.h"

#define PIXELS_MOST_SCALE 16u

struct pixels {
    uint8_t *base; /* where the framebuffer is mapped; set by the caller */
    uint64_t size; /* bytes from there on that are drawn to: less than the framebuffer may have */
    uint32_t width, height;
    uint32_t stride; /* bytes from one line to the next */
    uint32_t bytes;  /* of a pixel: 2, 3 or 4 */
    struct {
        uint8_t shift, bits; /* bits: 1 to 8; of a wider field its highest 8 */
    } colour[3];             /* red, green, blue */
};

/* Fills all but `base` from what the firmware says, none of which is believed: -ENODEV where there is no framebuffer,
 * -EINVAL where it cannot be as described, and one line in `why` (a constant). */
int kpixels_describe(struct pixels *p, const struct boot_framebuffer *fb, const char **why);

/* 0xRRGGBB as a pixel. */
uint32_t kpixels_colour(const struct pixels *p, uint32_t rgb);

/* Both draw what of it is inside the picture. */
void kpixels_fill(const struct pixels *p, uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint32_t pixel);
/* One character, each of its pixels as a square of `scale` (1 to PIXELS_MOST_SCALE); one without a glyph: '?'. */
void kpixels_glyph(const struct pixels *p, uint32_t x, uint32_t y, const struct font *font, char c, uint32_t scale,
                   uint32_t ink, uint32_t paper);
