/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/base/machine.h"

#include <cpuid.h>
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ds/pebs23_layout.h"

#define LINE(...) trace_dump_print(d, CAIRN_STREAM_MACHINE, __VA_ARGS__)

/* ---- the source -------------------------------------------------------------------------------------------------- */

static void read_brand(char brand[49])
{
    unsigned r[12];
    for (unsigned i = 0; i < 3; i++)
        __cpuid(0x80000002 + i, r[4 * i], r[4 * i + 1], r[4 * i + 2], r[4 * i + 3]);
    const char *text = (const char *)r;
    while (*text == ' ')
        text++;
    snprintf(brand, 49, "%.*s", (int)(sizeof r - (size_t)(text - (const char *)r)), text);
}

static void read_line(char *line, int size, const char *path)
{
    line[0] = '\0';
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(line, size, file))
        line[strcspn(line, "\n")] = '\0';
    fclose(file);
}

/* Leaf by leaf, as QEMU's emulator may stand behind another's name. */
static bool find_hypervisor(char name[16], bool *tcg)
{
    unsigned a, r[4];
    __cpuid(1, a, r[0], r[1], r[2]);
    snprintf(name, 16, "none");
    *tcg = false;
    if (!(r[1] >> 31))
        return false;
    for (unsigned leaf = 0x40000000; leaf < 0x40010000; leaf += 0x100) {
        __cpuid(leaf, a, r[0], r[1], r[2]);
        if (leaf == 0x40000000)
            snprintf(name, 13, "%.12s", (const char *)r);
        *tcg |= memcmp(r, "TCGTCGTCGTCG", 12) == 0;
    }
    return true;
}

void grab_source_find(struct grab_source *s, const char *release)
{
    char brand[49], vendor[64];
    bool tcg;
    const bool shown = find_hypervisor(s->hypervisor, &tcg);
    read_brand(brand);
    read_line(vendor, sizeof vendor, "/sys/class/dmi/id/sys_vendor");
    s->emulated = tcg || strncmp(brand, "QEMU", 4) == 0;
    const int n = snprintf(s->text, sizeof s->text, "Linux %s on %s, ", release, brand);
    char *rest = s->text + n;
    const size_t room = sizeof s->text - (size_t)n;
    if (s->emulated)
        snprintf(rest, room, "under a hypervisor (QEMU's TCG): emulated");
    else if (shown)
        snprintf(rest, room, "under a hypervisor (%s)", s->hypervisor);
    else if (strcmp(vendor, "QEMU") == 0)
        snprintf(rest, room, "under a hypervisor (the firmware is QEMU's, CPUID shows none)");
    else
        snprintf(rest, room, "real processor: no hypervisor is visible");
}

/* ---- CPUs -------------------------------------------------------------------------------------------------------- */

static void dump_leaf(struct trace_dump *d, unsigned cpu, unsigned leaf, unsigned sub)
{
    unsigned a, b, c, e;
    __cpuid_count(leaf, sub, a, b, c, e);
    if (a | b | c | e)
        LINE("cpu.%u.cpuid.%08x.%08x=%08x %08x %08x %08x", cpu, leaf, sub, a, b, c, e);
}

/* How many subleaves can hold something of the PMU, topology or caches. */
static unsigned subleaves(unsigned leaf)
{
    return leaf == 4 || leaf == 7 || leaf == 0xB || leaf == 0x14 || leaf == 0x1F || leaf == 0x23 ? 8 : 1;
}

static void dump_leaves(struct trace_dump *d, unsigned cpu, unsigned first)
{
    unsigned most, b, c, e;
    __cpuid(first, most, b, c, e);
    for (unsigned leaf = first; leaf <= most && leaf < first + 0x40; leaf++)
        for (unsigned sub = 0; sub < subleaves(leaf); sub++)
            dump_leaf(d, cpu, leaf, sub);
}

/* Without the module msr there is no such file: then these lines are missing. */
static void dump_registers(struct trace_dump *d, unsigned cpu)
{
    static const uint32_t registers[] = {IA32_PERF_CAPABILITIES, 0x1A0, IA32_DS_AREA, IA32_PEBS_ENABLE,
                                         MSR_PEBS_DATA_CFG};
    char path[32];
    uint64_t value;
    snprintf(path, sizeof path, "/dev/cpu/%u/msr", cpu);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    for (unsigned i = 0; i < sizeof registers / sizeof registers[0]; i++)
        if (pread(file, &value, sizeof value, registers[i]) == sizeof value)
            LINE("cpu.%u.msr.%X=0x%" PRIx64, cpu, registers[i], value);
    close(file);
}

unsigned grab_machine_cpus(void)
{
    char line[1024]; /* 0-3,8,10-11 */
    read_line(line, sizeof line, "/sys/devices/system/cpu/online");
    const char *last = line + strlen(line);
    while (last > line && isdigit((unsigned char)last[-1]))
        last--;
    return *last ? (unsigned)strtoul(last, NULL, 10) + 1 : (unsigned)sysconf(_SC_NPROCESSORS_CONF);
}

bool grab_machine_go(unsigned cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return !sched_setaffinity(0, sizeof one, &one);
}

void grab_machine_microcode(char text[64], unsigned cpu)
{
    char path[80];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/microcode/version", cpu);
    read_line(text, 64, path);
}

bool grab_machine_architectural(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 8 & 1 && __get_cpuid_count(0x23, 0, &a, &b, &c, &d) &&
           (a >> 4 & 3) == 3;
}

unsigned grab_machine_core_type(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 15 & 1))
        return 0;
    __cpuid(0x1A, a, b, c, d);
    return a >> 24;
}

static void dump_cpu(struct trace_dump *d, unsigned cpu)
{
    char microcode[64];
    unsigned a, b, c, e;
    __cpuid(1, a, b, c, e);
    LINE("cpu.%u.apic_id=%u", cpu, b >> 24);
    grab_machine_microcode(microcode, cpu);
    if (microcode[0])
        LINE("cpu.%u.microcode=%s", cpu, microcode);
    if (grab_machine_core_type())
        LINE("cpu.%u.core_type=%u", cpu, grab_machine_core_type());
    dump_leaves(d, cpu, 0);
    dump_leaves(d, cpu, 0x80000000);
    dump_registers(d, cpu);
}

void grab_machine_dump(struct trace_dump *d, unsigned cpus)
{
    cpu_set_t before;
    char version[64];
    LINE("machine.cpus=%u", cpus);
    LINE("machine.memory_bytes=%lu", (unsigned long)sysconf(_SC_PHYS_PAGES) * (unsigned long)sysconf(_SC_PAGESIZE));
    read_line(version, sizeof version, "/sys/class/dmi/id/bios_vendor");
    if (version[0])
        LINE("firmware.vendor=%s", version);
    sched_getaffinity(0, sizeof before, &before);
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        if (grab_machine_go(cpu))
            dump_cpu(d, cpu);
    sched_setaffinity(0, sizeof before, &before);
}
