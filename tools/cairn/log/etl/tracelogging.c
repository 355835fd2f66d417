/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/tracelogging.h"

#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/etl_layout.h"

#define DEPTH_MOST  8u    /* of structures in each other */
#define VALUES_MOST 4096u /* of an event: elements may take no byte */

struct decoder {
    struct cairn_bytes schema, payload;
    cairn_tell_field *tell;
    void *to;
    uint32_t values;
};

struct field {
    char name[CAIRN_VALUE_TEXT_MOST];
    uint8_t in, out;
    uint16_t fixed; /* elements of an array, or bytes of a type that is the provider's own */
};

/* ---- the schema -------------------------------------------------------------------------------------------------- */

/* A byte, and those that it says follow. */
static bool take_chain(struct cairn_bytes *b)
{
    const uint8_t *p;
    do
        p = cairn_bytes_take(b, 1);
    while (p && *p & ETL_TL_CHAIN);
    return p;
}

static bool take_name(char out[CAIRN_VALUE_TEXT_MOST], struct cairn_bytes *b)
{
    const uint8_t *end = b->size ? memchr(b->at, 0, b->size) : NULL;
    return end && cairn_value_take(out, b, (struct cairn_value_type){CAIRN_VALUE_TEXT, 1});
}

/* Size, tags, name. */
static bool take_head(char name[CAIRN_VALUE_TEXT_MOST], struct cairn_bytes *schema)
{
    const uint8_t *p = cairn_bytes_take(schema, 2);
    const uint32_t size = p ? cairn_get16(p) : 0;
    if (size < 2 || size - 2 > schema->size)
        return false;
    schema->size = size - 2;
    return take_chain(schema) && take_name(name, schema);
}

void cairn_tracelogging_name(char out[CAIRN_VALUE_TEXT_MOST], struct cairn_bytes schema)
{
    if (!take_head(out, &schema))
        out[0] = '\0';
}

static bool take_field(struct field *f, struct cairn_bytes *b)
{
    const uint8_t *p;
    *f = (struct field){.in = 0};
    if (!take_name(f->name, b) || !(p = cairn_bytes_take(b, 1)))
        return false;
    f->in = *p;
    if (f->in & ETL_TL_CHAIN) {
        if (!(p = cairn_bytes_take(b, 1)))
            return false;
        f->out = *p & (uint8_t)~ETL_TL_CHAIN;
        if (*p & ETL_TL_CHAIN && !take_chain(b))
            return false;
    }
    const uint8_t count = f->in & ETL_TL_COUNT_MASK;
    if (count != ETL_TL_FIXED_COUNT && count != ETL_TL_CUSTOM)
        return true;
    if (!(p = cairn_bytes_take(b, 2)))
        return false;
    f->fixed = cairn_get16(p);
    return count == ETL_TL_FIXED_COUNT || cairn_bytes_take(b, f->fixed);
}

/* How the bytes of a field are read: by its type, and how the provider wants numbers to look. False: no such type. */
static bool type_of(const struct field *f, struct cairn_value_type *type)
{
    /* clang-format off */
    static const struct cairn_value_type types[] = {
        [ETL_TL_NULL] = {CAIRN_VALUE_NOTHING, 0},       [ETL_TL_UTF16] = {CAIRN_VALUE_TEXT, 2},
        [ETL_TL_ANSI] = {CAIRN_VALUE_TEXT, 1},          [ETL_TL_INT8] = {CAIRN_VALUE_SIGNED, 1},
        [ETL_TL_UINT8] = {CAIRN_VALUE_UNSIGNED, 1},     [ETL_TL_INT16] = {CAIRN_VALUE_SIGNED, 2},
        [ETL_TL_UINT16] = {CAIRN_VALUE_UNSIGNED, 2},    [ETL_TL_INT32] = {CAIRN_VALUE_SIGNED, 4},
        [ETL_TL_UINT32] = {CAIRN_VALUE_UNSIGNED, 4},    [ETL_TL_INT64] = {CAIRN_VALUE_SIGNED, 8},
        [ETL_TL_UINT64] = {CAIRN_VALUE_UNSIGNED, 8},    [ETL_TL_FLOAT] = {CAIRN_VALUE_FLOAT, 4},
        [ETL_TL_DOUBLE] = {CAIRN_VALUE_FLOAT, 8},       [ETL_TL_BOOL32] = {CAIRN_VALUE_BOOL, 4},
        [ETL_TL_BINARY] = {CAIRN_VALUE_BINARY, 1},      [ETL_TL_GUID] = {CAIRN_VALUE_GUID, 0},
        [ETL_TL_FILETIME] = {CAIRN_VALUE_FILETIME, 0},  [ETL_TL_SYSTEMTIME] = {CAIRN_VALUE_SYSTEMTIME, 0},
        [ETL_TL_SID] = {CAIRN_VALUE_SID, 0},            [ETL_TL_HEX32] = {CAIRN_VALUE_HEX, 4},
        [ETL_TL_HEX64] = {CAIRN_VALUE_HEX, 8},          [ETL_TL_COUNTED_UTF16] = {CAIRN_VALUE_COUNTED, 2},
        [ETL_TL_COUNTED_ANSI] = {CAIRN_VALUE_COUNTED, 1}, [ETL_TL_COUNTED_BINARY] = {CAIRN_VALUE_BINARY, 1},
    };
    /* clang-format on */
    const uint8_t in = f->in & ETL_TL_TYPE_MASK;
    if (in >= sizeof(types) / sizeof(types[0]) || (in && types[in].kind == CAIRN_VALUE_NOTHING))
        return false;
    *type = types[in];
    if (in == ETL_TL_BINARY && f->out == ETL_TL_OUT_IPV6)
        type->kind = CAIRN_VALUE_BINARY_IPV6;
    if (type->kind != CAIRN_VALUE_UNSIGNED && type->kind != CAIRN_VALUE_SIGNED)
        return true;
    switch (f->out) {
    case ETL_TL_OUT_STRING:
        type->kind = type->bytes <= 2 ? CAIRN_VALUE_CHARACTER : type->kind;
        break;
    case ETL_TL_OUT_BOOLEAN:
        type->kind = CAIRN_VALUE_BOOL;
        break;
    case ETL_TL_OUT_HEX:
    case ETL_TL_OUT_NTSTATUS:
    case ETL_TL_OUT_HRESULT:
    case ETL_TL_OUT_CODE_POINTER:
        type->kind = CAIRN_VALUE_HEX;
        break;
    case ETL_TL_OUT_PORT:
        type->kind = type->bytes == 2 ? CAIRN_VALUE_PORT : type->kind;
        break;
    case ETL_TL_OUT_IPV4:
        type->kind = type->bytes == 4 ? CAIRN_VALUE_IPV4 : type->kind;
        break;
    case ETL_TL_OUT_FILETIME:
        type->kind = type->bytes == 8 ? CAIRN_VALUE_FILETIME : type->kind;
        break;
    default:
        break;
    }
    return true;
}

