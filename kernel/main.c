/* SPDX-License-Identifier: MIT */
/* The run from entry to verdict, in order. */
#include "arch/arch.h"
#include "arch/registers.h"
#include "arch/upcalls.h"
#include "kernel/console/sinks.h"
#include "kernel/lib/print.h"
#include "kernel/recording/sessions.h"
#include "kernel/cpu.h"
#include "kernel/console/display.h"
#include "kernel/dump/dump.h"
#include "kernel/console/end.h"
#include "kernel/lib/errno.h"
#include "kernel/sched/threads.h"
#include "kernel/tracepoint/switch.h"
#include "kernel/tracepoint/activity.h"
#include "kernel/dump/live_dump.h"
#include "kernel/recording/machine.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/lib/panic.h"
#include "kernel/console/print.h"
#include "kernel/recording/restarts.h"
#include "kernel/console/saved_log.h"
#include "kernel/sched/sched.h"
#include "kernel/console/serial_port.h"
#include "kernel/recording/debug_store.h"
#include "kernel/lib/string.h"
#include "kernel/dump/symbols.h"
#include "kernel/thread.h"
#include "kernel/tracepoint/truth.h"
#include "kernel/sched/wait.h"
#include "kernel/workload/workload.h"

static struct kcpu boot_cpu;

/* Above all workloads, so that the run ends when it should. */
#define CONTROLLER_PRIORITY 16

/* One line why the run cannot go on, the verdict, the end. */
static _Noreturn void fail(const char *name, const char *line)
{
    kserial_last_resort();
    kdisplay_rescue();
    kreport(KREPORT_FAIL, name, "%s", line);
    kreport_summary();
    kend(false);
}

/* ---- processors ------------------------------------------------------------------------------------------------- */

_Noreturn void kernel_ap_main(struct arch_cpu *cpu)
{
    (void)cpu; /* GS base points at it */
    ksched_enter();
}

