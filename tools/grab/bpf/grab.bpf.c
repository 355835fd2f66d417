/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Runs in the kernel. Copies the records of PEBS out of the Debug Store right before Linux reads them and sets the
 * index back, and writes down each context switch with PebsIndex. Copies those of BTS at each switch, too, so that they
 * are of one thread: Linux reads them there only if it counts in a thread. It changes nothing.
 *
 * The index of architectural PEBS is in a register, which BPF cannot read. Linux reads it when it begins to drain, and
 * when it turns a counter on: a tracepoint tells the value. Of each switch the first read behind it is kept, from which
 * index.c finds out what the index was.
 *
 * Every CPU has two rings of its own: one for drains, which Linux does with counting off, and one for switches, which
 * it does with interrupts off. Only a NMI can come in between: while a switch copies branches, it may drain PEBS. So
 * parts of drains of BTS have a kind of their own, and what finds the ring locked is lost, and counted.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "tools/grab/bpf/events.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Of Linux' structures what is read. CO-RE finds out where that lies in the running kernel. */
#define OF_KERNEL __attribute__((preserve_access_index))

struct debug_store {
    __u64 bts_buffer_base, bts_index;
    __u64 pebs_buffer_base, pebs_index;
} OF_KERNEL;

struct perf_event_attr {
    __u32 type;
} OF_KERNEL;

struct hw_perf_event {
    __u64 config, interrupts;
    int idx, flags;
} OF_KERNEL;

struct perf_event {
    struct perf_event_attr attr;
    struct hw_perf_event hw;
    struct task_struct *owner;
    __u64 id;
} OF_KERNEL;

struct cpu_hw_events {
    struct perf_event *events[GRAB_COUNTERS];
    unsigned long active_mask[GRAB_COUNTERS / 64];
    struct debug_store *ds;
    __u64 pebs_enabled, pebs_data_cfg;
    void *pebs_vaddr;               /* architectural PEBS, as is the next: the buffer, */
    __u64 cfg_c_val[GRAB_COUNTERS]; /* and what Linux has written to CFG_C of each counter */
} OF_KERNEL;

union perf_capabilities {
    __u64 capabilities;
};

struct x86_pmu {
    union perf_capabilities intel_cap;
    unsigned long large_pebs_flags;
    int pebs_buffer_size;
} OF_KERNEL;

struct task_struct {
    int pid, tgid;
    unsigned int flags, __state;
    int prio, normal_prio;
    char comm[GRAB_COMM];
} OF_KERNEL;

struct task_struct___before_5_14 { /* of that name until then */
    volatile long state;
} OF_KERNEL;

const volatile struct grab_addresses grab_addresses;
struct grab_shared grab_shared;

/* Before 5.10 the kernel wants the rings that are put in to have this size. */
struct ring {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, GRAB_RING);
};
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, GRAB_CPUS);
    __type(key, __u32);
    __array(values, struct ring);
} grab_drain_rings SEC(".maps"), grab_switch_rings SEC(".maps");

/* IA32_PEBS_INDEX, and the bytes of records in it (ds/pebs23_layout.h) */
#define GRAB_INDEX    0x3F5
#define GRAB_INDEX_WR 0x07FFFFF0
#define GRAB_OS       (1 << 17) /* IA32_PERFEVTSELx, which Linux keeps of fixed counters, too */

#define MAX_INTERRUPTS (~0ULL) /* perf_event.hw.interrupts of an event that is throttled */

#define READ(to, size, from) bpf_probe_read_kernel(to, size, (const void *)(from))

static __always_inline __u64 word_at(__u64 address)
{
    __u64 value = 0;
    READ(&value, sizeof(value), address);
    return value;
}

static __always_inline struct cpu_hw_events *events_of(__u32 cpu)
{
    return (struct cpu_hw_events *)(word_at(grab_addresses.offsets + 8 * (__u64)cpu) + grab_addresses.events);
}

