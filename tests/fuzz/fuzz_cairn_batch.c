/* SPDX-License-Identifier: MIT */
/* The decoder of context-switch batches: the input is what one 0525H event holds, behind its header. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/model/switches.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perfinfo_trace_header h = {
        .marker = PERFINFO_MARKER64 | HOOK_VERSION_CONTEXTSWAP_BATCH,
        .hook_id = HOOK_CONTEXTSWAP_BATCH,
        .size = (uint16_t)(sizeof(h) + size),
    };
    if (size > 2048)
        return 0;
    uint32_t space = WMI_EVENT_ALIGN((uint32_t)h.size);
    uint8_t *bytes = calloc(1, space); /* exactly as large: reading beyond it is seen */
    if (!bytes)
        abort();
    memcpy(bytes, &h, sizeof(h));
    memcpy(bytes + sizeof(h), data, size);

    struct cairn_piece piece = {.data = bytes, .size = space, .hole = CAIRN_NO_HOLE};
    static struct cairn_log log;
    static struct cairn_cpu cpu;
    memset(&log, 0, sizeof(log));
    memset(&cpu, 0, sizeof(cpu));
    log.cpu = &cpu;
    log.session.maximum_wait_reason = CCSWAP_MAXIMUM_WAIT_REASON;
    log.cpu[0].pieces = &piece;
    log.cpu[0].piece_count = 1;
    log.cpu[0].tail = CAIRN_NO_HOLE;
    struct cairn_event e;
    uint32_t at = 0;
    while (cairn_event_at(bytes, piece.size, at, &e) && cairn_log_index_event(&log, 0, &e, 0))
        at += e.space;
    piece.size = at;

    struct cairn_cursor c;
    struct cairn_switch sw;
    uint64_t n = 0;
    cairn_cursor_init(&c, &log, 0, true);
    for (; cairn_cursor_next(&c, &sw); n++)
        if (sw.form > CCSWAP_FULL || sw.state >= KTHREAD_STATES || (sw.form < CCSWAP_LITE) != (sw.old_tid == 0))
            abort();
    if (n != log.cpu[0].switches.compact || (piece.size != space && n))
        abort();
    free(bytes);
    return 0;
}
