/* SPDX-License-Identifier: MIT */
#include "kernel/console/print.h"

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/sinks.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"

/* A lock of its own, not kernel/lock/spinlock.h's: printing must work before there is a per-CPU area and inside the
 * lock code's own panics. */
static bool locked;
static bool lock_ignored;

/* A line of kprint_line has begun and not ended. */
static bool unfinished;

static bool lock(void)
{
    bool on = arch_irq_save();
    while (__atomic_exchange_n(&locked, true, __ATOMIC_ACQUIRE) && !__atomic_load_n(&lock_ignored, __ATOMIC_RELAXED))
        arch_pause();
    return on;
}

static bool try_lock(bool *on)
{
    *on = arch_irq_save();
    if (!__atomic_exchange_n(&locked, true, __ATOMIC_ACQUIRE) || __atomic_load_n(&lock_ignored, __ATOMIC_RELAXED))
        return true;
    arch_irq_restore(*on);
    return false;
}

static void unlock(bool on)
{
    __atomic_store_n(&locked, false, __ATOMIC_RELEASE);
    arch_irq_restore(on);
}

static bool taken; /* by kprint_hold */

void kprint_hold(void)
{
    const uint64_t until = arch_rdtsc() + arch_tsc_hz();
    while (!(taken = !__atomic_exchange_n(&locked, true, __ATOMIC_ACQUIRE)) && arch_rdtsc() < until)
        arch_pause();
    __atomic_store_n(&lock_ignored, true, __ATOMIC_RELAXED);
}

void kprint_release(void)
{
    __atomic_store_n(&lock_ignored, false, __ATOMIC_RELAXED);
    __atomic_store_n(&locked, !taken, __ATOMIC_RELEASE); /* printing has released it meanwhile */
}

void kprint_panic(void)
{
    __atomic_store_n(&lock_ignored, true, __ATOMIC_RELAXED);
}

/* ---- the serial port: text, and bytes that are not for humans ---------------------------------------------------- */

/* What follows begins a line of its own. */
static void break_line(void)
{
    if (unfinished)
        kconsole_dump("\r\n", 2);
    unfinished = false;
}

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
    bool on = lock();
    break_line();
    kconsole_dump(data, size);
    unlock(on);
}

void kprint_locked(void (*function)(void))
{
    bool on = lock();
    function();
    unlock(on);
}

size_t kprint_line(const char *line, size_t size, size_t done, bool wait)
{
    bool on;
    if (wait)
        on = lock();
    else if (!try_lock(&on))
        return done;
    if (!unfinished)
        done = 0;
    else if (!done)
        break_line();
    size_t ready = wait ? size : arch_serial_ready(), count = size - done < ready ? size - done : ready;
    if (count) {
        unfinished = true; /* first: a panic may come before the last character is out */
        kconsole_dump(line + done, count);
        done += count;
        unfinished = done < size;
    }
    unlock(on);
    return done;
}

void kprint_terminal(const char *text, size_t size)
{
    bool on = lock();
    break_line();
    arch_serial_write(text, size);
    unlock(on);
}

/* ---- text ----------------------------------------------------------------------------------------------------- */

static void print(const char *format, va_list args)
{
    char text[512];
    if (vsnprintf(text, sizeof text, format, args) >= (int)sizeof text)
        memcpy(text + sizeof text - 5, "...\n", 5); /* cut, and seen to be */
    bool on = lock();
    break_line();
    kconsole_write(text, strlen(text));
    unlock(on);
}

void kprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(format, args);
    va_end(args);
}

__attribute__((weak)) void kprint_status_more(char *text, size_t size)
{
    (void)size;
    text[0] = '\0';
}

void kprint_status(const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    bool on = lock();
    kconsole_status(text);
    unlock(on);
}
