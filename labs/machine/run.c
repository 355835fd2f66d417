/* SPDX-License-Identifier: MIT */
/* The run of a lab's kernel: in the place of kernel/run.c, it runs the check of one lab. */
#include "kernel/run.h"

#include "kernel/console/end.h"
#include "kernel/console/report.h"
#include "kernel/lib/print.h"
#include "kernel/soft/options.h"
#include "labs/check.h"
#include "labs/machine/machine.h"

void krun(void *boot)
{
    static char error[256];
    (void)boot;
    kprintf("lab %s\n", lab_title);
    if (lab_machine_init(error, sizeof error) != 0)
        kend_failed("machine", error);
    if (lab_is_model())
        kprintf("the Debug Store is a model of the processor %s\n", ksoft_options.preset);
    else
        kprintf("the Debug Store is the processor's, or the emulator's\n");
    lab_check();
    kreport_summary();
    kend(true);
}
