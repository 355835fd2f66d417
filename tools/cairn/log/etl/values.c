/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/values.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/printable.h"
#include "tools/cairn/event/etl_layout.h"

#define MOST       CAIRN_VALUE_TEXT_MOST
#define IPV6_BYTES 16u

const uint8_t *cairn_bytes_take(struct cairn_bytes *b, uint32_t size)
{
    if (size > b->size)
        return NULL;
    const uint8_t *p = b->at;
    b->at += size;
    b->size -= size;
    return p;
}

uint32_t cairn_value_text_at(char *out, uint32_t room, struct cairn_bytes description, uint32_t offset)
{
    out[0] = '\0';
    if (!offset || offset >= description.size)
        return 0;
    const uint32_t left = description.size - offset, most = left < 2 * room ? left : 2 * room;
    const uint32_t bytes = cairn_printable(out, room, description.at + offset, most, 2);
    for (size_t n = strlen(out); n && out[n - 1] == ' '; n--)
        out[n - 1] = '\0';
    return bytes >= 2 && !cairn_get16(description.at + offset + bytes - 2) ? bytes : 0;
}

const char *cairn_guid_text(char out[CAIRN_GUID_TEXT], const uint8_t *guid)
{
    int n = snprintf(out, CAIRN_GUID_TEXT, "{%08" PRIx32 "-%04x-%04x-", cairn_get32(guid), cairn_get16(guid + 4),
                     cairn_get16(guid + 6));
    for (unsigned i = 8; i < 16; i++)
        n += snprintf(out + n, CAIRN_GUID_TEXT - (size_t)n, "%s%02x", i == 10 ? "-" : "", guid[i]);
    snprintf(out + n, CAIRN_GUID_TEXT - (size_t)n, "}");
    return out;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static uint64_t number(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, p, bytes);
    return value;
}

static void show_signed(char *out, uint64_t value, unsigned bytes)
{
    const unsigned shift = 64 - 8 * bytes;
    snprintf(out, MOST, "%" PRId64, (int64_t)(value << shift) >> shift);
}

/* One that is not shown is its number; so is a byte beyond ASCII, whose code page nobody knows. */
static void show_character(char *out, uint32_t c, unsigned bytes)
{
    char text[4];
    const unsigned n = cairn_printable_put(text, c);
    if ((bytes == 1 && n > 1) || memcmp(text, CAIRN_NOT_SHOWN, n) == 0)
        snprintf(out, MOST, "0x%" PRIx32, c);
    else
        snprintf(out, MOST, "'%.*s'", (int)n, text);
}

