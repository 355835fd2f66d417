/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/stack.h"

#include "tools/cairn/base/bytes.h"

const char *cairn_stack_place(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t pid, int64_t time,
                              uint64_t address)
{
    return cairn_show_address_in(out, log, pid, time, address, (int)CAIRN_SHOWN - 1);
}

const char *cairn_stack_text(char out[CAIRN_STACK_TEXT], const struct cairn_log *log, uint32_t pid, int64_t time,
                             struct cairn_bytes addresses, unsigned pointer)
{
    static const char more[] = " < ...";
    char place[CAIRN_SHOWN];
    const uint8_t *p;
    size_t n = 0;
    out[0] = '\0';
    while ((p = cairn_bytes_take(&addresses, pointer)) != NULL) {
        const uint64_t address = pointer == 8 ? cairn_get64(p) : cairn_get32(p);
        const size_t needs = strlen(cairn_stack_place(place, log, pid, time, address)) + 3;
        const bool fits = n + needs + sizeof(more) <= CAIRN_STACK_TEXT;
        n += (size_t)snprintf(out + n, CAIRN_STACK_TEXT - n, "%s%s", n && fits ? " < " : "", fits ? place : more);
        if (!fits)
            break;
    }
    return out;
}