/* ---- the payload ------------------------------------------------------------------------------------------------- */

static bool count_of(struct decoder *d, const struct field *f, uint32_t *count)
{
    const uint8_t *p;
    switch (f->in & ETL_TL_COUNT_MASK) {
    case ETL_TL_FIXED_COUNT:
        *count = f->fixed;
        return true;
    case ETL_TL_VARIABLE_COUNT:
        if (!(p = cairn_bytes_take(&d->payload, 2)))
            return false;
        *count = cairn_get16(p);
        return true;
    default:
        *count = 1;
        return true;
    }
}

static bool tell_array(struct decoder *d, struct cairn_value_type type, uint32_t count, const char *name)
{
    static const char more[] = ", ...";
    char all[CAIRN_VALUE_TEXT_MOST] = "[", one[CAIRN_VALUE_TEXT_MOST];
    size_t n = 1;
    bool whole = true;
    for (uint32_t i = 0; i < count; i++) {
        if (d->values++ >= VALUES_MOST || !cairn_value_take(one, &d->payload, type))
            return false;
        const size_t needs = strlen(one) + 2;
        if (whole && n + needs + sizeof(more) + 1 < sizeof(all))
            n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "", one);
        else if (whole)
            whole = false, n += (size_t)snprintf(all + n, sizeof(all) - n, "%s", more);
    }
    snprintf(all + n, sizeof(all) - n, "]");
    d->tell(d->to, name, all);
    return true;
}

static bool tell_value(struct decoder *d, const struct field *f, const char *name)
{
    char text[CAIRN_VALUE_TEXT_MOST];
    struct cairn_value_type type;
    uint32_t count;
    const bool custom = (f->in & ETL_TL_COUNT_MASK) == ETL_TL_CUSTOM;
    if (custom)
        type = (struct cairn_value_type){CAIRN_VALUE_BINARY, 1};
    else if (!type_of(f, &type))
        return false;
    if (!count_of(d, f, &count))
        return false;
    if (!custom && f->in & ETL_TL_COUNT_MASK)
        return tell_array(d, type, count, name);
    if (d->values++ >= VALUES_MOST || !cairn_value_take(text, &d->payload, type))
        return false;
    d->tell(d->to, name, text);
    return true;
}

static bool take_fields(struct decoder *d, uint32_t count, const char *outer, unsigned depth, bool told);

/* A structure has as many fields as its out type says, and each of its elements the same. */
static bool take_structure(struct decoder *d, const struct field *f, const char *name, unsigned depth, bool told)
{
    uint32_t count = 1;
    char element[CAIRN_VALUE_TEXT_MOST + 16];
    const struct cairn_bytes fields = d->schema;
    if (told && !count_of(d, f, &count))
        return false;
    const bool array = f->in & ETL_TL_COUNT_MASK;
    if (!told || !count)
        return take_fields(d, f->out, name, depth + 1, false);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(element, sizeof(element), array ? "%s[%u]" : "%s", name, i);
        d->schema = fields;
        if (d->values++ >= VALUES_MOST || !take_fields(d, f->out, element, depth + 1, true))
            return false;
    }
    return true;
}

/* `count` fields, or as many as are there; `told` false: only along the schema. */
static bool take_fields(struct decoder *d, uint32_t count, const char *outer, unsigned depth, bool told)
{
    struct field f;
    char name[CAIRN_VALUE_TEXT_MOST];
    if (depth > DEPTH_MOST)
        return false;
    for (uint32_t i = 0; i < count && (depth || d->schema.size); i++) {
        if (!take_field(&f, &d->schema))
            return false;
        const int n = snprintf(name, sizeof(name), "%.400s%s%.500s", outer, depth ? "." : "", f.name);
        if (n < 0 || (strlen(outer) > 400 || strlen(f.name) > 500))
            return false; /* no name is that long */
        const bool good = (f.in & ETL_TL_TYPE_MASK) == ETL_TL_STRUCT ? take_structure(d, &f, name, depth, told)
                                                                     : !told || tell_value(d, &f, name);
        if (!good)
            return false;
    }
    return true;
}

bool cairn_tracelogging_fields(struct cairn_bytes schema, struct cairn_bytes payload, cairn_tell_field *tell, void *to)
{
    struct decoder d = {.schema = schema, .payload = payload, .tell = tell, .to = to};
    char name[CAIRN_VALUE_TEXT_MOST];
    return take_head(name, &d.schema) && take_fields(&d, UINT32_MAX, "", 0, true) && !d.payload.size;
}
