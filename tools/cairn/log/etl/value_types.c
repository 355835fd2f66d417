/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/value_types.h"

#include <stdio.h>
#include <string.h>

#include "tools/cairn/event/etl_layout.h"

/* Whether a whole number of so many bytes may be shown so. */
static bool fits(unsigned bytes, enum cairn_value look)
{
    switch (look) {
    case CAIRN_VALUE_BOOL:
    case CAIRN_VALUE_HEX:
        return true;
    case CAIRN_VALUE_CHARACTER:
        return bytes <= 2;
    case CAIRN_VALUE_PORT:
        return bytes == 2;
    case CAIRN_VALUE_IPV4:
        return bytes == 4;
    case CAIRN_VALUE_FILETIME:
        return bytes == 8;
    default:
        return false;
    }
}

bool cairn_value_type_of(struct cairn_value_type *type, uint16_t in, unsigned pointer, enum cairn_value look)
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
    if (in == ETL_TL_POINTER && pointer) {
        *type = (struct cairn_value_type){CAIRN_VALUE_HEX, (uint8_t)pointer};
        return true;
    }
    if (in >= sizeof(types) / sizeof(types[0]) || (in && types[in].kind == CAIRN_VALUE_NOTHING))
        return false;
    *type = types[in];
    const bool whole = type->kind == CAIRN_VALUE_UNSIGNED || type->kind == CAIRN_VALUE_SIGNED;
    const bool address = type->kind == CAIRN_VALUE_BINARY && look == CAIRN_VALUE_BINARY_IPV6;
    if (address || (whole && fits(type->bytes, look)))
        type->kind = (uint8_t)look;
    return true;
}

void cairn_value_list_add(struct cairn_value_list *l, const char *value)
{
    static const char more[] = ", ...";
    const size_t needs = strlen(value) + 2, left = sizeof(l->text) - l->used;
    if (l->cut)
        return;
    l->cut = needs + sizeof(more) + 1 >= left;
    l->used += (size_t)snprintf(l->text + l->used, left, "%s%s", l->any && !l->cut ? ", " : "", l->cut ? more : value);
    l->any = true;
}

const char *cairn_value_list_text(struct cairn_value_list *l)
{
    char inner[CAIRN_VALUE_TEXT_MOST];
    memcpy(inner, l->text, sizeof(inner));
    snprintf(l->text, sizeof(l->text), "[%.*s]", (int)l->used, inner);
    return l->text;
}
