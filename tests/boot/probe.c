/* SPDX-License-Identifier: MIT */
/*
 * A kernel that does nothing but check how it was entered: every promise of boot/info.h, one PASS or FAIL line each on
 * COM1, then the verdict through QEMU's debug-exit port. It proves the loader without the kernel proper.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "boot/info.h"

#define COM1            0x3F8
#define COM1_LSR        (COM1 + 5)
#define LSR_THRE        0x20
#define DEBUG_EXIT_PORT 0xF4
#define IA32_EFER       0xC0000080u

#define PTE_P       1u
#define PTE_RW      2u
#define PTE_PS      0x80u
#define PTE_XD      (UINT64_C(1) << 63)
#define PTE_ADDRESS UINT64_C(0x000FFFFFFFFFF000)

_Noreturn void probe_start(const struct boot_info *info);

static const char read_only[] = "read-only";
static uint64_t in_data = 0x1234;
static uint64_t in_bss[1024];
static bool failed;

static void put(const char *s)
{
    for (; *s != 0; s++) {
        while ((arch_in8(COM1_LSR) & LSR_THRE) == 0)
            arch_pause();
        arch_out8(COM1, (uint8_t)*s);
    }
}

static void put_hex(uint64_t v)
{
    char text[19] = "0x0000000000000000";
    for (int i = 17; i > 1; i--, v >>= 4)
        text[i] = "0123456789abcdef"[v & 15];
    put(text);
}

static void show(const char *name, uint64_t v)
{
    put(name);
    put("=");
    put_hex(v);
    put("\r\n");
}

static void check(const char *name, bool good)
{
    put(good ? "PASS: probe: " : "FAIL: probe: ");
    put(name);
    put("\r\n");
    failed |= !good;
}

static void *at(uint64_t phys)
{
    return (void *)(BOOT_DIRECT_MAP + phys);
}

static uint64_t read_cr(int n)
{
    uint64_t v;
    if (n == 0)
        __asm__ volatile("movq %%cr0, %0" : "=r"(v));
    else if (n == 3)
        __asm__ volatile("movq %%cr3, %0" : "=r"(v));
    else
        __asm__ volatile("movq %%cr4, %0" : "=r"(v));
    return v;
}

static uint64_t read_efer(void)
{
    uint32_t lo, hi;
    __asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(IA32_EFER));
    return (uint64_t)hi << 32 | lo;
}

/* The entry that maps `virt`, with the permissions of all levels combined; 0 where nothing does. */
static uint64_t walk(uint64_t virt, uint32_t levels, uint64_t *size)
{
    uint64_t table = read_cr(3) & PTE_ADDRESS;
    uint64_t writable = PTE_RW, xd = 0;
    for (int level = (int)levels - 1;; level--) {
        uint64_t e = ((const uint64_t *)at(table))[virt >> (12 + 9 * level) & 511];
        if ((e & PTE_P) == 0)
            return 0;
        writable &= e;
        xd |= e & PTE_XD;
        if (level == 0 || (level < 3 && (e & PTE_PS))) {
            *size = UINT64_C(1) << (12 + 9 * level);
            return (e & PTE_ADDRESS & ~(*size - 1)) | PTE_P | writable | xd;
        }
        table = e & PTE_ADDRESS;
    }
}

static bool mapped(const struct boot_info *info, uint64_t virt, uint64_t phys, uint64_t bits, uint64_t want_size)
{
    uint64_t size;
    uint64_t e = walk(virt, info->page_table_levels, &size);
    return e == ((phys & ~(size - 1)) | PTE_P | bits) && (want_size == 0 || size == want_size);
}

static bool kernel_mapped(const struct boot_info *info, const void *virt, uint64_t bits)
{
    return mapped(info, (uintptr_t)virt, info->kernel_phys + ((uintptr_t)virt - info->kernel_virt), bits, 4096);
}

static bool ascending(const struct boot_info *info)
{
    const struct boot_memory *m = at(info->memory);
    for (uint32_t i = 1; i < info->memory_count; i++)
        if (m[i - 1].base + m[i - 1].size > m[i].base)
            return false;
    return info->memory_count > 0;
}

/* Everything handed over lies in loader data: the kernel may reclaim all other types. */
static bool is_loader_data(const struct boot_info *info, uint64_t phys, uint64_t size)
{
    const struct boot_memory *m = at(info->memory);
    for (uint32_t i = 0; i < info->memory_count; i++)
        if (phys >= m[i].base && phys + size <= m[i].base + m[i].size)
            return m[i].type == BOOT_MEMORY_LOADER_DATA;
    return false;
}

