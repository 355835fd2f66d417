/* SPDX-License-Identifier: MIT */
#include "tools/grab/base/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/grab/base/memory.h"

static int by_address(const void *a, const void *b)
{
    const struct grab_symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static void add(struct grab_symbols *s, uint64_t address, char type, const char *name)
{
    const size_t size = strlen(name) + 1;
    struct grab_symbol *to = GRAB_ADD(s->items, s->count, s->room);
    *to = (struct grab_symbol){address, (uint32_t)s->names_size, type};
    while (s->names_room < s->names_size + size)
        s->names = grab_grow(s->names, s->names_room, &s->names_room, 1);
    memcpy(s->names + s->names_size, name, size);
    s->names_size += size;
}

int grab_symbols_read(struct grab_symbols *s)
{
    char line[1024];
    *s = (struct grab_symbols){0};
    FILE *file = fopen("/proc/kallsyms", "re");
    if (!file)
        return errno;
    while (fgets(line, sizeof line, file)) { /* ADDRESS TYPE NAME, of modules with [MODULE] behind it */
        char *end;
        const uint64_t address = strtoull(line, &end, 16);
        if (end == line || strlen(end) < 4)
            continue;
        end[3 + strcspn(end + 3, " \t\n")] = '\0';
        add(s, address, end[1], end + 3);
    }
    fclose(file);
    if (s->count)
        qsort(s->items, s->count, sizeof *s->items, by_address);
    return 0;
}

uint64_t grab_symbols_find(const struct grab_symbols *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->names + s->items[i].name, name) == 0)
            return s->items[i].address;
    return 0;
}

const struct grab_symbol *grab_symbols_at(const struct grab_symbols *s, uint64_t address)
{
    size_t low = 0, high = s->count;
    while (low < high) { /* the first above it */
        const size_t middle = (low + high) / 2;
        if (s->items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low--)
        if (strchr("tTwW", s->items[low].type))
            return &s->items[low];
    return NULL;
}

const char *grab_symbols_name(const struct grab_symbols *s, const struct grab_symbol *symbol)
{
    return s->names + symbol->name;
}
