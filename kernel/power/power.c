/* SPDX-License-Identifier: MIT */
/* Reset and power-off: the options end=reboot and end=poweroff. */
#include "arch/power/power.h"

#include "arch/arch.h"
#include "ds/layout.h"
#include "kernel/console/end.h"
#include "kernel/console/print.h"
#include "kernel/dump_section.h"
#include "kernel/lib/print.h"
#include "kernel/options/row.h"
#include "kernel/phase.h"
#include "kernel/power/power.h"
#include "trace/frames.h"

#define VIRTUAL_HOLD 3u /* seconds: whoever runs a virtual machine has its log */

const char *kpower_then = "";

static void begin(const struct boot_info *info)
{
    (void)info;
    arch_power_init();
}
KPHASE(KPHASE_MEMORY, begin);

/* A photograph may be all that leaves the machine. */
static void hold(const char *what, const char *then)
{
    uint32_t r[4], seconds = kpower_hold;
    arch_cpuid(1, 0, r);
    if (r[2] & CPUID_01H_ECX_HYPERVISOR && !kopt_given("end.hold"))
        seconds = VIRTUAL_HOLD;
    for (; seconds && kprint_status("photograph this now: the machine %s in %u s%s", what, seconds, then); seconds--)
        arch_wait_for_effect(1000000);
}

void kend_by_power(void)
{
    if (kopt.end == KOPT_END_REBOOT) {
        hold("restarts", kpower_then);
        arch_reboot();
    }
    if (kopt.end == KOPT_END_POWEROFF) {
        hold("switches off", "");
        arch_poweroff();
        kprintf("end=poweroff: this machine has no simple way to switch off\n");
    }
}

static void dump(struct trace_dump *d)
{
    char text[128];
    arch_reset_words(text, sizeof text);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.reset=%s", text);
}
KDUMP_SECTION(KDUMP_MACHINE, KDUMP_HEAD, dump);
