/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/cut.h"

#include <langinfo.h>
#include <string.h>

#include "tools/cairn/base/pager.h"
#include "tools/cairn/base/printable.h"
#include "tools/cairn/base/wrap.h"

#define ELLIPSIS "\xE2\x80\xA6"

/* What is wider than a line is no column, but a name in an export: a program reads it. */
static const char *mark(int width)
{
    return width <= (int)CAIRN_COLUMNS && cairn_pager_or_terminal(stdout) && strcmp(nl_langinfo(CODESET), "UTF-8") == 0
               ? ELLIPSIS
               : "+";
}

const char *cairn_cut(char *out, size_t size, struct cairn_slice text, int width)
{
    width = width < 1 ? 1 : width;
    if (cairn_columns(text) <= (uint32_t)width)
        return cairn_slice_text(out, size, text);
    const char *end = mark(width);
    text.size = cairn_columns_bytes(text, (uint32_t)width - 1);
    cairn_slice_text(out, size - strlen(end), text);
    strcat(out, end);
    return out;
}

int cairn_fill(const char *text, int columns)
{
    const struct cairn_slice all = cairn_slice_of(text);
    return columns + (int)(all.size - cairn_columns(all));
}
