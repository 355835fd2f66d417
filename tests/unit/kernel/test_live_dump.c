/* SPDX-License-Identifier: MIT */
/*
 * The logger of dump=live and the console it shares: whatever comes between two pieces of a line, each frame comes
 * whole, once, in order, and each byte of each buffer is in one. The thread runs when the test says so; what happens
 * beside it happens while it waits for the port, or, for a panic, at every single instruction of it.
 * Longer than 500 lines: all tests are of one pretended port and thread.
 */
#define _GNU_SOURCE /* REG_EFL */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "arch/arch.h"
#include "tests/unit/support/cmocka.h"

#define FIFO 16u

static uint64_t clock_tsc;
static bool irq_on = true;

uint64_t arch_rdtsc(void)
{
    return clock_tsc += 10;
}

bool arch_irq_save(void)
{
    bool on = irq_on;
    irq_on = false;
    return on;
}

void arch_irq_restore(bool on)
{
    irq_on = on;
}

#include "arch/serial.h"
#include "kernel/console/print.h"
#include "kernel/console/report.h"
/* A panic comes at every instruction: what it left of their state is looked at, and each time put back. */
#include "kernel/console/print.c"
/* as above */
#include "kernel/console/sinks.c"
#include "kernel/live/live_dump.c"

#include "kernel/event/event.h"
#include "kernel/lib/base64.h"
#include "kernel/lib/crc32c.h"
#include "kernel/lib/print.h"
#include "kernel/line8/line8.h"
#include "kernel/sched/threads.h"
#include "tests/unit/support/trace_support.h"
#include "tools/cairn/base/crc_base64.h"

struct kopt kopt;
uint32_t klive_pace;

/* ---- the port, the machine --------------------------------------------------------------------------------------- */

#define OUT 200000u

static char out[OUT];
static size_t out_size;
static bool sending;                        /* the logger runs */
static volatile sig_atomic_t one_character; /* is leaving: nothing comes in between */
static uint64_t free_at;                    /* TSC: the FIFO is empty from here on */
static void (*meanwhile)(void);             /* while the logger waits */
static struct box box;
static bool there = true; /* a serial port */

void arch_serial_write(const char *data, size_t size)
{
    assert_false(irq_on);
    assert_true(!sending || (size <= FIFO && clock_tsc >= free_at)); /* the port is never waited for */
    assert_true(out_size + size <= OUT);
    free_at = clock_tsc + size * 100;
    for (; size; size--) {
        one_character = 1;
        out[out_size++] = *data++;
        one_character = 0;
    }
}

/* Another of the console's sinks: humans look at it. */
static char screen[4096];
static size_t screen_size;

static void kscreen_write(void *context, const char *text, size_t size)
{
    (void)context;
    assert_false(irq_on);
    assert_true(screen_size + size < sizeof screen);
    memcpy(screen + screen_size, text, size);
    screen[screen_size += size] = '\0';
}

size_t arch_serial_ready(void)
{
    return clock_tsc >= free_at ? FIFO : 0;
}

uint64_t arch_serial_due(void)
{
    return free_at;
}

uint64_t arch_tsc_hz(void)
{
    return 1000000;
}

void arch_pause(void)
{
    clock_tsc += 50;
    assert_true(irq_on); /* it waits with nothing held */
    sending = false;
    if (meanwhile)
        meanwhile();
    sending = true;
}

void arch_wait_for_interrupt(void)
{
    arch_pause();
    clock_tsc += 1000;
    irq_on = false;
}

struct trace_session *ksession_find(uint32_t number)
{
    return number == 1 ? box.session : NULL;
}

struct kdump_begun kdump_begun;
static bool eight_bit;

void kdump_form(struct trace_dump *d, unsigned format)
{
    assert_int_equal(format, CAIRN_FORMAT_LIVE);
    d->encode = eight_bit ? kline8_encode : NULL;
    trace_dump_line(d, CAIRN_STREAM_HEADER, "cairn.format=2", 14);
}

void kdump_sections(struct trace_dump *d, unsigned when)
{
    assert_int_equal(when, KDUMP_HEAD);
    trace_dump_line(d, CAIRN_STREAM_MACHINE, "a=b", 3);
}

void kdump_announce(uint64_t bytes, uint32_t frames)
{
    kprintf("announced: %lu in %u\n", (unsigned long)bytes, frames);
}

static void (*entry)(void *);

int kthread_create(struct kthread **t, const struct kthread_params *params)
{
    assert_int_equal(params->priority, 1);
    assert_int_equal(params->flags, 0);
    entry = params->entry;
    *t = (struct kthread *)(void *)&entry;
    return 0;
}

int kthread_join(struct kthread *t, uint64_t ticks, int *code)
{
    (void)ticks;
    (void)code;
    assert_ptr_equal(t, &entry);
    return 0;
}