static void start_processors(void)
{
    uint32_t found = arch_cpus_found();
    uint32_t usable = found - arch_cpus_left_out();
    uint32_t wanted = kopt.cpus < usable ? kopt.cpus : usable;

    for (uint32_t i = 1; i < wanted; i++) {
        /* Dense numbers: a CPU that does not start leaves no hole, the next one takes its place. */
        struct kcpu *cpu = kmem_pages_alloc((sizeof *cpu + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
        if (!cpu || (cpu->arch.index = kcpu_count, ksched_cpu_init(cpu)) != 0) {
            kprintf("cpu: no memory for processor %u\n", i);
            break;
        }
        kcpu_table[kcpu_count] = cpu;
        int e = arch_smp_start(i, &cpu->arch, ksched_cpu_stack(cpu));
        if (e) {
            kcpu_table[kcpu_count] = NULL;
            kprintf("cpu: processor %u does not start (error %d): left out\n", i, -e);
            continue;
        }
        kcpu_count++;
    }
    if (kcpu_count < wanted)
        kreport(KREPORT_SKIP, "cpus", "%u of %u processors run, %u did not start", kcpu_count, found,
                wanted - kcpu_count);
    else if (kcpu_count < found)
        kreport(KREPORT_PASS, "cpus", "%u of %u processors run, %u left out (%s)", kcpu_count, found,
                found - kcpu_count, kopt.cpus < usable ? "option cpus=" : "more than are supported");
    else
        kreport(KREPORT_PASS, "cpus", "%u of %u processors run", kcpu_count, found);
}

/* Whether the CPUs' TSCs are one clock: the trace merges CPUs by it. The worst one is named. */
static void report_tsc(void)
{
    const uint64_t unit = arch_tsc_hz() / TRACE_CLOCK_HZ;
    uint64_t worst = 0, widest = 0;
    uint32_t who = 0, unknown = 0;
    for (uint32_t i = 1; i < kcpu_count; i++) {
        const struct arch_tsc_bounds *b = arch_tsc_bounds(i);
        const int64_t offset = arch_tsc_offset(b);
        const uint64_t size = offset < 0 ? -(uint64_t)offset : (uint64_t)offset, sure = arch_tsc_uncertainty(b);
        if (!b->rounds) {
            unknown++;
            continue;
        }
        widest = sure > widest ? sure : widest;
        if ((size > sure + unit || b->low > b->high) && size + sure > worst) {
            worst = size + sure;
            who = i;
        }
    }
    if (unknown)
        kprintf("time: how far the TSCs of %u CPUs are from CPU 0's could not be measured\n", unknown);
    if (who)
        kreport(KREPORT_SKIP, "tsc", "CPU %u's is %ld cycles from CPU 0's, give or take %lu: the order of events of "
                "different CPUs is not exact", who, (long)arch_tsc_offset(arch_tsc_bounds(who)),
                (unsigned long)arch_tsc_uncertainty(arch_tsc_bounds(who)));
    else if (kcpu_count > 1 + unknown)
        kprintf("time: the TSCs of %u CPUs are one, as far as %lu cycles can tell\n", kcpu_count - unknown,
                (unsigned long)widest);
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

static int overflow_stack(int depth)
{
    volatile char page[1024];
    page[0] = (char)depth;
    return depth < 0 ? 0 : overflow_stack(depth + 1) + page[0];
}

/* panic=...: breaks the kernel on purpose; panic=none does not. */
static void break_on_purpose(void)
{
    static void *volatile null; /* volatile: the compiler must not see what it is */
    switch (kopt.panic) {
    case KOPT_PANIC_NOW:
        kpanic("asked for with panic=now");
    case KOPT_PANIC_NULL:
        *(volatile int *)null = 0;
        break;
    case KOPT_PANIC_STACK:
        overflow_stack(0);
        break;
    case KOPT_PANIC_DOUBLE:
        /* A push where no stack is: the page fault finds none either. */
        __asm__ volatile("xorl %%esp, %%esp\n\tpushq %%rax" ::: "memory");
    }
}

/* Sleeps until enough switches happened or the time is up; returns the switches since `before`. *second_half: half of
 * them had happened before the end, which is when periods change. */
static uint64_t wait_for_switches(uint64_t before, bool *second_half)
{
    uint64_t ticks_a_second = 1000000 / kopt.tick_us, step = ticks_a_second / 100 ? ticks_a_second / 100 : 1;
    uint64_t half = kopt.switches / 2;
    *second_half = false;
    const uint64_t begin = arch_rdtsc(), until = begin + kopt.seconds * arch_tsc_hz();
    uint64_t done, said = UINT64_MAX;
    char live[64];
    for (;; kthread_sleep(step, KWAIT_DELAY_EXECUTION)) {
        done = ksched_switches() - before;
        const uint64_t seconds = (arch_rdtsc() - begin) / arch_tsc_hz();
        if (seconds != said) {
            klogger_words(live, sizeof live);
            kprint_status("run: %lu of %u s, %lu of %lu switches%s", (unsigned long)seconds, kopt.seconds,
                          (unsigned long)done, (unsigned long)kopt.switches, live);
        }
        said = seconds;
        if (done >= half && !*second_half) { /* a short run may be over by then */
            *second_half = true;
            ksession_reconfigure();
            break_on_purpose();
        }
        if (done >= kopt.switches || arch_rdtsc() >= until)
            break;
    }
    return done;
}

static void report_debug_store(void)
{
    struct ds_counts sum = { 0 }, c;
    char fault[160];
    for (uint32_t i = 0; i < kcpu_count && kcpu_table[i]->ds; i++) {
        ds_cpu_counts(kcpu_table[i]->ds, &c);
        sum.records += c.records;
        sum.drains += c.drains;
        sum.lost += c.lost;
        sum.lost_unknown |= c.lost_unknown;
        sum.swallowed += c.swallowed;
        sum.swallowed_unknown |= c.swallowed_unknown;
        if (c.faults && !sum.faults)
            ksession_explain(&c.fault, i, fault, sizeof fault);
        sum.faults += c.faults;
        sum.throttles += c.throttles;
    }
    if (sum.swallowed_unknown)
        kprintf("ds: a record of one counter may have taken another's sample with it: how many is unknown\n");
    else if (sum.swallowed)
        kprintf("ds: %lu samples without a record: another counter's record reloaded theirs\n", sum.swallowed);
    if (sum.throttles)
        kprintf("ds: counting stood still %lu times, for a tick each: ds.throttle=%u PMIs within one\n",
                sum.throttles, ksession.ds.throttle);
    if (sum.faults)
        kreport(KREPORT_FAIL, "debug store", "%s; %lu times in all: what was recorded cannot be trusted", fault,
                sum.faults);
    else if (ksession.pebs_refusal[0])
        kreport(KREPORT_FAIL, "debug store", "%s", ksession.pebs_refusal);
    else if (!ksession.pebs)
        kreport(KREPORT_SKIP, "debug store", "%s", kopt_pebs() ? ksession.reason : "no PEBS, as asked for");
    else if (sum.lost_unknown)
        kreport(KREPORT_PASS, "debug store",
                "%lu records in %lu drains; a buffer was full: how many are lost is unknown",
                sum.records, sum.drains);
    else
        kreport(KREPORT_PASS, "debug store", "%lu records in %lu drains, %lu lost", sum.records, sum.drains, sum.lost);
}

static void report_branches(void)
{
    struct ds_bts_counts sum = { 0 }, c;
    for (uint32_t i = 0; i < kcpu_count && kcpu_table[i]->ds; i++) {
        ds_bts_cpu_counts(kcpu_table[i]->ds, &c);
        sum.records += c.records;
        sum.drains += c.drains;
        sum.lost += c.lost;
        sum.lost_unknown |= c.lost_unknown;
    }
    if (ksession.bts_refusal[0])
        kreport(ksession.bts ? KREPORT_FAIL : KREPORT_SKIP, "branch trace", "%s", ksession.bts_refusal);
    else if (sum.lost_unknown)
        kreport(KREPORT_PASS, "branch trace", "%lu records in %lu drains; how many are lost is unknown", sum.records,
                sum.drains);
    else
        kreport(KREPORT_PASS, "branch trace", "%lu records in %lu drains, %lu lost", sum.records, sum.drains, sum.lost);
}

static void report_session(uint32_t number, const struct trace_counts *sum)
{
    char name[24] = "trace";
    if (number > 1)
        snprintf(name, sizeof name, "trace, session %u", number);
    bool compact = sum->compact_tried != 0;
    if (sum->events_tried != sum->events_written + sum->events_lost ||
        sum->switches_tried != sum->switches_written + sum->switches_lost)
        kreport(KREPORT_FAIL, name, "what was tried is not what was written and lost");
    else
        kreport(KREPORT_PASS, name, "%lu switches; lost: %lu of them, %lu events",
                compact ? sum->compact_tried : sum->full_tried, compact ? sum->compact_lost : sum->full_lost,
                sum->events_lost);
}

static void report_trace(void)
{
    struct kcontrol_info info;
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        if (kcontrol_query(number, &info) == 0)
            report_session(number, &info.sum);
}

static void report_truth(void)
{
    struct ktruth_counts sum = { 0 };
    for (uint32_t i = 0; i < kcpu_count; i++) {
        struct ktruth_counts c = ktruth_counts(kcpu_table[i]->truth);
        sum.switches += c.switches;
        sum.records += c.records;
        sum.lost += c.lost;
    }
    kreport(sum.lost ? KREPORT_FAIL : KREPORT_PASS, "truth", "%lu switches, %lu records, %lu without room",
            sum.switches, sum.records, sum.lost);
}

/* Whether the truth will have more to tell than of switches and PEBS records. */
static bool wants_live_events(void)
{
    static const uint32_t groups[] = { PERF_DISPATCHER, PERF_PRIORITY, PERF_INTERRUPT, PERF_DPC,
                                       PERF_PROFILE, PERF_PMC_PROFILE, PERF_SPINLOCK };
    bool any = false;
    for (unsigned g = 0; g < sizeof groups / sizeof groups[0]; g++)
        any |= kopt_wants(groups[g]);
    return any;
}

static void mark(const char *what)
{
    char text[ETW_MARK_MAX];
    snprintf(text, sizeof text, "workload %s %s", kopt.workload, what);
    klive_mark(text);
}

static const struct boot_info *boot;

static void controller(void *unused)
{
    static char error[448];
    (void)unused;

    if (kmachine_init(boot) != 0 || khook_init() != 0)
        fail("setup", "no memory for what is known of the machine");
    if (ksession_init(error, sizeof error) != 0)
        fail("setup", error);
    kprintf("ds: backend %s: %s\n", ksession.backend, ksession.reason);
    enum kopt_ds chosen = strcmp(ksession.backend, "soft") == 0 ? KOPT_DS_SOFT : KOPT_DS_HW;
    for (size_t i = 0; kopt.ds == KOPT_DS_AUTO && kopt_idle(&i, chosen, error, sizeof error);)
        kreport(KREPORT_SKIP, "options", "%s", error);
    if (kopt.truth && ktruth_init(kopt.switches, ksession.truth_records, ksession.bts || wants_live_events()) != 0)
        fail("setup", "no memory for the truth");

    struct kmem_counts before, after;
    kmem_counts(&before);
    klogger_begin(kserial_there());
    if (ksession_start(error, sizeof error) != 0)
        fail("setup", error);
    uint64_t first = ksched_switches();
    mark("begins");
    if (kworkload_start(kopt.workload, kopt.seed) != 0)
        fail("workload", "its threads could not be created");
    kprintf("run: workload %s, %lu switches or %u s\n", kopt.workload, (unsigned long)kopt.switches, kopt.seconds);
    bool second_half;
    krestart_begin(first);
    uint64_t done = wait_for_switches(first, &second_half);
    kprint_status("run: over");
    krestart_finish();
    mark("ends");
    kworkload_finish();
    klogger_stop();
    ksession_stop();
    klogger_settle();
    kmem_counts(&after);

    if (done >= kopt.switches)
        kreport(KREPORT_PASS, "run", "%lu switches on %u CPUs when it was asked to end", (unsigned long)done,
                kcpu_count);
    else
        kreport(KREPORT_SKIP, "run", "%lu switches of %lu on %u CPUs: the time of option seconds= was up",
                (unsigned long)done, (unsigned long)kopt.switches, kcpu_count);
    if (ksession.later[0] && !second_half)
        kreport(KREPORT_SKIP, "periods", "pebs.later=%s: they did not change: half of the switches was not reached",
                kopt.pebs_later);
    report_debug_store();
    if (kopt.bts)
        report_branches();
    report_trace();
    klogger_report();
    if (kopt.truth)
        report_truth();
    bool leak = before.live_pages != after.live_pages || before.live_objects != after.live_objects;
    kreport(leak ? KREPORT_FAIL : KREPORT_PASS, "memory", "%ld pages and %ld objects more than before",
            (long)(after.live_pages - before.live_pages), (long)(after.live_objects - before.live_objects));

    kdump("end", NULL);
    if (kserial_there() && arch_serial_dropped())
        kreport(KREPORT_FAIL, "serial", "%lu bytes did not get out: the log is incomplete",
                (unsigned long)arch_serial_dropped());
    ksave_report();
    uint32_t counts[3];
    kreport_counts(counts);
    kreport_summary();
    kend(counts[KREPORT_FAIL] == 0);
}

_Noreturn void kernel_main(struct boot_info *info)
{
    static char error[448];
    bool understood = info->magic == BOOT_INFO_MAGIC && info->version == BOOT_INFO_VERSION &&
                      info->size == sizeof *info;

    arch_early_init(&boot_cpu.arch);
    kopt_defaults();
    if (understood) {
        ksave_begin(info);
        if (ksave_on())
            console_add(&kprint_saved);
    }
    int bad = understood ? kopt_parse(arch_phys_to_virt(info->config), info->config_size, error, sizeof error) : 0;
    kprintf("\nCairn %s: %s\n", CAIRN_VERSION, arch_features());
    if (understood)
        kdisplay_begin(info);
    kserial_early();
    if (!understood)
        fail("boot", "the loader speaks another version of boot_info: install loader and kernel of one build");

    boot = info;
    if (kmem_init(info) != 0 || arch_paging_init(info) != 0)
        fail("memory", "no room for the page tables: give the machine more memory");
    kdisplay_open(); /* first: who looks for ports touches what nobody vouches for, and what comes of it must be seen */
    kserial_find();
    if (bad) /* not before: the loader's tables may not reach the only screen */
        fail("options", error);
    if (kopt.save && !ksave_on())
        fail("save", "save=esp, but the loader has found another value: write it on a line of its own");
    for (unsigned i = 0; i < BOOT_SAVE_NOTES && info->save_notes[i][0]; i++)
        kreport(KREPORT_SKIP, "save", "%.*s", BOOT_SAVE_NOTE, info->save_notes[i]);
    ksymbols_init(info);
    if (arch_acpi_init(info) != 0 || arch_apic_init() != 0 || arch_time_init() != 0)
        fail("machine", "cannot go on without what the line above names");
    kprintf("time: TSC %lu Hz, %s\n", (unsigned long)arch_tsc_hz(), arch_time_source());
    if (kopt.tsc_align) {
        kprintf("time: waiting until the TSC is a multiple of 2^%u: at most %lu s\n", kopt.tsc_align,
                (unsigned long)((UINT64_C(1) << kopt.tsc_align) / arch_tsc_hz() + 1));
        arch_tsc_align(kopt.tsc_align);
    }

    kcpu_table[0] = &boot_cpu;
    kcpu_count = 1;
    ksched_init();
    if (ksched_cpu_init(&boot_cpu) != 0)
        fail("memory", "no room for the first stack: give the machine more memory");
    start_processors();
    report_tsc();
    struct kthread *thread;
    static const struct kthread_params first = { .name = "controller", .priority = CONTROLLER_PRIORITY,
                                                 .entry = controller };
    if (kthread_create(&thread, &first) != 0)
        fail("memory", "no room for the first thread: give the machine more memory");
    ksched_enter();
}
