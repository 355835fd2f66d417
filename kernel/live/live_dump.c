/* SPDX-License-Identifier: MIT */
#include "kernel/live/live_dump.h"

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/print.h"
#include "kernel/console/report.h"
#include "kernel/console/serial_port.h"
#include "kernel/console/sinks.h"
#include "kernel/dump/dump.h"
#include "kernel/dump_section.h"
#include "kernel/event/event.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "kernel/recording/sessions.h"
#include "kernel/sched/priority.h"
#include "kernel/sched/threads.h"
#include "kernel/thread.h"
#include "trace/frames.h"
#include "trace/live/live_buffers.h"

#define IDLE_US 10000u /* between two looks for a full buffer: who fills one may not wake a thread */

/* Each word tells the truth by itself, so that a panic may come between any two. */
static struct {
    struct trace_dump dump;        /* its `line` is the one that is being sent */
    size_t size, done;             /* characters of that line, and how many of them are out */
    struct trace_session *session; /* where the bytes in it come from, up to `end` of a buffer of `bytes` */
    uint32_t slot, end, bytes;
    uint64_t line; /* (number of its frame + 1) << 1 | 1 while it is not wholly out; 0: none yet */
    uint32_t frames, buffers, again;
} sender;

static struct kthread *thread;
static struct kevent stop; /* for its waits */
static bool stopping;

static bool is_stopping(void)
{
    return __atomic_load_n(&stopping, __ATOMIC_RELAXED);
}

/* ---- some of a line at a time ------------------------------------------------------------------------------------ */

static bool unfinished; /* a line has begun and not ended */

/* What follows begins a line of its own. */
static void end_line(void)
{
    if (unfinished)
        kconsole_dump("\r\n", 2);
    unfinished = false;
}

static bool try_lock(bool *on)
{
    *on = arch_irq_save();
    if (!__atomic_exchange_n(&kprint_locked, true, __ATOMIC_ACQUIRE) ||
        __atomic_load_n(&kprint_lock_ignored, __ATOMIC_RELAXED))
        return true;
    arch_irq_restore(*on);
    return false;
}

/* Goes on with a line of which `done` characters are out, with as many as the port takes now: perhaps none; the
 * console's lock is not waited for either, nor held for longer than these take. `wait`: with all that are left. Returns
 * how many are out. Other text may come in between: it ends the line, which then begins again, and fewer are out than
 * before. At least one character. */
static size_t print_line(const char *line, size_t size, size_t done, bool wait)
{
    bool on;
    kprint_break_line = end_line;
    if (wait)
        on = kprint_lock();
    else if (!try_lock(&on))
        return done;
    if (!unfinished)
        done = 0;
    else if (!done)
        end_line();
    size_t ready = wait ? size : arch_serial_ready(), count = size - done < ready ? size - done : ready;
    if (count) {
        unfinished = true; /* first: a panic may come before the last character is out */
        kconsole_dump(line + done, count);
        done += count;
        unfinished = done < size;
    }
    kprint_unlock(on);
    return done;
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
    sender.done = print_line(sender.dump.line, sender.size, before, wait);
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
    return klive_pace && (int64_t)(arch_serial_due() - arch_tsc_common()) > 0;
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
        struct trace_session *session = ksession_find(*number);
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

/* All that is known before the run. `tsc`: now; it distinguishes this dump from others. */
static void write_head(struct trace_dump *d, const struct trace_sink *sink, uint64_t tsc)
{
    trace_dump_init(d, sink);
    kdump_form(d, CAIRN_FORMAT_LIVE);
    trace_dump_print(d, CAIRN_STREAM_HEADER, "dump.cause=live");
    trace_dump_print(d, CAIRN_STREAM_HEADER, "dump.tsc=%lu", (unsigned long)tsc);
    kdump_sections(d, KDUMP_HEAD);
    trace_dump_flush(d);
}

static void send_head(void)
{
    static const struct trace_sink whole = {send_whole, NULL};
    const uint64_t tsc = arch_rdtsc();
    write_head(&sender.dump, NULL, tsc);
    kdump_announce(sender.dump.bytes, sender.dump.frames);
    write_head(&sender.dump, &whole, tsc);
    set_line((uint64_t)sender.dump.frames << 1);
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        kdump_begun.sessions |= ksession_find(number) ? 1u << (number - 1) : 0;
    kdump_begun.any = true;
}

static void begin(const struct boot_info *info)
{
    (void)info;
    static const struct trace_sink pieces = {send_line, NULL};
    static const struct kthread_params params = {.name = "logger", .priority = KPRIORITY_LOWEST, .entry = logger};
    if (!kopt.live)
        return;
    if (!kserial_there()) {
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
KPHASE(KPHASE_RECORDING_BEGINS, begin);

/* Sends the rest of the frame it was at, if it was. Once more does no harm; usable in a panic. */
static void settle(const struct boot_info *info)
{
    (void)info;
    if (sender.line & 1) {
        go_on(true);
        line_is_out();
    }
    kdump_begun.frames = (uint32_t)(sender.line >> 1);
    kdump_begun.bytes = sender.dump.bytes;
    kdump_begun.raw_bytes = sender.dump.raw_bytes;
}
KPHASE(KPHASE_DUMP, settle);

/* Ends the thread, wherever it is, and its line, which would begin again if anybody printed. The dump at the end has
 * what is left. */
static void end(const struct boot_info *info)
{
    if (!thread)
        return;
    __atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
    kevent_set(&stop, KWAIT_INCREMENT);
    kthread_join(thread, KWAIT_FOREVER, NULL);
    thread = NULL;
    settle(info);
}
KPHASE(KPHASE_RECORDING_ENDS, end);

/* How far it is; "" where nothing goes out. */
void kprint_status_more(char *text, size_t size)
{
    uint32_t full = 0;
    text[0] = '\0';
    if (!kdump_begun.any)
        return;
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
        const struct trace_session *session = ksession_find(number);
        if (session && trace_session_config(session)->live)
            full += trace_live_full(session);
    }
    snprintf(text, size, "; live: %lu bytes are out, %u full buffers wait",
             (unsigned long)__atomic_load_n(&sender.dump.bytes, __ATOMIC_RELAXED), full);
}

static void report(const struct boot_info *info)
{
    (void)info;
    if (kdump_begun.any)
        kreport(KREPORT_PASS, "live",
                "%u frames, the ends of %u buffers among them, went out while it ran; %u lines were sent again",
                sender.frames, sender.buffers, sender.again);
}
KPHASE(KPHASE_VERDICT, report);

/* Frames of the trace that went out, and lines that were begun again because something came between. */
static void counts(struct trace_dump *dump)
{
    if (!kdump_begun.any || !ksession_find(1))
        return;
    trace_dump_print(dump, CAIRN_STREAM_END, "end.live.frames=%u", sender.frames);
    trace_dump_print(dump, CAIRN_STREAM_END, "end.live.again=%u", sender.again);
}
KDUMP_SECTION(KDUMP_COUNTS, KDUMP_END | KDUMP_REST, counts);
