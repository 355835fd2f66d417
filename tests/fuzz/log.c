/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/log.h"

#include <stdlib.h>

#include "kernel/lib/base64.h"
#include "kernel/lib/crc32c.h"
#include "kernel/line8/line8.h"
#include "trace/wire/format.h"

FILE *fuzz_nowhere;

void fuzz_sessions(const char *data, size_t size, void (*look)(const struct cairn_log *log, void *context),
                   void *context)
{
    struct cairn_log log;
    char refusal[CAIRN_REFUSAL];
    if (!fuzz_nowhere && !(fuzz_nowhere = fopen("/dev/null", "w")))
        abort();
    const struct cairn_input input = {.name = "fuzz", .data = data, .size = size};
    if (cairn_log_read(&log, &input, &(struct cairn_choice){0}, refusal))
        return;
    look(&log, context);
    for (uint32_t number = log.number + 1; number <= TRACE_MAX_SESSIONS && !log.etl; number++)
        if (log.sessions >> (number - 1) & 1) {
            cairn_log_select(&log, number);
            look(&log, context);
        }
    cairn_log_free(&log);
}

char *fuzz_frames(const uint8_t *data, size_t size, size_t *log_size)
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
        const bool eight_bit = (data[0] & 31) >= 16;
        const char stream = "HMNSLTEUZMTUTUtuHMNSLTEUZutututu"[data[0] & 31];
        int n = sprintf(line, eight_bit ? "~%c%08x" : "~%c%08x:", stream, number++);
        n += (int)(eight_bit ? kline8_encode : kbase64_encode)(line + n, data + 4, bytes);
        n += sprintf(line + n, ":%08x\r\n", kcrc32c(0, line + 1, (size_t)n - 1));
        used += (size_t)n;
        data += 4 + bytes;
        size -= 4 + bytes;
    }
    *log_size = used;
    return log;
}
