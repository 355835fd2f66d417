/* SPDX-License-Identifier: MIT */
/* Proofs about base64 (kernel/lib/base64.h). */
#include "kernel/lib/base64.h"
#include "tools/cairn/base/crc_base64.h"

#define MOST 96u
static uint8_t bytes[MOST], back[MOST];
static char text[KBASE64_SIZE(MOST)];

void base64_encode(void)
{
    const size_t size = Frama_C_size_t_interval(0, MOST);
    PROVE_ANY(bytes);
    //@ split size;
    const size_t characters = kbase64_encode(PROVE_LAST(text, KBASE64_SIZE(size)), PROVE_LAST(bytes, size), size);
    //@ check size: characters == KBASE64_SIZE(size);
    PROVE_END();
}

void base64_decode(void)
{
    const size_t size = Frama_C_size_t_interval(0, sizeof(text));
    PROVE_ANY(text);
    //@ split size;
    const long n = cairn_base64_plain(PROVE_LAST(back, size / 4 * 3), PROVE_LAST(text, size), size);
    //@ check size: n == -EINVAL || 0 <= n <= size / 4 * 3;
    PROVE_END();
}

/* An error on purpose: for the larger of two sizes a byte too many. */
void base64_error(void)
{
    const size_t size = sizeof(text) / 2 * (size_t)Frama_C_interval_split(1, 2);
    PROVE_ANY(text);
    cairn_base64_plain(back + 1, text, size);
    PROVE_END();
}
