/* SPDX-License-Identifier: MIT */
#include "kernel/dump/live_dump.h"

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/print.h"
#include "kernel/console/report.h"
#include "kernel/dump/dump.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"
#include "kernel/recording/sessions.h"
#include "kernel/sched/priority.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "kernel/thread.h"
#include "trace/live_buffers.h"

#define IDLE_US 10000u /* between two looks for a full buffer: who fills one may not wake a thread */

/* Each word tells the truth by itself, so that a panic may come between any two. */
static struct {
    struct trace_dump dump;        /* its `line` is the one that is being sent */
    size_t size, done;             /* characters of that line, and how many of them are out */
    struct trace_session *session; /* where the bytes in it come from, up to `end` of a buffer of `bytes` */
    uint32_t slot, end, bytes;
    uint64_t line; /* (number of its frame + 1) << 1 | 1 while it is not wholly out; 0: none yet */
    bool head;     /* the dump has begun: the streams in front of the trace are out */
    uint32_t told; /* bit i: session i + 1 was among them */
    uint32_t frames, buffers, again;
} sender;

static struct kthread *thread;
static struct kevent stop; /* for its waits */
static bool stopping;

static bool is_stopping(void)
{
    return __atomic_load_n(&stopping, __ATOMIC_RELAXED);
}

/* ---- one line --------------------------------------------------------------------------------------------------- */

static void set_line(uint64_t value)
{
    __atomic_store_n(&sender.line, value, __ATOMIC_RELEASE);
}

/* The buffer's bytes count as sent before the line does not count as pending any more: a panic between the two sends an
 * equal line again. */
static void line_is_out(void)
{
    trace_live_sent(sender.session, sender.slot, sender.end);
    set_line(sender.line & ~UINT64_C(1));
    sender.frames++;
    if (sender.end < sender.bytes)
        return;
    trace_live_release(sender.session, sender.slot);
    sender.buffers++;
}

static void go_on(bool wait)
{
    size_t before = sender.done;
    sender.done = kprint_line(sender.dump.line, sender.size, before, wait);
    sender.again += sender.done < before;
}

/* Time for other threads, and for the UART. Halted until the next timer tick, where it will not be ready before: a CPU
 * that waits for a slow line is as good as idle. */
static void wait_for_port(void)
{
    uint64_t tick = arch_tsc_hz() / 1000000 * kopt.tick_us;
    if ((int64_t)(arch_serial_due() - arch_tsc_common()) > (int64_t)tick) {
        arch_wait_for_interrupt();
        arch_irq_restore(true);
    } else {
        arch_pause();
    }
}

/* By the baud rate, whatever the port itself says. */
static bool line_busy(void)
{
    return kopt.dump_pace && (int64_t)(arch_serial_due() - arch_tsc_common()) > 0;
}

static void send_line(void *context, const char *line, size_t size)
{
    (void)context;
    (void)line; /* sender.dump.line */
    sender.size = size;
    sender.done = 0;
    set_line(((uint64_t)sender.dump.frames + 1) << 1 | 1);
    while (sender.done < size && !is_stopping()) {
        size_t before = sender.done;
        if (!line_busy())
            go_on(false);
        if (sender.done == before)
            wait_for_port();
    }
    if (sender.done == size)
        line_is_out();
}

/* ---- the thread ------------------------------------------------------------------------------------------------- */

/* The session to look at next, in turn, so that all fall behind alike. */
static bool next_buffer(uint32_t *number, struct trace_live *buffer)
{
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++) {
        *number = *number % TRACE_MAX_SESSIONS + 1;
        struct trace_session *session = ksession_session(*number);
        if (session && trace_session_config(session)->live && trace_live_next(session, buffer)) {
            sender.session = session;
            return true;
        }
    }
    return false;
}

