/* SPDX-License-Identifier: MIT */
#include "tools/cairn/frame/text_streams.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/printable.h"
#include "trace/wire/format.h"

static int compare(struct cairn_slice a, struct cairn_slice b)
{
    uint32_t n = a.size < b.size ? a.size : b.size;
    int c = n ? memcmp(a.at, b.at, n) : 0;
    return c ? c : (a.size > b.size) - (a.size < b.size);
}

/* Takes one word off. */
static struct cairn_slice word(struct cairn_slice *s)
{
    const char *blank = s->size ? memchr(s->at, ' ', s->size) : NULL;
    struct cairn_slice w = {s->at, blank ? (uint32_t)(blank - s->at) : s->size};
    uint32_t taken = w.size + (blank ? 1 : 0);
    s->at += taken;
    s->size -= taken;
    return w;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static bool add_key(struct cairn_text *t, uint8_t stream, struct cairn_slice line)
{
    const char *equals = memchr(line.at, '=', line.size);
    if (!equals || equals == line.at)
        return false;
    struct cairn_key *k = CAIRN_ADD(t->keys);
    k->stream = stream;
    k->name = (struct cairn_slice){line.at, (uint32_t)(equals - line.at)};
    k->value = (struct cairn_slice){equals + 1, line.size - k->name.size - 1};
    return true;
}

static bool add_name(struct cairn_text *t, struct cairn_slice line)
{
    uint64_t tid, base;
    if (!cairn_slice_number(&line, &tid) || tid > UINT32_MAX)
        return false;
    bool negative = line.size && line.at[0] == '-';
    if (negative) {
        line.at++;
        line.size--;
    }
    if (!cairn_slice_number(&line, &base) || base > 127)
        return false;
    struct cairn_slice flags = word(&line);
    if (flags.size == 0 || line.size == 0)
        return false;
    *CAIRN_ADD(t->names) = (struct cairn_name){
        .tid = (uint32_t)tid,
        .base = negative ? -(int32_t)base : (int32_t)base,
        .flag = flags.at[0],
        .name = line,
    };
    return true;
}

static bool add_symbol(struct cairn_text *t, struct cairn_slice line)
{
    uint64_t base = 0, address, size;
    if (line.size && *line.at == '+') {
        base = CAIRN_SYMBOLS_BASE;
        line.at++;
        line.size--;
    }
    if (!cairn_slice_digits(&line, 16, &address) || !cairn_slice_digits(&line, 16, &size) || line.size == 0)
        return false;
    *CAIRN_ADD(t->symbols) = (struct cairn_symbol){base + address, size, line};
    return true;
}

static void read_payload(struct cairn_text *t, uint8_t stream, char *p, size_t size)
{
    for (size_t i = 0, shown; i < size; i += shown) {
        shown = p[i] == '\n' ? 1 : cairn_printable_at((const uint8_t *)p + i, size - i);
        if (!shown)
            p[i] = '?', shown = 1;
    }
    for (char *end = p + size, *eol; p < end; p = eol + 1) {
        eol = memchr(p, '\n', (size_t)(end - p));
        if (!eol)
            eol = end;
        struct cairn_slice line = {p, (uint32_t)(eol - p)};
        bool good = stream == CAIRN_STREAM_NAMES     ? add_name(t, line)
                    : stream == CAIRN_STREAM_SYMBOLS ? add_symbol(t, line)
                                                     : add_key(t, stream, line);
        t->malformed += !good;
    }
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct cairn_key *x = *(const struct cairn_key *const *)a, *y = *(const struct cairn_key *const *)b;
    int c = compare(x->name, y->name);
    return c ? c : (x > y) - (x < y);
}

static int by_tid(const void *a, const void *b)
{
    const struct cairn_name *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int by_address(const void *a, const void *b)
{
    const struct cairn_symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->name.at > y->name.at) - (x->name.at < y->name.at);
}

static void sort_keys(struct cairn_text *t)
{
    free(t->sorted);
    t->sorted = cairn_alloc(t->keys.count * sizeof(*t->sorted));
    for (size_t i = 0; i < t->keys.count; i++)
        t->sorted[i] = &t->keys.items[i];
    qsort(t->sorted, t->keys.count, sizeof(*t->sorted), by_key);
}

static bool is_text(const struct cairn_chain *c)
{
    return c->stream != CAIRN_STREAM_TRACE && c->stream != CAIRN_STREAM_TRUTH;
}

void cairn_text_read(struct cairn_text *t, const struct cairn_frames *frames)
{
    memset(t, 0, sizeof(*t));
    struct cairn_links links;
    struct cairn_frame f;
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    size_t bytes = 0, used = 0;
    for (size_t i = 0; i < frames->chains.count; i++)
        bytes += is_text(&frames->chains.items[i]) ? frames->chains.items[i].bytes : 0;
    t->arena = cairn_alloc(bytes + 1);
    cairn_links_init(&links, frames);
    for (size_t i = 0; i < frames->chains.count; i++) {
        if (!is_text(&frames->chains.items[i]))
            continue;
        cairn_links_begin(&links, &frames->chains.items[i]);
        for (; cairn_links_next(&links, &f, payload) && f.size <= bytes - used; used += f.size) {
            memcpy(t->arena + used, f.payload, f.size);
            read_payload(t, f.stream, t->arena + used, f.size);
        }
    }
    sort_keys(t);
    cairn_text_order_names(t);
    cairn_text_order_symbols(t);
}

void cairn_text_lines(struct cairn_text *t, const char *text, size_t size)
{
    memset(t, 0, sizeof(*t));
    t->arena = cairn_alloc(size + 1);
    memcpy(t->arena, text, size);
    read_payload(t, CAIRN_STREAM_MACHINE, t->arena, size);
    sort_keys(t);
}

void cairn_text_order_symbols(struct cairn_text *t)
{
    if (t->symbols.count)
        qsort(t->symbols.items, t->symbols.count, sizeof(*t->symbols.items), by_address);
}

void cairn_text_add_symbol(struct cairn_text *t, const char *name, uint64_t address, uint64_t size)
{
    cairn_text_keep(t, name);
    char *kept = t->kept.items[t->kept.count - 1];
    for (char *p = kept; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    *CAIRN_ADD(t->symbols) = (struct cairn_symbol){address, size, {kept, (uint32_t)strlen(kept)}};
}

void cairn_text_order_names(struct cairn_text *t)
{
    for (size_t i = 0; i < t->names.count; i++)
        t->names.items[i].order = (uint32_t)i;
    if (t->names.count)
        qsort(t->names.items, t->names.count, sizeof(*t->names.items), by_tid);
}

struct cairn_slice cairn_text_keep(struct cairn_text *t, const char *text)
{
    size_t size = strlen(text);
    char *copy = cairn_alloc(size + 1);
    memcpy(copy, text, size);
    *CAIRN_ADD(t->kept) = copy;
    return (struct cairn_slice){copy, (uint32_t)size};
}

void cairn_text_tell(struct cairn_text *t, const char *name, const char *value)
{
    const struct cairn_slice kept = cairn_text_keep(t, name);
    *CAIRN_ADD(t->keys) = (struct cairn_key){.name = kept, .value = cairn_text_keep(t, value)};
    sort_keys(t);
}

void cairn_text_free(struct cairn_text *t)
{
    for (size_t i = 0; i < t->kept.count; i++)
        free(t->kept.items[i]);
    free(t->kept.items);
    free(t->arena);
    free(t->keys.items);
    free(t->names.items);
    free(t->symbols.items);
    free(t->sorted);
    memset(t, 0, sizeof(*t));
}

static const struct cairn_key *find_name(const struct cairn_text *t, struct cairn_slice wanted)
{
    size_t low = 0, high = t->keys.count; /* the first key above `wanted` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(t->sorted[middle]->name, wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low && compare(t->sorted[low - 1]->name, wanted) == 0 ? t->sorted[low - 1] : NULL;
}

static const struct cairn_key *find_key(const struct cairn_text *t, const char *format, va_list args)
{
    char name[96];
    const int n = vsnprintf(name, sizeof(name), format, args);
    return n < (int)sizeof(name) ? find_name(t, (struct cairn_slice){name, (uint32_t)n}) : NULL;
}

bool cairn_key_counts(const struct cairn_text *t, const struct cairn_key *key)
{
    return find_name(t, key->name) == key;
}

struct cairn_slice cairn_key(const struct cairn_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct cairn_key *k = find_key(t, format, args);
    va_end(args);
    return k ? k->value : (struct cairn_slice){"", 0};
}

bool cairn_ds_number(const struct cairn_text *t, uint32_t cpu, const char *name, uint64_t *value)
{
    return cairn_slice_u64(cairn_key(t, "ds.cpu.%" PRIu32 ".%s", cpu, name), value) ||
           cairn_slice_u64(cairn_key(t, "ds.%s", name), value);
}

struct cairn_slice cairn_ds_event(const struct cairn_text *t, uint32_t cpu, unsigned i)
{
    const struct cairn_slice whose = cairn_key(t, "ds.cpu.%" PRIu32 ".events", cpu);
    if (!whose.size)
        return cairn_key(t, "ds.event.%u", i);
    return cairn_slice_is(whose, "atom") ? cairn_key(t, "ds.atom.event.%u", i) : (struct cairn_slice){"", 0};
}

bool cairn_ds_without(const struct cairn_text *t, uint32_t cpu, struct cairn_slice *why)
{
    static const char none[] = "none|";
    const uint32_t size = sizeof(none) - 1;
    *why = cairn_key(t, "ds.cpu.%" PRIu32 ".events", cpu);
    if (why->size < size || memcmp(why->at, none, size) != 0)
        return false;
    *why = (struct cairn_slice){why->at + size, why->size - size};
    return true;
}

bool cairn_has_key(const struct cairn_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct cairn_key *k = find_key(t, format, args);
    va_end(args);
    return k != NULL;
}

const struct cairn_name *cairn_find_name(const struct cairn_text *t, uint32_t tid)
{
    size_t low = 0, high = t->names.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->names.items[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->names.count && t->names.items[low].tid == tid ? &t->names.items[low] : NULL;
}

const struct cairn_symbol *cairn_find_symbol(const struct cairn_text *t, uint64_t address)
{
    size_t low = 0, high = t->symbols.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->symbols.items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct cairn_symbol *s = &t->symbols.items[low - 1];
    return s->size == 0 || address - s->address < s->size ? s : NULL;
}
