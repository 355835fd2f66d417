/* SPDX-License-Identifier: MIT */
/* Text in an SVG file. */
#include "tools/cairn/export/svg/svg.h"

#include <string.h>

#include "tools/cairn/base/printable.h"

#define LINE CAIRN_SVG_FITS(CAIRN_SVG_WIDTH - 2 * CAIRN_SVG_MARGIN) /* characters in a line of the whole width */

void cairn_svg_text(FILE *to, const char *text)
{
    for (unsigned size = 1; *text; text += size ? size : 1) {
        size = cairn_printable_at((const uint8_t *)text, strlen(text));
        if (*text == '<')
            fputs("&lt;", to);
        else if (*text == '>')
            fputs("&gt;", to);
        else if (*text == '&')
            fputs("&amp;", to);
        else if (size)
            fwrite(text, 1, size, to);
        else
            putc('?', to);
    }
}

void cairn_svg_label(FILE *to, double x, double y, double width, const char *text)
{
    const size_t fits = width > 6.0 ? (size_t)CAIRN_SVG_FITS(width - 6.0) : 0;
    if (fits < 3 && fits < cairn_columns(cairn_slice_of(text)))
        return;
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y);
    cairn_svg_cut(to, text, fits);
    fputs("</text>", to);
}

void cairn_svg_cut(FILE *to, const char *text, size_t characters)
{
    char cut[4 * CAIRN_SHOWN];
    struct cairn_slice kept = cairn_slice_of(text);
    const uint32_t fits = characters < CAIRN_SHOWN - 1 ? (uint32_t)characters : CAIRN_SHOWN - 1;
    const bool whole = cairn_columns(kept) <= fits;
    kept.size = cairn_columns_bytes(kept, whole ? fits : fits - 1);
    cairn_svg_text(to, cairn_slice_text(cut, sizeof(cut), kept));
    if (!whole)
        fputs("&#8230;", to);
}

unsigned cairn_svg_lines(FILE *to, unsigned y, const char *attributes, const char *text)
{
    unsigned lines = 0;
    do {
        size_t size = strlen(text);
        if (size > LINE)
            for (size = LINE; size > LINE / 2 && text[size] != ' '; size--)
                ;
        if (to) {
            fprintf(to, "<text x=\"%u\" y=\"%u\"%s>", CAIRN_SVG_MARGIN, y + CAIRN_SVG_LINE * lines, attributes);
            char line[LINE + 1];
            snprintf(line, sizeof(line), "%.*s", (int)size, text);
            cairn_svg_text(to, line);
            fputs("</text>\n", to);
        }
        lines++;
        text += size + strspn(text + size, " ");
    } while (*text);
    return lines;
}

const char *cairn_svg_class(char out[8], unsigned colour)
{
    if (colour < CAIRN_SVG_COLOURS)
        snprintf(out, 8, "t%u", colour);
    else
        snprintf(out, 8, "o");
    return out;
}
