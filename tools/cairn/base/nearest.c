/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/nearest.h"

#include <string.h>

enum { MOST = 24 };

static unsigned least_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The distance of Damerau and Levenshtein; MOST for a word that is too long. */
static unsigned differences(const char *a, const char *b)
{
    unsigned d[MOST][MOST];
    const unsigned m = (unsigned)strnlen(a, MOST), n = (unsigned)strnlen(b, MOST);
    if (m == MOST || n == MOST)
        return MOST;
    for (unsigned i = 0; i <= m; i++)
        for (unsigned j = 0; j <= n; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            const unsigned changed = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = least_of(changed, least_of(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least_of(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[m][n];
}

const char *cairn_nearest(const char *word, const char *(*name)(size_t i, const void *context), const void *context)
{
    const char *near = NULL, *candidate;
    unsigned least = 3; /* more is another word */
    for (size_t i = 0; (candidate = name(i, context)); i++) {
        const unsigned d = differences(word, candidate);
        if (d < least && d < strlen(word)) {
            least = d;
            near = candidate;
        }
    }
    return near;
}
