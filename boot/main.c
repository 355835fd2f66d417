/* SPDX-License-Identifier: MIT */
/*
 * The UEFI loader, BOOTX64.EFI. It reads \cairn.cfg and \kernel.elf from its own volume, builds the kernel's address
 * space, leaves boot services and enters the kernel. docs/explain/boot.md gives the order of the steps. Only its wings
 * use options (boot/loader.h).
 */
#include <stdbool.h>

#include "arch/instructions.h"
#include "arch/page_tables.h"
#include "arch/registers.h"
#include "arch/upcalls.h"
#include "boot/elf.h"
#include "boot/loader.h"
#include "boot/memory.h"
#include "boot/paging.h"

#define CONFIG_NAME  L"\\cairn.cfg"
#define KERNEL_NAME  L"\\kernel.elf"
#define CONFIG_MAX   (UINT64_C(64) << 10)
#define KERNEL_MAX   (UINT64_C(64) << 20)
#define STACK_PAGES  4
#define TABLE_PAGES  64u
#define SPARE_RANGES 64u /* the map may grow between the moment we size it and the moment we leave */
#define EXIT_TRIES   8

#define CPUID_EXTENDED_FEATURES 0x80000001u
#define CPUID_EDX_NX            (UINT32_C(1) << 20)

_Static_assert(sizeof(struct boot_efi_memory) == sizeof(EFI_MEMORY_DESCRIPTOR), "boot/memory.h");
_Static_assert(offsetof(struct boot_efi_memory, pages) == offsetof(EFI_MEMORY_DESCRIPTOR, NumberOfPages),
               "boot/memory.h");

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table);

struct handover {
    struct boot_info *info;
    struct boot_elf elf;
    uint8_t *stack;
    /* The firmware's memory map, read again and again until it is the one we leave with. */
    uint8_t *map;
    UINTN map_capacity;
};

EFI_STATUS boot_fail(const CHAR16 *what, const CHAR16 *reason, EFI_STATUS status)
{
    Print(L"cairn loader: FAILED: %s: %s (%r)\n", what, reason, status);
    return status;
}

void *boot_alloc(uint64_t pages)
{
    EFI_PHYSICAL_ADDRESS at = BOOT_END - 1;
    if (EFI_ERROR(BS->AllocatePages(AllocateMaxAddress, EfiLoaderData, pages, &at)))
        return NULL;
    __builtin_memset((void *)(uintptr_t)at, 0, pages * BOOT_PAGE_SIZE);
    return (void *)(uintptr_t)at;
}

static uint64_t pages_of(uint64_t bytes)
{
    return (bytes + BOOT_PAGE_SIZE - 1) / BOOT_PAGE_SIZE;
}

/* For page tables. Not each by itself: the firmware's map could have a range more for each. */
uint64_t kernel_page_permanent(void)
{
    static uint64_t first, left;
    if (!left && (first = (uintptr_t)boot_alloc(TABLE_PAGES)))
        left = TABLE_PAGES;
    return left ? first + --left * BOOT_PAGE_SIZE : 0;
}

/* ---- the two files ------------------------------------------------------------------------------------------- */

static EFI_STATUS load_config(EFI_FILE_HANDLE root, struct boot_info *info)
{
    struct boot_file file;
    EFI_STATUS status = boot_file_read(root, CONFIG_NAME, CONFIG_MAX, &file);
    if (EFI_ERROR(status))
        return status;
    for (uint64_t i = 0; i < file.size; i++)
        if (file.data[i] == 0)
            return boot_fail(CONFIG_NAME, L"holds a zero byte: save it as plain ASCII text", EFI_LOAD_ERROR);
    Print(L"%s: %ld bytes\n", CONFIG_NAME, file.size);
    info->config = (uintptr_t)file.data;
    info->config_size = file.size;
    return EFI_SUCCESS;
}

static EFI_STATUS check_kernel(const struct boot_file *file, struct boot_elf *elf)
{
    const char *reason;
    int header;
    if (boot_elf_check(file->data, file->size, elf, &reason, &header) == 0)
        return EFI_SUCCESS;
    CHAR16 text[128];
    if (header >= 0)
        UnicodeSPrint(text, sizeof(text), L"program header %d: %a", header, reason);
    else
        UnicodeSPrint(text, sizeof(text), L"%a", reason);
    return boot_fail(KERNEL_NAME, text, EFI_LOAD_ERROR);
}

