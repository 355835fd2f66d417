/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/tracelogging.h"

#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/log/etl/value_types.h"

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

/* How the bytes of a field are read. False: no such type. */
static bool type_of(const struct field *f, struct cairn_value_type *type)
{
    static const uint8_t looks[] = {
        [ETL_TL_OUT_STRING] = CAIRN_VALUE_CHARACTER,  [ETL_TL_OUT_BOOLEAN] = CAIRN_VALUE_BOOL,
        [ETL_TL_OUT_HEX] = CAIRN_VALUE_HEX,           [ETL_TL_OUT_PORT] = CAIRN_VALUE_PORT,
        [ETL_TL_OUT_IPV4] = CAIRN_VALUE_IPV4,         [ETL_TL_OUT_IPV6] = CAIRN_VALUE_BINARY_IPV6,
        [ETL_TL_OUT_NTSTATUS] = CAIRN_VALUE_HEX,      [ETL_TL_OUT_HRESULT] = CAIRN_VALUE_HEX,
        [ETL_TL_OUT_FILETIME] = CAIRN_VALUE_FILETIME, [ETL_TL_OUT_CODE_POINTER] = CAIRN_VALUE_HEX,
    };
    const enum cairn_value look = f->out < sizeof(looks) ? (enum cairn_value)looks[f->out] : CAIRN_VALUE_NOTHING;
    return cairn_value_type_of(type, f->in & ETL_TL_TYPE_MASK, 0, look);
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
    struct cairn_value_list list = {.used = 0};
    char one[CAIRN_VALUE_TEXT_MOST];
    for (uint32_t i = 0; i < count; i++) {
        if (d->values++ >= VALUES_MOST || !cairn_value_take(one, &d->payload, type))
            return false;
        cairn_value_list_add(&list, one);
    }
    d->tell(d->to, name, cairn_value_list_text(&list));
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
