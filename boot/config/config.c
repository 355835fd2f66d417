/* SPDX-License-Identifier: MIT */
#include "boot/config/config.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* What stands behind "NAME=" in a word of `*size` characters, and its size; NULL: it sets something else. */
static const char *value_of(const char *word, size_t *size, const char *name)
{
    size_t n = 0;
    while (name[n] != 0 && n < *size && word[n] == name[n])
        n++;
    if (name[n] != 0 || n == *size || word[n] != '=')
        return NULL;
    *size -= n + 1;
    return word + n + 1;
}

/* What a line of `size` characters sets: its name=value without comment and blanks. */
static const char *word_of(const char *line, size_t *size)
{
    size_t n = 0;
    while (n < *size && line[n] != '#')
        n++;
    while (n > 0 && is_blank(line[n - 1]))
        n--;
    for (; n > 0 && is_blank(*line); n--)
        line++;
    *size = n;
    return line;
}

bool config_get(const char *config, const char *name, char *value, size_t size)
{
    bool found = false;
    while (*config != 0) {
        size_t line = 0;
        while (config[line] != 0 && config[line] != '\n')
            line++;
        size_t n = line;
        const char *word = word_of(config, &n), *set = value_of(word, &n, name);
        if (set != NULL) {
            if (n >= size)
                n = size - 1;
            for (size_t i = 0; i < n; i++) /* the loader prints values */
                value[i] = set[i] >= ' ' && set[i] <= '~' ? set[i] : '?';
            value[n] = 0;
            found = true;
        }
        config += config[line] == '\n' ? line + 1 : line;
    }
    return found;
}
