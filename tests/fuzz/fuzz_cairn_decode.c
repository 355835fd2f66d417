/* SPDX-License-Identifier: MIT */
/* `cairn decode`: the input is a file of bytes or of text, which is read in both orders, and then guessed at. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/decode/guess.h"
#include "tools/cairn/decode/text.h"
#include "tools/pebs/pebs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void guess_at(const uint8_t *bytes, size_t size)
{
    static const unsigned formats[] = {0, 1, 2, 3, 4, 5, 6, CAIRN_PEBS_ARCH, CAIRN_PEBS_BTS, CAIRN_GUESS_AREA};
    struct cairn_guess g;
    uint8_t *copy = malloc(size + !size); /* exactly as large: reading beyond it is seen */
    if (!copy)
        abort();
    if (size)
        memcpy(copy, bytes, size);
    for (unsigned i = 0; i <= sizeof(formats) / sizeof(formats[0]); i++) {
        const bool any = i == sizeof(formats) / sizeof(formats[0]);
        cairn_guess(&g, copy, size, any ? UINT64_MAX : cairn_guess_bit(formats[i]));
        if (g.begin > g.end || g.end > size || (g.sure && !any && g.format != formats[i]))
            abort();
        if (!g.sure || g.format == CAIRN_GUESS_AREA)
            continue;
        /* what it says is there */
        struct cairn_pebs_buffer b;
        struct cairn_pebs_record r;
        cairn_pebs_open(&b, g.format, copy + g.begin, g.end - g.begin);
        while (cairn_pebs_record(&b, &r) == 1)
            g.records--;
        if (g.records || b.at != g.end - g.begin)
            abort();
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cairn_bytes b;
    if (size > 16384)
        return 0;
    char *text = malloc(size + !size);
    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    for (int other = 0; other < 2; other++) {
        cairn_bytes_read(&b, text, size, other);
        if (!b.text && (b.count != size || b.line))
            abort();
        if (b.count <= 65536) /* repeated lines may be many */
            guess_at(b.items, b.count);
        cairn_bytes_free(&b);
    }
    free(text);
    return 0;
}
