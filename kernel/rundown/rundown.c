/* SPDX-License-Identifier: MIT */
/*
 * Tells sessions what exists: processes, threads, images, the machine, the sample interval (trace/rundown/rundown.h). A
 * session that asks for them gets what exists when it starts (DCStart) and when it stops (DCEnd), and what begins and
 * ends in between.
 *
 * A process is an address space. Each thread of ring 3 has its own process, whose number comes from the threads'
 * numbers. Idle threads belong to process 0, all other threads to the system process, number 4.
 *
 * A session starts, and stops, on one CPU after another. Meanwhile threads run and switch, but none is created and none
 * ends: until the interrupt has reached all CPUs, a thread that wants to do so waits (kthread_watch). So each thread in
 * a session's events either existed before, and DCStart names it once the last CPU has been reached, or began later,
 * and its start names it. All this goes thread by thread; the dispatcher lock is held only while the events of one
 * thread are written. A thread that ends before its turn writes its own event first.
 *
 * Longer than 500 lines: all of it shares one lock and one cursor, which no other file uses.
 */
#include "trace/rundown/rundown.h"
#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "arch/page_tables.h"
#include "kernel/activity/sample_interval.h"
#include "kernel/cpu.h"
#include "kernel/gate.h"
#include "kernel/inventory/inventory.h"
#include "kernel/lib/list.h"
#include "kernel/phase.h"
#include "kernel/recording/sessions.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/threads.h"
#include "kernel/user_thread.h"
#include "trace/hub.h"

#define IDLE_PROCESS   0u
#define SYSTEM_PROCESS 4u

#define COMPUTER     "CAIRN"
#define KERNEL_IMAGE "\\Cairn\\kernel.elf"
#define USER_IMAGE   "\\Cairn\\programs"

/* What is run down, all of one mask. */
#define GROUPS (PERF_PROCESS | PERF_THREAD | PERF_LOADER)

/* Dispatcher lock. */
static struct klist *cursor; /* whom the walk visits next; NULL: none is in progress */
static bool changing;        /* CPUs are being told of sessions */
static struct {
    uint32_t serial; /* of its last announcement; 0: none yet */
    uint32_t groups; /* announced and not yet run down; 0: none */
} begun[TRACE_MAX_SESSIONS];

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Interrupts off, for all that takes a CPU. */
static void put(struct kcpu *cpu, uint32_t sessions, const struct trace_system *system, uint16_t hook, uint8_t version,
                const struct etw_payload *p)
{
    const struct trace_part part = {p->bytes, p->size};
    trace_hub_event_to(cpu->trace, arch_rdtsc(), sessions, system, hook, version, &part, p->size != 0);
}

static uint32_t process_of(const struct kthread *t)
{
    return t->user ? t->user->process_id : (t->flags & KTHREAD_IDLE) ? IDLE_PROCESS : SYSTEM_PROCESS;
}

/* As the header of a thread's events has it. Nobody counts times. */
static struct trace_system header_of(const struct kthread *t)
{
    return (struct trace_system){.thread_id = t->tid, .process_id = process_of(t)};
}

static void put_process(struct kcpu *cpu, uint32_t sessions, uint16_t hook, const struct etw_process *process,
                        const char *name)
{
    struct etw_payload p;
    const struct trace_system here = header_of(cpu->current);
    bool live = hook == HOOK_PROCESS_START || hook == HOOK_PROCESS_END;
    trace_rundown_process(&p, process, name);
    put(cpu, sessions, live ? &here : NULL, hook, HOOK_VERSION_PROCESS, &p);
}

static void put_thread(struct kcpu *cpu, uint32_t sessions, uint16_t hook, const struct kthread *t)
{
    const uint32_t group = t->ideal_processor / TRACE_GROUP_CPUS;
    const struct etw_thread thread = {
        .process_id = process_of(t),
        .thread_id = t->tid,
        .stack_base = (uint64_t)(uintptr_t)t, /* which lies above its stack */
        .stack_limit = kthread_slot(t) + ARCH_PAGE_SIZE,
        .user_stack_base = t->user ? KUSER_STACK_TOP : 0,
        .user_stack_limit = t->user ? KUSER_STACK_TOP - KUSER_STACK_PAGES * (uint64_t)ARCH_PAGE_SIZE : 0,
        .affinity = t->affinity.word[group] & trace_rundown_group(kcpu_count, group),
        .start_address = t->user ? t->user->entry : (uint64_t)(uintptr_t)t->entry,
        .base_priority = t->base_priority,
    };
    const struct trace_system header = header_of(hook == HOOK_THREAD_START ? cpu->current : t);
    struct etw_payload p;
    trace_rundown_thread(&p, &thread, hook == HOOK_THREAD_START ? NULL : t->name); /* it gets its name later */
    put(cpu, sessions, &header, hook, HOOK_VERSION_THREAD, &p);
}

