/* SPDX-License-Identifier: MIT */
/*
 * What the loader believes of the memory that a run before it has left: the input is the note, then the area from
 * its header on. It is tried as it is and, so that fields are looked at and not only checksums, with the header's CRC
 * and the note's copies set right. Whatever is good must lie inside the area, and must not be good any more with a
 * byte changed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "boot/save/save_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text is as long as the input has it: a longer one would be read beyond its end, and is not looked at. */
static void try(const struct save_note *v, struct save_header *h, uint8_t *text, size_t room)
{
    uint32_t bad, first;
    enum save_refusal why = save_check_header(h, v);
    if (why >= SAVE_REFUSALS || !save_words(why)[0])
        abort();
    if (why)
        return;
    if (!h->used || h->used > h->bytes - SAVE_HEADER_BYTES || h->bytes != v->bytes ||
        save_pieces(h->used) > SAVE_MIB_MAX)
        abort();
    if (h->used > room)
        return;
    why = save_check_text(h, text, &bad, &first);
    if ((why != SAVE_GOOD) != (bad != 0) || bad > save_pieces(h->used) || first >= save_pieces(h->used))
        abort();
    for (uint32_t n = 0; n < save_pieces(h->used); n++)
        h->piece_crc[n] = save_piece_crc(h, text, n);
    text[h->used - 1] ^= 1;
    if (save_check_text(h, text, &bad, &first) != SAVE_BAD_TEXT || bad != 1 || first != save_pieces(h->used) - 1)
        abort();
    text[h->used - 1] ^= 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char fuzzer[SAVE_MACHINE] = "the fuzzer's";
    struct save_note v = {0};
    static struct save_header h;
    const size_t some = size < sizeof v ? size : sizeof v;
    memcpy(&v, data, some);
    enum save_refusal why = save_check_note(&v, some, fuzzer);
    if (why == SAVE_OTHER_MACHINE) { /* but for the one that has written it */
        if (strnlen(v.machine, sizeof v.machine) == sizeof v.machine)
            abort();
        why = save_check_note(&v, some, v.machine);
    }
    if (why == SAVE_OTHER_MACHINE)
        abort();
    if (why || v.told) {
        if (!save_words(v.told)[0])
            abort();
        return 0;
    }
    data += some;
    size -= some;
    const size_t head = size < sizeof h ? size : sizeof h;
    memset(&h, 0, sizeof h);
    memcpy(&h, data, head);
    uint8_t *text = malloc(size - head + 1); /* hardly larger: reading beyond it is seen */
    if (!text)
        abort();
    memcpy(text, data + head, size - head);

    try(&v, &h, text, size - head);
    h.magic = SAVE_MAGIC;
    h.version = SAVE_VERSION;
    h.header_bytes = SAVE_HEADER_BYTES;
    h.nonce = v.nonce;
    h.address = v.address;
    h.bytes = v.bytes;
    h.crc = save_header_crc(&h);
    try(&v, &h, text, size - head);
    h.state = SAVE_COMPLETE;
    h.used = size - head;
    h.crc = save_header_crc(&h);
    try(&v, &h, text, size - head);
    free(text);
    return 0;
}
