/* SPDX-License-Identifier: MIT */
/* boot/file.c under a firmware that reads no more at once than some do. */
#include <stdlib.h>
#include <string.h>

#include "boot/loader.h"
#include "tests/unit/support/cmocka.h"

#define MIB UINT64_C(0x100000)

static struct {
    uint64_t size, most; /* of the file; what a read takes */
    uint64_t done;
    unsigned reads, closed, lines;
} fw;

EFI_BOOT_SERVICES *BS;

static uint8_t byte_at(uint64_t at)
{
    return (uint8_t)(at * 7 + at / 4096);
}

static EFI_STATUS EFIAPI get_info(EFI_FILE_HANDLE file, EFI_GUID *guid, UINTN *size, void *data)
{
    static const EFI_GUID wanted = EFI_FILE_INFO_ID;
    (void)file;
    assert_memory_equal(guid, &wanted, sizeof wanted);
    assert_true(*size >= sizeof(EFI_FILE_INFO));
    *(EFI_FILE_INFO *)data = (EFI_FILE_INFO){.FileSize = fw.size};
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI read_file(EFI_FILE_HANDLE file, UINTN *size, void *data)
{
    (void)file;
    fw.reads++;
    if (*size > fw.most)
        return EFI_DEVICE_ERROR;
    if (*size > fw.size - fw.done)
        *size = fw.size - fw.done;
    for (UINTN i = 0; i < *size; i++)
        ((uint8_t *)data)[i] = byte_at(fw.done + i);
    fw.done += *size;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI close_file(EFI_FILE_HANDLE file)
{
    (void)file;
    fw.closed++;
    return EFI_SUCCESS;
}

static EFI_FILE file = {.GetInfo = get_info, .Read = read_file, .Close = close_file};

static EFI_STATUS EFIAPI open_file(EFI_FILE_HANDLE root, EFI_FILE_HANDLE *opened, CHAR16 *name, UINT64 mode,
                                   UINT64 attributes)
{
    (void)root, (void)name, (void)attributes;
    assert_int_equal(mode, EFI_FILE_MODE_READ);
    *opened = &file;
    return EFI_SUCCESS;
}

static EFI_FILE root = {.Open = open_file};

EFI_STATUS boot_fail(const CHAR16 *what, const CHAR16 *reason, EFI_STATUS status)
{
    (void)what, (void)reason;
    fw.lines++;
    return status;
}

void *boot_alloc(uint64_t pages)
{
    return calloc(pages, EFI_PAGE_SIZE);
}

/* No piece is larger than 1 MiB, and together they are the file. */
static void test_pieces(void **state)
{
    static const uint64_t sizes[] = {0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB + 5};
    (void)state;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct boot_file got;
        memset(&fw, 0, sizeof fw);
        fw.size = sizes[i];
        fw.most = MIB;
        assert_int_equal(boot_file_read(&root, L"\\kernel.elf", 4 * MIB, &got), EFI_SUCCESS);
        assert_true(got.size == fw.size && fw.done == fw.size && fw.closed == 1 && !fw.lines);
        assert_int_equal(fw.reads, (fw.size + MIB - 1) / MIB);
        for (uint64_t at = 0; at < got.size; at++)
            if (got.data[at] != byte_at(at))
                fail_msg("byte %lu", (unsigned long)at);
        assert_int_equal(got.data[got.size], 0);
        free(got.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
