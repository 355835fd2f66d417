/* SPDX-License-Identifier: MIT */
#include "kernel/recording/machine.h"

#include "arch/arch.h"
#include "ds/layout.h"
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "trace/frames.h"

static const struct boot_info *boot;

static void set_boot(const struct boot_info *info)
{
    boot = info;
}
KPHASE(KPHASE_PROCESSORS, set_boot);

int kmachine_virtual(void)
{
    uint32_t r[4];
    arch_cpuid(1, 0, r);
    return r[2] >> 31;
}

/* QEMU's emulator may stand behind another's name: qemu-ds with kvm=on. */
int kmachine_emulated(void)
{
    uint32_t r[4];
    if (!kmachine_virtual())
        return 0;
    for (uint32_t leaf = CPUID_HYPERVISOR; leaf < CPUID_HYPERVISOR_END; leaf += CPUID_HYPERVISOR_STEP) {
        arch_cpuid(leaf, 0, r);
        if (memcmp(&r[1], "TCGTCGTCGTCG", 12) == 0)
            return 1;
    }
    return 0;
}

static void dump_build_id(struct trace_dump *d)
{
    /* The ELF note, GNU gABI: 16 bytes of head, then the ID. */
    extern const uint8_t kernel_build_id[], kernel_build_id_end[];
    char hex[41];
    unsigned n = 0;
    for (const uint8_t *p = kernel_build_id + 16; p < kernel_build_id_end && n + 2 < sizeof hex; p++, n += 2)
        snprintf(hex + n, 3, "%02x", *p);
    hex[n] = '\0';
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "kernel.build_id=%s", hex);
}

/* What a reader needs to know of the kernel, the CPUs and their clocks. */
static void kmachine_dump(struct trace_dump *d)
{
    char text[KOPT_TEXT + 32];
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "kernel.version=%s", CAIRN_VERSION);
    dump_build_id(d);
    if (!boot) /* a panic before the CPUs run */
        return;
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "kernel.base=0x%lx", (unsigned long)boot->kernel_virt);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "kernel.size=%lu", (unsigned long)boot->kernel_size);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "boot.tsc=%lu", (unsigned long)boot->entry_tsc);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.emulated=%d", kmachine_emulated());
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.cpus=%u", kcpu_count);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "machine.tsc_hz=%lu", (unsigned long)arch_tsc_hz());
    for (size_t i = 0; kopt_show(i, text, sizeof text); i++)
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "option.%s", text);
    for (uint32_t n = 0; n < kcpu_count; n++)
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "cpu.%u.apic_id=%u", n, kcpu_table[n]->arch.apic_id);
}
KDUMP_SECTION(KDUMP_MACHINE, KDUMP_HEAD, kmachine_dump);