void kevent_init(struct kevent *event, bool manual, bool signalled)
{
    (void)event;
    assert_true(manual && !signalled);
}

void kevent_set(struct kevent *event, int increment)
{
    (void)event;
    (void)increment;
}

int kevent_wait(struct kevent *event, enum kwait_reason reason, uint64_t ticks)
{
    (void)event;
    (void)reason;
    assert_int_equal(ticks, 10);
    stopping = true; /* all is out: the test's run ends */
    return -1;
}

bool kserial_there(void)
{
    return there;
}

static void run_logger(void)
{
    sending = true;
    entry(NULL);
    sending = false;
}

/* ---- a session with something in it ------------------------------------------------------------------------------ */

#define BUFFERS 8u

static uint8_t kept[BUFFERS][4096]; /* its buffers as they were, by sequence number - 1 */
static unsigned buffers_kept;

static void fill(unsigned switches)
{
    uint32_t cpu_buffer;
    box_open_live(&box, 1, BOX_FULL, BUFFERS, 4096);
    box_start(&box, 0, NULL);
    for (uint32_t i = 1; i <= switches; i++) {
        struct trace_switch sw = box_switch_at(BOX_TSC(i), i);
        trace_hub_switch(&box.hub[0], &sw);
    }
    box_stop(&box, 0, BOX_TSC(switches + 1));
    buffers_kept = trace_session_buffers(box.session);
    for (uint32_t i = 0; i < buffers_kept; i++)
        memcpy(kept[i], trace_session_buffer(box.session, i, &cpu_buffer), 4096);
    memset(&sender, 0, sizeof sender);
    memset(&kdump_begun, 0, sizeof kdump_begun);
    static const struct console_sink other = {.write = kscreen_write};
    memset(sinks, 0, sizeof sinks);
    sink_count = 0;
    early_size = 0;
    screen_size = 0;
    irq_on = false;
    kconsole_add(&kprint_serial);
    kconsole_add(&other);
    stopping = unfinished = kprint_locked = kprint_lock_ignored = sending = false;
    thread = NULL;
    meanwhile = NULL;
    out_size = 0;
    clock_tsc = free_at = 0;
    irq_on = true;
    kopt.live = 1;
    klive_pace = 1;
    kopt.tick_us = 1000;
}

/* What kdump does. */
static void dump_rest(void)
{
    static const struct trace_sink whole = {send_whole, NULL};
    static struct trace_dump d;
    settle(NULL);
    settle(NULL);
    kprintf("rest follows\n");
    trace_dump_init(&d, &whole);
    d.encode = eight_bit ? kline8_encode : NULL;
    d.frames = kdump_begun.frames;
    trace_dump_line(&d, CAIRN_STREAM_HEADER, "dump.cause=end", 14);
    trace_dump_session(&d, box.session, 1);
    trace_dump_line(&d, CAIRN_STREAM_LAST, "last", 4);
    trace_dump_flush(&d);
}

/* ---- what came out ----------------------------------------------------------------------------------------------- */

struct seen_out {
    uint32_t next;          /* number of the next frame */
    uint32_t have[BUFFERS]; /* bytes of each buffer */
    unsigned texts, cut, repeated;
    const char *before; /* the frame before, and its size */
    size_t before_size;
    const char *cut_at; /* a line that was cut, whose frame has not come yet */
    size_t cut_size;
};

static bool see_trace(struct seen_out *s, const uint8_t *payload, uint32_t size)
{
    struct cairn_trace_frame f;
    if (size < sizeof f)
        return false;
    memcpy(&f, payload, sizeof f);
    size -= (uint32_t)sizeof f;
    if (f.sequence < 1 || f.sequence > buffers_kept || f.offset != s->have[f.sequence - 1] ||
        memcmp(kept[f.sequence - 1] + f.offset, payload + sizeof f, size) != 0)
        return false;
    s->have[f.sequence - 1] += size;
    return f.session == 1 && f.cpu_buffer == f.sequence - 1;
}

