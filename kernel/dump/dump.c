/* SPDX-License-Identifier: MIT */
#include "kernel/dump/dump.h"

#include <stddef.h>

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/print.h"
#include "kernel/console/sinks.h"
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/lib/print.h"
#include "kernel/phase.h"
#include "trace/frames.h"

struct kdump_begun kdump_begun;

/* Set by the counting pass, used by the writing one. Fixed widths, so that both passes are of one length. */
static struct {
    uint32_t frames;
    uint64_t bytes, raw;
} total;

/* Timer ticks of each CPU when the dump began: they go on, and both passes must say the same. */
static uint64_t ticks[MAX_CPUS];
static const char *panic_line;

uint64_t kdump_ticks(uint32_t cpu)
{
    return ticks[cpu];
}

const char *kdump_panic_line(void)
{
    return panic_line;
}

#define LINE(...) trace_dump_print(d, CAIRN_STREAM_HEADER, __VA_ARGS__)

void kdump_sections(struct trace_dump *d, unsigned when)
{
    const struct kdump_section *const *section;
    for (enum kdump_subject subject = 0; subject < KDUMP_SUBJECTS; subject++)
        for (ROWS_EACH(kdump, section))
            if ((*section)->subject == subject && ((*section)->when & when))
                (*section)->write(d);
}

void kdump_form(struct trace_dump *d, unsigned format)
{
    LINE("cairn.format=%u", format);
    kdump_sections(d, KDUMP_FORM);
}

static void dump_header(struct trace_dump *d, const char *cause)
{
    kdump_form(d, kdump_begun.any ? CAIRN_FORMAT_LIVE : CAIRN_FORMAT_VERSION);
    LINE("dump.frames=%010u", total.frames);
    LINE("dump.bytes=%012lu", (unsigned long)total.bytes);
    LINE("dump.raw=%012lu", (unsigned long)total.raw);
    LINE("dump.cause=%s", cause);
}

static void produce(struct trace_dump *d, const char *cause)
{
    dump_header(d, cause);
    kdump_sections(d, kdump_begun.any ? KDUMP_REST : KDUMP_HEAD | KDUMP_END);
    trace_dump_print(d, CAIRN_STREAM_LAST, "dump.frames=%010u", total.frames);
    trace_dump_flush(d);
}

void kdump_announce(uint64_t bytes, uint32_t frames)
{
    const uint32_t baud = arch_serial_baud();
    if (baud) /* 10 bits a character: start, 8 data, stop */
        kprintf("dump: %lu bytes in %u frames follow, %lu s at %u baud\n", (unsigned long)bytes, frames,
                (unsigned long)((bytes * 10 + baud - 1) / baud), baud);
}

static void write_console(void *context, const char *data, size_t size)
{
    uint64_t *done = context;
    kprint_bytes(data, size);
    *done += size;
    kprint_progress(*done, total.bytes - kdump_begun.bytes, kdump_begun.bytes);
}

/* Numbers go on where the dump that has begun ends. */
static void begin(struct trace_dump *d, const struct trace_sink *sink)
{
    trace_dump_init(d, sink);
    d->frames = kdump_begun.frames;
    d->bytes = kdump_begun.bytes;
    d->raw_bytes = kdump_begun.raw_bytes;
}

void kdump(const char *cause, const char *line)
{
    static struct trace_dump dump; /* large for a panic's stack */
    uint64_t done = 0;
    const struct trace_sink console = {write_console, &done};

    panic_line = line;
    kphase_run(KPHASE_DUMP, NULL);
    for (uint32_t i = 0; i < kcpu_count; i++)
        ticks[i] = __atomic_load_n(&kcpu_table[i]->ticks, __ATOMIC_RELAXED);
    begin(&dump, NULL);
    produce(&dump, cause);
    total.frames = dump.frames;
    total.bytes = dump.bytes;
    total.raw = dump.raw_bytes;
    const uint64_t bytes = total.bytes - kdump_begun.bytes;
    if (!kconsole_way()) {
        kprintf("dump: none: there is neither a serial port nor save=esp: %lu bytes are lost\n", (unsigned long)bytes);
        kprint_progress(0, bytes, 0);
        return;
    }
    kdump_announce(bytes, total.frames - kdump_begun.frames);
    kconsole_announce(bytes);
    begin(&dump, &console);
    produce(&dump, cause);
    kprintf("dump: done\n");
}
