/* SPDX-License-Identifier: MIT */
/*
 * The kernel's screen: the input is a struct boot_framebuffer as the firmware may give it, then text; behind a byte 1
 * comes a status up to the next '\n'. A picture that is not refused is exactly as large as it says, and what is on it
 * is what is noted to be there.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/screen/screen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PICTURE_MOST (UINT64_C(4) << 20) /* bytes: larger ones are described, not drawn */

static const uint32_t rows[FONT_GLYPHS][2] = {[1] = {4, 1}};
static const struct font font = {3, 2, &rows[0][0]};

/* Every cell is drawn as it is noted; the places to write at are inside. */
static void believe(const struct screen *s)
{
    if (s->row >= s->rows || s->column > s->columns || s->kept > s->rows / 2 || s->columns > SCREEN_COLUMNS ||
        s->rows > SCREEN_ROWS)
        abort();
    for (uint32_t row = 0; row <= s->rows; row++)
        for (uint32_t column = 0; column < s->columns; column++) {
            const char c = s->text[row][column];
            if (s->drawn[row][column] != (s->kind[row] << 8 | (uint8_t)c))
                abort();
            if (row < s->rows && (c < FONT_FIRST || c > FONT_LAST))
                abort();
        }
}

static void draw(struct screen *s, const char *text, size_t size)
{
    while (size) {
        const char *status = memchr(text, 1, size);
        const size_t before = status ? (size_t)(status - text) : size;
        kscreen_write(s, text, before);
        believe(s);
        if (!status)
            return;
        const char *end = memchr(status, '\n', size - before);
        const size_t length = end ? (size_t)(end - status) - 1 : size - before - 1;
        char line[2 * SCREEN_COLUMNS];
        const size_t n = length < sizeof line ? length : sizeof line - 1;
        memcpy(line, status + 1, n);
        line[n] = '\0';
        kscreen_status(s, line);
        believe(s);
        text = status + 1 + length;
        size -= before + 1 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct screen s;
    struct boot_framebuffer fb;
    struct pixels p;
    const char *why = "";
    if (size < sizeof fb)
        return 0;
    memcpy(&fb, data, sizeof fb);
    const int refused = kpixels_describe(&p, &fb, &why);
    if (!refused != !why)
        abort(); /* it does not say why, or it does without reason */
    if (refused || p.size > PICTURE_MOST)
        return 0;
    if (p.size > fb.size)
        abort();
    p.base = malloc(p.size);
    if (!p.base)
        abort();
    if (kscreen_init(&s, &p, &font) == 0)
        draw(&s, (const char *)data + sizeof fb, size - sizeof fb);
    free(p.base);
    return 0;
}
