/* SPDX-License-Identifier: MIT */
/*
 * A breakpoint is an address of code in DR0 to DR3 of every CPU. On backend soft the code of the model runs inside the
 * #DB handler, whose stack a second #DB would overwrite: there only the named points can be set, which no #DB handler
 * comes to. The same is true everywhere of the entry code (arch/user/trap.asm), which is refused.
 *
 * Held CPUs stand in their NMI handler, wherever they were: locks stay locked, and the time goes on. What counts is
 * turned off meanwhile, and on again, by its registers.
 */
#include "kernel/monitor/break.h"

#include "arch/arch.h"
#include "arch/debug_registers.h"
#include "arch/memory_layout.h"
#include "arch/user/registers.h"
#include "ds/ds.h"
#include "ds/layout.h"
#include "kernel/console/print.h"
#include "kernel/cpu.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"
#include "kernel/sched/cross_call.h"
#include "kernel/tracepoint/drains.h"
#include "kernel/tracepoint/switch.h"

#define POINTS 4u
#define NOBODY UINT32_MAX

static struct point {
    uint64_t at; /* 0: not set */
    char name[48];
} points[POINTS];

static bool armed;                /* they are in force: the run has begun, and not ended */
static uint32_t stopper = NOBODY; /* the CPU that talks */
static uint32_t holding;          /* it holds the others; atomic */
static uint32_t held;             /* that many stand still; atomic */
static bool asked[MAX_CPUS];      /* an NMI for this is on its way to the CPU; atomic */

extern const uint8_t arch_stubs[];

/* ---- debug registers --------------------------------------------------------------------------------------------- */

static void load_here(void)
{
    uint64_t dr7 = DR7_NONE;
    for (unsigned i = 0; i < POINTS && armed; i++)
        if (points[i].at) {
            write_dr(i, points[i].at);
            dr7 |= DR7_G0 << 2 * i;
        }
    write_dr7(dr7);
}

static void load(void *unused)
{
    (void)unused;
    load_here();
}

void kmonitor_break_arm(bool on)
{
    armed = on;
    kcross_call_all(load, NULL);
}

/* ---- hold -------------------------------------------------------------------------------------------------------- */

struct counting {
    bool hw;
    uint64_t global, debug;
};

/* By the registers, not by the driver: this may be in the midst of one of its functions. */
static struct counting pause_counting(void)
{
    struct counting c = {.hw = kcpu_this()->active_ds && !kds->other};
    if (c.hw && arch_rdmsr_safe(IA32_PERF_GLOBAL_CTRL, &c.global) == 0)
        arch_wrmsr_safe(IA32_PERF_GLOBAL_CTRL, 0);
    if (c.hw && arch_rdmsr_safe(IA32_DEBUGCTL, &c.debug) == 0)
        arch_wrmsr_safe(IA32_DEBUGCTL, c.debug & ~(IA32_DEBUGCTL_TR | IA32_DEBUGCTL_LBR));
    return c;
}

static void go_on_counting(const struct counting *c)
{
    if (!c->hw)
        return;
    arch_wrmsr_safe(IA32_DEBUGCTL, c->debug);
    arch_wrmsr_safe(IA32_PERF_GLOBAL_CTRL, c->global);
}

/* An NMI: false unless a breakpoint holds this CPU. */
static bool hold_here(bool (*give_up)(void))
{
    if (!__atomic_exchange_n(&asked[arch_cpu_index()], false, __ATOMIC_ACQ_REL))
        return false;
    const struct counting counting = pause_counting();
    bool gave_up = false;
    __atomic_fetch_add(&held, 1, __ATOMIC_ACQ_REL);
    while (!(gave_up = give_up()) && __atomic_load_n(&holding, __ATOMIC_ACQUIRE))
        arch_pause();
    if (!gave_up) {
        load_here();
        go_on_counting(&counting);
    }
    __atomic_fetch_sub(&held, 1, __ATOMIC_ACQ_REL);
    return !gave_up;
}
static const struct knmi_row nmi = {hold_here};
ROWS_ADD(knmi, nmi);

/* Waits until so many stand still, at most a second: an emulator may have fewer cores than CPUs. Returns how many do.
 */
static uint32_t await_held(uint32_t count)
{
    const uint64_t until = arch_rdtsc() + arch_tsc_hz();
    while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) != count && arch_rdtsc() < until)
        arch_pause();
    return __atomic_load_n(&held, __ATOMIC_ACQUIRE);
}

static bool console_taken;

/* The console's lock, for a CPU that is about to hold all others: it prints without, as nobody else does then. It waits
 * a bounded time, then goes on without. Interrupts off, before they are held; and before they go on. */
static void hold_console(void)
{
    const uint64_t until = arch_rdtsc() + arch_tsc_hz();
    while (!(console_taken = !__atomic_exchange_n(&kprint_locked, true, __ATOMIC_ACQUIRE)) && arch_rdtsc() < until)
        arch_pause();
    __atomic_store_n(&kprint_lock_ignored, true, __ATOMIC_RELAXED);
}

static void release_console(void)
{
    __atomic_store_n(&kprint_lock_ignored, false, __ATOMIC_RELAXED);
    __atomic_store_n(&kprint_locked, !console_taken, __ATOMIC_RELEASE); /* printing has released it meanwhile */
}

