/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/lz77.h"

#include <stdbool.h>

#include "tools/cairn/base/bytes.h"

#define LENGTH_BITS  3
#define LENGTH_MORE  7u   /* in the match: four bits more follow */
#define NIBBLE_MORE  15u  /* in those: a byte more */
#define BYTE_MORE    255u /* in that: two bytes that are all of the length, or are 0 before four that are */
#define LENGTH_LEAST 3u

struct lz77 {
    const uint8_t *at, *end;
    const uint8_t *nibble; /* whose upper four bits are the next length's; NULL: none */
};

static bool take(struct lz77 *z, void *value, size_t bytes)
{
    if ((size_t)(z->end - z->at) < bytes)
        return false;
    memcpy(value, z->at, bytes);
    z->at += bytes;
    return true;
}

/* The rest of a length whose three bits in the match were not enough. */
static bool long_length(struct lz77 *z, uint64_t *length)
{
    uint8_t byte;
    uint16_t word;
    uint32_t all;
    if (z->nibble) {
        *length = *z->nibble >> 4;
        z->nibble = NULL;
    } else {
        z->nibble = z->at;
        if (!take(z, &byte, sizeof(byte)))
            return false;
        *length = byte & NIBBLE_MORE;
    }
    if (*length < NIBBLE_MORE) {
        *length += LENGTH_MORE;
        return true;
    }
    if (!take(z, &byte, sizeof(byte)))
        return false;
    *length = (uint64_t)byte + NIBBLE_MORE + LENGTH_MORE;
    if (byte < BYTE_MORE)
        return true;
    if (!take(z, &word, sizeof(word)))
        return false;
    *length = word;
    if (word == 0) {
        if (!take(z, &all, sizeof(all)))
            return false;
        *length = all;
    }
    return *length >= NIBBLE_MORE + LENGTH_MORE;
}

size_t cairn_lz77_decode(const uint8_t *in, size_t size, uint8_t *out, size_t room)
{
    struct lz77 z = {.at = in, .end = in + size};
    uint32_t flags = 0;
    unsigned left = 0;
    size_t done = 0;
    while (done < room) {
        if (left == 0) {
            if (!take(&z, &flags, sizeof(flags)))
                break;
            left = 32;
        }
        if (!(flags >> --left & 1)) {
            if (!take(&z, &out[done], 1))
                break;
            done++;
            continue;
        }
        uint16_t match;
        if (!take(&z, &match, sizeof(match)))
            break;
        uint64_t length = match & ((1u << LENGTH_BITS) - 1);
        size_t distance = ((size_t)match >> LENGTH_BITS) + 1;
        if ((length == LENGTH_MORE && !long_length(&z, &length)) || distance > done)
            break;
        for (length += LENGTH_LEAST; length && done < room; length--, done++)
            out[done] = out[done - distance];
    }
    return done;
}
