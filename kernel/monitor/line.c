/* SPDX-License-Identifier: MIT */
#include "kernel/monitor/line.h"

#include "kernel/lib/string.h"

#define CTRL(letter) ((letter)&0x1F)
#define ESCAPE       0x1B
#define DELETE       0x7F

static void show(struct kmonitor_line *l, const char *text)
{
    l->put(l->context, text, strlen(text));
}

static void bell(struct kmonitor_line *l)
{
    show(l, "\a");
}

void kmonitor_line_show(struct kmonitor_line *l)
{
    char back[16];
    show(l, "\r\x1b[K");
    show(l, l->prompt);
    show(l, l->text);
    if (l->at == l->size)
        return;
    snprintf(back, sizeof back, "\x1b[%uD", (unsigned)(l->size - l->at));
    show(l, back);
}

void kmonitor_line_begin(struct kmonitor_line *l)
{
    l->text[0] = '\0';
    l->size = l->at = 0;
    l->back = 0;
    l->state = KMONITOR_PLAIN;
    show(l, l->prompt);
}

/* Puts `n` characters in front of the cursor, as many as there is room for. */
static void insert(struct kmonitor_line *l, const char *text, size_t n)
{
    if (n > KMONITOR_LINE - l->size)
        n = KMONITOR_LINE - l->size;
    if (!n) {
        bell(l);
        return;
    }
    memmove(l->text + l->at + n, l->text + l->at, l->size - l->at + 1);
    memcpy(l->text + l->at, text, n);
    l->size += n;
    l->at += n;
    if (l->at == l->size)
        l->put(l->context, text, n);
    else
        kmonitor_line_show(l);
}

static void erase(struct kmonitor_line *l, size_t from, size_t to)
{
    if (from == to) {
        bell(l);
        return;
    }
    memmove(l->text + from, l->text + to, l->size - to + 1);
    l->size -= to - from;
    l->at = from;
    kmonitor_line_show(l);
}

static void move(struct kmonitor_line *l, size_t to)
{
    l->at = to;
    kmonitor_line_show(l);
}

static size_t word_begin(const struct kmonitor_line *l)
{
    size_t from = l->at;
    while (from && l->text[from - 1] == ' ')
        from--;
    while (from && l->text[from - 1] != ' ')
        from--;
    return from;
}

/* ---- history ----------------------------------------------------------------------------------------------------- */

static void remember(struct kmonitor_line *l)
{
    if (!l->size || (l->kept && strcmp(l->history[l->kept - 1], l->text) == 0))
        return;
    if (l->kept == KMONITOR_HISTORY) {
        memmove(l->history[0], l->history[1], sizeof l->history - sizeof l->history[0]);
        l->kept--;
    }
    memcpy(l->history[l->kept++], l->text, sizeof l->text);
}

static void look_back(struct kmonitor_line *l, unsigned back)
{
    if (back > l->kept || back == l->back) {
        bell(l);
        return;
    }
    if (!l->back)
        memcpy(l->own, l->text, sizeof l->own);
    l->back = back;
    memcpy(l->text, back ? l->history[l->kept - back] : l->own, sizeof l->text);
    l->size = l->at = strlen(l->text);
    kmonitor_line_show(l);
}

/* ---- completion -------------------------------------------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* How many characters the two have in common; names are typed in any case of letters. */
static size_t common(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] && lower(a[n]) == lower(b[n]))
        n++;
    return n;
}

static void list(struct kmonitor_line *l, size_t from)
{
    size_t column = 0;
    const char *word;
    show(l, "\r\n");
    for (unsigned i = 0; (word = l->choice(l->context, l->text, from, i)); i++) {
        if (common(word, l->text + from, l->at - from) < l->at - from)
            continue;
        if (column && column + 2 + strlen(word) > 79) {
            show(l, "\r\n");
            column = 0;
        }
        show(l, column ? "  " : "");
        show(l, word);
        column += (column ? 2 : 0) + strlen(word);
    }
    show(l, "\r\n");
    kmonitor_line_show(l);
}

