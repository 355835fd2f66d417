/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/tsc_skew.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/cairn/log/show.h"
#include "trace/clock.h"

#define MOST (UINT64_C(1) << 61) /* sums of two stay far from the end */

/* "cpu.N.tsc_offset": a number that may be negative, how sure it is, and of how many exchanges. */
static bool read_offset(const struct cairn_log *log, uint32_t cpu, int64_t *offset, int64_t *sure)
{
    uint64_t number[3];
    struct cairn_slice s = cairn_key(&log->text, "cpu.%" PRIu32 ".tsc_offset", cpu);
    const bool negative = s.size && s.at[0] == '-';
    s.at += negative;
    s.size -= negative;
    if (!cairn_slice_numbers(s, number, 3) || number[0] > MOST || number[1] > MOST)
        return false;
    *offset = negative ? -(int64_t)number[0] : (int64_t)number[0];
    *sure = (int64_t)number[1];
    return true;
}

bool cairn_skew(const struct cairn_log *log, struct cairn_skew *skew)
{
    uint64_t hz = 0;
    int64_t offset, sure, highest = 0, lowest = 0; /* CPU 0's own */
    bool found = false;
    *skew = (struct cairn_skew){0};
    cairn_slice_u64(cairn_key(&log->text, "machine.tsc_hz"), &hz);
    for (uint32_t cpu = 1; cpu < log->cpus; cpu++) {
        if (!read_offset(log, cpu, &offset, &sure))
            continue;
        found |= (offset < 0 ? -offset : offset) > sure + (int64_t)(hz / TRACE_CLOCK_HZ);
        if (offset + sure > highest) {
            highest = offset + sure;
            skew->ahead = cpu;
        }
        if (offset - sure < lowest) {
            lowest = offset - sure;
            skew->behind = cpu;
        }
    }
    skew->cycles = (uint64_t)highest - (uint64_t)lowest;
    return found;
}

void cairn_print_skew(const struct cairn_log *log, const char *prefix)
{
    struct cairn_skew skew;
    char text[2 * CAIRN_SHOWN];
    uint64_t hz;
    if (!cairn_skew(log, &skew))
        return;
    int n =
        snprintf(text, sizeof(text), "the TSC of CPU %" PRIu32 " is up to %" PRIu64 " cycles", skew.ahead, skew.cycles);
    if (cairn_slice_u64(cairn_key(&log->text, "machine.tsc_hz"), &hz) && hz)
        n += snprintf(text + n, sizeof(text) - (size_t)n, " (%.1f us)", (double)skew.cycles * 1e6 / (double)hz);
    n += snprintf(text + n, sizeof(text) - (size_t)n,
                  " ahead of that of CPU %" PRIu32
                  "; events of different CPUs within that time may be shown in the wrong order",
                  skew.behind);
    const int used = printf("%sclocks: ", prefix);
    cairn_print_wrapped((unsigned)used, prefix, 2, (struct cairn_slice){text, (uint32_t)n});
}
