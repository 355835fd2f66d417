/* SPDX-License-Identifier: MIT */
/* The start of the kernel, in order, from the loader's jump to the first thread, which runs kernel/run.c. */
#include "arch/arch.h"
#include "arch/upcalls.h"
#include "kernel/console/end.h"
#include "kernel/console/report.h"
#include "kernel/console/serial_port.h"
#include "kernel/cpu.h"
#include "kernel/lib/print.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "kernel/run.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/threads.h"

static struct kcpu boot_cpu;

/* Above all workloads, so that the run ends when it should. */
#define CONTROLLER_PRIORITY 16

_Noreturn void kernel_ap_main(struct arch_cpu *cpu)
{
    (void)cpu; /* GS base points at it */
    ksched_enter();
}

static void start_processors(void)
{
    uint32_t found = arch_cpus_found();
    uint32_t usable = found - arch_cpus_left_out();
    uint32_t wanted = kopt.cpus < usable ? kopt.cpus : usable;

    for (uint32_t i = 1; i < wanted; i++) {
        /* Dense numbers: a CPU that does not start leaves no hole, the next one takes its place. */
        struct kcpu *cpu = kmem_pages_alloc((sizeof *cpu + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
        if (!cpu || (cpu->arch.index = kcpu_count, ksched_cpu_init(cpu)) != 0) {
            kprintf("cpu: no memory for processor %u\n", i);
            break;
        }
        kcpu_table[kcpu_count] = cpu;
        int e = arch_smp_start(i, &cpu->arch, ksched_cpu_stack(cpu));
        if (e) {
            kcpu_table[kcpu_count] = NULL;
            kprintf("cpu: processor %u does not start (error %d): left out\n", i, -e);
            continue;
        }
        kcpu_count++;
    }
    if (kcpu_count < wanted)
        kreport(KREPORT_SKIP, "cpus", "%u of %u processors run, %u did not start", kcpu_count, found,
                wanted - kcpu_count);
    else if (kcpu_count < found)
        kreport(KREPORT_PASS, "cpus", "%u of %u processors run, %u left out (%s)", kcpu_count, found,
                found - kcpu_count, kopt.cpus < usable ? "option cpus=" : "more than are supported, or out of reach");
    else
        kreport(KREPORT_PASS, "cpus", "%u of %u processors run", kcpu_count, found);
}

_Noreturn void kernel_main(struct boot_info *info)
{
    static char error[448];
    bool understood =
        info->magic == BOOT_INFO_MAGIC && info->version == BOOT_INFO_VERSION && info->size == sizeof *info;

    arch_early_init(&boot_cpu.arch);
    kopt_defaults();
    int bad = understood ? kopt_parse(arch_phys_to_virt(info->config), info->config_size, error, sizeof error) : 0;
    kprintf("\nCairn %s: %s\n", CAIRN_VERSION, arch_features());
    if (understood)
        kphase_run(KPHASE_OPTIONS, info);
    kserial_early();
    if (!understood)
        kend_failed("boot", "the loader uses another version of boot_info: install loader and kernel of one build");

    if (kmem_init(info) != 0 || arch_paging_init(info) != 0)
        kend_failed("memory", "no room for the page tables: give the machine more memory");
    /* First: who looks for ports touches what nobody vouches for, and what comes of it must be seen on a screen. */
    kphase_run(KPHASE_MEMORY, info);
    kserial_find();
    if (bad) /* not before: the loader's tables may not reach the only screen */
        kend_failed("options", error);
    if (arch_acpi_init(info) != 0 || arch_apic_init() != 0 || arch_time_init() != 0)
        kend_failed("machine", "cannot continue without what the line above names");
    kprintf("time: TSC %lu Hz, %s\n", (unsigned long)arch_tsc_hz(), arch_time_source());
    kphase_run(KPHASE_CLOCK, info);
    kphase_run(KPHASE_ALONE, info);

    kcpu_table[0] = &boot_cpu;
    kcpu_count = 1;
    ksched_init();
    if (ksched_cpu_init(&boot_cpu) != 0)
        kend_failed("memory", "no room for the first stack: give the machine more memory");
    start_processors();
    struct kthread *thread;
    const struct kthread_params first = {
        .name = "controller", .priority = CONTROLLER_PRIORITY, .entry = krun, .argument = info};
    if (kthread_create(&thread, &first) != 0)
        kend_failed("memory", "no room for the first thread: give the machine more memory");
    ksched_enter();
}
