/* SPDX-License-Identifier: MIT */
/*
 * Runs programs that try what no program may do (kernel/selftest/ring3/hostile.asm), one after the other, on all CPUs
 * in turn. Each must end in the way listed here, and nothing else may be affected: at the same time other programs and
 * threads do their own work, and after the last attempt the run goes on for another hundred switches, which the trace
 * must show correctly. One verdict.
 */
#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "arch/registers.h"
#include "arch/user/registers.h"
#include "kernel/console/report.h"
#include "kernel/event/event.h"
#include "kernel/gate.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/threads.h"
#include "kernel/tracepoint/witness.h"
#include "kernel/user/ring3/calls.h"
#include "kernel/user/user.h"
#include "kernel/workload/parts.h"

#define SWITCHES_AFTER 100u
#define PATIENCE       3000u /* ticks for an attempt that ends by itself: most take one */
#define HEAD_START     20u   /* ticks for one that does not */

/* ANY: which fault, processors differ. (QEMU 7.2 reads the stack of a program's IRET and RETF as a supervisor, and has
 * SMAP refuse it.) */
enum { DE = 0, DB = 1, UD = 6, GP = 13, PF = 14, MF = 16, ANY = -1 };
enum { BAD_CALL = -2, ENDED = -3 };

/* What an attempt gets in RDI: what follows, or a place. */
/* clang-format off */
enum place {
    VALUE,
    KERNEL_CODE, KERNEL_DATA, KERNEL_STACK, PROGRAMS, PAGE_TABLES, DIRECT_MAP, DEVICES, TABLES, DS_AREA, PEBS_BUFFER,
    BTS_BUFFER, MODEL, TRACE, TRUTH, THE_NULL, BELOW_STACK, ABOVE_STACK, THE_LAST_PAGE, NOT_CANONICAL,
    NOT_CANONICAL_EITHER, PLACES,
};
/* clang-format on */

/* clang-format off */
static const char *const place_names[PLACES] = {
    "", "kernel code", "kernel data", "a kernel stack", "the programs in the kernel's image", "page tables",
    "the direct map", "device registers", "the GDT", "the Debug Store's area", "a PEBS buffer", "a BTS buffer",
    "the model of a Debug Store", "trace memory", "the truth", "null", "below its stack", "above its stack",
    "the last page", "no canonical address", "no canonical address either",
};
/* clang-format on */

#define EVERYWHERE UINT64_MAX       /* an attempt at each of the places */
#define TICKS      (UINT64_MAX - 1) /* in RSI: the TSC's cycles of three timer ticks */