static void put_name(struct kcpu *cpu, uint32_t sessions, const struct kthread *t)
{
    struct etw_payload p;
    trace_rundown_thread_name(&p, process_of(t), t->tid, t->name);
    put(cpu, sessions, NULL, HOOK_THREAD_SET_NAME, HOOK_VERSION_THREAD_NAME, &p);
}

static void put_image(struct kcpu *cpu, uint32_t sessions, uint16_t hook, uint32_t process, uint64_t base,
                      const uint8_t *from, const uint8_t *to, const char *name)
{
    const struct etw_image image = {
        .image_base = base,
        .image_size = (uint64_t)(to - from),
        .process_id = process,
        .default_base = base,
    };
    const struct trace_system here = header_of(cpu->current);
    bool perfinfo = process && (hook == HOOK_IMAGE_DC_START || hook == HOOK_IMAGE_DC_END);
    struct etw_payload p;
    trace_rundown_image(&p, &image, name);
    put(cpu, sessions, perfinfo ? NULL : &here, hook, HOOK_VERSION_IMAGE, &p);
}

/* ---- one thread, and its process where it has its own ------------------------------------------------------------ */

static const struct hooks {
    uint16_t process, thread, image;
} start = {HOOK_PROCESS_START, HOOK_THREAD_START, HOOK_IMAGE_LOAD},
  end = {HOOK_PROCESS_END, HOOK_THREAD_END, HOOK_IMAGE_UNLOAD},
  dc_start = {HOOK_PROCESS_DC_START, HOOK_THREAD_DC_START, HOOK_IMAGE_DC_START},
  dc_end = {HOOK_PROCESS_DC_END, HOOK_THREAD_DC_END, HOOK_IMAGE_DC_END};

static void put_own_process(struct kcpu *cpu, uint32_t sessions, uint16_t hook, const struct kthread *t)
{
    const struct etw_process process = {
        .unique_process_key = (uint64_t)(uintptr_t)t->user,
        .process_id = t->user->process_id,
        .parent_id = SYSTEM_PROCESS,
        .exit_status = t->state == KTHREAD_TERMINATED ? t->exit_code : ETW_STILL_RUNNING,
        .directory_table_base = t->user->space,
    };
    put_process(cpu, sessions, hook, &process, t->name);
}

static void put_own_image(struct kcpu *cpu, uint32_t sessions, uint16_t hook, const struct kthread *t)
{
    put_image(cpu, sessions, hook, t->user->process_id, KUSER_IMAGE, kernel_user_start, kernel_user_end, USER_IMAGE);
}

/* Those of these sessions that have asked for a group get its events; what begins from the process down to its image,
 * what ends the other way round. */
struct wish {
    uint32_t process, thread, loader; /* sessions */
};

static void put_begin(struct kcpu *cpu, struct wish w, const struct hooks *h, const struct kthread *t)
{
    if (t->user && w.process)
        put_own_process(cpu, w.process, h->process, t);
    if (w.thread)
        put_thread(cpu, w.thread, h->thread, t);
    if (w.thread && h == &start)
        put_name(cpu, w.thread, t);
    if (t->user && w.loader)
        put_own_image(cpu, w.loader, h->image, t);
}

static void put_end(struct kcpu *cpu, struct wish w, const struct hooks *h, const struct kthread *t)
{
    if (t->user && w.loader)
        put_own_image(cpu, w.loader, h->image, t);
    if (w.thread)
        put_thread(cpu, w.thread, h->thread, t);
    if (t->user && w.process)
        put_own_process(cpu, w.process, h->process, t);
}

static struct wish wish_of(uint32_t session, uint32_t groups)
{
    return (struct wish){
        .process = groups & PERF_PROCESS ? session : 0,
        .thread = groups & PERF_THREAD ? session : 0,
        .loader = groups & PERF_LOADER ? session : 0,
    };
}

/* Of all sessions that run here. */
static struct wish wishes_here(const struct kcpu *cpu)
{
    if (!trace_hub_wants(cpu->trace, GROUPS))
        return (struct wish){0};
    return (struct wish){
        .process = trace_hub_sessions(cpu->trace, PERF_PROCESS),
        .thread = trace_hub_sessions(cpu->trace, PERF_THREAD),
        .loader = trace_hub_sessions(cpu->trace, PERF_LOADER),
    };
}