static EFI_STATUS load_kernel(EFI_FILE_HANDLE root, struct boot_info *info, struct boot_elf *elf)
{
    struct boot_file file;
    EFI_STATUS status = boot_file_read(root, KERNEL_NAME, KERNEL_MAX, &file);
    if (!EFI_ERROR(status))
        status = check_kernel(&file, elf);
    if (EFI_ERROR(status))
        return status;

    uint8_t *block = boot_alloc(elf->size / BOOT_PAGE_SIZE);
    if (block == NULL)
        return boot_fail(KERNEL_NAME, L"no memory to load it", EFI_OUT_OF_RESOURCES);
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct boot_elf_segment *s = &elf->segments[i];
        __builtin_memcpy(block + (s->virt - elf->virt), file.data + s->offset, s->file_size);
    }
    info->kernel_phys = (uintptr_t)block;
    info->kernel_virt = elf->virt;
    info->kernel_size = elf->size;
    info->kernel_file = (uintptr_t)file.data;
    info->kernel_file_size = file.size;
    Print(L"%s: %ld bytes, %d segments, %ld KiB at 0x%lx\n", KERNEL_NAME, file.size, elf->segment_count,
          elf->size >> 10, info->kernel_phys);
    return EFI_SUCCESS;
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static EFI_STATUS get_map(struct handover *h, struct boot_efi_map *map, UINTN *key)
{
    UINT32 version = 0;
    UINTN size = h->map_capacity;
    UINTN stride = 0;
    EFI_STATUS status = BS->GetMemoryMap(&size, (EFI_MEMORY_DESCRIPTOR *)h->map, key, &stride, &version);
    *map = (struct boot_efi_map){.descriptors = h->map, .size = size, .stride = stride};
    if (EFI_ERROR(status) && status != EFI_BUFFER_TOO_SMALL)
        return status;
    if (stride < sizeof(struct boot_efi_memory) || (!EFI_ERROR(status) && version != EFI_MEMORY_DESCRIPTOR_VERSION))
        return EFI_INCOMPATIBLE_VERSION; /* its fields would be read wrongly */
    if (!EFI_ERROR(status) && size > h->map_capacity)
        return EFI_BAD_BUFFER_SIZE;
    return status;
}

/* Room for the firmware's map and for ours, with ranges to spare: later allocations, the last one included, split
 * ranges. */
static EFI_STATUS allocate_maps(struct handover *h, struct boot_efi_map *map)
{
    UINTN key;
    EFI_STATUS status = get_map(h, map, &key); /* too small a buffer: says how much it takes */
    if (status != EFI_BUFFER_TOO_SMALL)
        return boot_fail(L"memory map", L"the firmware does not say its size", status);
    h->map_capacity = map->size + SPARE_RANGES * map->stride;
    h->map = boot_alloc(pages_of(h->map_capacity));
    h->info->memory_count = (uint32_t)(h->map_capacity / map->stride);
    h->info->memory = (uintptr_t)boot_alloc(pages_of(h->info->memory_count * sizeof(struct boot_memory)));
    h->stack = boot_alloc(STACK_PAGES);
    if (h->map == NULL || h->info->memory == 0 || h->stack == NULL)
        return boot_fail(L"memory map", L"no memory for it", EFI_OUT_OF_RESOURCES);
    status = get_map(h, map, &key);
    if (EFI_ERROR(status))
        return boot_fail(L"memory map", L"cannot be read", status);
    return EFI_SUCCESS;
}

static EFI_STATUS build_tables(struct handover *h, const struct boot_efi_map *map)
{
    uint32_t id[4];
    arch_cpuid(CPUID_EXTENDED_FEATURES, 0, id);
    if ((id[3] & CPUID_EDX_NX) == 0)
        return boot_fail(L"processor", L"has no execute-disable bit (or the firmware has turned it off)",
                         EFI_UNSUPPORTED);
    if (arch_page_tables_begin(read_cr4() & CR4_LA57, id[3] & CPUID_80000001_EDX_PAGE1GB) != 0 ||
        boot_paging_build(map, &h->elf, h->info->kernel_phys, &h->info->direct_map_size) != 0)
        return boot_fail(L"page tables", L"no memory for them", EFI_OUT_OF_RESOURCES);
    h->info->page_table_levels = arch_page_tables.levels;
    return EFI_SUCCESS;
}