static __always_inline void copy_records(void *ring, enum grab_kind kind, __u64 *lost, __u64 number, __u64 first,
                                         __u64 bytes)
{
    for (int i = 0; i < 64; i++) { /* Linux' buffer has 64 KiB; up to 256 are read */
        const __u64 offset = (__u64)i * GRAB_PIECE, all = bytes - offset;
        const __u64 left = all > GRAB_PIECE ? GRAB_PIECE : all;
        struct grab_records *to = bpf_ringbuf_reserve(ring, sizeof(*to), 0);
        if (!to) {
            *lost += bytes - offset;
            return;
        }
        if (READ(to->data, (__u32)left, first + offset)) {
            bpf_ringbuf_discard(to, BPF_RB_NO_WAKEUP);
            *lost += bytes - offset;
            return;
        }
        to->kind = kind == GRAB_BTS ? GRAB_BTS_RECORDS : GRAB_RECORDS;
        to->number = number;
        to->offset = offset;
        to->bytes = (__u32)left;
        bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
        if (all <= GRAB_PIECE)
            return;
    }
    *lost += bytes - 64 * GRAB_PIECE;
}

/* What architectural PEBS has in place of the area. Linux keeps the values that it has written, but for the index. */
static __always_inline void copy_registers(__u8 *area, struct cpu_hw_events *events, __u64 index)
{
    struct grab_registers *to = (void *)area;
    struct x86_pmu *pmu = (struct x86_pmu *)grab_addresses.pmu;
    const __u64 buffer = (__u64)BPF_CORE_READ(events, pebs_vaddr);
    const __u32 bytes = BPF_CORE_READ(pmu, pebs_buffer_size);
    to->base = buffer ? buffer - word_at(grab_addresses.direct_map) : 0;
    for (__u32 size = 1; size < 16 && 4096u << size <= bytes; size++)
        to->base++; /* SIZE */
    to->index = index;
    bpf_core_read(to->cfg_c, sizeof(to->cfg_c), &events->cfg_c_val);
}

/* A START, DRAIN, STOP or BTS, with its records. `time`: before the index was read, or with the counters off. `index`:
 * of architectural PEBS. */
static __always_inline void tell(__u32 cpu, struct grab_cpu *c, enum grab_kind kind, __u32 interrupt, __u64 time,
                                 __u64 first, __u64 bytes, __u64 index)
{
    struct cpu_hw_events *events = events_of(cpu);
    const __u64 number = kind == GRAB_START ? 0 : kind == GRAB_BTS ? c->bts_drains++ : c->drains++;
    __u64 *lost = kind == GRAB_BTS ? &c->lost_bts : &c->lost_bytes;
    void *ring = bpf_map_lookup_elem(&grab_drain_rings, &cpu);
    struct grab_drain *to = ring ? bpf_ringbuf_reserve(ring, sizeof(*to), 0) : 0;
    c->interrupts += interrupt;
    if (!to) {
        c->lost_drains += 1;
        *lost += bytes;
        return;
    }
    to->kind = kind;
    to->interrupt = interrupt;
    to->number = number;
    to->time = time;
    to->pebs_enabled = BPF_CORE_READ(events, pebs_enabled);
    to->data_cfg = 0;
    if (bpf_core_field_exists(events->pebs_data_cfg)) /* from 5.2 on */
        to->data_cfg = BPF_CORE_READ(events, pebs_data_cfg);
    to->capabilities = 0;
    READ(&to->capabilities, sizeof(to->capabilities), &((struct x86_pmu *)grab_addresses.pmu)->intel_cap);
    to->bytes = bytes;
    to->first = first;
    to->switches = c->switches;
    to->tid = (__u32)bpf_get_current_pid_tgid();
    to->reserved = 0;
    __builtin_memset(to->area, 0, GRAB_AREA);
    if (grab_addresses.direct_map && kind != GRAB_BTS)
        copy_registers(to->area, events, index);
    else
        READ(to->area, GRAB_AREA, BPF_CORE_READ(events, ds));
    if (kind == GRAB_STOP && !grab_addresses.direct_map) /* it may have grown: the counters are on */
        ((__u64 *)to->area)[GRAB_AT_INDEX] = first + bytes;
    bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
    if (bytes)
        copy_records(ring, kind, lost, number, first, bytes);
}

