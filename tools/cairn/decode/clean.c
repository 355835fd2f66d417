/* SPDX-License-Identifier: MIT */
#include "tools/cairn/decode/clean.h"

#include <stdbool.h>
#include <string.h>

#include "tools/cairn/base/slice.h"
#include "tools/cairn/decode/reader.h"

#define JOINED_FEWEST 8u /* bytes: a time of day has 3, an address in Ethernet 6 */

size_t cairn_in_ascii(char *copy, const char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        const size_t bytes = cairn_utf8((const uint8_t *)text + i, size - i);
        if (bytes > 1) {
            copy[n++] = memcmp(text + i, "\xC2\xA0", 2) == 0 ? ' ' : CAIRN_BEYOND; /* U+00A0, no-break space */
            i += bytes - 1;
        } else if (text[i] == '\033' && i + 1 < size && text[i + 1] == '[') {
            for (i += 2; i < size && (text[i] < '@' || text[i] > '~'); i++)
                ;
        } else if (text[i] != '\033') {
            copy[n++] = text[i];
        }
    }
    return n;
}

/* Where the pager's text at `at` ends, with the key that was pressed; `at`: it is none. */
static char *pager_end(char *at, const char *end)
{
    static const char *const said[] = {"--Type <RET> for more, q to quit, c to continue without paging--",
                                       "---Type <return> to continue, or q <return> to quit---"};
    for (unsigned i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        const size_t n = strlen(said[i]);
        if ((size_t)(end - at) >= n && memcmp(at, said[i], n) == 0)
            return at + n + (end - at - n > 1 && at[n] == 'c' && strchr("\r\n0", at[n + 1]));
    }
    return at;
}

static bool is_byte(const char *at, const char *end)
{
    return end - at >= 2 && cairn_hex_digit(at[0]) >= 0 && cairn_hex_digit(at[1]) >= 0;
}

/* Where bytes at `at` end that the same sign joins; `at`: there are none. */
static char *joined_end(char *at, const char *end)
{
    char *p = at + 2;
    if (!is_byte(at, end) || p == end || !strchr(":-", *p))
        return at;
    for (const char sign = *p; p < end && *p == sign && is_byte(p + 1, end); p += 3)
        ;
    return (size_t)(p - at) < 3 * JOINED_FEWEST - 1 ? at : p;
}

/* Where a number with 0x in quotes ends, with the last one; `at`: there is none. */
static char *quoted_end(char *at, const char *end)
{
    char *p = at + 3;
    if (end - at < 5 || !strchr("'\"", *at) || at[1] != '0' || (at[2] | 32) != 'x')
        return at;
    while (p < end && cairn_hex_digit(*p) >= 0)
        p++;
    return p > at + 3 && p < end && *p == *at ? p + 1 : at;
}

void cairn_clean(char *text, const char *end)
{
    for (char *at = text, *next; at < end; at = next + (next == at)) {
        if ((next = pager_end(at, end)) > at) {
            memset(at, ' ', (size_t)(next - at));
        } else if ((next = joined_end(at, end)) > at) {
            for (char *p = at + 2; p < next; p += 3)
                *p = ' ';
        } else if ((next = quoted_end(at, end)) > at) {
            *at = next[-1] = ' ';
        }
    }
}
