/* SPDX-License-Identifier: MIT */
/* boot/main.c: leaving boot services, under a firmware whose memory map changes whenever it likes. It offers nothing
 * but what the UEFI specification allows there: any other boot service is a call through NULL. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"

#include "boot/main.c" /* the steps of its one entry, each by itself */

#define STRIDE        48u /* what EDK II uses: eight bytes more than the structure */
#define MAP_MAX       512u
#define ALLOCATED_MAX 8u

static struct {
    UINTN ranges; /* in its map now */
    UINTN key;
    UINT32 version;
    UINTN stride;    /* as it says */
    UINTN more;      /* bytes that it says the map has, and it has not */
    unsigned events; /* how many of the next ExitBootServices find that the map has changed since */
    unsigned growth; /* by so many ranges each time */
    unsigned maps, exits, lines;
    EFI_STATUS status; /* of the last line */
    unsigned allocations_left;
    void *allocated[ALLOCATED_MAX];
    unsigned allocated_count;
    bool left;
    struct boot_info *info;
    UINTN begun_with; /* bytes of memory map that save=esp was given */
    unsigned given_up;
} fw;

static EFI_STATUS EFIAPI get_memory_map(UINTN *size, EFI_MEMORY_DESCRIPTOR *map, UINTN *key, UINTN *stride,
                                        UINT32 *version)
{
    UINTN needed = fw.ranges * STRIDE;
    fw.maps++;
    assert_false(fw.left);
    *stride = fw.stride;
    *version = fw.version;
    if (*size < needed) {
        *size = needed;
        return EFI_BUFFER_TOO_SMALL;
    }
    *size = needed + fw.more;
    *key = fw.key;
    memset(map, 0, needed);
    for (UINTN i = 0; i < fw.ranges; i++) {
        struct boot_efi_memory d = {.type = BOOT_MEMORY_CONVENTIONAL, .physical_start = i << 12, .pages = 1};
        memcpy((uint8_t *)map + i * STRIDE, &d, sizeof(d));
    }
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI exit_boot_services(EFI_HANDLE image, UINTN key)
{
    fw.exits++;
    assert_ptr_equal(image, &fw);
    if (fw.events) {
        fw.events--;
        fw.key++;
        fw.ranges += fw.growth;
    }
    if (key != fw.key)
        return EFI_INVALID_PARAMETER;
    fw.left = true;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI allocate_pages(EFI_ALLOCATE_TYPE type, EFI_MEMORY_TYPE memory_type, UINTN pages,
                                        EFI_PHYSICAL_ADDRESS *at)
{
    assert_int_equal(type, AllocateMaxAddress);
    assert_true(*at == (UINT64_C(64) << 40) - 1);
    assert_int_equal(memory_type, EfiLoaderData);
    assert_int_equal(fw.exits, 0);
    if (!fw.allocations_left)
        return EFI_OUT_OF_RESOURCES;
    fw.allocations_left--;
    void *memory = aligned_alloc(BOOT_PAGE_SIZE, pages * BOOT_PAGE_SIZE);
    assert_non_null(memory);
    assert_true(fw.allocated_count < ALLOCATED_MAX);
    fw.allocated[fw.allocated_count++] = memory;
    *at = (uintptr_t)memory;
    fw.ranges++; /* it split one */
    fw.key++;
    return EFI_SUCCESS;
}

static EFI_BOOT_SERVICES services = {
    .GetMemoryMap = get_memory_map, .ExitBootServices = exit_boot_services, .AllocatePages = allocate_pages};
EFI_BOOT_SERVICES *BS = &services;

/* What boot_fail prints through: its last argument is the status. */
UINTN Print(const CHAR16 *format, ...)
{
    static const CHAR16 failure[] = L"cairn loader: FAILED: ";
    va_list arguments;
    fw.lines++;
    if (memcmp(format, failure, sizeof(failure) - sizeof(failure[0])) != 0)
        return 0;
    va_start(arguments, format);
    (void)va_arg(arguments, const CHAR16 *);
    (void)va_arg(arguments, const CHAR16 *);
    fw.status = va_arg(arguments, EFI_STATUS);
    va_end(arguments);
    return 0;
}

/* The rest of the loader, which these tests do not reach. */
UINTN UnicodeSPrint(CHAR16 *to, UINTN size, const CHAR16 *format, ...)
{
    (void)to, (void)size, (void)format;
    abort();
}

VOID InitializeLib(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
    (void)image, (void)table;
    abort();
}

EFI_STATUS boot_volume_open(EFI_HANDLE image, EFI_FILE_HANDLE *root)
{
    (void)image, (void)root;
    abort();
}

EFI_STATUS boot_file_read(EFI_FILE_HANDLE root, const CHAR16 *name, uint64_t max, struct boot_file *file)
{
    (void)root, (void)name, (void)max, (void)file;
    abort();
}

void boot_firmware_describe(struct boot_info *info)
{
    (void)info;
    abort();
}

void boot_look(EFI_FILE_HANDLE root, char notes[BOOT_SAVE_NOTES][BOOT_SAVE_NOTE])
{
    (void)root, (void)notes;
    abort();
}

EFI_STATUS boot_begin(EFI_FILE_HANDLE root, struct boot_info *for_kernel, const struct boot_efi_map *map)
{
    assert_ptr_equal(root, &fw);
    assert_ptr_equal(for_kernel, fw.info);
    fw.begun_with = map->size;
    return EFI_SUCCESS;
}

void boot_give_up(struct boot_info *for_kernel)
{
    assert_ptr_equal(for_kernel, fw.info);
    fw.given_up++;
}

void boot_enter(uint64_t cr3, uint64_t entry, uint64_t info, uint64_t stack_top)
{
    (void)cr3, (void)entry, (void)info, (void)stack_top;
    abort();
}

static struct boot_info info;
static struct handover h;

static int setup(void **state)
{
    (void)state;
    memset(&fw, 0, sizeof(fw));
    fw.ranges = 100;
    fw.version = EFI_MEMORY_DESCRIPTOR_VERSION;
    fw.stride = STRIDE;
    fw.allocations_left = UINT32_MAX;
    memset(&info, 0, sizeof(info));
    h = (struct handover){.info = &info};
    fw.info = &info;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    while (fw.allocated_count)
        free(fw.allocated[--fw.allocated_count]);
    return 0;
}

/* As the loader comes to it: with the maps allocated, which changes the map once more. */
static EFI_STATUS leave(struct boot_efi_map *map)
{
    assert_int_equal(allocate_maps(&h, map), EFI_SUCCESS);
    assert_int_equal(fw.lines, 0);
    fw.maps = 0;
    return leave_boot_services(&fw, &h, map);
}

static void test_at_once(void **state)
{
    struct boot_efi_map map;
    (void)state;
    assert_int_equal(leave(&map), EFI_SUCCESS);
    assert_true(fw.left);
    assert_int_equal(fw.maps, 1);
    assert_int_equal(fw.exits, 1);
    assert_int_equal(fw.given_up, 0);
    assert_int_equal(map.stride, STRIDE);
    assert_int_equal(map.size, fw.ranges * STRIDE);
    assert_true(info.memory_count >= fw.ranges);
}

/* Each refusal is answered by a fresh map and its key, and by nothing else. What the kernel gets is the last map. */
static void test_again(void **state)
{
    struct boot_efi_map map;
    (void)state;
    fw.events = EXIT_TRIES - 1;
    fw.growth = SPARE_RANGES / EXIT_TRIES - 1;
    assert_int_equal(leave(&map), EFI_SUCCESS);
    assert_true(fw.left);
    assert_int_equal(fw.maps, EXIT_TRIES);
    assert_int_equal(fw.exits, EXIT_TRIES);
    assert_int_equal(fw.lines, 0);
    assert_int_equal(map.size, fw.ranges * STRIDE);
    uint32_t left_out;
    assert_int_equal(
        boot_memory_convert(&map, (struct boot_memory *)(uintptr_t)info.memory, info.memory_count, &left_out),
        fw.ranges);
    assert_int_equal(left_out, 0);
}

static void test_never(void **state)
{
    struct boot_efi_map map;
    (void)state;
    fw.events = EXIT_TRIES;
    assert_int_equal(leave(&map), EFI_INVALID_PARAMETER);
    assert_false(fw.left);
    assert_int_equal(fw.exits, EXIT_TRIES);
    assert_int_equal(fw.given_up, 1); /* no run: nothing is told of one at the next start */
    assert_int_equal(fw.lines, 1);
    assert_int_equal(fw.status, EFI_INVALID_PARAMETER);
}

/* More than there is room for: the buffer is not overrun (AddressSanitizer), and the line names the status. */
static void test_map_outgrows_its_buffer(void **state)
{
    struct boot_efi_map map;
    (void)state;
    fw.events = 1;
    fw.growth = 10 * SPARE_RANGES;
    assert_int_equal(leave(&map), EFI_BUFFER_TOO_SMALL);
    assert_int_equal(fw.exits, 1);
    assert_int_equal(fw.maps, 2);
    assert_int_equal(fw.given_up, 1);
    assert_int_equal(fw.lines, 1);
    assert_int_equal(fw.status, EFI_BUFFER_TOO_SMALL);
}

/* The log's memory is looked for in a map that has what the loader itself has taken since. */
static void test_log_in_the_map_of_now(void **state)
{
    struct boot_efi_map map;
    (void)state;
    assert_int_equal(allocate_maps(&h, &map), EFI_SUCCESS);
    assert_non_null(boot_alloc(1));
    assert_true(map.size < fw.ranges * STRIDE);
    assert_int_equal(begin_last((EFI_FILE_HANDLE)&fw, &h), EFI_SUCCESS);
    assert_int_equal(fw.begun_with, fw.ranges * STRIDE);
    fw.begun_with = 0;
    fw.ranges += 2 * SPARE_RANGES;
    assert_int_equal(begin_last((EFI_FILE_HANDLE)&fw, &h), EFI_BUFFER_TOO_SMALL);
    assert_true(fw.lines == 1 && fw.status == EFI_BUFFER_TOO_SMALL && !fw.begun_with);
}

static void test_unknown_descriptors(void **state)
{
    struct boot_efi_map map;
    (void)state;
    fw.version = EFI_MEMORY_DESCRIPTOR_VERSION + 1;
    assert_int_equal(allocate_maps(&h, &map), EFI_INCOMPATIBLE_VERSION);
    assert_int_equal(fw.lines, 1);
}

/* Too small to be any, or as if there were none: nothing is divided by it. */
static void test_small_descriptors(void **state)
{
    static const UINTN strides[] = {0, 1, sizeof(struct boot_efi_memory) - 1};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct boot_efi_map map;
        fw.stride = strides[i];
        fw.lines = 0;
        assert_int_equal(allocate_maps(&h, &map), EFI_INCOMPATIBLE_VERSION);
        assert_int_equal(fw.lines, 1);
    }
    assert_int_equal(fw.allocated_count, 0);
}

static void test_more_than_there_is(void **state)
{
    struct boot_efi_map map;
    (void)state;
    fw.more = 2 * SPARE_RANGES * STRIDE;
    assert_int_equal(allocate_maps(&h, &map), EFI_BAD_BUFFER_SIZE);
    assert_int_equal(fw.lines, 1);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct boot_efi_map map;
        fw.allocations_left = i;
        fw.lines = 0;
        assert_int_equal(allocate_maps(&h, &map), EFI_OUT_OF_RESOURCES);
        assert_int_equal(fw.lines, 1);
        h = (struct handover){.info = &info};
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_never, setup, teardown),
        cmocka_unit_test_setup_teardown(test_map_outgrows_its_buffer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_log_in_the_map_of_now, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unknown_descriptors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_small_descriptors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_more_than_there_is, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