/* ---- threads come and go ----------------------------------------------------------------------------------------- */

static void wait_while_changing(void)
{
    while (changing) {
        ksched_unlock();
        kcross_call_answer();
        arch_pause();
        ksched_lock();
    }
}

/* To be told what was there when they began, and not yet through. */
static uint32_t announced(void)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        set |= begun[i].groups ? 1u << i : 0;
    return set;
}

/* Unless it has been told already. */
static void tell(struct kcpu *cpu, struct kthread *t, uint32_t i)
{
    if (t->told[i] != begun[i].serial)
        put_begin(cpu, wish_of(1u << i, begun[i].groups), &dc_start, t);
    t->told[i] = begun[i].serial;
}

static void created(struct kthread *t)
{
    struct kcpu *cpu = kcpu_this();
    put_begin(cpu, wishes_here(cpu), &start, t);
    TRACE_EACH_SESSION(i, announced())
        t->told[i] = begun[i].serial;
}

static void ended(struct kthread *t)
{
    struct kcpu *cpu = kcpu_this();
    TRACE_EACH_SESSION(i, announced())
        tell(cpu, t, i);
    put_end(cpu, wishes_here(cpu), &end, t);
}

static void gone(struct kthread *t)
{
    if (cursor == &t->all_link)
        cursor = t->all_link.next;
}

static void watch_threads(const struct boot_info *info)
{
    static const struct kthread_watch watch = {wait_while_changing, created, ended, gone};
    (void)info;
    kthread_watch(&watch);
}
KPHASE(KPHASE_CLOCK, watch_threads);

/* ---- all there is ------------------------------------------------------------------------------------------------ */

/* Every thread that was created before `limit`, programs' or not, in the order of creation, each under the lock. */
static void walk(bool programs, uint32_t limit, uint32_t number, uint32_t groups,
                 void (*visit)(struct kcpu *cpu, struct kthread *t, uint32_t i, uint32_t groups))
{
    bool begins = true, more = true;
    while (more) {
        bool on = kgate_enter();
        ksched_lock();
        struct klist *at = begins ? kthread_all.next : cursor;
        begins = false;
        more = at != &kthread_all && KLIST_ITEM(at, struct kthread, all_link)->tid < limit;
        cursor = more ? at->next : NULL;
        struct kthread *t = KLIST_ITEM(at, struct kthread, all_link);
        if (more && (t->user != NULL) == programs)
            visit(kcpu_this(), t, number - 1, groups);
        ksched_unlock();
        kgate_leave(on);
    }
}

static void visit_start(struct kcpu *cpu, struct kthread *t, uint32_t i, uint32_t groups)
{
    (void)groups;
    if (t->state != KTHREAD_TERMINATED)
        tell(cpu, t, i);
}

static void visit_end(struct kcpu *cpu, struct kthread *t, uint32_t i, uint32_t groups)
{
    if (t->state != KTHREAD_TERMINATED)
        put_end(cpu, wish_of(1u << i, groups), &dc_end, t);
}

static void put_kernel_process(struct kcpu *cpu, uint32_t session, uint16_t hook, uint32_t id)
{
    const struct etw_process process = {
        .unique_process_key = (uint64_t)(uintptr_t)kcpu_table[0]->idle + id, /* a name: there is no such object */
        .process_id = id,
        .session_id = ETW_NO_SESSION,
        .exit_status = id == IDLE_PROCESS ? 0 : ETW_STILL_RUNNING,
        .directory_table_base = arch_page_tables.root,
    };
    put_process(cpu, session, hook, &process, id == IDLE_PROCESS ? "Idle" : "System");
}

static void put_kernel_image(struct kcpu *cpu, uint32_t session, uint16_t hook)
{
    put_image(cpu, session, hook, 0, (uint64_t)(uintptr_t)kernel_text_start, kernel_text_start, kernel_data_end,
              KERNEL_IMAGE);
}

/* The idle process with its threads; the system process alone; the other way round at the end. They neither come nor
 * go. */
static void put_kernel(uint32_t number, uint32_t groups, const struct hooks *h)
{
    const struct wish w = wish_of(1u << (number - 1), groups);
    bool on = kgate_enter();
    put_kernel_process(kcpu_this(), w.process, h->process, h == &dc_start ? IDLE_PROCESS : SYSTEM_PROCESS);
    for (uint32_t i = 0; i < kcpu_count; i++)
        put_thread(kcpu_this(), w.thread, h->thread, kcpu_table[i]->idle);
    put_kernel_process(kcpu_this(), w.process, h->process, h == &dc_start ? SYSTEM_PROCESS : IDLE_PROCESS);
    kgate_leave(on);
}