/* ---- leaving ------------------------------------------------------------------------------------------------- */

/*
 * UEFI specification, "EFI_BOOT_SERVICES.ExitBootServices()": the call fails where the map has changed since it was
 * read (an event may run between the two calls), and after a first failed call only memory services may be used. So:
 * read and leave, again and again, with nothing between the two, into a buffer with room for a map that has grown.
 */
static EFI_STATUS leave_boot_services(EFI_HANDLE image, struct handover *h, struct boot_efi_map *map)
{
    EFI_STATUS status = EFI_ABORTED;
    for (int i = 0; i < EXIT_TRIES; i++) {
        UINTN key;
        status = get_map(h, map, &key);
        if (EFI_ERROR(status))
            break;
        status = BS->ExitBootServices(image, key);
        if (!EFI_ERROR(status))
            return EFI_SUCCESS;
    }
    boot_give_up(h->info);
    /* The screen may be gone by now; the line is worth the try. */
    return boot_fail(L"firmware", L"boot services cannot be left", status);
}

/* With the map as it is now: what was allocated since it was last read may lie where the log is to be. */
static EFI_STATUS begin_last(EFI_FILE_HANDLE root, struct handover *h)
{
    struct boot_efi_map map;
    UINTN key;
    EFI_STATUS status = get_map(h, &map, &key);
    if (EFI_ERROR(status))
        return boot_fail(L"memory map", L"cannot be read", status);
    return boot_begin(root, h->info, &map);
}

static EFI_STATUS prepare(EFI_FILE_HANDLE root, struct handover *h)
{
    struct boot_efi_map map;
    EFI_STATUS status = load_config(root, h->info);
    if (!EFI_ERROR(status))
        status = boot_load_more(root, h->info);
    if (!EFI_ERROR(status))
        status = load_kernel(root, h->info, &h->elf);
    if (!EFI_ERROR(status))
        status = allocate_maps(h, &map);
    if (!EFI_ERROR(status))
        status = build_tables(h, &map);
    if (!EFI_ERROR(status))
        status = begin_last(root, h); /* last: where anything fails, there is no run to wait for */
    return status;
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
    uint64_t entry_tsc = arch_rdtsc();
    char save_notes[BOOT_SAVE_NOTES][BOOT_SAVE_NOTE] = {""};
    EFI_FILE_HANDLE root;
    boot_allow_sse();
    InitializeLib(image, table);
    EFI_STATUS status = boot_volume_open(image, &root);
    if (EFI_ERROR(status))
        return status;
    boot_look(root, save_notes);

    struct handover h = {.info = boot_alloc(pages_of(sizeof(struct boot_info)))};
    if (h.info == NULL)
        return boot_fail(L"boot_info", L"no memory for it", EFI_OUT_OF_RESOURCES);
    *h.info = (struct boot_info){.magic = BOOT_INFO_MAGIC,
                                 .version = BOOT_INFO_VERSION,
                                 .size = sizeof(struct boot_info),
                                 .entry_tsc = entry_tsc,
                                 .loader_version = CAIRN_VERSION};
    __builtin_memcpy(h.info->save_notes, save_notes, sizeof(save_notes));
    boot_firmware_describe(h.info);
    Print(L"\nCairn loader %a on %a firmware\n", h.info->loader_version, h.info->firmware_vendor);
    if (h.info->secure_boot == BOOT_SECURE_BOOT_ON)
        Print(L"Secure Boot is on: the firmware has verified this loader, nobody %s\n", KERNEL_NAME);

    status = prepare(root, &h);
    root->Close(root);
    if (EFI_ERROR(status))
        return status;
    boot_say_where(h.info);
    boot_say_more(h.info);

    struct boot_efi_map map;
    status = leave_boot_services(image, &h, &map);
    if (EFI_ERROR(status))
        return status;
    /* From here on there is no firmware to call, and nobody to report to but the kernel. */
    struct boot_memory *memory = (struct boot_memory *)(uintptr_t)h.info->memory;
    h.info->memory_count = boot_memory_convert(&map, memory, h.info->memory_count, &h.info->memory_left_out);
    boot_enter(arch_page_tables.root, h.elf.entry, BOOT_DIRECT_MAP + (uintptr_t)h.info,
               BOOT_DIRECT_MAP + (uintptr_t)h.stack + STACK_PAGES * BOOT_PAGE_SIZE);
}
