/* SPDX-License-Identifier: MIT */
/* UEFI specification, "Graphics Output Protocol". */
#include "kernel/screen/pixels.h"

#include <stdbool.h>

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* EFI_GRAPHICS_PIXEL_FORMAT */
enum { FORMAT_RGBX, FORMAT_BGRX, FORMAT_MASKS, FORMAT_BLT_ONLY };

#define MOST_PIXELS 65536u /* a side: sizes are multiplied */

static const uint32_t rgbx[3] = {0x0000FF, 0x00FF00, 0xFF0000}, bgrx[3] = {0xFF0000, 0x00FF00, 0x0000FF};

/* "EFI_PIXEL_BITMASK": the highest bit of any mask, the reserved one included, says how large a pixel is. */
static uint32_t pixel_bytes(const uint32_t masks[3], uint32_t reserved)
{
    uint32_t all = masks[0] | masks[1] | masks[2] | reserved;
    return all ? (32u - (uint32_t)__builtin_clz(all) + 7) / 8 : 0;
}

static bool take_masks(struct pixels *p, const uint32_t masks[3])
{
    if (masks[0] & masks[1] || masks[0] & masks[2] || masks[1] & masks[2])
        return false;
    for (int i = 0; i < 3; i++) {
        if (!masks[i])
            return false;
        uint32_t shift = (uint32_t)__builtin_ctz(masks[i]), bits = 32u - (uint32_t)__builtin_clz(masks[i]) - shift;
        if (masks[i] >> shift != UINT32_MAX >> (32 - bits))
            return false; /* with holes */
        p->colour[i].bits = (uint8_t)(bits < 8 ? bits : 8);
        p->colour[i].shift = (uint8_t)(shift + bits - p->colour[i].bits);
    }
    return true;
}

int kpixels_describe(struct pixels *p, const struct boot_framebuffer *fb, const char **why)
{
    const uint32_t *masks = fb->format == FORMAT_RGBX ? rgbx : fb->format == FORMAT_BGRX ? bgrx : fb->masks;
    uint64_t last;

    *p = (struct pixels){.width = fb->width, .height = fb->height};
    *why = "the firmware gives no framebuffer (no Graphics Output Protocol)";
    if (fb->format == FORMAT_BLT_ONLY)
        *why = "its framebuffer is the firmware's alone (PixelBltOnly)";
    if (!fb->base || fb->format == FORMAT_BLT_ONLY)
        return -ENODEV;
    *why = "the firmware gives an unknown pixel format";
    if (fb->format > FORMAT_BLT_ONLY)
        return -EINVAL;
    *why = "its colours' bit masks are empty, overlap or have holes";
    if (!take_masks(p, masks))
        return -EINVAL;
    p->bytes = fb->format == FORMAT_MASKS ? pixel_bytes(masks, fb->reserved_mask) : 4;
    *why = "its pixels have less than 16 bits";
    if (p->bytes < 2)
        return -EINVAL;
    *why = "its width, height or line length is 0";
    if (!fb->width || !fb->height || fb->width > MOST_PIXELS || fb->height > MOST_PIXELS ||
        fb->pixels_per_line < fb->width || fb->pixels_per_line > MOST_PIXELS)
        return -EINVAL;
    p->stride = fb->pixels_per_line * p->bytes;
    p->size = (uint64_t)p->stride * (fb->height - 1) + fb->width * p->bytes;
    *why = "the framebuffer is smaller than its picture";
    if (fb->size < p->size || __builtin_add_overflow(fb->base, p->size, &last))
        return -EINVAL;
    *why = NULL;
    return 0;
}

uint32_t kpixels_colour(const struct pixels *p, uint32_t rgb)
{
    uint32_t pixel = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t value = rgb >> (16 - 8 * i) & 0xFF;
        pixel |= value >> (8 - p->colour[i].bits) << p->colour[i].shift;
    }
    return pixel;
}

/* Little-endian, whatever the pixel's size. */
static uint8_t *put(uint8_t *to, uint32_t pixel, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(pixel >> 8 * i);
    return to + bytes;
}

/* A piece of `width` pixels, made in ordinary memory, on `height` lines. */
static void put_lines(const struct pixels *p, uint32_t x, uint32_t y, const uint8_t *line, uint32_t width,
                      uint32_t height)
{
    if (x >= p->width || y >= p->height)
        return;
    if (width > p->width - x)
        width = p->width - x;
    if (height > p->height - y)
        height = p->height - y;
    for (uint8_t *to = p->base + (uint64_t)y * p->stride + x * p->bytes; height; height--, to += p->stride)
        memcpy(to, line, width * p->bytes);
}

void kpixels_fill(const struct pixels *p, uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint32_t pixel)
{
    uint8_t line[64 * 4];
    for (uint8_t *to = line; to < line + 64 * p->bytes;)
        to = put(to, pixel, p->bytes);
    for (uint32_t done = 0; done < width && done < p->width; done += 64)
        put_lines(p, x + done, y, line, width - done < 64 ? width - done : 64, height);
}

void kpixels_glyph(const struct pixels *p, uint32_t x, uint32_t y, const struct font *font, char c, uint32_t scale,
                   uint32_t ink, uint32_t paper)
{
    uint8_t line[FONT_MOST_WIDTH * PIXELS_MOST_SCALE * 4];
    const uint32_t glyph = (c < FONT_FIRST || c > FONT_LAST ? '?' : (uint32_t)c) - FONT_FIRST;
    for (uint32_t row = 0; row < font->height; row++) {
        uint32_t bits = font->rows[glyph * font->height + row];
        uint8_t *to = line;
        for (uint32_t i = font->width; i--;)
            for (uint32_t n = 0; n < scale; n++)
                to = put(to, bits >> i & 1 ? ink : paper, p->bytes);
        put_lines(p, x, y + row * scale, line, font->width * scale, scale);
    }
}
