/* SPDX-License-Identifier: MIT */
/* How the bytes divide into fields, bit by bit, from the constants that kernel and reader use. */
#include <stddef.h>

#include "ds/pebs23_layout.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/export/html/html.h"
#include "tools/cairn/model/arch_bits.h"
#include "tools/cairn/model/switches.h"
#include "trace/wire/spinlock.h"

struct field {
    const char *name;
    uint32_t bit, bits; /* from bit 0 of the first byte on */
    const char *as;     /* how it is shown: page/bytes.js */
};

#define BITS(name, at, shift, bits, as)                                                                                \
    {                                                                                                                  \
        name, 8 * (at) + (shift), (bits), as                                                                           \
    }
#define MEMBER(type, member, name, as)                                                                                 \
    {                                                                                                                  \
        name, 8 * offsetof(struct type, member), 8 * sizeof(((struct type *)0)->member), as                            \
    }
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct field perfinfo[] = {
    BITS("Version", 0, 0, 8, "dec"),
    BITS("PMC items", 0, PERFINFO_ITEM_PMC_SHIFT, 3, "dec"),
    BITS("PebsIndex follows", 0, 15, 1, "bool"),
    BITS("Marker", 0, 16, 16, "hex"),
    MEMBER(perfinfo_trace_header, size, "Size", "dec"),
    MEMBER(perfinfo_trace_header, hook_id, "HookId", "hex"),
    MEMBER(perfinfo_trace_header, time_stamp, "TimeStamp", "time"),
};
_Static_assert(PERFINFO_ITEM_PEBS_INDEX == 1u << 15 && PERFINFO_ITEM_PMC_MASK == 7u << PERFINFO_ITEM_PMC_SHIFT &&
                   PERFINFO_MARKER_MASK == 0xFFFFu << 16 && PERFINFO_VERSION_MASK == 0xFF,
               "bits of the marker");

static const struct field idle_short[] = {
    BITS("form", 0, 0, CCSWAP_TYPE_BITS, "form"),
    BITS("TimeDelta", 0, CCSWAP_IDLE_SHORT_DELTA_SHIFT, CCSWAP_IDLE_SHORT_DELTA_BITS, "delta"),
};
static const struct field idle[] = {
    BITS("form", 0, 0, CCSWAP_TYPE_BITS, "form"),
    BITS("TimeDelta", 0, CCSWAP_IDLE_DELTA_SHIFT, CCSWAP_IDLE_DELTA_BITS, "delta"),
};
static const struct field lite[] = {
    BITS("form", 0, 0, CCSWAP_TYPE_BITS, "form"),
    BITS("slot", 0, CCSWAP_LITE_TID_SHIFT, CCSWAP_TID_BITS, "slot"),
    BITS("priority − base", 0, CCSWAP_LITE_PRIINC_SHIFT, CCSWAP_LITE_PRIINC_BITS, "increment"),
    BITS("state", 0, CCSWAP_LITE_STATE_SHIFT, CCSWAP_STATE_BITS, "state"),
    BITS("TimeDelta", 0, CCSWAP_LITE_DELTA_SHIFT, CCSWAP_LITE_DELTA_BITS, "delta"),
};
static const struct field full[] = {
    BITS("form", 0, 0, CCSWAP_TYPE_BITS, "form"),
    BITS("TimeDelta", 0, CCSWAP_FULL_DELTA_SHIFT, CCSWAP_FULL_DELTA_BITS, "delta"),
    BITS("slot", 4, CCSWAP_FULL_TID_SHIFT, CCSWAP_TID_BITS, "slot"),
    BITS("state", 4, CCSWAP_FULL_STATE_SHIFT, CCSWAP_STATE_BITS, "state"),
    BITS("priority", 4, CCSWAP_FULL_PRIORITY_SHIFT, CCSWAP_PRIORITY_BITS, "dec"),
    BITS("new thread waited", 4, CCSWAP_FULL_WAIT_SHIFT, CCSWAP_FULL_WAIT_BITS, "ticks"),
};
static const struct field contextswap[] = {
    MEMBER(wmi_contextswap, new_thread_id, "NewThreadId", "thread"),
    MEMBER(wmi_contextswap, old_thread_id, "OldThreadId", "thread"),
    MEMBER(wmi_contextswap, new_thread_priority, "NewThreadPriority", "dec"),
    MEMBER(wmi_contextswap, old_thread_priority, "OldThreadPriority", "dec"),
    MEMBER(wmi_contextswap, previous_cstate, "PreviousCState", "dec"),
    MEMBER(wmi_contextswap, spare, "SpareByte", "dec"),
    MEMBER(wmi_contextswap, old_thread_wait_reason, "OldThreadWaitReason", "reason"),
    MEMBER(wmi_contextswap, old_thread_wait_mode, "OldThreadWaitMode", "mode"),
    MEMBER(wmi_contextswap, old_thread_state, "OldThreadState", "kthread"),
    MEMBER(wmi_contextswap, old_thread_ideal_processor, "OldThreadIdealProcessor", "dec"),
    MEMBER(wmi_contextswap, new_thread_wait_time, "NewThreadWaitTime", "ticks"),
    MEMBER(wmi_contextswap, old_thread_remaining_quantum, "OldThreadRemainingQuantum", "dec"),
};
static const struct field spinlock[] = {
    MEMBER(wmi_spinlock, spin_lock_address, "SpinLockAddress", "lock"),
    MEMBER(wmi_spinlock, caller_address, "CallerAddress", "caller"),
    MEMBER(wmi_spinlock, acquire_time, "AcquireTime", "dec"),
    MEMBER(wmi_spinlock, release_time, "ReleaseTime", "dec"),
    MEMBER(wmi_spinlock, wait_time_in_cycles, "WaitTimeInCycles", "cycles"),
    MEMBER(wmi_spinlock, spin_count, "SpinCount", "dec"),
    MEMBER(wmi_spinlock, thread_id, "ThreadId", "thread"),
    MEMBER(wmi_spinlock, interrupt_count, "InterruptCount", "dec"),
    MEMBER(wmi_spinlock, irql, "Irql", "dec"),
    MEMBER(wmi_spinlock, acquire_depth, "AcquireDepth", "dec"),
    BITS("AcquireMode", offsetof(struct wmi_spinlock, flags), 0, 6, "dec"),
    BITS("ExecuteDpc", offsetof(struct wmi_spinlock, flags), 6, 1, "bool"),
    BITS("ExecuteIsr", offsetof(struct wmi_spinlock, flags), 7, 1, "bool"),
};
_Static_assert(WMI_SPINLOCK_MODE_MASK == (1u << 6) - 1 && WMI_SPINLOCK_EXECUTE_DPC == 1u << 6 &&
                   WMI_SPINLOCK_EXECUTE_ISR == 1u << 7,
               "bits of WMI_SPINLOCK.Flags");

