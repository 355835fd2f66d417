/* SPDX-License-Identifier: MIT */
/*
 * The reader behind the checksum: the input is cut into payloads, each of which becomes an intact frame. Every payload
 * is two bytes: stream (letter by its low bits), number to skip (high bits); two bytes: size; then itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/read_all.h"
#include "trace/base64.h"
#include "trace/crc32c.h"
#include "trace/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *log = malloc(size * 2 + (size / 4 + 1) * (CAIRN_FRAME_OVERHEAD + 8));
    size_t used = 0;
    uint32_t number = 0;
    if (!log)
        abort();
    while (size >= 4) {
        uint32_t bytes = (uint32_t)data[2] | (uint32_t)data[3] << 8;
        char *line = log + used;
        number += data[0] >> 5;
        bytes = bytes < size - 4 ? bytes : (uint32_t)size - 4;
        bytes = bytes < CAIRN_FRAME_PAYLOAD_MAX ? bytes : CAIRN_FRAME_PAYLOAD_MAX;
        int n = sprintf(line, "~%c%08x:", "HMNSLTEUZ"[(data[0] & 31) % 9], number++);
        n += (int)trace_base64_encode(line + n, data + 4, bytes);
        n += sprintf(line + n, ":%08x\r\n", trace_crc32c(0, line + 1, (size_t)n - 1));
        used += (size_t)n;
        data += 4 + bytes;
        size -= 4 + bytes;
    }
    fuzz_read_all(log, used);
    free(log);
    return 0;
}