static __always_inline void tell_pebs(__u32 cpu, struct grab_cpu *c, enum grab_kind kind, __u32 interrupt)
{
    struct debug_store *ds = BPF_CORE_READ(events_of(cpu), ds);
    const __u64 time = bpf_ktime_get_ns();
    const __u64 base = ds ? BPF_CORE_READ(ds, pebs_buffer_base) : 0, index = ds ? BPF_CORE_READ(ds, pebs_index) : 0;
    if (kind == GRAB_DRAIN && (!ds || index <= base))
        return; /* Linux asks often, where there is nothing */
    tell(cpu, c, kind, interrupt, time, base, kind == GRAB_START ? 0 : index - base, 0);
}

/* Of the thread that runs. `drains`: Linux sets the index back. Without an event the buffer is the area of intel_bts,
 * which perf has. */
static __always_inline void tell_bts(__u32 cpu, struct grab_cpu *c, _Bool drains)
{
    struct cpu_hw_events *events = events_of(cpu);
    struct debug_store *ds = BPF_CORE_READ(events, ds);
    if (!ds || !word_at((__u64)&events->events + 8 * grab_addresses.bts))
        return;
    volatile struct grab_cpu *v = c; /* an interrupt may drain in between */
    const __u64 resets = v->bts_resets, seen = v->bts_seen;
    const __u64 base = BPF_CORE_READ(ds, bts_buffer_base), index = BPF_CORE_READ(ds, bts_index);
    const __u64 first = seen > base && seen <= index ? seen : base;
    v->bts_seen = index;
    if (drains) {
        v->bts_found = seen;
        v->bts_resets = resets + 1;
        v->bts_seen = 0;
    } else if (v->bts_resets != resets) {
        v->bts_seen = 0;
        if (v->bts_found != index)
            return; /* it has copied them */
    }
    if (index > first)
        tell(cpu, c, GRAB_BTS, 0, bpf_ktime_get_ns(), first, index - first, 0);
}

/* Once for as long as the counter has it. */
static __always_inline void tell_event(__u32 cpu, struct grab_cpu *c, struct perf_event *event)
{
    const __u64 id = BPF_CORE_READ(event, id);
    const __u32 counter = (__u32)BPF_CORE_READ(event, hw.idx);
    if (counter >= GRAB_COUNTERS || c->event[counter] == id || id == grab_shared.own[0] || id == grab_shared.own[1])
        return;
    struct x86_pmu *pmu = (struct x86_pmu *)grab_addresses.pmu;
    void *ring = bpf_map_lookup_elem(&grab_drain_rings, &cpu);
    struct grab_enabled *to = ring ? bpf_ringbuf_reserve(ring, sizeof(*to), 0) : 0;
    if (!to) {
        c->lost_events += 1;
        return;
    }
    c->event[counter] = id;
    to->kind = GRAB_ENABLED;
    to->counter = counter;
    to->drains = c->drains;
    to->config = BPF_CORE_READ(event, hw.config);
    to->large = 0;
    if (bpf_core_field_exists(pmu->large_pebs_flags))
        to->large = BPF_CORE_READ(pmu, large_pebs_flags);
    to->flags = (__u32)BPF_CORE_READ(event, hw.flags);
    to->of_kernel = BPF_CORE_READ(event, owner) == (struct task_struct *)-1L; /* TASK_TOMBSTONE */
    if (READ(to->attr, GRAB_ATTR, &event->attr))
        __builtin_memset(to->attr, 0, GRAB_ATTR);
    bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
}

/* What this CPU counts already. */
static __always_inline void tell_events(__u32 cpu, struct grab_cpu *c)
{
    struct cpu_hw_events *events = events_of(cpu);
    const __u64 active = word_at((__u64)&events->active_mask), first = (__u64)&events->events;
    for (__u32 i = 0; i < GRAB_COUNTERS; i++)
        if (active >> i & 1)
            tell_event(cpu, c, (struct perf_event *)word_at(first + 8 * i));
}

static __always_inline struct grab_cpu *this_cpu(__u32 *cpu)
{
    *cpu = bpf_get_smp_processor_id();
    return *cpu < GRAB_CPUS ? &grab_shared.cpu[*cpu & (GRAB_CPUS - 1)] : 0;
}

/* intel_pmu_drain_pebs_core(), _nhm(), _icl() and intel_pmu_drain_arch_pebs(): their first argument is the frame of the
 * interrupt, or none. */
