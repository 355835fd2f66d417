/* SPDX-License-Identifier: MIT */
#include "kernel/lib/panic.h"
#include "arch/upcalls.h"
#include "kernel/console/print.h"
#include "kernel/console/report.h"

#include <stdbool.h>

#include "arch/arch.h"
#include "arch/asm_numbers.h"
#include "arch/registers.h"
#include "ds/ds.h"
#include "kernel/console/end.h"
#include "kernel/console/serial_port.h"
#include "kernel/cpu.h"
#include "kernel/lib/cpuset.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/phase.h"
#include "kernel/thread.h"

#define NOBODY UINT32_MAX

static uint32_t panicking = NOBODY; /* index of the CPU that panicked first */
static struct kcpuset stopped;      /* CPUs that have, for another's panic; atomic */
static char first_line[256];

__attribute__((weak)) void kpanic_describe(const struct arch_trap_frame *f, uint64_t cr2, char *line, size_t size)
{
    snprintf(line, size, "exception %lu, error code 0x%lx, CR2 %p", f->vector, f->error, (void *)cr2);
}

__attribute__((weak)) void kpanic_show(const struct arch_trap_frame *f, bool called)
{
    (void)called;
    kprintf("RIP %016lx RSP %016lx RBP %016lx\n", f->rip, f->rsp, f->rbp);
}

/* This CPU stands still while another one panics: not in its buffers any more, and counting paused, for hw would go on
 * filling them. */
static _Noreturn void stop(void)
{
    ds_pause(kcpu_this()->active_ds);
    ds_refresh_index_panic(kcpu_this()->ds);
    kcpuset_add_atomic(&stopped, arch_cpu_index());
    arch_halt();
}

void kpanic_hold(void)
{
    kcpu_this()->held = true;
}

void kpanic_release(void)
{
    kcpu_this()->held = false;
    uint32_t who = __atomic_load_n(&panicking, __ATOMIC_ACQUIRE);
    if (__builtin_expect(who != NOBODY, 0) && who != arch_cpu_index())
        stop();
}

/* The first of the others that still runs, from CPU `from` on; kcpu_count: none. */
static uint32_t running(uint32_t from)
{
    while (from < kcpu_count && (from == arch_cpu_index() || kcpuset_has_atomic(&stopped, from)))
        from++;
    return from;
}

static void print_running(void)
{
    uint32_t i = running(0);
    if (i >= kcpu_count)
        return;
    kprintf("CPUs that did not answer the NMI:");
    for (; i < kcpu_count; i = running(i + 1))
        kprintf(" %u", i);
    kprintf("\n");
}

/* Interrupts off, other CPUs stopped. Returns only for the first panic; a panic inside it ends the machine at once. */
static void begin(const char *line)
{
    __asm__ volatile("cli" ::: "memory");
    ds_pause(kcpu_this()->active_ds); /* a stepped thread must not come to HLT (ds/soft/soft.c) */
    uint32_t me = arch_cpu_index(), nobody = NOBODY;
    if (!__atomic_compare_exchange_n(&panicking, &nobody, me, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        if (nobody != me)
            stop(); /* another CPU is at it; its NMI does not come through where this is an NMI already */
        kprint_panic();
        kprintf("\nPANIC inside a panic: %s\n", line);
        kend(false);
    }
    ds_refresh_index_panic(kcpu_this()->ds);
    arch_nmi_others();
    uint64_t until = arch_rdtsc() + arch_tsc_hz(); /* a second: an emulator may have fewer cores than CPUs */
    while (running(0) < kcpu_count && arch_rdtsc() < until)
        arch_pause();
    kprint_panic();
    kserial_last_resort();
    kphase_run(KPHASE_LAST_WORDS, NULL);
    kprint_status("panic");
    snprintf(first_line, sizeof first_line, "%s", line);
    const struct kthread *t = kcpu_this()->current;
    kprintf("\nPANIC: CPU %u, thread %u (%s): %s\n", me, t ? t->tid : 0, t ? t->name : "none yet", line);
    print_running();
}

__attribute__((weak)) void kpanic_dump(const char *line)
{
    (void)line;
}

static _Noreturn void finish(void)
{
    kreport(KREPORT_FAIL, "panic", "%s", first_line);
    kphase_run(KPHASE_PANIC, NULL);
    kpanic_dump(first_line);
    kreport_summary();
    kend(false);
}

/* The rest of kpanic (arch/panic.asm): `f` holds its caller's registers. */
_Noreturn void kpanic_at(struct arch_trap_frame *f, const char *format, va_list args)
{
    char line[sizeof first_line];
    vsnprintf(line, sizeof line, format, args);
    begin(line);
    kpanic_show(f, true);
    finish();
}

__attribute__((weak)) void arch_machine_check_print(void)
{
}

_Noreturn void kernel_fault(struct arch_trap_frame *f)
{
    char line[sizeof first_line];
    kpanic_describe(f, read_cr2(), line, sizeof line);
    begin(line);
    if (f->vector == ARCH_VECTOR_MC)
        arch_machine_check_print();
    kpanic_show(f, false);
    finish();
}

static bool somebody_panics(void)
{
    return __atomic_load_n(&panicking, __ATOMIC_ACQUIRE) != NOBODY;
}

void kernel_nmi(struct arch_trap_frame *f)
{
    const struct knmi_row *const *row;
    for (ROWS_EACH(knmi, row))
        if ((*row)->hold(somebody_panics))
            return;
    uint32_t who = __atomic_load_n(&panicking, __ATOMIC_ACQUIRE);
    if (who == NOBODY && kpanic_ignores_nmi && kpanic_ignores_nmi())
        return;
    if (who == NOBODY) /* nobody asked: a hardware NMI (SERR, watchdog) */
        kernel_fault(f);
    if (who != arch_cpu_index() && !kcpu_this()->held)
        stop();
}
