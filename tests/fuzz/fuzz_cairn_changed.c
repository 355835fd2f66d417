/* SPDX-License-Identifier: MIT */
/*
 * Two logs that differ little: what `cairn diff` says of them, and one that is the other when it is read again. The
 * input is a byte, so many changes (its low bits), then of each three bytes, then payloads of frames (fuzz_frames). A
 * change is where (two bytes) and the byte that is there then; the number's high bit: the checksums agree all the
 * same, as somebody can bring about who wants to.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/log.h"
#include "tests/fuzz/read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t changes = size ? data[0] & 0x0F : 0, head = 1 + 3 * changes;
    size_t before_size, after_size;
    if (size < head + 4)
        return 0;
    uint8_t *changed = malloc(size - head);
    if (!changed)
        abort();
    memcpy(changed, data + head, size - head);
    for (size_t i = 0; i < changes; i++)
        changed[(data[1 + 3 * i] | (size_t)data[2 + 3 * i] << 8) % (size - head)] = data[3 + 3 * i];
    char *before = fuzz_frames(data + head, size - head, &before_size);
    char *after = fuzz_frames(changed, size - head, &after_size);
    fuzz_compare(before, before_size, after, after_size);
    fuzz_read_changed(before, before_size, after, after_size, data[0] & 0x80);
    free(before);
    free(after);
    free(changed);
    return 0;
}
