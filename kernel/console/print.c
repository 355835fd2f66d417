/* SPDX-License-Identifier: MIT */
#include "kernel/console/print.h"

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/sinks.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"

/* A lock of its own, not kernel/lock/spinlock.h's: printing must work before there is a per-CPU area and inside the
 * lock code's own panics. */
bool kprint_locked, kprint_lock_ignored;

bool kprint_lock(void)
{
    bool on = arch_irq_save();
    while (__atomic_exchange_n(&kprint_locked, true, __ATOMIC_ACQUIRE) &&
           !__atomic_load_n(&kprint_lock_ignored, __ATOMIC_RELAXED))
        arch_pause();
    return on;
}

void kprint_unlock(bool on)
{
    __atomic_store_n(&kprint_locked, false, __ATOMIC_RELEASE);
    arch_irq_restore(on);
}

void kprint_panic(void)
{
    __atomic_store_n(&kprint_lock_ignored, true, __ATOMIC_RELAXED);
}

void (*kprint_break_line)(void);

static void break_line(void)
{
    if (kprint_break_line)
        kprint_break_line();
}

/* ---- the serial port: text, and bytes that are not for humans ---------------------------------------------------- */

void kprint_lines(void (*write)(const char *data, size_t size), const char *text, size_t size)
{
    while (size) {
        const char *newline = memchr(text, '\n', size);
        size_t n = newline ? (size_t)(newline - text) : size;
        write(text, n);
        if (newline) {
            write("\r\n", 2);
            n++;
        }
        text += n;
        size -= n;
    }
}

static void serial_text(void *context, const char *text, size_t size)
{
    (void)context;
    kprint_lines(arch_serial_write, text, size);
}

static void serial_dump(void *context, const char *data, size_t size)
{
    (void)context;
    arch_serial_write(data, size);
}

const struct console_sink kprint_serial = {.write = serial_text, .dump = serial_dump, .way = "over serial"};

void kprint_bytes(const char *data, size_t size)
{
    bool on = kprint_lock();
    break_line();
    kconsole_dump(data, size);
    kprint_unlock(on);
}

void kprint_terminal(const char *text, size_t size)
{
    bool on = kprint_lock();
    break_line();
    arch_serial_write(text, size);
    kprint_unlock(on);
}

/* ---- text ----------------------------------------------------------------------------------------------------- */

static void print(const char *format, va_list args)
{
    char text[512];
    if (vsnprintf(text, sizeof text, format, args) >= (int)sizeof text)
        memcpy(text + sizeof text - 5, "...\n", 5); /* cut, and seen to be */
    bool on = kprint_lock();
    break_line();
    kconsole_write(text, strlen(text));
    kprint_unlock(on);
}

void kprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(format, args);
    va_end(args);
}

/* ---- what goes on now -------------------------------------------------------------------------------------------- */

__attribute__((weak)) bool kprint_status(const char *format, ...)
{
    (void)format;
    return false;
}

__attribute__((weak)) void kprint_run(uint64_t seconds, uint64_t switches)
{
    (void)seconds, (void)switches;
}

__attribute__((weak)) void kprint_progress(uint64_t done, uint64_t bytes, uint64_t before)
{
    (void)done, (void)bytes, (void)before;
}