static void complete(struct kmonitor_line *l)
{
    size_t from = l->at, n = 0;
    unsigned found = 0;
    const char *word, *first = NULL;
    while (from && l->text[from - 1] != ' ')
        from--;
    const size_t typed = l->at - from;
    for (unsigned i = 0; (word = l->choice(l->context, l->text, from, i)); i++) {
        if (common(word, l->text + from, typed) < typed)
            continue;
        n = found++ ? common(first, word, n) : strlen(word);
        first = first ? first : word;
    }
    if (!found) {
        bell(l);
    } else if (found > 1 && n == typed) {
        list(l, from);
    } else if (l->size - typed + n <= KMONITOR_LINE) {
        memcpy(l->text + from, first, typed); /* as the word has it */
        insert(l, first + typed, n - typed);
        if (found == 1 && l->at == l->size && l->size < KMONITOR_LINE)
            insert(l, " ", 1);
        kmonitor_line_show(l);
    } else {
        bell(l);
    }
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* ESC [ A to D, H, F, and ESC [ n ~. */
static void sequence(struct kmonitor_line *l, char c)
{
    if (c >= 0x20 && c < 0x40) { /* parameters come before the final character */
        l->parameter = l->parameter ? l->parameter : c;
        return;
    }
    l->state = KMONITOR_PLAIN;
    if (c == 'A')
        look_back(l, l->back + 1);
    else if (c == 'B')
        look_back(l, l->back ? l->back - 1 : 0);
    else if (c == 'C' && l->at < l->size)
        move(l, l->at + 1);
    else if (c == 'D' && l->at)
        move(l, l->at - 1);
    else if (c == 'H' || (c == '~' && (l->parameter == '1' || l->parameter == '7')))
        move(l, 0);
    else if (c == 'F' || (c == '~' && (l->parameter == '4' || l->parameter == '8')))
        move(l, l->size);
    else if (c == '~' && l->parameter == '3' && l->at < l->size)
        erase(l, l->at, l->at + 1);
    else
        bell(l);
}

static void escape(struct kmonitor_line *l, char c)
{
    l->parameter = '\0';
    l->state = c == '[' || c == 'O' ? KMONITOR_SEQUENCE : KMONITOR_PLAIN;
}

static void control(struct kmonitor_line *l, char c)
{
    switch (c) {
    case CTRL('A'):
        move(l, 0);
        break;
    case CTRL('E'):
        move(l, l->size);
        break;
    case CTRL('B'):
        move(l, l->at - (l->at != 0));
        break;
    case CTRL('F'):
        move(l, l->at + (l->at != l->size));
        break;
    case CTRL('D'):
        erase(l, l->at, l->at + (l->at != l->size));
        break;
    case CTRL('H'):
    case DELETE:
        erase(l, l->at - (l->at != 0), l->at);
        break;
    case CTRL('K'):
        erase(l, l->at, l->size);
        break;
    case CTRL('U'):
        erase(l, 0, l->at);
        break;
    case CTRL('W'):
        erase(l, word_begin(l), l->at);
        break;
    case CTRL('P'):
        look_back(l, l->back + 1);
        break;
    case CTRL('N'):
        look_back(l, l->back ? l->back - 1 : 0);
        break;
    case CTRL('C'):
        show(l, "^C\r\n");
        kmonitor_line_begin(l);
        break;
    case CTRL('L'):
        show(l, "\x1b[H\x1b[2J");
        kmonitor_line_show(l);
        break;
    case '\t':
        complete(l);
        break;
    case ESCAPE:
        l->state = KMONITOR_ESCAPE;
        break;
    default:
        bell(l);
    }
}

bool kmonitor_line_key(struct kmonitor_line *l, char c)
{
    const bool second = l->after_cr && c == '\n';
    l->after_cr = c == '\r';
    if (second)
        return false;
    if (c == '\r' || c == '\n') {
        show(l, "\r\n");
        remember(l);
        return true;
    }
    if (l->state == KMONITOR_SEQUENCE)
        sequence(l, c);
    else if (l->state == KMONITOR_ESCAPE)
        escape(l, c);
    else if (c >= ' ' && c <= '~')
        insert(l, &c, 1);
    else
        control(l, c);
    return false;
}