/* One line without its end. */
static bool see_line(struct seen_out *s, const char *line, size_t size)
{
    static uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    if (size == 0 || line[0] != '~') {
        for (size_t i = 0; i < size; i++)
            if (line[i] == '~')
                return false;
        s->texts++;
        return true;
    }
    char digits[9] = "";
    if (size < CAIRN_FRAME_OVERHEAD || line[size - 9] != ':' ||
        (memcpy(digits, line + size - 8, 8), strtoul(digits, NULL, 16) != kcrc32c(0, line + 1, size - 10))) {
        if (s->cut_at && (s->cut_size > size ? memcmp(line, s->cut_at, size) : memcmp(line, s->cut_at, s->cut_size)))
            return false;
        s->cut_at = line;
        s->cut_size = size;
        s->cut++;
        return true;
    }
    if (s->cut_at && (s->cut_size > size || memcmp(s->cut_at, line, s->cut_size) != 0))
        return false; /* what was cut begins again */
    s->cut_at = NULL;
    memcpy(digits, line + 2, 8);
    uint32_t number = (uint32_t)strtoul(digits, NULL, 16);
    if (number + 1 == s->next && size == s->before_size && memcmp(line, s->before, size) == 0) {
        s->repeated++;
        return true;
    }
    s->before = line;
    s->before_size = size;
    long bytes = line[10] == '=' ? kline8_decode(payload, sizeof payload, line + 10, size - 19)
                                 : cairn_base64_plain(payload, line + 11, size - 20);
    return number == s->next++ && bytes > 0 && (line[1] != 'T' || see_trace(s, payload, (uint32_t)bytes));
}

static bool see_out(struct seen_out *s)
{
    memset(s, 0, sizeof *s);
    for (size_t at = 0; at < out_size;) {
        const char *end = memchr(out + at, '\n', out_size - at);
        size_t size = end ? (size_t)(end - out) - at : 0;
        if (!size || end[-1] != '\r')
            return false;
        while (size && out[at + size - 1] == '\r') /* a line may have been cut behind its first */
            size--;
        if (!see_line(s, out + at, size))
            return false;
        at = (size_t)(end - out) + 1;
    }
    for (unsigned i = 0; i < buffers_kept; i++)
        if (s->have[i] != ((const struct wmi_buffer_header *)(const void *)kept[i])->offset)
            return false;
    return !s->cut_at;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void test_alone(void **state)
{
    (void)state;
    struct seen_out s;
    struct trace_overwritten gone;
    fill(450);
    char words[64], expected[64];
    kprint_status_more(words, sizeof words);
    assert_string_equal(words, "");
    begin(NULL);
    assert_true(kdump_begun.any && kdump_begun.sessions == 1);
    size_t before = out_size;
    kprint_status_more(words, sizeof words);
    snprintf(expected, sizeof expected, "; live: %lu bytes are out, %u full buffers wait",
             (unsigned long)sender.dump.bytes, buffers_kept);
    assert_string_equal(words, expected);
    const uint64_t head = sender.dump.bytes;
    run_logger();
    kprint_status_more(words, sizeof words);
    snprintf(expected, sizeof expected, "; live: %lu bytes are out, 0 full buffers wait",
             (unsigned long)sender.dump.bytes);
    assert_string_equal(words, expected);
    assert_true(sender.dump.bytes > head);
    assert_true(out_size > before + 450 * 40 && trace_session_buffers(box.session) == 0);
    trace_session_overwritten(box.session, &gone);
    assert_int_equal(gone.buffers, buffers_kept);
    assert_true(sender.frames >= 13 && sender.again == 0);
    dump_rest();
    assert_true(see_out(&s));
    assert_true(s.cut == 0 && s.repeated == 0 && s.next == 2 + sender.frames + 2);
    box_close(&box);
}

static void test_off(void **state)
{
    (void)state;
    fill(10);
    kopt.live = 0;
    begin(NULL);
    assert_true(!kdump_begun.any && out_size == 0 && !thread);
    kopt.live = 1;
    there = false;
    begin(NULL);
    there = true;
    assert_true(!kdump_begun.any && !thread && strstr(out, "SKIP: live: no serial port"));
    end(NULL);
    settle(NULL);
    report(NULL);
    assert_true(!kdump_begun.any && kdump_begun.frames == 0 && !strstr(out, "PASS: live"));
    box_close(&box);
}

/* It keeps to the rate of the line, even where the port is always ready; unless it is told not to. */
static void test_pace(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace <= 1; pace++) {
        fill(450);
        begin(NULL);
        klive_pace = pace;
        uint64_t begin = clock_tsc;
        size_t before = out_size;
        run_logger();
        uint64_t least = (out_size - before - FIFO) * 100;
        assert_true(clock_tsc - begin >= least);
        box_close(&box);
    }
}

static unsigned turns, stop_after, text_every, texts_said;

static void talk(void)
{
    turns++;
    if (text_every && turns % text_every == 0) {
        kprintf("text %u\n", turns);
        texts_said++;
    }
    if (stop_after && turns == stop_after)
        stopping = true;
}

