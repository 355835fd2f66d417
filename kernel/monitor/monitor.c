/* SPDX-License-Identifier: MIT */
/* The monitor (option monitor=on): a prompt on the serial line, or at keyboard and screen, or a script, before the run,
 * at breakpoints and after a panic. docs/learn/monitor.md shows it. */
#include "arch/arch.h"
#include "kernel/console/end.h"
#include "kernel/console/print.h"
#include "kernel/console/report.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/bench.h"
#include "kernel/monitor/break.h"
#include "kernel/monitor/input.h"
#include "kernel/monitor/kernel_commands.h"
#include "kernel/monitor/line.h"
#include "kernel/monitor/machine.h"
#include "kernel/monitor/options.h"
#include "kernel/phase.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "kernel/tracepoint/stepping.h"

#define PROMPT   "cairn> "
#define PRIORITY 16 /* as the thread that controls the run */

static const struct kmonitor_command *const groups[] = {kmonitor_general, kmonitor_registers, kmonitor_areas,
                                                        kmonitor_records, kmonitor_bench,     kmonitor_threads,
                                                        kmonitor_trace,   kmonitor_break,     NULL};
static struct kmonitor monitor = {.groups = groups};
static struct kmonitor_line line;
static enum kmonitor_source source = KMONITOR_NOBODY;

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* Without a serial port the line that is edited is the screen's status. */
static void put(void *context, const char *text, size_t size)
{
    (void)context;
    if (source == KMONITOR_SERIAL)
        kprint_terminal(text, size);
}

static void show_status(void)
{
    if (source == KMONITOR_KEYBOARD)
        kprint_status(PROMPT "%.*s_%s", (int)line.at, line.text, line.text + line.at);
}

/* Nothing has come for a while. A thread sleeps: typing does not keep a CPU busy. */
static void wait(uint64_t *since)
{
    const bool thread = monitor.place == KMONITOR_BEFORE_RUN;
    if (thread && arch_rdtsc() - *since > arch_tsc_hz() / 1000)
        kthread_sleep(1, KWAIT_USER_REQUEST);
    else
        arch_pause();
}

static void read_line(void)
{
    uint64_t since = arch_rdtsc();
    kmonitor_line_begin(&line);
    for (show_status();;) {
        const int c = kmonitor_input();
        if (c < 0) {
            wait(&since);
            continue;
        }
        since = arch_rdtsc();
        if (kmonitor_line_key(&line, (char)c))
            return;
        show_status();
    }
}

/* ---- the conversation -------------------------------------------------------------------------------------------- */

static int converse(void)
{
    static char text[KMONITOR_LINE + 1]; /* commands change it; the editor's stays in the history */
    for (int result = 0;;) {
        if (source == KMONITOR_SCRIPT) {
            if (!kmonitor_input_script(text, sizeof text)) {
                kprintf("monitor: the script has ended; the run goes on\n");
                return KMONITOR_GO;
            }
        } else {
            read_line();
            memcpy(text, line.text, sizeof text);
        }
        if (source != KMONITOR_SERIAL)
            kprintf(PROMPT "%s\n", text);
        if ((result = kmonitor_run(&monitor, text)) != 0)
            return result;
    }
}

static int stop(enum kmonitor_place place, const char *why)
{
    const uint32_t cpu = arch_cpu_index();
    monitor.machine = kmonitor_machine(place, cpu);
    monitor.place = place;
    monitor.here = monitor.cpu = cpu;
    kprintf("monitor: %s, on CPU %u\n", why, cpu);
    if (place == KMONITOR_BEFORE_RUN)
        kprintf("monitor: commands come from %s; help lists them\n", kmonitor_input_words());
    if (source == KMONITOR_NOBODY) {
        kprintf("monitor: there is no serial port and no keyboard: the run goes on\n");
        return KMONITOR_GO;
    }
    return converse();
}

static void quit(bool good)
{
    kreport_summary();
    kend(good);
}

/* ---- before the run: a thread that stays on its CPU, whose registers it is about -----------------------------------
 */

static void stop_at(const char *point)
{
    char why[96];
    const struct kthread *thread = kcpu_this()->current;
    snprintf(why, sizeof why, "at breakpoint %s, thread %u (%s)", point, thread->tid, thread->name);
    if (stop(KMONITOR_AT_BREAK, why) == KMONITOR_QUIT)
        quit(true);
}

/* Where every #DB comes from now on. One may be both: the end of a step of the model's, which shows in where that
 * stands (DR6.BS may be an old one's), and a breakpoint. */
static bool debug(struct arch_trap_frame *frame)
{
    const struct arch_cpu *cpu = arch_this_cpu();
    if (kmonitor_bench_debug(frame))
        return true;
    const bool step = cpu->step_on && cpu->step_ip != frame->rip;
    if (kmonitor_break_debug(frame, stop_at))
        return !step || kstepping_debug(frame);
    return kstepping_debug(frame);
}

static void begin(void *argument)
{
    (void)argument;
    if (!kmonitor_bench_begin())
        kend_failed("monitor", "no memory for its program and its Debug Store");
    arch_debug_set(debug);
    if (stop(KMONITOR_BEFORE_RUN, "before the run") == KMONITOR_QUIT)
        quit(true);
    kmonitor_bench_end();
}

static void before_run(const struct boot_info *info)
{
    if (!kmonitor_options.on)
        return;
    struct kthread *thread;
    const struct kthread_params params = {
        .name = "monitor", .priority = PRIORITY, .affinity = kthread_affinity(0), .entry = begin};
    line.put = put;
    line.choice = kmonitor_choice;
    line.context = &monitor;
    line.prompt = PROMPT;
    source = kmonitor_input_begin(info);
    if (kthread_create(&thread, &params) != 0)
        kend_failed("monitor", "no memory for its thread");
    kthread_join(thread, KWAIT_FOREVER, NULL);
}
KPHASE(KPHASE_BEFORE_RUN, before_run);

/* Breakpoints are in force during the run. */
static void run_begins(const struct boot_info *info)
{
    (void)info;
    if (source != KMONITOR_NOBODY)
        kmonitor_break_arm(true);
}
KPHASE(KPHASE_RUN_BEGINS, run_begins);

static void run_ends(const struct boot_info *info)
{
    (void)info;
    if (source != KMONITOR_NOBODY)
        kmonitor_break_arm(false);
}
KPHASE(KPHASE_RUN_ENDS, run_ends);

static void after_panic(const struct boot_info *info)
{
    (void)info;
    if (source != KMONITOR_NOBODY && stop(KMONITOR_AFTER_PANIC, "after a panic") == KMONITOR_QUIT)
        quit(false);
}
KPHASE(KPHASE_PANIC, after_panic);
