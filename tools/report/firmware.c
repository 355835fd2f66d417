/* SPDX-License-Identifier: MIT */
/*
 * What the firmware says of itself and of the machine: its vendor, SMBIOS' types 0 and 2 (no serial numbers), the names
 * of ACPI's tables, the MADT's processors, the memory map, the screens' modes. Sources: UEFI specification; DMTF
 * DSP0134, "System Management BIOS"; ACPI 6.x.
 */
#include "arch/arch.h"
#include "arch/firmware/acpi_bytes.h"
#include "arch/firmware/acpi_tables.h"
#include "arch/firmware/smbios/smbios.h"
#include "boot/loader.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tools/report/report.h"

static struct boot_info info; /* what the loader would give to the kernel */

void report_firmware(void)
{
    boot_firmware_describe(&info);
    report_say("firmware.vendor=%.47s", info.firmware_vendor);
    report_line("firmware.revision=0x%x", info.firmware_revision);
    report_line("firmware.uefi=%u.%u", ST->Hdr.Revision >> 16, (ST->Hdr.Revision & 0xFFFF) / 10);
    if (info.secure_boot != BOOT_SECURE_BOOT_UNKNOWN)
        report_line("firmware.secure_boot=%s", info.secure_boot == BOOT_SECURE_BOOT_ON ? "on" : "off");
    if (info.time.year)
        report_line("boot.time=%04u-%02u-%02uT%02u:%02u:%02u", info.time.year, info.time.month, info.time.day,
                    info.time.hour, info.time.minute, info.time.second);
}

/* ---- SMBIOS ------------------------------------------------------------------------------------------------------ */

static const void *read_memory(void *context, uint64_t phys, size_t size)
{
    (void)context, (void)size;
    return (const void *)(uintptr_t)phys;
}

static const struct acpi_memory memory = {read_memory, NULL};

static void read_smbios(void *unused)
{
    static struct smbios smbios;
    (void)unused;
    const int e = smbios_read(&memory, info.smbios, &smbios);
    if (e)
        report_line("bios.vendor=%s", e == -ENOENT ? "no SMBIOS" : "SMBIOS cannot be read");
    for (unsigned i = 0; i < SMBIOS_STRINGS; i++)
        if (smbios.text[i][0])
            report_line("%s=%s", smbios_names[i], smbios.text[i]);
}

/* ---- ACPI -------------------------------------------------------------------------------------------------------- */

static uint32_t boot_apic_id(void)
{
    uint32_t r[4];
    arch_cpuid(0, 0, r);
    if (r[0] >= 0xB) {
        arch_cpuid(0xB, 0, r);
        if (r[1] & 0xFFFF)
            return r[3];
    }
    arch_cpuid(1, 0, r);
    return r[1] >> 24;
}

static void read_acpi(void *unused)
{
    static struct acpi_info processors;
    struct acpi_problem problem;
    struct acpi_walk walk;
    const uint8_t *table;
    uint64_t phys;
    unsigned n = 0;
    (void)unused;
    if (acpi_walk(&memory, info.rsdp, &walk, &problem) == 0)
        while (acpi_next(&memory, &walk, &phys, &table))
            if (table)
                report_line("acpi.%u=%.4s %u bytes, revision %u, %.6s %.8s", n++, (const char *)table,
                            acpi_get32(table + 4), table[8], (const char *)table + 10, (const char *)table + 16);
    const int e = acpi_parse(&memory, info.rsdp, boot_apic_id(), &processors, &problem);
    if (problem.what)
        report_line("acpi.problem=%s: %s", problem.table, problem.what);
    if (e)
        return;
    report_line("machine.cpus=%u", processors.cpu_count + processors.cpus_left_out);
    report_line("machine.cpus_disabled=%u", processors.cpus_disabled);
    report_line("machine.ioapics=%u", processors.ioapic_count + processors.ioapics_left_out);
}

/* ---- memory, screens --------------------------------------------------------------------------------------------- */

/* Neighbours of one type are one line. */
static void print_memory(void)
{
    UINTN count, key, stride;
    UINT32 version;
    unsigned line = 0;
    EFI_MEMORY_DESCRIPTOR *map = LibMemoryMap(&count, &key, &stride, &version);
    for (UINTN i = 0; map && i < count;) {
        const EFI_MEMORY_DESCRIPTOR *d = (const void *)((const uint8_t *)map + i * stride);
        const uint64_t base = d->PhysicalStart;
        const uint32_t type = d->Type;
        uint64_t end = base;
        while (i < count && d->Type == type && d->PhysicalStart == end) {
            end += d->NumberOfPages * ARCH_PAGE_SIZE;
            d = (const void *)((const uint8_t *)map + ++i * stride);
        }
        report_line("memory.%u=0x%lx 0x%lx %u", line++, (unsigned long)base, (unsigned long)(end - base), type);
    }
    if (map)
        FreePool(map);
}

static void print_modes(unsigned screen, EFI_GRAPHICS_OUTPUT_PROTOCOL *gop)
{
    if (!gop->Mode || !gop->Mode->Info)
        return;
    report_line("screen.%u=%ux%u, format %u, 0x%lx bytes at 0x%lx", screen, gop->Mode->Info->HorizontalResolution,
                gop->Mode->Info->VerticalResolution, gop->Mode->Info->PixelFormat,
                (unsigned long)gop->Mode->FrameBufferSize, (unsigned long)gop->Mode->FrameBufferBase);
    for (UINT32 mode = 0; mode < gop->Mode->MaxMode; mode++) {
        EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *m;
        UINTN size;
        if (EFI_ERROR(gop->QueryMode(gop, mode, &size, &m)))
            continue;
        report_line("screen.%u.mode.%u=%ux%u, format %u", screen, mode, m->HorizontalResolution, m->VerticalResolution,
                    m->PixelFormat);
        FreePool(m);
    }
}

static void print_screens(void)
{
    EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
    EFI_HANDLE *handles;
    UINTN count;
    if (EFI_ERROR(BS->LocateHandleBuffer(ByProtocol, &guid, NULL, &count, &handles))) {
        report_line("screen.0=none: no Graphics Output Protocol");
        return;
    }
    for (UINTN i = 0; i < count; i++) {
        EFI_GRAPHICS_OUTPUT_PROTOCOL *gop;
        if (!EFI_ERROR(BS->HandleProtocol(handles[i], &guid, (void **)&gop)))
            print_modes((unsigned)i, gop);
    }
    FreePool(handles);
}

void report_machine(void)
{
    if (report_step("memory"))
        print_memory();
    if (report_step("screens"))
        print_screens();
}

/* The firmware's tables may say anything: an exception while they are read ends the reading, if it can be caught. */
static void read_tables(const char *name, void (*read)(void *), bool caught)
{
    struct report_trap trap;
    if (!report_step(name))
        return;
    if (!caught)
        read(NULL);
    else if (report_call(read, NULL, &trap))
        report_say_trap(name, &trap);
}

void report_tables(bool caught)
{
    read_tables("smbios", read_smbios, caught);
    read_tables("acpi", read_acpi, caught);
}