static void test_text_between(void **state)
{
    (void)state;
    for (unsigned every = 1300; every < 4000; every += 97) {
        struct seen_out s;
        eight_bit = every % 2;
        fill(450);
        begin(NULL);
        meanwhile = talk;
        text_every = every;
        turns = texts_said = stop_after = 0;
        run_logger();
        dump_rest();
        assert_true(see_out(&s));
        assert_true(sender.again > 0);
        assert_int_equal(s.cut + s.repeated, sender.again); /* repeated: it was cut at its very end */
        assert_int_equal(s.texts, 2 + texts_said + 1);      /* and those of begin and dump_rest */
        unsigned lines = 0;
        for (size_t i = 0; i < screen_size; i++)
            lines += screen[i] == '\n';
        assert_int_equal(lines, s.texts); /* the other sink has the text, and nothing of the frames or the cuts */
        assert_null(strpbrk(screen, "~\r"));
        box_close(&box);
    }
}

/* Ended at any wait, in the middle of a line or between two. */
static void test_stop(void **state)
{
    (void)state;
    unsigned waits = 0;
    for (unsigned after = 1; after < 800; after++) {
        struct seen_out s;
        fill(60);
        begin(NULL);
        meanwhile = talk;
        text_every = turns = 0;
        stop_after = after;
        run_logger();
        bool open = unfinished;
        end(NULL);
        kprintf("the run is over\n");
        report(NULL);
        dump_rest();
        assert_true(see_out(&s));
        assert_int_equal(s.cut, 0);
        waits += open;
        box_close(&box);
    }
    assert_true(waits > 100);
}

/* ---- a panic at every instruction -------------------------------------------------------------------------------- */

static struct {
    bool running;
    uint64_t steps, panics, failed_at, cut, repeated;
} stepped;

static void *copy, *seen; /* now, and as the last panic found it */

/* Everything a panic changes, and looks at, there and back. Returns its size. */
static size_t keep(void *to, bool back)
{
    uint8_t *at = to;
#define KEEP(what, size)                                                                                               \
    do {                                                                                                               \
        memcpy(back ? (void *)(what) : at, back ? at : (void *)(what), size);                                          \
        at += size;                                                                                                    \
    } while (0)
    KEEP(&sender, sizeof sender);
    KEEP(&kdump_begun, sizeof kdump_begun);
    KEEP(box.memory, box.size);
    KEEP(&unfinished, sizeof unfinished);
    KEEP(&kprint_locked, sizeof kprint_locked);
    KEEP(&kprint_lock_ignored, sizeof kprint_lock_ignored);
    KEEP(&sinks, sizeof sinks);
    KEEP(&early_size, sizeof early_size);
    KEEP(&early_missing, sizeof early_missing);
    KEEP(&screen_size, sizeof screen_size);
    KEEP(&irq_on, sizeof irq_on);
    KEEP(&sending, sizeof sending);
    KEEP(&out_size, sizeof out_size);
    KEEP(&clock_tsc, sizeof clock_tsc);
    KEEP(&free_at, sizeof free_at);
    return (size_t)(at - (uint8_t *)to);
}

static bool panic_here(void)
{
    struct seen_out s;
    irq_on = sending = false;
    kprint_panic();
    kprintf("\nPANIC\n");
    dump_rest();
    if (!see_out(&s))
        return false;
    stepped.cut += s.cut;
    stepped.repeated += s.repeated;
    return s.cut <= 1 && s.repeated <= 1;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    if (!stepped.running) {
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~INT64_C(0x100);
        return;
    }
    stepped.steps++;
    if (stepped.failed_at || one_character)
        return;
    size_t size = keep(copy, false);
    if (memcmp(copy, seen, size) == 0)
        return;
    memcpy(seen, copy, size);
    stepped.panics++;
    if (!panic_here())
        stepped.failed_at = stepped.steps;
    keep(copy, true);
}

static void on_start(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    stepped.running = true;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= 0x100;
}

static void test_panic_anywhere(void **state)
{
    (void)state;
    struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    struct sigaction start = {.sa_sigaction = on_start, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &step, NULL);
    sigaction(SIGUSR1, &start, NULL);
    fill(3); /* one short line: its CRC, its characters and all around them are stepped */
    const size_t room = sizeof sender + sizeof kdump_begun + box.size + sizeof sinks + 96;
    copy = malloc(room);
    seen = calloc(1, room);
    assert_true(copy && seen);
    begin(NULL);
    raise(SIGUSR1);
    run_logger();
    stepped.running = false;
    assert_int_equal(stepped.failed_at, 0);
    assert_true(stepped.cut > 100 && stepped.repeated > 0);
    print_message("         stopped at %llu instructions, %llu of which change what a panic looks at\n",
                  (unsigned long long)stepped.steps, (unsigned long long)stepped.panics);
    free(copy);
    free(seen);
    box_close(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),        cmocka_unit_test(test_off),  cmocka_unit_test(test_pace),
        cmocka_unit_test(test_text_between), cmocka_unit_test(test_stop), cmocka_unit_test(test_panic_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
