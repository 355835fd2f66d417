/* SPDX-License-Identifier: MIT */
/*
 * NMIs that nobody here has sent. Port 61H tells of memory and bus errors (Intel's chipset datasheets, "NMI Status and
 * Control"). Firmware, a BMC or a counter that it uses may send others, which mean no harm: Linux goes on after them.
 */
#include "kernel/nmi/nmi.h"

#include "arch/instructions.h"
#include "kernel/dump_section.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/print.h"
#include "kernel/phase.h"
#include "trace/frames.h"

#define NMI_STATUS    0x61u
#define NMI_CAUSES    0xC0u /* SERR#, IOCHK# */
#define NOTHING_THERE 0xFFu
#define MOST          10000u /* of a run: a source that does not stop takes all its time */

static uint32_t ignored; /* atomic */

bool kpanic_ignores_nmi(void)
{
    const uint8_t status = arch_in8(NMI_STATUS);
    if (knmi_panics == KNMI_PANIC || (status & NMI_CAUSES && status != NOTHING_THERE))
        return false;
    if (__atomic_add_fetch(&ignored, 1, __ATOMIC_RELAXED) > MOST)
        kpanic("more than %u NMIs without a cause in port 61H: turn off what sends them, such as a watchdog or a "
               "management controller, in the firmware's menu",
               MOST);
    return true;
}

/* Once: an NMI's handler cannot print. */
static void say(const struct boot_info *unused)
{
    const uint32_t n = __atomic_load_n(&ignored, __ATOMIC_RELAXED);
    (void)unused;
    if (n)
        kprintf("nmi: %u NMIs without a cause in port 61H: ignored (nmi=panic makes the first one a panic)\n", n);
}
KPHASE(KPHASE_VERDICT, say);

static void dump(struct trace_dump *d)
{
    const uint32_t n = __atomic_load_n(&ignored, __ATOMIC_RELAXED);
    if (n)
        trace_dump_print(d, CAIRN_STREAM_END, "end.nmis=%u", n);
}
KDUMP_SECTION(KDUMP_COUNTS, KDUMP_END | KDUMP_REST, dump);