static void put_images(uint32_t number, uint32_t groups, const struct hooks *h)
{
    bool on = kgate_enter();
    put_kernel_image(kcpu_this(), wish_of(1u << (number - 1), groups).loader, h->image);
    kgate_leave(on);
}

static void walk_start(uint32_t number, uint32_t groups)
{
    uint32_t limit = kthread_limit();
    put_kernel(number, groups, &dc_start);
    walk(false, limit, number, groups, visit_start);
    put_images(number, groups, &dc_start);
    walk(true, limit, number, groups, visit_start);
    bool on = kgate_enter();
    ksched_lock();
    begun[number - 1].groups = 0;
    ksched_unlock();
    kgate_leave(on);
}

static void walk_end(uint32_t number, uint32_t groups)
{
    uint32_t limit = kthread_limit();
    walk(true, limit, number, groups, visit_end);
    put_images(number, groups, &dc_end);
    walk(false, limit, number, groups, visit_end);
    put_kernel(number, groups, &dc_end);
}

/* ---- the machine, and the session's head ------------------------------------------------------------------------- */

static void put_head(uint32_t number, uint16_t hook, const struct perfinfo_groupmask *masks)
{
    struct etw_payload p;
    trace_rundown_masks(&p, masks->masks);
    bool on = kgate_enter();
    put(kcpu_this(), 1u << (number - 1), NULL, hook, HOOK_VERSION_HEADER, &p);
    kgate_leave(on);
}

static void put_complete(uint32_t number)
{
    const struct etw_payload none = {0};
    bool on = kgate_enter();
    put(kcpu_this(), 1u << (number - 1), NULL, HOOK_RUNDOWN_COMPLETE, HOOK_VERSION_HEADER, &none);
    kgate_leave(on);
}

static void put_kernel_base(uint32_t number)
{
    struct etw_payload p;
    trace_rundown_kernel_base(&p, (uint64_t)(uintptr_t)kernel_text_start);
    bool on = kgate_enter();
    put(kcpu_this(), 1u << (number - 1), NULL, HOOK_KERNEL_BASE, HOOK_VERSION_KERNEL_BASE, &p);
    kgate_leave(on);
}

/* Family, model and stepping of CPUID leaf 1: SDM vol. 2, CPUID, "Version Information". */
static void identify(struct etw_cpu_config *c)
{
    uint32_t r[4];
    arch_cpuid(1, 0, r);
    uint32_t family = r[0] >> 8 & 0xF, model = r[0] >> 4 & 0xF;
    if (family == 6 || family == 15)
        model |= r[0] >> 12 & 0xF0;
    if (family == 15)
        family += r[0] >> 20 & 0xFF;
    c->processor_level = (uint16_t)family;
    c->processor_revision = (uint16_t)(model << 8 | (r[0] & 0xF));
}

static void put_machine(uint32_t number)
{
    struct etw_cpu_config config = {
        .mhz = (uint32_t)(arch_tsc_hz() / 1000000),
        .number_of_processors = kcpu_count,
        .mem_size = (uint32_t)(kinventory_memory() >> 20),
        .page_size = ARCH_PAGE_SIZE,
        .allocation_granularity = ARCH_PAGE_SIZE,
        .highest_user_address = ARCH_USER_END - 1,
        .processor_architecture = ETW_ARCHITECTURE_AMD64,
        .nx_enabled = 1, /* the loader boots no machine without either */
        .pae_enabled = 1,
    };
    static const uint16_t hook[] = {HOOK_CPU_CONFIG, HOOK_PROCESSOR_GROUP, HOOK_PROCESSOR_NUMBER};
    struct etw_payload p;
    identify(&config);
    for (unsigned i = 0; i < sizeof hook / sizeof hook[0]; i++) {
        if (hook[i] == HOOK_CPU_CONFIG)
            trace_rundown_cpu_config(&p, &config, COMPUTER);
        else if (hook[i] == HOOK_PROCESSOR_GROUP)
            trace_rundown_processor_group(&p, kcpu_count);
        else
            trace_rundown_processor_numbers(&p, kcpu_count);
        bool on = kgate_enter();
        const struct trace_system here = header_of(kcpu_this()->current);
        put(kcpu_this(), 1u << (number - 1), i ? NULL : &here, hook[i],
            i ? HOOK_VERSION_PROCESSOR : HOOK_VERSION_CPU_CONFIG, &p);
        kgate_leave(on);
    }
}

