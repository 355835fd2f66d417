/* SPDX-License-Identifier: MIT */
/* The values in an event's payload, which follow one another, as text. Nothing beyond the payload is read. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cairn_bytes { /* what is left of it */
    const uint8_t *at;
    uint32_t size;
};

enum cairn_value {
    CAIRN_VALUE_NOTHING,
    CAIRN_VALUE_UNSIGNED, /* of 1, 2, 4 or 8 bytes; as the next four */
    CAIRN_VALUE_SIGNED,
    CAIRN_VALUE_HEX,
    CAIRN_VALUE_BOOL,
    CAIRN_VALUE_CHARACTER,
    CAIRN_VALUE_FLOAT,       /* of 4 or 8 bytes */
    CAIRN_VALUE_TEXT,        /* of characters of 1 or 2 bytes, up to their 0 or the payload's end; as the next */
    CAIRN_VALUE_COUNTED,     /* behind a word that has its bytes */
    CAIRN_VALUE_BINARY,      /* the same, no text: bytes in hexadecimal */
    CAIRN_VALUE_BINARY_IPV6, /* the same; 16 of them are an address */
    CAIRN_VALUE_REVERSED,    /* as CAIRN_VALUE_COUNTED; the word has its high byte first */
    CAIRN_VALUE_HEX_DUMP,    /* as CAIRN_VALUE_BINARY, behind 4 bytes */
    CAIRN_VALUE_REST,        /* text to the end of the payload */
    CAIRN_VALUE_GUID,
    CAIRN_VALUE_FILETIME,
    CAIRN_VALUE_SYSTEMTIME,
    CAIRN_VALUE_SID,
    CAIRN_VALUE_TOKEN_SID, /* behind two pointers, of `bytes` each */
    CAIRN_VALUE_PORT,      /* in the order of the network; as the next two */
    CAIRN_VALUE_IPV4,
    CAIRN_VALUE_IPV6,
};

struct cairn_value_type {
    uint8_t kind;  /* enum cairn_value */
    uint8_t bytes; /* of a number or a character, where a kind has several */
};

/* Text is UTF-8. If it is longer than this, it ends in "...". */
#define CAIRN_VALUE_TEXT_MOST 1024u

/* Takes `size` bytes off. NULL: there are fewer, and nothing is taken. */
const uint8_t *cairn_bytes_take(struct cairn_bytes *bytes, uint32_t size);
/* Takes one value off as text. False: there are too few bytes for it. */
bool cairn_value_take(char out[CAIRN_VALUE_TEXT_MOST], struct cairn_bytes *bytes, struct cairn_value_type type);
/* The same of `size` bytes, of a kind of text or bytes; no word is before them. */
bool cairn_value_sized(char out[CAIRN_VALUE_TEXT_MOST], struct cairn_bytes *bytes, struct cairn_value_type type,
                       uint32_t size);
/* The UTF-16 text at an offset of a description, "" where there is none; without blanks at its end. Returns its bytes
 * with its 0; 0: it has none within the room. */
uint32_t cairn_value_text_at(char *out, uint32_t room, struct cairn_bytes description, uint32_t offset);
/* As the registry writes it: 16 bytes. */
#define CAIRN_GUID_TEXT 40u
const char *cairn_guid_text(char out[CAIRN_GUID_TEXT], const uint8_t *guid);

/* Who takes the fields of an event, one call for each, in their order. */
typedef void cairn_tell_field(void *to, const char *name, const char *value);