static const struct field branch[] = {
    MEMBER(ds_bts_record, from, "From", "from"),
    MEMBER(ds_bts_record, to, "To", "to"),
    BITS("Predicted", offsetof(struct ds_bts_record, flags), 4, 1, "bool"),
};
_Static_assert(DS_BTS_PREDICTED == 1u << 4, "bit of the flags");

static const struct {
    const char *name;
    const struct field *fields;
    size_t count, bytes;
} layouts[] = {
    {"header", perfinfo, COUNT(perfinfo), sizeof(struct perfinfo_trace_header)},
    {"contextswap", contextswap, COUNT(contextswap), sizeof(struct wmi_contextswap)},
    {"spinlock", spinlock, COUNT(spinlock), sizeof(struct wmi_spinlock)},
    {"branch", branch, COUNT(branch), sizeof(struct ds_bts_record)},
};

static const struct { /* by enum cairn_form */
    const struct field *fields;
    size_t count;
} forms[] = {
    [CAIRN_FORM_IDLE_SHORT] = {idle_short, COUNT(idle_short)},
    [CAIRN_FORM_IDLE] = {idle, COUNT(idle)},
    [CAIRN_FORM_LITE] = {lite, COUNT(lite)},
    [CAIRN_FORM_FULL] = {full, COUNT(full)},
};

static void one(struct cairn_json *j, const struct field *f)
{
    cairn_json_open_list(j, NULL);
    cairn_json_text(j, NULL, f->name);
    cairn_json_number(j, NULL, f->bit);
    cairn_json_number(j, NULL, f->bits);
    cairn_json_text(j, NULL, f->as);
    cairn_json_close_list(j);
}

static void layout(struct cairn_json *j, const char *name, const struct field *fields, size_t count, size_t bytes)
{
    cairn_json_open(j, name);
    cairn_json_number(j, "bytes", (int64_t)bytes);
    cairn_json_open_list(j, "fields");
    for (size_t i = 0; i < count; i++)
        one(j, &fields[i]);
    cairn_json_close_list(j);
    cairn_json_close(j);
}

static void batch(struct cairn_json *j)
{
    const struct field first = MEMBER(ccswap_buffer, first_time_stamp, "FirstTimeStamp", "time");
    struct field fields[1 + 2 * CCSWAP_TIDS] = {first};
    char names[2 * CCSWAP_TIDS][32];
    for (uint32_t i = 0; i < CCSWAP_TIDS; i++) {
        const uint32_t tid = 8 * (offsetof(struct ccswap_buffer, tid_table) + 4 * i);
        const uint32_t base = 8 * (offsetof(struct ccswap_buffer, thread_base_priority) + i);
        snprintf(names[i], sizeof(names[i]), "TidTable[%u]", i);
        snprintf(names[CCSWAP_TIDS + i], sizeof(names[i]), "ThreadBasePriority[%u]", i);
        fields[1 + i] = (struct field){names[i], tid, 32, "thread"};
        fields[1 + CCSWAP_TIDS + i] = (struct field){names[CCSWAP_TIDS + i], base, 8, "dec"};
    }
    layout(j, "batch", fields, COUNT(fields), sizeof(struct ccswap_buffer));
}

