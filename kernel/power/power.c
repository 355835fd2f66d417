/* SPDX-License-Identifier: MIT */
/* Reset and power-off: the options end=reboot and end=poweroff. */
#include "arch/power/power.h"

#include "kernel/console/end.h"
#include "kernel/dump_section.h"
#include "kernel/lib/print.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "trace/frames.h"

static void begin(const struct boot_info *info)
{
    (void)info;
    arch_power_init();
}
KPHASE(KPHASE_MEMORY, begin);

void kend_by_power(void)
{
    if (kopt.end == KOPT_END_REBOOT)
        arch_reboot();
    if (kopt.end == KOPT_END_POWEROFF) {
        arch_poweroff();
        kprintf("end=poweroff: this machine gives no simple way\n");
    }
}

static void dump(struct trace_dump *d)
{
    char text[128];
    arch_reset_words(text, sizeof text);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.reset=%s", text);
}
KDUMP_SECTION(KDUMP_MACHINE, KDUMP_HEAD, dump);
