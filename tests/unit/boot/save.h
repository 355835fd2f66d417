/* SPDX-License-Identifier: MIT */
/*
 * boot/save/save.c under a firmware of its tests': variables, memory, a volume; and the log of a run in "memory", as
 * the loader begins it and the kernel ends it.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/instructions.h"
#include "boot/loader.h"
#include "boot/save/save_check.h"
#include "tests/unit/support/cmocka.h"

#define AREA      UINT64_C(0x10000000) /* an address that this process has free as well */
#define MIB       (UINT64_C(1) << 20)
#define AREA_SIZE (4 * MIB)
#define TEXT_SIZE (2 * MIB + 12345)

enum { RUNS_ON, STOPPED, OFF };

static struct {
    jmp_buf end;
    bool note, keeps, deletes; /* there is a note to the next start; it can be written, deleted */
    EFI_STATUS read_status;    /* of opening it to be read */
    bool looking;              /* for a log, not beginning one */
    _Alignas(8) uint8_t bytes[2 * sizeof(struct save_note)];
    const char *brand; /* 48 bytes; NULL: the processor has none */
    uint64_t smbios[2];
    UINTN size;
    uint8_t control; /* MemoryOverwriteRequestControl */
    bool guest, has_tme;
    uint64_t tme;       /* IA32_TME_ACTIVATE */
    UINTN current_size; /* BootCurrent: 2; 0: there is none */
    uint16_t current, next;
    bool keeps_next, has_next;
    uint64_t taken_from, taken_to; /* the firmware's own memory */
    uint64_t allocated;
    unsigned watchdog;

    bool read_only;
    EFI_STATUS info_status; /* of asking how much room there is */
    unsigned files;         /* \cairn-000.log and so on that are there */
    EFI_STATUS open_status; /* of a new file */
    uint64_t room;          /* bytes on the volume */
    uint8_t *file;
    uint64_t file_size;
    CHAR16 name[32];
    bool closed, deleted;
    EFI_STATUS flush_status;
    EFI_STATUS failed; /* of boot_fail's line */
    unsigned lines;    /* of Print */
    bool report;       /* \cairn-machine.txt is there */
    char to_send[80];  /* what the line says that tells what to send */
} fw;

/* ---- the firmware ----------------------------------------------------------------------------------------------- */

static bool is(const CHAR16 *name, const CHAR16 *expected)
{
    while (*name && *name == *expected)
        name++, expected++;
    return *name == *expected;
}

void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    assert_true(leaf == 0 || leaf == 1 || leaf >> 31 || (leaf == 7 && subleaf == 0));
    memset(out, 0, 4 * sizeof *out);
    if (leaf == 0x80000000)
        out[0] = fw.brand ? 0x80000004 : 0x80000001;
    else if (leaf >> 31) {
        assert_true(fw.brand && leaf >= 0x80000002 && leaf <= 0x80000004);
        memcpy(out, fw.brand + 16 * (leaf - 0x80000002), 16);
    } else if (leaf == 0)
        out[0] = fw.has_tme ? 0x20 : 6;
    else
        out[2] = leaf == 1 ? (uint32_t)fw.guest << 31 : (uint32_t)fw.has_tme << 13;
}

uint64_t rdmsr(uint32_t msr)
{
    assert_int_equal(msr, 0x982);
    assert_true(fw.has_tme && !fw.guest); /* else #GP, here as anywhere */
    return fw.tme;
}

