/* SPDX-License-Identifier: MIT */
/* The kernel's symbols, from /proc/kallsyms. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct grab_symbol {
    uint64_t address;
    uint32_t name; /* in `names` */
    char type;     /* as nm has it */
};

struct grab_symbols {
    struct grab_symbol *items; /* by address */
    size_t count, room;
    char *names;
    size_t names_size, names_room;
};

/* 0, or errno. All addresses are 0 where the kernel hides them. */
int grab_symbols_read(struct grab_symbols *symbols);
/* 0: there is none of that name. */
uint64_t grab_symbols_find(const struct grab_symbols *symbols, const char *name);
/* The function that has the address; NULL: none is known. */
const struct grab_symbol *grab_symbols_at(const struct grab_symbols *symbols, uint64_t address);
const char *grab_symbols_name(const struct grab_symbols *symbols, const struct grab_symbol *symbol);