SEC("kprobe")
int BPF_KPROBE(grab_on_drain, void *frame)
{
    __u32 cpu;
    struct grab_cpu *c = this_cpu(&cpu);
    if (c && grab_addresses.direct_map) { /* the index comes next */
        c->unseen += c->draining && c->phase == GRAB_RUNS;
        c->draining = frame ? GRAB_BY_INTERRUPT : GRAB_BY_SOFTWARE;
    } else if (c && c->phase == GRAB_RUNS) {
        tell_pebs(cpu, c, GRAB_DRAIN, frame != 0);
    }
    return 0;
}

/* intel_pmu_drain_bts_buffer() */
SEC("kprobe")
int grab_on_bts(void *unused)
{
    __u32 cpu;
    struct grab_cpu *c = this_cpu(&cpu);
    if (c && c->phase == GRAB_RUNS)
        tell_bts(cpu, c, 1);
    return 0;
}

/* Linux has read a register. If it is the index of architectural PEBS: in a drain, all records are there, and Linux is
 * about to read them. Elsewhere a counter is being turned on; then a CPU begins, or ends. */
SEC("raw_tp/read_msr")
int grab_on_read(struct bpf_raw_tracepoint_args *args)
{
    __u32 cpu;
    const __u64 index = args->args[1], bytes = index & GRAB_INDEX_WR;
    if ((__u32)args->args[0] != GRAB_INDEX || (__u32)args->args[2]) /* which is 1 where it failed */
        return 0;
    struct grab_cpu *c = this_cpu(&cpu);
    if (!c)
        return 0;
    const __u32 draining = c->draining, interrupt = draining == GRAB_BY_INTERRUPT;
    const __u64 base = (__u64)BPF_CORE_READ(events_of(cpu), pebs_vaddr);
    const __u64 time = bpf_ktime_get_ns();
    c->draining = GRAB_NO_DRAIN;
    if (c->phase == GRAB_RUNS && c->read.switches != c->switches)
        c->read = (struct grab_read){c->switches, c->drains, (__u32)bytes, (__u32)bpf_get_current_pid_tgid()};
    if (c->phase == GRAB_IDLE && !draining && *(volatile __u32 *)&grab_shared.on) {
        tell(cpu, c, GRAB_START, 0, time, base, 0, index);
        if (grab_shared.events)
            tell_events(cpu, c);
        c->phase = GRAB_RUNS;
    } else if (c->phase == GRAB_RUNS && *(volatile __u32 *)&grab_shared.ends) {
        c->phase = GRAB_STOPPED;
        tell(cpu, c, GRAB_STOP, interrupt, time, base, bytes, index);
    } else if (c->phase == GRAB_RUNS && draining && bytes) {
        tell(cpu, c, GRAB_DRAIN, interrupt, time, base, bytes, index);
    }
    return 0;
}

/* intel_pmu_enable_event(): a counter begins, with counting of the whole CPU off. */
SEC("kprobe")
int BPF_KPROBE(grab_on_enable, struct perf_event *event)
{
    __u32 cpu;
    struct grab_cpu *c = this_cpu(&cpu);
    if (c && c->phase == GRAB_RUNS)
        tell_event(cpu, c, event);
    return 0;
}

/* x86_pmu_stop(): with these flags and this count it is because the event had too many samples in a tick. */
SEC("kprobe")
int BPF_KPROBE(grab_on_stop, struct perf_event *event, int flags)
{
    __u32 cpu;
    struct grab_cpu *c = this_cpu(&cpu);
    if (!c || c->phase != GRAB_RUNS || flags || BPF_CORE_READ(event, hw.interrupts) != MAX_INTERRUPTS)
        return 0;
    c->throttled += BPF_CORE_READ(events_of(cpu), pebs_enabled) >> (BPF_CORE_READ(event, hw.idx) & 63) & 1;
    return 0;
}