/* A word of architectural PEBS. */
static void bits(struct cairn_json *j, const char *name, const struct cairn_bits *bits)
{
    struct field fields[64];
    size_t n = 0;
    for (; bits->name; bits++)
        fields[n++] = (struct field){bits->name, bits->low, bits->count, bits->count > 1 ? "hex" : "bool"};
    layout(j, name, fields, n, 8);
}

void cairn_html_layouts(struct cairn_json *j)
{
    cairn_json_open(j, "layouts");
    for (size_t i = 0; i < COUNT(layouts); i++)
        layout(j, layouts[i].name, layouts[i].fields, layouts[i].count, layouts[i].bytes);
    batch(j);
    bits(j, "pebs_base", cairn_bits_base);
    bits(j, "pebs_index", cairn_bits_index);
    bits(j, "cfg_c", cairn_bits_cfg_c);
    bits(j, "arch_header", cairn_bits_header);
    cairn_json_close(j);
    cairn_json_open_list(j, "forms");
    for (uint8_t form = 0; form <= CAIRN_FORM_EVENT; form++)
        if (form == CAIRN_FORM_EVENT)
            layout(j, NULL, NULL, 0, sizeof(struct wmi_contextswap));
        else
            layout(j, NULL, forms[form].fields, forms[form].count, ccswap_record_bytes(form));
    cairn_json_close_list(j);
    cairn_json_open_list(j, "form_names");
    for (uint8_t form = 0; form <= CAIRN_FORM_EVENT; form++)
        cairn_json_text(j, NULL, cairn_form_name(form));
    cairn_json_close_list(j);
    cairn_json_open(j, "form");
    cairn_json_number(j, "full", CAIRN_FORM_FULL);
    cairn_json_number(j, "event", CAIRN_FORM_EVENT);
    cairn_json_close(j);
    cairn_json_number(j, "perfinfo64", ETL_PERFINFO64);
    cairn_json_number(j, "arch", DS_FORMAT_ARCH);
    cairn_json_number(j, "slots", CCSWAP_TIDS);
    cairn_json_open_list(j, "states");
    for (uint8_t i = 0; i < KTHREAD_STATES; i++)
        cairn_json_text(j, NULL, cairn_state_name(i));
    cairn_json_close_list(j);
    cairn_json_open_list(j, "reasons");
    for (uint8_t i = 0; i <= CCSWAP_MASK(CCSWAP_STATE_BITS); i++)
        cairn_json_text(j, NULL, cairn_reason_name(i));
    cairn_json_close_list(j);
    cairn_json_open(j, "state");
    cairn_json_number(j, "ready", KTHREAD_READY);
    cairn_json_number(j, "running", KTHREAD_RUNNING);
    cairn_json_number(j, "standby", KTHREAD_STANDBY);
    cairn_json_number(j, "deferred_ready", KTHREAD_DEFERRED_READY);
    cairn_json_number(j, "terminated", KTHREAD_TERMINATED);
    cairn_json_number(j, "waiting", KTHREAD_WAITING);
    cairn_json_close(j);
    cairn_json_open(j, "hole");
    cairn_json_number(j, "bytes", CAIRN_HOLE_BYTES);
    cairn_json_number(j, "buffers", CAIRN_HOLE_BUFFERS);
    cairn_json_number(j, "lost", CAIRN_HOLE_LOST);
    cairn_json_number(j, "lost_here", CAIRN_HOLE_LOST_HERE);
    cairn_json_number(j, "overwritten", CAIRN_HOLE_OVERWRITTEN);
    cairn_json_number(j, "stopped", CAIRN_HOLE_STOPPED);
    cairn_json_number(j, "maybe", CAIRN_HOLE_MAYBE_LOST);
    cairn_json_close(j);
    cairn_json_open(j, "drain");
    cairn_json_number(j, "start", CAIRN_DS_START);
    cairn_json_number(j, "throttle", CAIRN_DS_THROTTLE);
    cairn_json_number(j, "unthrottle", CAIRN_DS_UNTHROTTLE);
    cairn_json_close(j);
    cairn_json_open(j, "items");
#define ITEM(name) cairn_json_number(j, #name, CAIRN_HTML_##name);
    CAIRN_HTML_ITEMS(ITEM)
#undef ITEM
    cairn_json_close(j);
}