static void show_float(char *out, const uint8_t *p, unsigned bytes)
{
    float single;
    double wide;
    if (bytes == sizeof(single)) {
        memcpy(&single, p, sizeof(single));
        wide = (double)single;
    } else {
        memcpy(&wide, p, sizeof(wide));
    }
    snprintf(out, MOST, "%.9g", wide);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

static void show_filetime(char *out, uint64_t value)
{
    char text[32];
    struct tm tm;
    const time_t seconds = (time_t)(value / 10000000) - (time_t)INT64_C(11644473600);
    if (value <= INT64_MAX && gmtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(out, MOST, "%s.%07" PRIu64, text, value % 10000000);
    else
        snprintf(out, MOST, "0x%" PRIx64, value);
}

/* SYSTEMTIME: words of year, month, day of the week, day, hour, minute, second, millisecond. */
static void show_systemtime(char *out, const uint8_t *p)
{
    snprintf(out, MOST, "%04u-%02u-%02u %02u:%02u:%02u.%03u", cairn_get16(p), cairn_get16(p + 2), cairn_get16(p + 6),
             cairn_get16(p + 8), cairn_get16(p + 10), cairn_get16(p + 12), cairn_get16(p + 14));
}

/* ---- what has no fixed size -------------------------------------------------------------------------------------- */

static bool take_text(char *out, struct cairn_bytes *b, unsigned character)
{
    uint32_t size = 0;
    bool ends = false;
    while (!ends && b->size - size >= character) {
        ends = !b->at[size] && (character == 1 || !b->at[size + 1]);
        size += character;
    }
    cairn_printable(out, MOST, cairn_bytes_take(b, size), size, character);
    return ends || !b->size;
}

static void show_binary(char *out, const uint8_t *p, uint32_t size)
{
    size_t n = (size_t)snprintf(out, MOST, "0x");
    for (uint32_t i = 0; i < size && n + 6 < MOST; i++)
        n += (size_t)snprintf(out + n, MOST - n, "%02x%s", p[i], i + 1 < size && n + 8 >= MOST ? "..." : "");
}

bool cairn_value_sized(char out[MOST], struct cairn_bytes *b, struct cairn_value_type type, uint32_t size)
{
    const uint8_t *p = cairn_bytes_take(b, size);
    if (!p)
        return false;
    if (type.kind == CAIRN_VALUE_TEXT || type.kind == CAIRN_VALUE_COUNTED || type.kind == CAIRN_VALUE_REVERSED ||
        type.kind == CAIRN_VALUE_REST)
        cairn_printable(out, MOST, p, size, type.bytes);
    else if (type.kind == CAIRN_VALUE_BINARY_IPV6 && size == IPV6_BYTES)
        inet_ntop(AF_INET6, p, out, MOST);
    else
        show_binary(out, p, size);
    return true;
}

static bool take_counted(char *out, struct cairn_bytes *b, struct cairn_value_type type)
{
    struct cairn_bytes rest = *b;
    const bool wide = type.kind == CAIRN_VALUE_HEX_DUMP, reversed = type.kind == CAIRN_VALUE_REVERSED;
    const uint8_t *p = cairn_bytes_take(&rest, wide ? 4 : 2);
    if (!p)
        return false;
    const uint32_t size = wide ? cairn_get32(p) : reversed ? (uint32_t)(p[0] << 8 | p[1]) : cairn_get16(p);
    if (!cairn_value_sized(out, &rest, type, size))
        return false;
    *b = rest;
    return true;
}

/* SID: revision, number of subauthorities, authority (6 bytes, the highest first), subauthorities. */
static bool take_sid(char *out, struct cairn_bytes *b)
{
    const bool told = b->size >= 2 && b->at[1] <= ETL_SID_SUBAUTHORITIES_MOST;
    const uint32_t size = told ? ETL_SID_BYTES((uint32_t)b->at[1]) : UINT32_MAX;
    const uint8_t *p = cairn_bytes_take(b, size);
    uint64_t authority = 0;
    if (!p)
        return false;
    for (unsigned i = 2; i < 8; i++)
        authority = authority << 8 | p[i];
    size_t n = (size_t)snprintf(out, MOST, "S-%u-%" PRIu64, p[0], authority);
    for (uint32_t at = ETL_SID_BYTES(0); at < size; at += 4)
        n += (size_t)snprintf(out + n, MOST - n, "-%" PRIu32, cairn_get32(p + at));
    return true;
}

/* Behind TOKEN_USER; or a word that is 0, and no SID. */
static bool take_token_sid(char *out, struct cairn_bytes *b, unsigned pointer)
{
    if (b->size >= 4 && !cairn_get32(b->at))
        return cairn_bytes_take(b, 4);
    return cairn_bytes_take(b, ETL_TOKEN_USER(pointer)) && take_sid(out, b);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static uint32_t fixed_bytes(struct cairn_value_type type)
{
    static const uint8_t bytes[] = {
        [CAIRN_VALUE_GUID] = 16, [CAIRN_VALUE_FILETIME] = 8, [CAIRN_VALUE_SYSTEMTIME] = 16,
        [CAIRN_VALUE_PORT] = 2,  [CAIRN_VALUE_IPV4] = 4,     [CAIRN_VALUE_IPV6] = IPV6_BYTES,
    };
    return type.kind < sizeof(bytes) && bytes[type.kind] ? bytes[type.kind] : type.bytes;
}

bool cairn_value_take(char out[MOST], struct cairn_bytes *b, struct cairn_value_type type)
{
    char guid[CAIRN_GUID_TEXT];
    out[0] = '\0';
    switch ((enum cairn_value)type.kind) {
    case CAIRN_VALUE_NOTHING:
        return true;
    case CAIRN_VALUE_TEXT:
        return take_text(out, b, type.bytes);
    case CAIRN_VALUE_COUNTED:
    case CAIRN_VALUE_BINARY:
    case CAIRN_VALUE_BINARY_IPV6:
    case CAIRN_VALUE_REVERSED:
    case CAIRN_VALUE_HEX_DUMP:
        return take_counted(out, b, type);
    case CAIRN_VALUE_REST:
        return cairn_value_sized(out, b, type, b->size - b->size % type.bytes);
    case CAIRN_VALUE_SID:
        return take_sid(out, b);
    case CAIRN_VALUE_TOKEN_SID:
        return take_token_sid(out, b, type.bytes);
    default:
        break;
    }
    const uint8_t *p = cairn_bytes_take(b, fixed_bytes(type));
    if (!p)
        return false;
    switch ((enum cairn_value)type.kind) {
    case CAIRN_VALUE_SIGNED:
        show_signed(out, number(p, type.bytes), type.bytes);
        break;
    case CAIRN_VALUE_HEX:
        snprintf(out, MOST, "0x%" PRIx64, number(p, type.bytes));
        break;
    case CAIRN_VALUE_CHARACTER:
        show_character(out, (uint32_t)number(p, type.bytes), type.bytes);
        break;
    case CAIRN_VALUE_BOOL:
        snprintf(out, MOST, "%s", number(p, type.bytes) ? "true" : "false");
        break;
    case CAIRN_VALUE_FLOAT:
        show_float(out, p, type.bytes);
        break;
    case CAIRN_VALUE_GUID:
        snprintf(out, MOST, "%s", cairn_guid_text(guid, p));
        break;
    case CAIRN_VALUE_FILETIME:
        show_filetime(out, cairn_get64(p));
        break;
    case CAIRN_VALUE_SYSTEMTIME:
        show_systemtime(out, p);
        break;
    case CAIRN_VALUE_PORT:
        snprintf(out, MOST, "%u", p[0] << 8 | p[1]);
        break;
    case CAIRN_VALUE_IPV4:
        snprintf(out, MOST, "%u.%u.%u.%u", p[0], p[1], p[2], p[3]);
        break;
    case CAIRN_VALUE_IPV6:
        inet_ntop(AF_INET6, p, out, MOST);
        break;
    default:
        snprintf(out, MOST, "%" PRIu64, number(p, type.bytes));
    }
    return true;
}
