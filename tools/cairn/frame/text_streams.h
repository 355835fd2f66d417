/* SPDX-License-Identifier: MIT */
/* The text streams: key=value lines, thread names, symbols. All pointers lead into a copy of the frames' payloads, in
 * which characters that a terminal might act on are replaced. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cairn/base/slice.h"
#include "tools/cairn/frame/deframe.h"

struct cairn_key {
    struct cairn_slice name, value;
    uint8_t stream;
};

struct cairn_name {
    uint32_t tid;
    int32_t base;
    uint32_t order; /* among the idle threads' */
    char flag;      /* i idle, s sampled, u user, - none */
    struct cairn_slice name;
};

struct cairn_symbol {
    uint64_t address, size; /* size 0: up to the next one */
    struct cairn_slice name;
};

struct cairn_text {
    char *arena; /* the copy */
    struct {
        struct cairn_key *items;
        size_t count, room;
    } keys; /* in the order of the log */
    struct {
        struct cairn_name *items;
        size_t count, room;
    } names; /* by TID, the idle threads in their order */
    struct {
        struct cairn_symbol *items;
        size_t count, room;
    } symbols;                       /* by address */
    const struct cairn_key **sorted; /* keys by name */
    struct {
        char **items;
        size_t count, room;
    } kept;             /* text that is not the log's own */
    uint32_t malformed; /* lines that are not what their stream holds */
};

void cairn_text_read(struct cairn_text *t, const struct cairn_frames *frames);
/* The same of lines of the machine stream that no frames hold: `size` bytes, of which it makes a copy. */
void cairn_text_lines(struct cairn_text *t, const char *text, size_t size);
void cairn_text_free(struct cairn_text *t);
/* A copy that lives as long as `t`. */
struct cairn_slice cairn_text_keep(struct cairn_text *t, const char *text);
/* One more key, which is as good as one of the log. */
void cairn_text_tell(struct cairn_text *t, const char *name, const char *value);
/* After names have been added, in their order. */
void cairn_text_order_names(struct cairn_text *t);

/* One more symbol, from another source; all of them in order, behind the last one. */
void cairn_text_add_symbol(struct cairn_text *t, const char *name, uint64_t address, uint64_t size);
void cairn_text_order_symbols(struct cairn_text *t);

/* Value of a key; size 0, at "" where it is missing. The last one where it came more than once. */
struct cairn_slice cairn_key(const struct cairn_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number of "ds.cpu.CPU.NAME", which a CPU has that is not like CPU 0, else of "ds.NAME". False: neither is one. */
bool cairn_ds_number(const struct cairn_text *t, uint32_t cpu, const char *name, uint64_t *value);
/* Event `i` of a CPU: "ds.event.I", or "ds.atom.event.I" of efficient cores with their own. Size 0: there is none. */
struct cairn_slice cairn_ds_event(const struct cairn_text *t, uint32_t cpu, unsigned i);
/* Whether the CPU ran without PEBS while others had it; then *why. */
bool cairn_ds_without(const struct cairn_text *t, uint32_t cpu, struct cairn_slice *why);
bool cairn_has_key(const struct cairn_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether it is the last of its name, whose value counts. */
bool cairn_key_counts(const struct cairn_text *t, const struct cairn_key *key);

const struct cairn_name *cairn_find_name(const struct cairn_text *t, uint32_t tid); /* NULL: unknown */
/* The symbol that holds `address`, NULL: none. */
const struct cairn_symbol *cairn_find_symbol(const struct cairn_text *t, uint64_t address);