/* clang-format off */
#define ATTEMPTS(_)                                                                                                    \
    _(read, EVERYWHERE, 0, PF) _(write, EVERYWHERE, 0, PF) _(jump, EVERYWHERE, 0, PF) _(return, EVERYWHERE, 0, PF)     \
    _(write_call, EVERYWHERE, 16, BAD_CALL) _(mark, EVERYWHERE, 16, BAD_CALL)                                          \
    _(stack, EVERYWHERE, TICKS, ANY) _(mov_ss_stack, EVERYWHERE, 0, BAD_CALL)                                          \
    _(iret, EVERYWHERE, 0, ANY) _(catch, EVERYWHERE, 0, PF)                                                            \
    _(own_code, 0, 0, PF) _(own_stack, 0, 0, PF) _(overflow, 0, 0, PF)                                                 \
    _(rdmsr, 0, 0, GP) _(wrmsr, 0, 0, GP) _(in, 0, 0, GP) _(out, 0, 0, GP) _(outs, 0, 0, GP) _(cli, 0, 0, GP)          \
    _(sti, 0, 0, GP) _(hlt, 0, 0, GP) _(lgdt, 0, 0, GP) _(lidt, 0, 0, GP) _(lldt, 0, 0, GP) _(ltr, 0, 0, GP)           \
    _(lmsw, 0, 0, GP) _(clts, 0, 0, GP) _(read_cr3, 0, 0, GP) _(write_cr3, 0, 0, GP) _(write_cr0, 0, 0, GP)            \
    _(write_cr4, 0, 0, GP) _(write_dr7, 0, 0, GP) _(invlpg, 0, 0, GP) _(wbinvd, 0, 0, GP) _(swapgs, 0, 0, GP)          \
    _(wrgsbase, 0, 0, UD) _(rdpmc, 0, 0, GP) _(sysretq, 0, 0, ANY) _(sysexit, 0, 0, ANY) _(sysenter, 0, 0, ANY)        \
    _(stac, 0, 0, UD) _(xgetbv, 0, 0, UD) _(avx, 0, 0, UD) _(xsave, 0, 0, UD) _(ud2, 0, 0, UD) _(int3, 0, 0, GP)       \
    _(int_80, 0, 0, GP) _(int_timer, 0, 0, GP) _(int_fault, 0, 0, GP) _(divide, 0, 0, DE)                              \
    _(divide_x87, 0, 0, MF) /* not SSE's: QEMU's TCG (7.2) raises no #XM */                                            \
    _(load_ss, 0, 0, GP) _(load_ds, 0, 0, GP) _(load_gs, 0, 0, GP) _(far_return, 0, 0, ANY) _(iret_kernel, 0, 0, ANY)  \
    _(flag_tf, 0, 0, DB) _(flag_tf_word, 0, 0, DB) _(flag_tf_iret, 0, 0, ANY) _(flag_iopl, 0, 0, GP)                   \
    _(flag_if, 0, TICKS, GP) _(flag_nt, 0, TICKS, GP) _(flag_ac, 0, TICKS, PF) _(flag_df, 0, 0, GP)                    \
    _(mov_ss_syscall, 0, 0, BAD_CALL) _(mov_ss_int3, 0, 0, GP) _(mov_ss_int, 0, 0, GP) _(mov_ss_hlt, 0, 0, GP)         \
    _(exit, 0x10000, 0, BAD_CALL) _(sleep, KWORKLOAD_PATIENCE + 1, 0, BAD_CALL) _(wait, 1, 0, BAD_CALL)                \
    _(wait, 0, KWORKLOAD_PATIENCE + 1, BAD_CALL) _(wait, UINT64_MAX - 1, 0, BAD_CALL) _(set, 1, 0, BAD_CALL)           \
    _(set, UINT64_C(1) << 32, 0, BAD_CALL) _(write_call, KUSER_IMAGE, CALL_TEXT_MAX + 1, BAD_CALL)                     \
    _(write_call, KUSER_IMAGE, UINT64_MAX, BAD_CALL) _(write_call, KUSER_STACK_TOP - 8, 16, BAD_CALL)                  \
    _(write_call, ARCH_USER_END - 8, 16, BAD_CALL) _(write_call, UINT64_MAX - 7, 16, BAD_CALL)                         \
    _(mark, KUSER_IMAGE, CALL_TEXT_MAX + 1, BAD_CALL) _(mark, KUSER_STACK_TOP - 8, 16, BAD_CALL)                       \
    _(spin, CALL_SPIN_MAX + 1, 0, BAD_CALL) _(spin, UINT64_C(1) << 32, 0, BAD_CALL)                                    \
    _(unknown, CALL_COUNT, 0, BAD_CALL) _(unknown, UINT64_MAX - 1, 0, BAD_CALL)                                        \
    _(unknown, UINT64_C(1) << 32, 0, BAD_CALL) _(loop, 0, 0, ENDED) _(sleep_on, 0, 0, ENDED)
/* clang-format on */

#define DECLARE(name, first, second, end) extern user_program user_hostile_##name;
ATTEMPTS(DECLARE)
extern user_program user_hostile_sgdt, user_hostile_sidt;

struct attempt {
    const char *name;
    user_program *program;
    uint64_t first, second;
    int end;
};

static const struct attempt attempts[] = {
#define ROW(name, first, second, end) {#name, user_hostile_##name, first, second, end},
    ATTEMPTS(ROW)};
/* Stopped by UMIP only: what they store is no secret to a program on a processor without it. */
static const struct attempt with_umip[] = {
    {"sgdt", user_hostile_sgdt, 0, 0, GP},
    {"sidt", user_hostile_sidt, 0, 0, GP},
};

struct keeper {
    uint64_t places[PLACES];
    struct kevent event; /* theirs: number 0 */
    uint32_t tried, wrong;
};

static void find_places(struct keeper *k)
{
    struct arch_table {
        uint16_t limit;
        uint64_t base;
    } __attribute__((packed)) gdt;
    uint32_t cpu = kcpu_count - 1;
    __asm__ volatile("sgdt %0" : "=m"(gdt));
    k->places[KERNEL_CODE] = (uint64_t)kernel_text_start;
    k->places[KERNEL_DATA] = (uint64_t)kcpu_table;
    k->places[KERNEL_STACK] = (uint64_t)&gdt;
    k->places[PROGRAMS] = (uint64_t)kernel_user_start;
    k->places[PAGE_TABLES] = (uint64_t)arch_phys_to_virt(read_cr3());
    k->places[DIRECT_MAP] = (uint64_t)arch_phys_to_virt(0x100000);
    k->places[DEVICES] = LAYOUT_DEVICES;
    k->places[TABLES] = gdt.base;
    k->places[DS_AREA] = (uint64_t)kcpu_table[cpu]->ds_area;
    k->places[PEBS_BUFFER] = (uint64_t)kcpu_table[cpu]->pebs_buffer;
    k->places[BTS_BUFFER] = (uint64_t)kcpu_table[cpu]->beside_buffer;
    if (kds->other)
        k->places[MODEL] = (uint64_t)kcpu_table[cpu]->machine->context;
    k->places[TRUTH] = kwitness_memory ? (uint64_t)kwitness_memory() : 0;
    k->places[TRACE] = (uint64_t)ksession_find(1);
    k->places[BELOW_STACK] = KUSER_STACK_TOP - KUSER_STACK_PAGES * (uint64_t)ARCH_PAGE_SIZE - 8;
    k->places[ABOVE_STACK] = KUSER_STACK_TOP + 8; /* a PUSH there hits the page that is not there */
    k->places[THE_LAST_PAGE] = ARCH_USER_END + 8;
    k->places[NOT_CANONICAL] = UINT64_C(1) << 63;
    k->places[NOT_CANONICAL_EITHER] = UINT64_C(0xFF7FFFFFFFFFFFF8);
}

