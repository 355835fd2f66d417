/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/pager.h"
#include "tools/cairn/base/printable.h"

/* The first part of a word that has no room on a line of its own: up to a comma, plus or bar, else as much as fits. */
static uint32_t part_of(struct cairn_slice word, uint32_t room)
{
    const uint32_t most = cairn_columns_bytes(word, room);
    for (uint32_t n = most; n > most / 4; n--)
        if (word.at[n - 1] == ',' || word.at[n - 1] == '+' || word.at[n - 1] == '|')
            return n;
    return most;
}

static void wrap(FILE *to, unsigned at, const char *prefix, unsigned indent, struct cairn_slice text, bool whole)
{
    const uint32_t room = CAIRN_COLUMNS - indent;
    bool blank_before = false;
    while (text.size) {
        const char *blank = memchr(text.at, ' ', text.size);
        uint32_t word = blank ? (uint32_t)(blank - text.at) : text.size;
        uint32_t columns = cairn_columns((struct cairn_slice){text.at, word});
        if (at > indent && at + blank_before + (columns < room ? columns : room) > CAIRN_COLUMNS) {
            fprintf(to, "\n%-*s", (int)indent, prefix);
            at = indent;
        } else if (blank_before) {
            fputc(' ', to);
            at++;
        }
        bool cut = columns > room && !whole;
        if (cut) /* it begins a line */
            word = part_of((struct cairn_slice){text.at, word}, room);
        fprintf(to, "%.*s", (int)word, text.at);
        blank_before = blank && !cut;
        at += cairn_columns((struct cairn_slice){text.at, word});
        text.at += word + blank_before;
        text.size -= word + blank_before;
    }
    fputc('\n', to);
}

void cairn_wrap(FILE *to, unsigned at, const char *prefix, unsigned indent, struct cairn_slice text)
{
    wrap(to, at, prefix, indent, text, false);
}

void cairn_wrap_words(FILE *to, unsigned at, unsigned indent, struct cairn_slice text)
{
    wrap(to, at, "", indent, text, true);
}

bool cairn_wraps(FILE *to)
{
    const char *columns = getenv("COLUMNS");
    return (columns && *columns) || cairn_pager_or_terminal(to);
}

void cairn_wrap_for(FILE *to, unsigned at, const char *prefix, unsigned indent, struct cairn_slice text)
{
    if (!cairn_wraps(to))
        fprintf(to, "%.*s\n", CAIRN_SLICE(text));
    else
        wrap(to, at, prefix, indent, text, false);
}

void cairn_print_wrapped(unsigned at, const char *prefix, unsigned indent, struct cairn_slice text)
{
    cairn_wrap_for(stdout, at, prefix, indent, text);
}