/* ---- the interval of samples ------------------------------------------------------------------------------------- */

static void put_interval(uint32_t sessions, uint16_t hook, uint32_t new_interval, uint32_t old_interval)
{
    struct etw_payload p;
    trace_rundown_profile_interval(&p, new_interval, old_interval);
    struct kcpu *cpu = kcpu_this();
    const struct trace_system here = header_of(cpu->current);
    put(cpu, sessions, &here, hook, HOOK_VERSION_PROFILE_INTERVAL, &p);
}

static void put_interval_of(uint32_t number, uint16_t hook)
{
    bool on = kgate_enter();
    uint32_t interval = ksample_interval();
    put_interval(1u << (number - 1), hook, interval, interval);
    kgate_leave(on);
}

/* Sessions that have samples are told. */
void ksample_interval_changed(uint32_t new_interval, uint32_t old_interval)
{
    bool on = kgate_enter();
    struct trace_hub_cpu *hub = kcpu_this()->trace;
    if (trace_hub_wants(hub, PERF_PROFILE))
        put_interval(trace_hub_sessions(hub, PERF_PROFILE), HOOK_PROFILE_INTERVAL, new_interval, old_interval);
    kgate_leave(on);
}

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

static uint32_t groups_of(const struct perfinfo_groupmask *masks)
{
    return masks->masks[GROUPS >> PERF_MASK_SHIFT] & GROUPS;
}

/* Whether a session with these masks has a head at all: one that asks for none of this has switches and no more. */
static bool has_head(const struct perfinfo_groupmask *masks)
{
    return groups_of(masks) || trace_group_on(masks, PERF_CPU_CONFIG) || trace_group_on(masks, PERF_SYSCFG_SYSTEM);
}

static bool has_machine(const struct perfinfo_groupmask *masks)
{
    return has_head(masks) && !trace_group_on(masks, PERF_NO_SYSCONFIG);
}

static void before(const struct ksession_change *c)
{
    uint32_t lost = groups_of(&c->old) & ~groups_of(&c->new);
    if (has_machine(&c->old) && !has_head(&c->new))
        put_machine(c->number);
    if (has_head(&c->old))
        put_head(c->number, HOOK_GROUP_MASKS_END, &c->old);
    if (lost)
        walk_end(c->number, lost);
    if (lost & PERF_LOADER)
        put_kernel_base(c->number);
    if (trace_group_on(&c->old, PERF_PROFILE) && !trace_group_on(&c->new, PERF_PROFILE))
        put_interval_of(c->number, HOOK_PROFILE_DC_END);
    if (has_head(&c->old) && !has_head(&c->new)) {
        put_head(c->number, HOOK_HEADER_EXTENSION, &c->new);
        put_complete(c->number);
    }
}

static void after(const struct ksession_change *c)
{
    uint32_t gained = groups_of(&c->new) & ~groups_of(&c->old);
    if (has_head(&c->new))
        put_head(c->number, HOOK_HEADER_EXTENSION, &c->new);
    if (gained)
        walk_start(c->number, gained);
    if (trace_group_on(&c->new, PERF_PROFILE) && !trace_group_on(&c->old, PERF_PROFILE))
        put_interval_of(c->number, HOOK_PROFILE_DC_START);
    if (!has_head(&c->new))
        return;
    if (has_machine(&c->new) && !has_head(&c->old))
        put_machine(c->number);
    put_complete(c->number);
}

static void set_changing(bool yes)
{
    ksched_lock();
    changing = yes;
    ksched_unlock();
}

/* Before the change, what ends is told, and behind it what begins. */
void ksession_call(const struct ksession_change *changes, unsigned count, kcross_call_function function, void *argument)
{
    for (unsigned i = 0; i < count; i++)
        before(&changes[i]);

    bool on = kgate_enter(); /* so that nobody waits longer than the CPUs take to answer */
    set_changing(true);
    for (unsigned i = 0; i < count; i++) {
        begun[changes[i].number - 1].serial++;
        begun[changes[i].number - 1].groups = groups_of(&changes[i].new) & ~groups_of(&changes[i].old);
    }
    kcross_call_all(function, argument);
    set_changing(false);
    kgate_leave(on);

    for (unsigned i = 0; i < count; i++)
        after(&changes[i]);
}