static void send_buffer(uint32_t number, const struct trace_live *buffer)
{
    sender.slot = buffer->slot;
    sender.bytes = buffer->header->offset;
    for (uint32_t at = buffer->sent; at < sender.bytes && !is_stopping(); at = sender.end) {
        sender.end = trace_dump_part(&sender.dump, buffer->header, buffer->cpu_buffer, (uint16_t)number, at);
        trace_dump_flush(&sender.dump);
    }
}

static void logger(void *unused)
{
    (void)unused;
    uint32_t number = 0;
    uint64_t ticks = IDLE_US / kopt.tick_us ? IDLE_US / kopt.tick_us : 1;
    struct trace_live buffer;
    while (!is_stopping()) {
        if (next_buffer(&number, &buffer))
            send_buffer(number, &buffer);
        else
            kevent_wait(&stop, KWAIT_EXECUTIVE, ticks);
    }
}

/* ---- begin and end ---------------------------------------------------------------------------------------------- */

static void send_whole(void *context, const char *line, size_t size)
{
    (void)context;
    kprint_bytes(line, size);
}

static void send_head(void)
{
    static const struct trace_sink whole = {send_whole, NULL};
    const uint64_t tsc = arch_rdtsc();
    kdump_begin(&sender.dump, NULL, true);
    kdump_head(&sender.dump, tsc);
    kdump_announce(sender.dump.bytes, sender.dump.frames);
    kdump_begin(&sender.dump, &whole, true);
    kdump_head(&sender.dump, tsc);
    set_line((uint64_t)sender.dump.frames << 1);
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        sender.told |= ksession_session(number) ? 1u << (number - 1) : 0;
    sender.head = true;
}

void klive_begin(bool console)
{
    static const struct trace_sink pieces = {send_line, NULL};
    static const struct kthread_params params = {.name = "logger", .priority = KPRIORITY_LOWEST, .entry = logger};
    if (kopt.dump != KOPT_DUMP_LIVE)
        return;
    if (!console) {
        kreport(KREPORT_SKIP, "live", "no serial port works: the trace stays in memory");
        return;
    }
    send_head();
    kprintf("dump: live: full buffers follow while the run goes on\n");
    sender.dump.sink = &pieces;
    kevent_init(&stop, true, false);
    if (kthread_create(&thread, &params) != 0)
        kreport(KREPORT_FAIL, "live", "no memory for the thread that sends buffers");
}

void klive_stop(void)
{
    if (!thread)
        return;
    __atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
    kevent_set(&stop, KWAIT_INCREMENT);
    kthread_join(thread, KWAIT_FOREVER, NULL);
    thread = NULL;
}

void klive_settle(void)
{
    if (!(sender.line & 1))
        return;
    go_on(true);
    line_is_out();
}

void klive_words(char *text, size_t size)
{
    uint32_t full = 0;
    text[0] = '\0';
    if (!sender.head)
        return;
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
        const struct trace_session *session = ksession_session(number);
        if (session && trace_session_config(session)->live)
            full += trace_live_full(session);
    }
    snprintf(text, size, "; live: %lu bytes are out, %u full buffers wait",
             (unsigned long)__atomic_load_n(&sender.dump.bytes, __ATOMIC_RELAXED), full);
}

void klive_report(void)
{
    if (sender.head)
        kreport(KREPORT_PASS, "live",
                "%u frames, the ends of %u buffers among them, went out while it ran; "
                "%u lines begun again",
                sender.frames, sender.buffers, sender.again);
}

bool klive_on(void)
{
    return sender.head;
}

void klive_go_on(struct trace_dump *dump)
{
    if (!sender.head)
        return;
    dump->frames = (uint32_t)(sender.line >> 1);
    dump->bytes = sender.dump.bytes;
    dump->raw_bytes = sender.dump.raw_bytes;
}

bool klive_told(uint32_t number)
{
    return sender.told & 1u << (number - 1);
}

void klive_counts(uint32_t *frames, uint32_t *again)
{
    *frames = sender.frames;
    *again = sender.again;
}
