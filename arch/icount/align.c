/* SPDX-License-Identifier: MIT */
#include "arch/icount/align.h"

#include "arch/apic_registers.h"
#include "arch/internal.h"

static void spin_until(uint64_t tsc)
{
    while ((int64_t)(tsc - arch_rdtsc()) > 0)
        arch_spin(10000);
}

/* Sends every other processor an INIT: none executes anything until arch_smp_start, wherever the firmware had left it.
 * One that cannot be reached stays as it is. */
static void park(void)
{
    uint32_t self = arch_apic_id();

    for (uint32_t i = 0; i < arch_acpi.cpu_count; i++)
        if (arch_acpi.apic_ids[i] != self)
            (void)arch_apic_send(arch_acpi.apic_ids[i], ICR_INIT | ICR_LEVEL_ASSERT);
}

/*
 * For QEMU's -icount with sleep=off, where an instruction takes 2^shift ns and the clock of a machine that is halted
 * goes to the next deadline at once. Three things differ from run to run, and none of them after this:
 *
 *   the TSC     The timer's deadline is reckoned from a TSC value read a fixed number of instructions before the timer
 *               is loaded, so it lies at the target plus a constant, and what follows the HLT is a fixed number of
 *               instructions again.
 *   the others  Firmware leaves them in an MWAIT loop where CPUID has MWAIT, and QEMU, which has several to serve,
 *               executes MWAIT as PAUSE: they would run on beside this one, each at some place in its loop.
 *   whose turn  While a timer of QEMU's own is set that goes by real time, QEMU ends a CPU's turn by that, too.
 *               Firmware sets such a one when it sets the RTC: QEMU reports that at most once a second. So most of the
 *               wait is spent with instructions, which take real time, and only the end of it halted.
 *
 * Later no idle CPU may halt (arch_poll_for_interrupt). Where all do, QEMU's main thread moves the clock; it wakes up
 * for that, but after each setting and expiry of a timer as well, and where it then looks at the very moment the last
 * CPU has halted, the instructions of that CPU's turn are not counted yet, and it moves the clock too far by them, in
 * few runs of many. The one HLT here stays, as only it sets the clock to the nanosecond; between it and the setting of
 * its timer lie instructions that take QEMU long enough for its main thread to sleep again.
 */
void arch_tsc_align(unsigned n)
{
    uint64_t target = (arch_rdtsc() | ((UINT64_C(1) << n) - 1)) + 1;

    park();
    spin_until(target - arch_tsc_hz());
    for (uint64_t left; (int64_t)(left = target - arch_rdtsc()) > 0;) {
        uint64_t count = left * arch_apic_timer_hz / arch_tsc_hz();
        arch_apic_timer_oneshot(ARCH_VECTOR_WAKE, count ? (uint32_t)count : 1);
        spin_until(target - arch_tsc_hz() / 1024);
        arch_wait_for_interrupt();
        arch_timer_stop();
    }
}
