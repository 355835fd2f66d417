/* SPDX-License-Identifier: MIT */
/* Empties the PEBS buffer: when the PMI says that the threshold was reached, on request, and after a panic. Each drain
 * ends an epoch. SDM vol. 3B, "Writing the DS Interrupt Service Routine". */
#include "ds/driver/mechanism.h"

#include "arch/arch.h"

#define PMI_PASSES 4 /* re-reads of GLOBAL_STATUS; counters are off, so one suffices unless software sets bits */

/* ---- what is in the buffer --------------------------------------------------------------------------------------- */

const uint8_t *ds_records(const struct ds_cpu *ds)
{
    return (const uint8_t *)ds->buffer + ds->taken;
}

/* What the buffer holds, and what of this epoch it does not. An index that points elsewhere is not believed: nothing is
 * handed over, how much is lost is unknown. */
static void take_buffer(struct ds_cpu *ds, struct ds_drain *drain)
{
    const struct ds_mechanism *m = ds->mechanism;
    uint64_t used = m->used(ds);
    const struct ds_stepped now = ds_stepped(ds);
    if (used > m->room(ds)) {
        drain->lost = CAIRN_DS_LOST_UNKNOWN;
    } else {
        drain->bytes = (uint32_t)used;
        drain->records = used ? ds_records(ds) : NULL;
        drain->lost = ds->unsure              ? CAIRN_DS_LOST_UNKNOWN
                      : ds->machine->stepping ? now.dropped - ds->before.dropped
                      : m->full(ds, used)     ? CAIRN_DS_LOST_UNKNOWN
                                              : 0;
    }
    /* With formats 0 to 2 a record reloads all PEBS counters that have overflowed, whoever's it is (SDM vol. 3B, "PEBS
     * Operation"); a processor does not tell of them. */
    const bool several = ds->pebs_enable & (ds->pebs_enable - 1);
    drain->swallowed = ds->machine->stepping                    ? now.swallowed - ds->before.swallowed
                       : used && several && ds->caps.format < 3 ? CAIRN_DS_LOST_UNKNOWN
                                                                : 0;
}

/* ---- drain ------------------------------------------------------------------------------------------------------- */

static void count(struct ds_cpu *ds, const struct ds_drain *drain)
{
    ds->counts.drains++;
    ds->counts.records += ds->mechanism->count(ds, 0, drain->bytes);
    if (drain->lost == CAIRN_DS_LOST_UNKNOWN)
        ds->counts.lost_unknown = true;
    else
        ds->counts.lost += drain->lost;
    if (drain->swallowed == CAIRN_DS_LOST_UNKNOWN)
        ds->counts.swallowed_unknown = true;
    else
        ds->counts.swallowed += drain->swallowed;
}

/* The hook has it. A panic may come between any two steps, and its drain must find each epoch once. The index goes back
 * before counting goes on. What has come since, a record that was on its way, moves with it: the next epoch begins with
 * it. */
static void end_epoch(struct ds_cpu *ds, const struct ds_drain *drain)
{
    ds->handed = ds->epoch + 1;
    count(ds, drain);
    ds->before = ds_stepped(ds);
    ds->mechanism->begin_again(ds, drain->bytes);
    ds->epoch++;
}

struct ds_drain ds_drain_of(const struct ds_cpu *ds, enum cairn_ds_reason reason, uint64_t tsc)
{
    struct ds_drain drain = {.reason = reason, .epoch = ds->epoch, .tsc = tsc, .format = ds->caps.format};
    ds->mechanism->describe(ds, &drain);
    return drain;
}

/* Counting is paused, the index refreshed. */
static void drain_now(struct ds_cpu *ds, enum cairn_ds_reason reason)
{
    struct ds_drain drain = ds_drain_of(ds, reason, arch_rdtsc());
    ds->hooks.before_drain(ds->hooks.context, ds->cpu, drain.tsc);
    take_buffer(ds, &drain);
    ds->hooks.drained(ds->hooks.context, ds->cpu, &drain);
    end_epoch(ds, &drain);
}

void ds_drain(struct ds_cpu *ds, enum cairn_ds_reason reason)
{
    if (!ds->started)
        return;
    bool was_running = ds_counting(ds);
    ds_pause(ds);
    ds_refresh_index(ds);
    drain_now(ds, reason);
    if (was_running)
        ds_resume(ds);
}

