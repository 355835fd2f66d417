/* SPDX-License-Identifier: MIT */
/* Text in and out of the monitor. */
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/inside.h"

#define COLUMNS 79u

void kmonitor_print(const struct kmonitor *m, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    m->machine->print(text);
}

const char *kmonitor_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

void kmonitor_wrap(const struct kmonitor *m, unsigned indent, const char *text)
{
    while (*text) {
        size_t n = strlen(text), room = COLUMNS - indent;
        if (n > room)
            for (n = room; n && text[n] != ' '; n--)
                ;
        n = n ? n : room; /* a word that is too long is cut */
        kmonitor_print(m, "%*s%.*s\n", (int)indent, "", (int)n, text);
        for (text += n; *text == ' '; text++)
            ;
    }
}

void kmonitor_say(const struct kmonitor *m, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    kmonitor_wrap(m, 0, text);
}

unsigned kmonitor_split(char *line, char *word[KMONITOR_WORDS + 1])
{
    unsigned n = 0;
    for (;;) {
        while (*line == ' ' || *line == '\t')
            *line++ = '\0';
        if (!*line || n > KMONITOR_WORDS)
            return n;
        word[n++] = line;
        while (*line && *line != ' ' && *line != '\t')
            line++;
    }
}

bool kmonitor_same(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a >= 'a' && *a <= 'z' ? *a - 32 : *a) != (*b >= 'a' && *b <= 'z' ? *b - 32 : *b))
            return false;
    return *a == *b;
}

bool kmonitor_number(const struct kmonitor *m, const char *word, uint64_t most, uint64_t *value)
{
    if (!knumber_parse(word, strlen(word), value))
        kmonitor_say(m, "'%.40s' is no number: give decimal digits, or 0x and hexadecimal ones", word);
    else if (*value > most)
        kmonitor_say(m, "'%.40s' is too large: at most %lu", word, (unsigned long)most);
    else
        return true;
    return false;
}

bool kmonitor_address(const struct kmonitor *m, const char *word, uint64_t *at)
{
    char name[80];
    uint64_t offset = 0;
    if (knumber_parse(word, strlen(word), at))
        return true;
    const char *plus = strchr(word, '+');
    const size_t n = plus ? (size_t)(plus - word) : strlen(word);
    if (n < sizeof name && (!plus || knumber_parse(plus + 1, strlen(plus + 1), &offset))) {
        memcpy(name, word, n);
        name[n] = '\0';
        if (m->machine->find(name, at) == 0 && !__builtin_add_overflow(*at, offset, at))
            return true;
    }
    kmonitor_say(m, "'%.40s' is no address: give 0x and hexadecimal digits, or SYMBOL[+OFFSET]", word);
    return false;
}

const char *kmonitor_place_of(const struct kmonitor *m, uint64_t at, char *text, size_t size)
{
    const char *name;
    uint64_t offset;
    if (!m->machine->name(at, &name, &offset))
        snprintf(text, size, "0x%lx", (unsigned long)at);
    else if (offset)
        snprintf(text, size, "%.40s+0x%lx", name, (unsigned long)offset);
    else
        snprintf(text, size, "%.40s", name);
    return text;
}

/* The oldest entry goes when there is no room: what is shown again and again stays marked. */
char kmonitor_mark(struct kmonitor *m, uint32_t key, uint64_t value)
{
    const uint32_t known = m->seen < KMONITOR_SEEN ? m->seen : KMONITOR_SEEN;
    uint32_t i = 0;
    while (i < known && m->shown[i].key != key)
        i++;
    const bool changed = i < known && m->shown[i].value != value;
    if (i == known)
        i = m->seen++ % KMONITOR_SEEN;
    m->shown[i].key = key;
    m->shown[i].value = value;
    return changed ? '*' : ' ';
}