static bool starts_with(uint64_t phys, const char *text)
{
    const char *p = at(phys);
    for (; *text != 0; text++)
        if (*p++ != *text)
            return false;
    return true;
}

static void check_processor(const struct boot_info *info)
{
    check("interrupts are off", (arch_read_rflags() & ARCH_RFLAGS_IF) == 0);
    check("CR0.WP is set", (read_cr(0) & (1u << 16)) != 0);
    check("EFER.NXE is set", (read_efer() & (1u << 11)) != 0);
    check("page table levels agree with CR4.LA57", info->page_table_levels == ((read_cr(4) & (1u << 12)) != 0 ? 5 : 4));
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    check("the stack is in the direct map",
          stack > BOOT_DIRECT_MAP && is_loader_data(info, stack - BOOT_DIRECT_MAP, 8));
}

static void check_mappings(const struct boot_info *info)
{
    check("text is mapped read-execute", kernel_mapped(info, (const void *)(uintptr_t)probe_start, 0));
    check("read-only data is mapped read-only", kernel_mapped(info, read_only, PTE_XD));
    check("data is mapped read-write", kernel_mapped(info, &in_data, PTE_XD | PTE_RW));
    uint64_t sum = 0;
    for (unsigned i = 0; i < sizeof(in_bss) / sizeof(in_bss[0]); i++)
        sum |= in_bss[i];
    check("data is loaded, bss is zero",
          in_data == 0x1234 && sum == 0 && kernel_mapped(info, &in_bss[1023], PTE_XD | PTE_RW));
    uint64_t last = info->direct_map_size - 4096;
    check("the direct map is writable and not executable",
          mapped(info, BOOT_DIRECT_MAP, 0, PTE_XD | PTE_RW, 0) &&
              mapped(info, BOOT_DIRECT_MAP + last, last, PTE_XD | PTE_RW, 0));
    check("the identity map is there", mapped(info, 0x1000, 0x1000, PTE_RW, 0) && mapped(info, last, last, PTE_RW, 0));
    uint64_t size;
    check("behind the direct map is nothing",
          walk(BOOT_DIRECT_MAP + info->direct_map_size, info->page_table_levels, &size) == 0 &&
              walk(info->kernel_virt - 4096, info->page_table_levels, &size) == 0 &&
              walk(info->kernel_virt + info->kernel_size, info->page_table_levels, &size) == 0);
}

static void check_contents(const struct boot_info *info)
{
    check("the memory map ascends", ascending(info));
    check("no memory range is left out", info->memory_left_out == 0);
    check("all that is handed over is loader data",
          is_loader_data(info, (uintptr_t)info - BOOT_DIRECT_MAP, sizeof(*info)) &&
              is_loader_data(info, info->memory, info->memory_count * sizeof(struct boot_memory)) &&
              is_loader_data(info, info->kernel_phys, info->kernel_size) &&
              is_loader_data(info, info->kernel_file, info->kernel_file_size) &&
              is_loader_data(info, info->config, info->config_size + 1) &&
              is_loader_data(info, read_cr(3) & PTE_ADDRESS, 4096));
    check("the RSDP is there", starts_with(info->rsdp, "RSD PTR "));
    check("the kernel file is there", starts_with(info->kernel_file, "\x7F"
                                                                     "ELF"));
    check("the configuration ends with a zero", ((const char *)at(info->config))[info->config_size] == 0);
    check("the time is there", info->time.year >= 2020 && info->time.month >= 1 && info->time.month <= 12);
    check("firmware and loader have names", info->firmware_vendor[0] != 0 && info->loader_version[0] != 0);
}

static void show_info(const struct boot_info *info)
{
    show("probe.entry_tsc", info->entry_tsc);
    show("probe.kernel_tsc", arch_rdtsc());
    show("probe.direct_map_size", info->direct_map_size);
    show("probe.memory_count", info->memory_count);
    show("probe.framebuffer", info->framebuffer.base);
    show("probe.levels", info->page_table_levels);
    put("probe.config=");
    put(at(info->config));
    put("\r\n");
}

_Noreturn void probe_start(const struct boot_info *info)
{
    put("probe kernel\r\n");
    check("RDI points into the direct map at a boot_info",
          (uintptr_t)info >= BOOT_DIRECT_MAP && info->magic == BOOT_INFO_MAGIC && info->version == BOOT_INFO_VERSION &&
              info->size == sizeof(*info));
    check_processor(info);
    check_mappings(info);
    check_contents(info);
    show_info(info);
    put(failed ? "SUMMARY: fail\r\n" : "SUMMARY: pass\r\n");
    arch_out8(DEBUG_EXIT_PORT, failed ? 0x11 : 0x10);
    for (;;)
        __asm__ volatile("cli; hlt");
}
