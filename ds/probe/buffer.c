/* SPDX-License-Identifier: MIT */
/* The PEBS buffer when it is full, and when there is none. */
#include "ds/probe/internal.h"

#include "arch/arch.h"
#include "kernel/lib/string.h"

/* How many records are stored of many that are due, under this absolute maximum. */
static unsigned stored(struct ds_probe *p, uint32_t maximum)
{
    ds_probe_reset(p);
    ds_probe_pebs_buffer(p, maximum, DS_PROBE_NEVER);
    ds_probe_count(p, &p->instructions, p->period, p->period);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
    return ds_probe_records(p);
}

/* Three records, with the three maxima that software gives them: Linux', the manual's, and one below. */
void ds_probe_fit(struct ds_probe *p, struct ds_probe_result *r)
{
    static const struct {
        const char *answer;
        unsigned stored[3];
    } readings[] = {{"end_le", {3, 3, 2}}, {"end_lt", {2, 3, 2}}, {"start_lt", {3, 4, 3}}};
    const uint32_t size = p->record_bytes;
    const unsigned got[3] = {stored(p, 3 * size), stored(p, 3 * size + 1), stored(p, 2 * size + 1)};
    const char *answer = got[0] || got[1] || got[2] ? "other" : "";
    for (unsigned i = 0; i < sizeof readings / sizeof readings[0]; i++)
        if (memcmp(readings[i].stored, got, sizeof got) == 0)
            answer = readings[i].answer;
    ds_probe_answer(r, answer, "below a maximum of 3 sizes, 3 sizes + 1 and 2 sizes + 1: %u, %u and %u records", got[0],
                    got[1], got[2]);
}

/* The index stands at the maximum, where by no reading a record fits. */
void ds_probe_drop_reload(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint64_t reset = ds_initial(p->caps, p->instructions.number, DS_PROBE_FAR);
    ds_probe_reset(p);
    const uint32_t full = ds_probe_full_buffer(p, false);
    ds_probe_count(p, &p->instructions, p->period, DS_PROBE_FAR);
    ds_probe_run(p, DS_PROBE_NOPS, 0);

    const uint64_t value = ds_probe_value(p, &p->instructions), index = ds_probe_pebs_index(p);
    const bool overflowed = ds_probe_status(p) & DS_BIT(p->instructions.number);
    if (ds_probe_arch(p)) { /* whether a record clears the bit is arch_overflow's */
        ds_probe_answer(r,
                        index != full          ? "stored"
                        : value >= reset       ? "yes"
                        : value < DS_PROBE_FAR ? "no"
                                               : "other",
                        "counter 0x%lx, reload value 0x%lx, IA32_PEBS_INDEX 0x%lx", (unsigned long)value,
                        (unsigned long)reset, (unsigned long)p->index);
        return;
    }
    const char *answer = index != full                        ? "stored" /* beyond the maximum */
                         : value >= reset && !overflowed      ? "yes"
                         : value < DS_PROBE_FAR && overflowed ? "no"
                         : value < DS_PROBE_FAR               ? "cleared" /* the overflow, but not reloaded */
                                                              : "other";
    ds_probe_answer(r, answer, "counter 0x%lx, reset value 0x%lx, its bit of GLOBAL_STATUS %d, PebsIndex + 0x%lx",
                    (unsigned long)value, (unsigned long)reset, overflowed, (unsigned long)(index - full));
}

/* The same, with a threshold that has been reached: whether the dropped record says so once more. */
void ds_probe_full_signal(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint64_t signal =
        IA32_PERF_GLOBAL_STATUS_OVF_BUF | (ds_probe_arch(p) ? IA32_PERF_GLOBAL_STATUS_ARCH_PEBS : 0);
    ds_probe_reset(p);
    ds_probe_full_buffer(p, true);
    ds_probe_count(p, &p->instructions, p->period, p->period);
    ds_probe_lvtpc(p, false);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
    const uint64_t status = ds_probe_status(p);
    const uint32_t pmis = p->bench->interrupts(p->bench->context);
    ds_probe_answer(r, pmis || status & signal ? "yes" : "no", "GLOBAL_STATUS 0x%lx, %u PMIs", (unsigned long)status,
                    pmis);
}

#define OFF 32u /* times that counters go off */

void ds_probe_residual(struct ds_probe *p, struct ds_probe_result *r)
{
    unsigned times = 0, most = 0;
    char answer[8] = "other";
    for (unsigned i = 0; i < OFF; i++) {
        ds_probe_reset(p);
        ds_probe_pebs_buffer(p, DS_PROBE_BUFFER / 2, DS_PROBE_NEVER);
        ds_probe_count(p, &p->instructions, p->period, p->period);
        ds_probe_run(p, DS_PROBE_NOPS, 0);
        times += p->late != 0;
        most = p->late > most ? p->late : most;
    }
    if (most <= 3)
        snprintf(answer, sizeof answer, "%u", most);
    ds_probe_answer(r, answer, "counters went off %u times, %u times records came behind that, %u at most", OFF, times,
                    most);
}

/* A record that would lie on no page; then the index goes back into the buffer. A counter that has stayed armed writes
 * its record at once, one that was disarmed has a whole period before it, or all of its width. */
void ds_probe_unmapped(struct ds_probe *p, struct ds_probe_result *r)
{
    if (!p->bench->unmapped) {
        ds_probe_unknown(r, "%s", p->bench->no_unmapped);
        return;
    }
    ds_probe_reset(p);
    ds_probe_pebs_buffer(p, DS_PROBE_BUFFER / 2, DS_PROBE_NEVER);
    p->bench->area[offsetof(struct ds_area_60, pebs_absolute_maximum) / 8] = p->bench->unmapped + ARCH_PAGE_SIZE;
    p->bench->area[offsetof(struct ds_area_60, pebs_interrupt_threshold) / 8] = p->bench->unmapped + ARCH_PAGE_SIZE;
    ds_probe_set_pebs_index(p, p->bench->unmapped);
    ds_probe_count(p, &p->instructions, p->period, DS_PROBE_FAR);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
    const bool moved = ds_probe_pebs_index(p) + (uint64_t)(uintptr_t)p->bench->buffer != p->bench->unmapped;
    const uint64_t value = ds_probe_value(p, &p->instructions);

    ds_probe_pebs_buffer(p, DS_PROBE_BUFFER / 2, DS_PROBE_NEVER);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
    const unsigned records = ds_probe_records(p);
    ds_probe_answer(r,
                    moved     ? "other"
                    : records ? "page_fault"
                              : "error",
                    "PebsIndex %s, counter 0x%lx; with a buffer again: %u records%s", moved ? "moved" : "stayed",
                    (unsigned long)value, records, records ? ", so the counter had stayed armed" : "");
}
