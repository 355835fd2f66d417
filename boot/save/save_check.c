/* SPDX-License-Identifier: MIT */
#include "boot/save/save_check.h"

#include <stdbool.h>

#include "kernel/lib/crc32c.h"

const char *save_words(uint32_t refusal)
{
    static const char *const words[SAVE_REFUSALS] = {
        [SAVE_GOOD] = "nothing is wrong with it",
        [SAVE_BAD_NOTE] = "the file that leads to it, cairn.run, is damaged",
        [SAVE_TAKEN] = "the firmware uses its memory now",
        [SAVE_ABSENT] = "it is no longer in memory: the machine was without power, another system has run, or the "
                        "firmware clears or scrambles memory",
        [SAVE_OTHER_VERSION] = "it was written by another version of Cairn",
        [SAVE_BAD_HEADER] = "its header is damaged: the firmware has used a part of its memory",
        [SAVE_OTHER_RUN] = "what is in memory is stale: of another run",
        [SAVE_HALF_WRITTEN] = "it is half-written: the machine was reset before the run had ended",
        [SAVE_ALREADY] = "what is in memory is stale: it has been saved already",
        [SAVE_BAD_TEXT] = "it is damaged: the firmware has used a part of its memory",
        [SAVE_OTHER_MACHINE] = "it is of another machine",
    };
    return refusal < SAVE_REFUSALS ? words[refusal] : "a reason that this version of Cairn does not know";
}

/* They can be printed, and zeros follow. */
static bool are_words(const char words[SAVE_MACHINE])
{
    size_t n = 0;
    while (n < SAVE_MACHINE - 1 && words[n] >= ' ' && words[n] <= '~')
        n++;
    while (n < SAVE_MACHINE && words[n] == 0)
        n++;
    return n == SAVE_MACHINE;
}

enum save_refusal save_check_note(const struct save_note *v, size_t size, const char machine[SAVE_MACHINE])
{
    if (size != sizeof(*v) || v->version != SAVE_VERSION || !are_words(v->machine))
        return SAVE_BAD_NOTE;
    for (size_t i = 0; i < SAVE_MACHINE; i++)
        if (v->machine[i] != machine[i])
            return SAVE_OTHER_MACHINE;
    if (v->told)
        return SAVE_GOOD;
    const uint64_t least = UINT64_C(1) << 20, most = (uint64_t)SAVE_MIB_MAX << 20;
    if (!v->address || v->address % SAVE_HEADER_BYTES || v->bytes < least || v->bytes > most ||
        v->bytes % SAVE_HEADER_BYTES || v->address > UINT64_MAX - v->bytes)
        return SAVE_BAD_NOTE;
    return SAVE_GOOD;
}

uint32_t save_header_crc(const struct save_header *h)
{
    static const uint32_t zero;
    const size_t at = offsetof(struct save_header, crc), behind = at + sizeof(h->crc);
    uint32_t crc = kcrc32c(0, h, at);
    crc = kcrc32c(crc, &zero, sizeof(zero));
    return kcrc32c(crc, (const uint8_t *)h + behind, sizeof(*h) - behind);
}

uint32_t save_pieces(uint64_t used)
{
    return (uint32_t)((used + SAVE_PIECE - 1) / SAVE_PIECE);
}

uint32_t save_piece_crc(const struct save_header *h, const uint8_t *text, uint32_t n)
{
    const uint64_t at = n * SAVE_PIECE, rest = h->used - at;
    return kcrc32c(0, text + at, rest < SAVE_PIECE ? rest : SAVE_PIECE);
}

enum save_refusal save_check_header(const struct save_header *h, const struct save_note *v)
{
    if (h->magic != SAVE_MAGIC)
        return SAVE_ABSENT;
    if (h->version != SAVE_VERSION || h->header_bytes != SAVE_HEADER_BYTES)
        return SAVE_OTHER_VERSION;
    if (h->crc != save_header_crc(h))
        return SAVE_BAD_HEADER;
    if (h->nonce != v->nonce)
        return SAVE_OTHER_RUN;
    if (h->address != v->address || h->bytes != v->bytes)
        return SAVE_BAD_HEADER;
    switch (h->state) {
    case SAVE_WRITING:
        return SAVE_HALF_WRITTEN;
    case SAVE_SAVED:
        return SAVE_ALREADY;
    case SAVE_COMPLETE:
        return h->used && h->used <= h->bytes - SAVE_HEADER_BYTES ? SAVE_GOOD : SAVE_BAD_HEADER;
    default:
        return SAVE_BAD_HEADER;
    }
}

enum save_refusal save_check_text(const struct save_header *h, const uint8_t *text, uint32_t *bad, uint32_t *first)
{
    const uint32_t pieces = save_pieces(h->used);
    *bad = 0;
    *first = 0;
    for (uint32_t n = 0; n < pieces; n++)
        if (save_piece_crc(h, text, n) != h->piece_crc[n] && !(*bad)++)
            *first = n;
    return *bad ? SAVE_BAD_TEXT : SAVE_GOOD;
}