/* Whether a record can be made before the switch has turned the counters off. */
static __always_inline __u32 counts_kernel(__u32 cpu)
{
    struct cpu_hw_events *events = events_of(cpu);
    const __u64 enabled = BPF_CORE_READ(events, pebs_enabled), first = (__u64)&events->events;
    for (__u32 i = 0; i < GRAB_COUNTERS; i++) {
        struct perf_event *event = (struct perf_event *)(enabled >> i & 1 ? word_at(first + 8 * i) : 0);
        if (event && BPF_CORE_READ(event, hw.config) & GRAB_OS)
            return 1;
    }
    return 0;
}

/* The time, PebsIndex and the number of drains before it. If an interrupt drains in between: once more. */
static __always_inline void stamp(__u32 cpu, struct grab_cpu *c, struct grab_switch *to)
{
    struct cpu_hw_events *events = events_of(cpu);
    struct debug_store *ds = grab_addresses.direct_map ? 0 : BPF_CORE_READ(events, ds);
    for (int i = 0; i < 3; i++) {
        to->time = bpf_ktime_get_ns();
        to->drains = *(volatile __u64 *)&c->drains;
        to->index = ds ? BPF_CORE_READ(ds, pebs_index) : 0;
        if (to->drains == *(volatile __u64 *)&c->drains)
            return;
    }
}

static __always_inline __u32 state_of(struct task_struct *task)
{
    if (bpf_core_field_exists(task->__state))
        return BPF_CORE_READ(task, __state);
    return (__u32)BPF_CORE_READ((struct task_struct___before_5_14 *)task, state);
}

/* Before Linux changes anything for the next thread, its counters included. */
SEC("raw_tp/sched_switch")
int grab_on_switch(struct bpf_raw_tracepoint_args *args)
{
    __u32 cpu;
    struct grab_cpu *c = this_cpu(&cpu);
    if (!c || !*(volatile __u32 *)&grab_shared.on || c->phase == GRAB_STOPPED)
        return 0;
    if (c->phase == GRAB_IDLE && grab_addresses.direct_map)
        return 0;
    if (c->draining) { /* no drain goes on here: its read of the index was not seen, and the next is not its */
        c->unseen += 1;
        c->draining = GRAB_NO_DRAIN;
    }
    if (c->phase == GRAB_IDLE) {
        tell_pebs(cpu, c, GRAB_START, 0);
        if (grab_shared.events)
            tell_events(cpu, c);
        c->phase = GRAB_RUNS;
    }
    tell_bts(cpu, c, 0);
    void *ring = bpf_map_lookup_elem(&grab_switch_rings, &cpu);
    struct grab_switch *to = ring ? bpf_ringbuf_reserve(ring, sizeof(*to), 0) : 0;
    const __u64 told = c->read.switches;
    barrier(); /* an interrupt may read in between: then the rest is newer, not older */
    struct grab_read before = c->read;
    before.switches = told;
    const __u64 number = c->switches++;
    if (!to) {
        c->lost_switches += 1;
    } else {
        struct task_struct *old = (struct task_struct *)args->args[1], *new = (struct task_struct *)args->args[2];
        to->number = number;
        to->read = before;
        stamp(cpu, c, to);
        to->of_kernel = grab_addresses.direct_map ? counts_kernel(cpu) : 0;
        to->old_tid = BPF_CORE_READ(old, pid);
        to->new_tid = BPF_CORE_READ(new, pid);
        to->old_tgid = BPF_CORE_READ(old, tgid);
        to->new_tgid = BPF_CORE_READ(new, tgid);
        to->old_state = grab_addresses.switch_state ? (__u32)args->args[3] : state_of(old);
        if (args->args[0]) /* preempted: it can run, whatever it was about to be */
            to->old_state = 0;
        to->old_flags = BPF_CORE_READ(old, flags);
        to->new_flags = BPF_CORE_READ(new, flags);
        to->old_priority = BPF_CORE_READ(old, prio);
        to->old_base = BPF_CORE_READ(old, normal_prio);
        to->new_base = BPF_CORE_READ(new, normal_prio);
        READ(to->old_comm, GRAB_COMM, &old->comm);
        READ(to->new_comm, GRAB_COMM, &new->comm);
        bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
    }
    if (*(volatile __u32 *)&grab_shared.ends && !grab_addresses.direct_map) {
        c->phase = GRAB_STOPPED; /* first: nothing drains in between */
        tell_pebs(cpu, c, GRAB_STOP, 0);
    }
    return 0;
}