static EFI_STATUS EFIAPI get_variable(CHAR16 *name, EFI_GUID *guid, UINT32 *attributes, UINTN *size, void *data)
{
    static const EFI_GUID global = EFI_GLOBAL_VARIABLE;
    (void)attributes;
    if (is(name, L"BootCurrent")) {
        assert_memory_equal(guid, &global, sizeof global);
        if (!fw.current_size)
            return EFI_NOT_FOUND;
        const UINTN room = *size;
        *size = fw.current_size;
        if (fw.current_size > room)
            return EFI_BUFFER_TOO_SMALL;
        memcpy(data, &fw.current, fw.current_size);
        return EFI_SUCCESS;
    }
    assert_true(is(name, L"MemoryOverwriteRequestControl"));
    assert_int_equal(*size, 1);
    *(uint8_t *)data = fw.control;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI set_variable(CHAR16 *name, EFI_GUID *guid, UINT32 attributes, UINTN size, void *data)
{
    static const EFI_GUID global = EFI_GLOBAL_VARIABLE;
    assert_true(is(name, L"BootNext"));
    assert_true(fw.note || !size); /* no start of ours is asked for that has nothing to do */
    assert_memory_equal(guid, &global, sizeof global);
    assert_int_equal(attributes, EFI_VARIABLE_NON_VOLATILE | EFI_VARIABLE_BOOTSERVICE_ACCESS |
                                     EFI_VARIABLE_RUNTIME_ACCESS); /* no others are taken */
    if (!size) {
        fw.has_next = false;
        return EFI_SUCCESS;
    }
    assert_int_equal(size, sizeof fw.next);
    if (!fw.keeps_next)
        return EFI_OUT_OF_RESOURCES;
    memcpy(&fw.next, data, size);
    fw.has_next = true;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI reset_system(EFI_RESET_TYPE type, EFI_STATUS status, UINTN size, CHAR16 *data)
{
    (void)status, (void)size, (void)data;
    assert_int_equal(type, EfiResetShutdown);
    longjmp(fw.end, OFF);
}

static EFI_STATUS EFIAPI allocate_pages(EFI_ALLOCATE_TYPE type, EFI_MEMORY_TYPE memory_type, UINTN pages,
                                        EFI_PHYSICAL_ADDRESS *at)
{
    assert_int_equal(type, AllocateAddress);
    assert_int_equal(memory_type, EfiLoaderData);
    assert_true(!fw.looking || fw.watchdog); /* to check a log takes time, and to write it even more */
    const uint64_t end = *at + pages * 4096;
    if (*at < AREA || end > AREA + AREA_SIZE || (*at < fw.taken_to && end > fw.taken_from))
        return EFI_NOT_FOUND;
    fw.allocated += pages * 4096;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI set_watchdog(UINTN seconds, UINT64 code, UINTN size, CHAR16 *data)
{
    (void)code, (void)size, (void)data;
    assert_int_equal(seconds, 0);
    fw.watchdog++;
    return EFI_SUCCESS;
}

/* The loader waits before it switches off, and for ever in pieces of a second. */
static EFI_STATUS EFIAPI stall(UINTN microseconds)
{
    assert_true(fw.watchdog);
    if (microseconds == 1000000)
        longjmp(fw.end, STOPPED);
    return EFI_SUCCESS;
}

static EFI_RUNTIME_SERVICES runtime = {
    .GetVariable = get_variable, .SetVariable = set_variable, .ResetSystem = reset_system};
static EFI_BOOT_SERVICES services = {.AllocatePages = allocate_pages, .SetWatchdogTimer = set_watchdog, .Stall = stall};
EFI_RUNTIME_SERVICES *RT = &runtime;
EFI_BOOT_SERVICES *BS = &services;

UINTN Print(const CHAR16 *format, ...)
{
    fw.lines++;
    if (!is(format, L"cairn loader: %s\n"))
        return 0;
    va_list arguments;
    va_start(arguments, format);
    const CHAR16 *what = va_arg(arguments, const CHAR16 *);
    va_end(arguments);
    for (size_t i = 0; i < sizeof fw.to_send - 1 && what[i]; i++)
        fw.to_send[i] = (char)what[i];
    return 0;
}

/* Only for \cairn-%03d.log. */
UINTN UnicodeSPrint(CHAR16 *to, UINTN size, const CHAR16 *format, ...)
{
    va_list arguments;
    char text[32];
    va_start(arguments, format);
    int n = snprintf(text, sizeof text, "\\cairn-%03d.log", va_arg(arguments, int));
    va_end(arguments);
    assert_true((size_t)n < size / sizeof(CHAR16));
    for (int i = 0; i <= n; i++)
        to[i] = (CHAR16)text[i];
    return (UINTN)n;
}

EFI_STATUS boot_fail(const CHAR16 *what, const CHAR16 *reason, EFI_STATUS status)
{
    (void)what, (void)reason;
    assert_true(EFI_ERROR(status));
    fw.failed = status;
    return status;
}

/* ---- its volume ------------------------------------------------------------------------------------------------- */

static EFI_STATUS EFIAPI close_file(EFI_FILE_HANDLE file)
{
    (void)file;
    fw.closed = true;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI delete_file(EFI_FILE_HANDLE file)
{
    (void)file;
    fw.deleted = true;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI write_file(EFI_FILE_HANDLE file, UINTN *size, void *data)
{
    (void)file;
    const uint64_t left = fw.room - fw.file_size;
    const UINTN wanted_bytes = *size;
    *size = wanted_bytes < left ? wanted_bytes : left;
    fw.file = realloc(fw.file, fw.file_size + *size + 1);
    assert_non_null(fw.file);
    memcpy(fw.file + fw.file_size, data, *size);
    fw.file_size += *size;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI flush_file(EFI_FILE_HANDLE file)
{
    (void)file;
    return fw.flush_status;
}

static EFI_STATUS EFIAPI read_note_file(EFI_FILE_HANDLE file, UINTN *size, void *to)
{
    (void)file;
    *size = *size < fw.size ? *size : fw.size;
    memcpy(to, fw.bytes, *size);
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI write_note_file(EFI_FILE_HANDLE file, UINTN *size, void *data)
{
    (void)file;
    assert_true(fw.size + *size <= sizeof fw.bytes);
    memcpy(fw.bytes + fw.size, data, *size);
    fw.size += *size;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI delete_note_file(EFI_FILE_HANDLE file)
{
    (void)file;
    if (!fw.deletes)
        return EFI_WARN_DELETE_FAILURE;
    fw.note = false;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI flush_note_file(EFI_FILE_HANDLE file)
{
    (void)file;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI close_note_file(EFI_FILE_HANDLE file)
{
    (void)file;
    return EFI_SUCCESS;
}

static EFI_FILE note_handle = {.Close = close_note_file,
                               .Delete = delete_note_file,
                               .Read = read_note_file,
                               .Write = write_note_file,
                               .Flush = flush_note_file};

static EFI_STATUS open_note(EFI_FILE_HANDLE *new, UINT64 mode)
{
    *new = &note_handle;
    if (mode == EFI_FILE_MODE_READ && EFI_ERROR(fw.read_status))
        return fw.read_status;
    if (!(mode & EFI_FILE_MODE_CREATE))
        return fw.note ? EFI_SUCCESS : EFI_NOT_FOUND;
    assert_false(fw.note); /* a longer one would keep its end */
    if (!fw.keeps)
        return EFI_DEVICE_ERROR;
    fw.note = true;
    fw.size = 0;
    return EFI_SUCCESS;
}

static EFI_FILE handle = {.Close = close_file, .Delete = delete_file, .Write = write_file, .Flush = flush_file};

static EFI_STATUS EFIAPI open_file(EFI_FILE_HANDLE root, EFI_FILE_HANDLE *new, CHAR16 *name, UINT64 mode, UINT64 what)
{
    (void)root, (void)what;
    if (is(name, SAVE_NOTE_NAME))
        return open_note(new, mode);
    if (is(name, L"\\cairn-machine.txt")) {
        *new = &handle;
        return fw.report ? EFI_SUCCESS : EFI_NOT_FOUND;
    }
    const unsigned n = (unsigned)((name[7] - '0') * 100 + (name[8] - '0') * 10 + name[9] - '0');
    if (mode == EFI_FILE_MODE_READ) {
        *new = &handle;
        return n < fw.files ? EFI_SUCCESS : EFI_NOT_FOUND;
    }
    assert_int_equal(mode, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE);
    assert_true(n >= fw.files); /* never one that is there */
    if (EFI_ERROR(fw.open_status))
        return fw.open_status;
    memcpy(fw.name, name, sizeof fw.name);
    fw.closed = false;
    *new = &handle;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI get_info(EFI_FILE_HANDLE root, EFI_GUID *kind, UINTN *size, void *to)
{
    static const EFI_GUID volume_info = EFI_FILE_SYSTEM_INFO_ID;
    const EFI_FILE_SYSTEM_INFO answer = {
        .Size = *size, .ReadOnly = fw.read_only, .VolumeSize = 100 * MIB, .FreeSpace = fw.room};
    (void)root;
    assert_memory_equal(kind, &volume_info, sizeof volume_info);
    if (EFI_ERROR(fw.info_status))
        return fw.info_status;
    *size = SIZE_OF_EFI_FILE_SYSTEM_INFO + 2; /* and an empty label */
    memcpy(to, &answer, *size);
    return EFI_SUCCESS;
}

static EFI_FILE volume = {.Open = open_file, .Close = close_file, .GetInfo = get_info};

void boot_firmware_describe(struct boot_info *info)
{
    memcpy(info->smbios, fw.smbios, sizeof fw.smbios);
}

/* ---- a run's log ------------------------------------------------------------------------------------------------ */

static struct save_header *const header = (struct save_header *)(uintptr_t)AREA;
static uint8_t *const text = (uint8_t *)(uintptr_t)(AREA + SAVE_HEADER_BYTES);
static char notes[BOOT_SAVE_NOTES][BOOT_SAVE_NOTE];
static char *const note = notes[0];
static char before[BOOT_SAVE_NOTES][BOOT_SAVE_NOTE]; /* what a run has to say already when it begins */

static void seal(void)
{
    header->crc = save_header_crc(header);
}

/* As the loader begins it, and the kernel ends it. */
static int setup(void **state)
{
    (void)state;
    void *memory = mmap((void *)(uintptr_t)AREA, AREA_SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(memory, (void *)(uintptr_t)AREA);
    memset(&fw, 0, sizeof fw);
    memset(notes, 0, sizeof notes);
    memset(before, 0, sizeof before);
    fw.keeps = fw.deletes = fw.keeps_next = true;
    fw.current_size = 2;
    fw.current = 0x2001;
    fw.room = 100 * MIB;

    static const char config[] = "save=esp\nsave.mib=2\n";
    const struct boot_efi_memory map = {
        .type = BOOT_MEMORY_CONVENTIONAL, .physical_start = AREA, .pages = AREA_SIZE / 4096};
    struct boot_info info = {.config = (uintptr_t)config, .entry_tsc = 99, .time = {.year = 2026}};
    *state = NULL;
    const struct boot_efi_map maps = {&map, sizeof map, sizeof map};
    assert_int_equal(boot_begin(&volume, &info, &maps), EFI_SUCCESS);
    assert_true(info.save_area == AREA && info.save_bytes == 2 * MIB && fw.note);
    assert_int_equal(header->state, SAVE_WRITING);
    assert_int_equal(info.save_notes[0][0], 0);
    assert_true(fw.has_next && fw.next == 0x2001);
    fw.allocated = 0;
    fw.lines = 0;

    /* larger than that: so that there are three pieces */
    header->bytes = AREA_SIZE;
    ((struct save_note *)fw.bytes)->bytes = AREA_SIZE;
    for (size_t i = 0; i < TEXT_SIZE; i++)
        text[i] = (uint8_t)(i * 7 ^ i >> 9);
    header->used = TEXT_SIZE;
    for (uint32_t n = 0; n < save_pieces(TEXT_SIZE); n++)
        header->piece_crc[n] = save_piece_crc(header, text, n);
    header->state = SAVE_COMPLETE;
    seal();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(fw.file);
    return munmap((void *)(uintptr_t)AREA, AREA_SIZE);
}

/* How the loader's look ends. */
static int start(void)
{
    const int end = setjmp(fw.end);
    if (!end) {
        fw.watchdog = 0;
        fw.looking = true;
        boot_look(&volume, notes);
        assert_int_equal(fw.watchdog, 0); /* where the loader goes on it runs: it may hang */
    }
    fw.looking = false;
    return end;
}
