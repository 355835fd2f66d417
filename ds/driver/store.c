/* SPDX-License-Identifier: MIT */
/*
 * PEBS of the Debug Store: what the processor has to be asked, and where the buffer, the index, the threshold and the
 * reset values are. They are in memory, in the area that IA32_DS_AREA points to (PROCESSOR_PROFILE_CONTROL_AREA);
 * IA32_PEBS_ENABLE has a bit for each counter, and MSR_PEBS_DATA_CFG one for each group of adaptive records.
 *
 * SDM vol. 3B, "Debug Store (DS) Mechanism", "Setting Up the PEBS Buffer", "PEBS Record Format".
 */
#include "arch/arch.h"
#include "ds/driver/detect.h"
#include "ds/driver/mechanism.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* ---- detection --------------------------------------------------------------------------------------------------- */

static void find_store(struct ds_detection *d)
{
    static const char none[] = "CPUID.01H:EDX.DS is 0: this processor, real or emulated, has no Debug Store";
    const bool ds = d->leaf1[3] & CPUID_01H_EDX_DS;
    ds_detect_require(d, "CPUID.01H:EDX.DS[21]", ds, ds, "the Debug Store exists", none);
    d->caps->bts = ds;
    d->caps->bts_reason = ds ? "the processor has BTS" : none;
}

