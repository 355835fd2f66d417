/* SPDX-License-Identifier: MIT */
#include "tools/cairn/export/svg.h"

#include <string.h>

#define CHARACTER 6.5 /* pixels of one of font-size 11, on average */

void cairn_svg_text(FILE *to, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", to);
        else if (*text == '>')
            fputs("&gt;", to);
        else if (*text == '&')
            fputs("&amp;", to);
        else
            putc(*text >= ' ' && *text < 0x7F ? *text : '?', to);
}

void cairn_svg_label(FILE *to, double x, double y, double width, const char *text)
{
    char cut[CAIRN_SHOWN];
    const size_t size = strlen(text);
    size_t fits = width > 6.0 ? (size_t)((width - 6.0) / CHARACTER) : 0;
    if (fits < 3 && fits < size)
        return;
    fits = fits < sizeof(cut) - 1 ? fits : sizeof(cut) - 1;
    snprintf(cut, sizeof(cut), "%.*s", (int)(size <= fits ? size : fits - 1), text);
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y);
    cairn_svg_text(to, cut);
    fputs(size > fits ? "&#8230;</text>" : "</text>", to);
}

const char *cairn_svg_class(char out[8], unsigned colour)
{
    if (colour < CAIRN_SVG_COLOURS)
        snprintf(out, 8, "t%u", colour);
    else
        snprintf(out, 8, "o");
    return out;
}