static bool as_expected(int code, int end, enum place place)
{
    if (end == BAD_CALL)
        return code == KUSER_BAD_CALL;
    if (end == ENDED)
        return code == KUSER_ENDED;
    if (end == PF && place >= NOT_CANONICAL)
        end = GP;
    return end == ANY ? code >= KUSER_FAULT(0) && code < KUSER_FAULT(32) : code == KUSER_FAULT(end);
}

/* One attempt, to its end. Called with the gate entered: nothing of it is the keeper's own work. False: no memory. */
static bool try_at(struct keeper *k, const struct attempt *a, enum place place)
{
    char name[KTHREAD_NAME];
    struct kthread *thread;
    int code;
    uint64_t first = place == VALUE ? a->first : k->places[place];
    uint64_t second = a->second == TICKS ? arch_tsc_hz() / 1000000 * kopt.tick_us * 3 : a->second;
    snprintf(name, sizeof name, "hostile/%u", k->tried);
    if (kuser_create(&thread, name, KPRIORITY_NORMAL + 2, k->tried % kcpu_count, a->program, first, second, &k->event,
                     1) != 0)
        return false;
    k->tried++;
    if (kthread_join(thread, a->end == ENDED ? HEAD_START : PATIENCE, &code) != 0) {
        kuser_end(thread);
        kthread_join(thread, KWAIT_FOREVER, &code);
    }
    if (!as_expected(code, a->end, place)) {
        k->wrong++;
        kreport(KREPORT_FAIL, "hostile", "%s: %s %s ended with code 0x%x", name, a->name, place_names[place],
                (unsigned)code);
    }
    return true;
}

static bool try_all(struct keeper *k, const struct attempt *a, size_t count)
{
    for (; count; count--, a++) {
        enum place place = a->first == EVERYWHERE ? VALUE + 1 : VALUE;
        enum place last = a->first == EVERYWHERE ? PLACES - 1 : VALUE;
        for (; place <= last; place++) {
            if (place >= DS_AREA && place <= TRUTH && !k->places[place])
                continue; /* not in this run: ds=off, ds=hw, bts=off, truth=0 */
            if (kworkload_stopping() || !try_at(k, a, place))
                return false;
        }
    }
    return true;
}

static void keep(void *argument)
{
    struct keeper *k = argument;
    bool on = kgate_enter();
    find_places(k);
    bool done = try_all(k, attempts, sizeof attempts / sizeof attempts[0]) &&
                (!(read_cr4() & CR4_UMIP) || try_all(k, with_umip, sizeof with_umip / sizeof with_umip[0]));
    uint64_t last = ksched_switches();
    while (ksched_switches() < last + SWITCHES_AFTER && !kworkload_stopping())
        kthread_sleep(1, KWAIT_DELAY_EXECUTION);
    uint64_t after = ksched_switches() - last;
    if (!done || after < SWITCHES_AFTER)
        kreport(KREPORT_SKIP, "hostile",
                "the run ended after %u attempts: give it more switches= or seconds=", k->tried);
    else if (!k->wrong)
        kreport(KREPORT_PASS, "hostile", "%u attempts, each ended as it must; %lu switches since the last one",
                k->tried, (unsigned long)after);
    kgate_leave(on);
}

static int start(uint64_t seed)
{
    struct keeper *k = kworkload_alloc(sizeof *k);
    if (!k)
        return -ENOMEM;
    kevent_init(&k->event, false, false);
    int e = kpart_sleepers(NULL, seed, kcpu_count);
    for (uint32_t i = 0; i < kcpu_count && !e; i++) /* not disturbed, they end with code 0 */
        (void)((e = kuser_add("computer", i, KPRIORITY_NORMAL, user_computer, seed + i, 0, NULL, 0)) ||
               (e = kuser_add("napper", i, KPRIORITY_NORMAL, user_sleeper, seed + i, 0, NULL, 0)));
    return e ? e : kworkload_thread("keeper", 0, KPRIORITY_NORMAL + 3, KTHREAD_ANY_CPU, keep, k);
}

KWORKLOAD(hostile, start);