static void talk(void (*stop)(const char *name), const char *name)
{
    uint32_t nobody = NOBODY;
    while (
        !__atomic_compare_exchange_n(&stopper, &nobody, arch_cpu_index(), true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        nobody = NOBODY; /* another CPU came first: its NMI holds this one here */
        arch_pause();
    }
    const struct counting counting = pause_counting();
    write_dr7(DR7_NONE);
    hold_console();
    __atomic_store_n(&holding, 1, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < kcpu_count; i++) /* it may come after `go`: then, too, it is no NMI of the hardware's */
        __atomic_store_n(&asked[i], i != arch_cpu_index(), __ATOMIC_RELEASE);
    arch_nmi_others();
    const uint32_t still = await_held(kcpu_count - 1);
    if (still != kcpu_count - 1)
        kprintf("%u of the other %u CPUs are still running: their values may change\n", kcpu_count - 1 - still,
                kcpu_count - 1);
    stop(name);
    __atomic_store_n(&holding, 0, __ATOMIC_RELEASE);
    await_held(0);
    release_console();
    load_here();
    go_on_counting(&counting);
    __atomic_store_n(&stopper, NOBODY, __ATOMIC_RELEASE);
}

bool kmonitor_break_debug(struct arch_trap_frame *frame, void (*stop)(const char *name))
{
    const uint64_t why = read_dr6();
    if (!(why & DR6_POINTS))
        return false;
    write_dr6(DR6_NONE); /* nobody else does: an NMI may come before it is read */
    for (unsigned i = 0; i < POINTS; i++)
        if (points[i].at && points[i].at == frame->rip) {
            char name[sizeof points[i].name]; /* the user may take it away */
            memcpy(name, points[i].name, sizeof name);
            talk(stop, name);
            break;
        }
    frame->rflags |= RFLAGS_RF; /* its instruction runs now, also where the user has just taken the breakpoint away */
    return true;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static bool named_point(const char *word, uint64_t *at)
{
    if (kmonitor_same(word, "switch"))
        *at = (uint64_t)(uintptr_t)kswitch_out;
    else if (kmonitor_same(word, "pmi"))
        *at = (uint64_t)(uintptr_t)ds_pmi;
    else if (kmonitor_same(word, "drain"))
        *at = (uint64_t)(uintptr_t)kdrain_hooks.drained;
    else
        return false;
    return true;
}

static bool allowed(struct kmonitor *m, uint64_t at)
{
    const uint64_t entry = (uint64_t)arch_stubs;
    if (at < (uint64_t)kernel_text_start || at >= (uint64_t)kernel_text_end)
        kmonitor_say(m, "0x%lx: not code of the kernel", (unsigned long)at);
    else if (at + ARCH_PAGE_SIZE > entry && at < entry + 2 * ARCH_PAGE_SIZE)
        kmonitor_say(m, "0x%lx: code of the kernel's entry, where a #DB cannot be handled", (unsigned long)at);
    else if (kds->other)
        kmonitor_say(m, "backend soft: only switch, pmi and drain: the #DB handler's own code may run elsewhere");
    else
        return true;
    return false;
}

static int set_point(struct kmonitor *m, const char *word)
{
    uint64_t at;
    if (kmonitor_same(word, "record")) {
        kmonitor_say(m, "break: nothing of the kernel runs when a record is written: use `step record`");
        return 0;
    }
    if (!named_point(word, &at) && (!kmonitor_address(m, word, &at) || !allowed(m, at)))
        return 0;
    for (unsigned i = 0; i < POINTS; i++)
        if (points[i].at == at)
            return 0;
    for (unsigned i = 0; i < POINTS; i++)
        if (!points[i].at) {
            points[i].at = at;
            snprintf(points[i].name, sizeof points[i].name, "%s", word);
            return 0;
        }
    kmonitor_say(m, "break: all %u are in use: `break off` takes them away", POINTS);
    return 0;
}

static int breakpoint(struct kmonitor *m, unsigned words, char **word)
{
    unsigned count = 0;
    if (m->place == KMONITOR_AFTER_PANIC) {
        kmonitor_say(m, "break: not after a panic: nothing runs any more");
        return 0;
    }
    if (words && kmonitor_same(word[0], "off"))
        memset(points, 0, sizeof points);
    else if (words)
        set_point(m, word[0]);
    for (unsigned i = 0; i < POINTS; i++)
        if (points[i].at) {
            char where[80];
            kmonitor_print(m, "breakpoint %s at %s\n", points[i].name,
                           kmonitor_place_of(m, points[i].at, where, sizeof where));
            count++;
        }
    if (!count)
        kmonitor_print(m, "no breakpoint is set\n");
    return 0;
}

const struct kmonitor_command kmonitor_break[] = {
    {"break", "[POINT|off]",
     "list breakpoints, or set one; POINT is switch (a context switch), pmi, drain, or an address or symbol of the "
     "kernel's code (not with backend soft); off: none",
     0, 1, breakpoint, "switch|pmi|drain|off"},
    {NULL, NULL, NULL, 0, 0, NULL, NULL},
};