bool ds_readable(const struct ds_cpu *ds, const void *address, size_t bytes)
{
    return !ds->machine->readable || ds->machine->readable(address, bytes);
}

void ds_drain_panic(struct ds_cpu *ds)
{
    if (!ds)
        return;
    ds->lent = true; /* this may be another CPU: hooks that refresh the index must not read this one's register */
    if (ds_beside_started(ds))
        ds->beside->panic(ds);
    if (!ds->started || ds->handed != ds->epoch)
        return;
    if (!ds->mechanism->panic(ds)) {
        ds->counts.lost_unknown = true;
        return;
    }
    struct ds_drain drain = ds_drain_of(ds, CAIRN_DS_PANIC, arch_rdtsc());
    take_buffer(ds, &drain);
    if (!ds_readable(ds, drain.records, drain.bytes)) {
        ds->counts.lost_unknown = true;
        return;
    }
    ds->hooks.before_drain(ds->hooks.context, ds->cpu, drain.tsc);
    ds->hooks.drained(ds->hooks.context, ds->cpu, &drain);
    ds->started = false;
    count(ds, &drain);
}

/* ---- the PMI ----------------------------------------------------------------------------------------------------- */

/* Starts the plain counters in `overflowed` anew. */
static void reload_plain(struct ds_cpu *ds, uint64_t overflowed)
{
    for (uint32_t i = 0; i < ds->config.events; i++)
        if (overflowed & DS_BIT(ds->counter[i].number)) {
            ds_add_plain(ds, i);
            ds_write_running(ds, ds_counter_msr(&ds->caps, ds->counter[i].number), ds->counter[i].initial);
            ds->counts.plain[i].overflows++;
            if (ds->hooks.overflowed)
                ds->hooks.overflowed(ds->hooks.context, ds->cpu, i);
        }
}

__attribute__((weak)) void ds_tick(struct ds_cpu *ds)
{
    (void)ds;
}

static bool handle_status(struct ds_cpu *ds)
{
    /* 3. Status, and its acknowledgement. The bit of a PEBS counter is left alone: between arming and record it is the
     *    assist's to clear, and records of formats 1 and 2 would lose their status. */
    const uint64_t plain = ds->global_ctrl & ~ds->pebs_enable, threshold = ds->mechanism->status_bits;
    bool ours = false;
    for (int pass = 0; pass < PMI_PASSES; pass++) {
        uint64_t status;
        if (ds_rdmsr(ds, IA32_PERF_GLOBAL_STATUS, &status)) {
            ds_count_fault(ds);
            break;
        }
        status &= plain | threshold;
        if (!status)
            break;
        ours = true;
        ds_write_running(ds, IA32_PERF_GLOBAL_OVF_CTRL, status);
        /* 4. Drain, unless another drain came between the threshold and this interrupt. */
        if (status & threshold && ds->mechanism->at_threshold(ds))
            drain_now(ds, CAIRN_DS_THRESHOLD);
        /* 5. Plain counters. */
        reload_plain(ds, status & plain);
    }
    return ours;
}

bool ds_pmi(struct ds_cpu *ds)
{
    if (!ds_in_use(ds))
        return false;
    ds->refusal = (struct ds_refusal){.during = "the PMI handler"};
    /* 1. Counters and branch tracing off. Interrupt entry has done so already, unless the PMI was called from
     *    elsewhere. */
    ds_pause(ds);
    /* 2. Branch records, by their index: no status bit says that their threshold was reached. */
    bool ours = ds_beside_started(ds) && ds->beside->pmi(ds);
    if (ds->started)
        ours |= handle_status(ds);
    ds->counts.pmis += ours;
    /* 6. Too many of them within a tick: off for a tick. */
    if (ours && ds_throttle)
        ds_throttle(ds);
    /* 7. LVTPC, which masked itself: after the status is acknowledged, because from Haswell on an earlier unmask brings
     *    spurious interrupts, and before counting goes on. Linux does so on efficient cores from Gracemont on ("mid
     *    ACK"); on performance cores from Haswell on it unmasks once they count again ("late ACK"). The kernel sends
     *    the EOI before the DPC that calls this; DEBUGCTL and GLOBAL_CTRL (ds_resume_frame) come with the return. */
    ds_write_lvtpc(ds);
    ds->refusal = (struct ds_refusal){.during = "pause or resume"};
    return ours;
}
