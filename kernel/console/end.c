/* SPDX-License-Identifier: MIT */
#include "kernel/console/end.h"

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/report.h"
#include "kernel/console/serial_port.h"
#include "kernel/lib/print.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"

/* isa-debug-exit: QEMU exits with 2 * code + 1, so 33 is good, 35 is bad, and QEMU's own 0 and 1 are neither. */
#define EXIT_GOOD 0x10u
#define EXIT_BAD  0x11u

__attribute__((weak)) void kend_by_power(void)
{
}

_Noreturn void kend(bool good)
{
    kphase_run(KPHASE_SUMMARY, NULL);
    kphase_run(KPHASE_END, NULL);
    arch_serial_drain();
    if (kopt.end == KOPT_END_EXIT) {
        arch_debug_exit(good ? EXIT_GOOD : EXIT_BAD);
        kprintf("end=exit: nothing listens at the debug-exit port\n");
    }
    kend_by_power();
    kprintf("halted: you can switch the machine off\n"); /* the last words run-qemu.sh waits for */
    arch_serial_drain();
    arch_halt();
}

_Noreturn void kend_failed(const char *name, const char *line)
{
    kserial_last_resort();
    kphase_run(KPHASE_LAST_WORDS, NULL);
    kreport(KREPORT_FAIL, name, "%s", line);
    kreport_summary();
    kend(false);
}