static void find_pebs(struct ds_detection *d)
{
    struct ds_caps *c = d->caps;
    const bool ds = d->leaf1[3] & CPUID_01H_EDX_DS;
    const uint64_t v = d->capabilities;
    uint64_t misc;
    if (ds_detect_misc_enable(d, &misc)) {
        static const char name[] = "IA32_MISC_ENABLE.PEBS_UNAVAIL[12]";
        const bool unavailable = misc & IA32_MISC_ENABLE_PEBS_UNAVAIL;
        if (ds)
            ds_detect_require(d, name, unavailable, !unavailable, "PEBS is there",
                              "IA32_MISC_ENABLE.PEBS_UNAVAIL says that PEBS is not there");
        else
            ds_detect_row(d, name, unavailable, false,
                          unavailable ? "PEBS is not there"
                                      : "0 would say that PEBS is there, but without CPUID's DS bit it means nothing");
    }
    if (!ds_detect_capabilities(d))
        return;
    const bool trap_like = v & IA32_PERF_CAPABILITIES_PEBS_TRAP;
    c->format = (uint8_t)ia32_perf_capabilities_pebs_fmt(v);
    c->baseline = c->adaptive = v & IA32_PERF_CAPABILITIES_PEBS_BASELINE;
    ds_detect_require(d, DS_TEST_FORMAT, c->format, c->format <= ds_store.last, "a record format this driver knows",
                      "the PEBS record format is newer than this driver knows (6)");
    ds_detect_row(d, DS_TEST_BASELINE, c->baseline, true,
                  c->baseline      ? "adaptive records, PEBS on every counter"
                  : c->format >= 4 ? d->hypervisor ? "the hypervisor hides the groups: basic records of 32 bytes only"
                                                   : "basic records of 32 bytes only"
                                   : "records of one fixed layout");
    ds_detect_row(d, DS_TEST_TRAP, trap_like, true,
                  trap_like ? "a record's RIP is where execution continues"
                            : "a record's RIP is that of its instruction");
    ds_detect_full_width(d);
    if (c->baseline)
        ds_detect_groups(d);
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

static uint64_t groups(const struct ds_caps *caps, const struct ds_config *config)
{
    return caps->baseline ? ds_data_cfg(caps, config) : 0;
}

static uint32_t record_size(const struct ds_caps *caps, const struct ds_config *config)
{
    return caps->baseline ? ds_pebs_adaptive_size(ds_data_cfg(caps, config)) : ds_pebs_fixed_size(caps->format);
}

static size_t buffer_bytes(size_t records)
{
    return (records + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE * ARCH_PAGE_SIZE;
}

/* GPR is none of them: before the groups registers are in each record. */
static int plan_groups(const struct ds_cpu *ds, char *error, size_t size)
{
    const struct ds_caps *caps = &ds->caps;
    const uint64_t wanted = ds->config.groups;
    const char *missing = wanted & MSR_PEBS_DATA_CFG_CNTR && (!caps->baseline || caps->format < 6) ? "counters"
                          : caps->baseline                                                         ? NULL
                          : wanted & MSR_PEBS_DATA_CFG_MEMINFO                                     ? "mem"
                          : wanted & MSR_PEBS_DATA_CFG_XMM                                         ? "xmm"
                          : wanted & MSR_PEBS_DATA_CFG_LBR                                         ? "lbr"
                                                                                                   : NULL;
    if (missing) {
        snprintf(error, size, "option 'pebs.groups': %s: records of this processor (CPU %u, format %u) have none",
                 missing, ds->cpu, caps->format);
        return -EINVAL;
    }
    if (wanted & MSR_PEBS_DATA_CFG_LBR && caps->lbr_depth && msr_pebs_data_cfg_lbr_entries(wanted) > caps->lbr_depth) {
        snprintf(error, size, "option 'pebs.groups': lbr:%u: the history of this processor (CPU %u) has %u entries",
                 msr_pebs_data_cfg_lbr_entries(wanted), ds->cpu, caps->lbr_depth);
        return -EINVAL;
    }
    return 0;
}

/* ---- set-up ------------------------------------------------------------------------------------------------------ */

/* 1. Of whoever had it on: a record on its way still goes to their buffer. */
static int off(struct ds_cpu *ds)
{
    const int e = ds_set_msr(ds, IA32_PEBS_ENABLE, 0);
    return !e && ds->undo[ds->undos - 1].before ? ds_wait_quiet(ds) : e;
}

static void set_period(struct ds_cpu *ds, const struct ds_counter *counter)
{
    ds->area[ds_area_reset(ds->caps.format, counter->number) / 8] = counter->initial;
}

/*
 * 2, 3. The absolute maximum is a multiple of the record size plus one, as the manual asks: then the buffer holds
 * `records` records whether the processor compares with < or <=, and the slack record takes the one it may overrun by.
 */
static int place(struct ds_cpu *ds)
{
    const uint64_t base = (uint64_t)(uintptr_t)ds->buffer;
    ds->area[DS_AREA_PEBS_BASE] = base;
    ds->area[DS_AREA_PEBS_INDEX] = base;
    ds->area[DS_AREA_PEBS_MAXIMUM] = base + (uint64_t)ds->config.records * ds->record_bytes + 1;
    ds->area[DS_AREA_PEBS_THRESHOLD] = base + (uint64_t)ds->config.threshold * ds->record_bytes;
    for (uint32_t i = 0; i < ds->config.events; i++)
        if (!ds->config.event[i].plain)
            set_period(ds, &ds->counter[i]);
    return ds_set_msr(ds, IA32_DS_AREA, (uint64_t)(uintptr_t)ds->area);
}

/* 5. */
static int contents(struct ds_cpu *ds)
{
    return ds->caps.baseline ? ds_set_msr(ds, MSR_PEBS_DATA_CFG, ds_data_cfg(&ds->caps, &ds->config)) : 0;
}

/* 8. */
static int on(struct ds_cpu *ds)
{
    return ds_set_msr(ds, IA32_PEBS_ENABLE, ds->pebs_enable | ds->load_latency_enable);
}

static void turn(struct ds_cpu *ds, bool go)
{
    ds_write_running(ds, IA32_PEBS_ENABLE, go ? ds->pebs_enable | ds->load_latency_enable : 0);
}

/* ---- the index, and what is in the buffer ------------------------------------------------------------------------ */

static const volatile uint64_t *index_of(const struct ds_cpu *ds)
{
    return &ds->area[DS_AREA_PEBS_INDEX];
}

static uint64_t used(const struct ds_cpu *ds)
{
    return ds->area[DS_AREA_PEBS_INDEX] - (uint64_t)(uintptr_t)ds->buffer;
}

/* With the slack record. */
static uint64_t room(const struct ds_cpu *ds)
{
    return ((uint64_t)ds->config.records + 1) * ds->record_bytes;
}

static uint64_t count(const struct ds_cpu *ds, uint64_t from, uint64_t bytes)
{
    (void)from;
    return bytes / ds->record_bytes;
}

/* The Debug Store drops silently: a full buffer is all there is to see. */
static bool full(const struct ds_cpu *ds, uint64_t bytes)
{
    return bytes >= (uint64_t)ds->config.records * ds->record_bytes;
}

static void begin_again(struct ds_cpu *ds, uint32_t bytes)
{
    const uint64_t all = used(ds);
    uint64_t late = 0;
    if (all > bytes && all <= room(ds)) {
        late = all - bytes;
        memmove(ds->buffer, (const uint8_t *)ds->buffer + bytes, late);
        ds->counts.late += late / ds->record_bytes;
    }
    ds->area[DS_AREA_PEBS_INDEX] = (uint64_t)(uintptr_t)ds->buffer + late;
}

static void describe(const struct ds_cpu *ds, struct ds_drain *drain)
{
    drain->area = (const uint64_t *)ds->area;
    drain->area_bytes = ds->caps.area_bytes;
    drain->address = ds->area[DS_AREA_PEBS_BASE];
    drain->record_size = ds_pebs_record_size;
}

static bool panic(struct ds_cpu *ds)
{
    return ds_readable(ds, (const void *)ds->area, ARCH_PAGE_SIZE);
}

static bool at_threshold(struct ds_cpu *ds)
{
    return ds->area[DS_AREA_PEBS_INDEX] >= ds->area[DS_AREA_PEBS_THRESHOLD];
}

const struct ds_mechanism ds_store = {
    .first = 0,
    .last = 6,
    .set_up = "the set-up of PEBS",
    .cpu_bytes = sizeof(struct ds_cpu),
    .find_store = find_store,
    .find_pebs = find_pebs,
    .found = "the processor has a Debug Store with PEBS",
    .on_msr = IA32_PEBS_ENABLE,
    .on_bits = UINT64_MAX,
    .groups = groups,
    .record_size = record_size,
    .buffer_bytes = buffer_bytes,
    .plan_groups = plan_groups,
    .off = off,
    .place = place,
    .contents = contents,
    .on = on,
    .turn = turn,
    .set_period = set_period,
    .index = index_of,
    .used = used,
    .room = room,
    .count = count,
    .full = full,
    .begin_again = begin_again,
    .describe = describe,
    .panic = panic,
    .status_bits = IA32_PERF_GLOBAL_STATUS_OVF_BUF,
    .at_threshold = at_threshold,
};

const struct ds_mechanism *ds_mechanism_of(unsigned format)
{
    const struct ds_mechanism *const *row;
    for (ROWS_EACH(ds_mechanism, row))
        if (format >= (*row)->first && format <= (*row)->last)
            return *row;
    return &ds_store;
}
