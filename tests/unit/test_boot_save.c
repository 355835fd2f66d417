/* SPDX-License-Identifier: MIT */
/*
 * boot/save.c under a firmware of this test's: the log of the last run in "memory", whole or damaged in each way there
 * is, on volumes good and bad. And where the log is put before a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "boot/save.c"

#define AREA      UINT64_C(0x10000000) /* an address that this process has free as well */
#define MIB       (UINT64_C(1) << 20)
#define AREA_SIZE (4 * MIB)
#define TEXT_SIZE (2 * MIB + 12345)

enum { RUNS_ON, STOPPED, OFF };

static struct {
    jmp_buf end;
    bool variable, keeps, deletes; /* there is one; it can be written, deleted */
    EFI_STATUS read_status;        /* of reading it */
    bool looking;                  /* for a log, not beginning one */
    _Alignas(8) uint8_t bytes[64];
    UINTN size;
    uint8_t control; /* MemoryOverwriteRequestControl */
    UINTN current_size;      /* BootCurrent: 2; 0: there is none */
    uint16_t current, next;
    bool keeps_next, has_next;
    uint64_t taken_from, taken_to; /* the firmware's own memory */
    uint64_t allocated;
    unsigned watchdog;

    bool no_volume, read_only;
    EFI_STATUS info_status;     /* of asking how much room there is */
    unsigned files;             /* \cairn-000.log and so on that are there */
    EFI_STATUS open_status;     /* of a new file */
    uint64_t room;              /* bytes on the volume */
    uint8_t *file;
    uint64_t file_size;
    CHAR16 name[32];
    bool closed, deleted;
    EFI_STATUS flush_status;
    EFI_STATUS failed; /* of boot_fail's line */
    unsigned lines;    /* of Print */
} fw;

/* ---- the firmware ----------------------------------------------------------------------------------------------- */

static bool is(const CHAR16 *name, const CHAR16 *expected)
{
    while (*name && *name == *expected)
        name++, expected++;
    return *name == *expected;
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
    if (name[0] == 'M') {
        assert_int_equal(*size, 1);
        *(uint8_t *)data = fw.control;
        return EFI_SUCCESS;
    }
    assert_int_equal(name[0], 'C');
    if (EFI_ERROR(fw.read_status))
        return fw.read_status;
    if (!fw.variable)
        return EFI_NOT_FOUND;
    const UINTN room = *size;
    *size = fw.size;
    if (fw.size > room)
        return EFI_BUFFER_TOO_SMALL;
    memcpy(data, fw.bytes, fw.size);
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI set_variable(CHAR16 *name, EFI_GUID *guid, UINT32 attributes, UINTN size, void *data)
{
    static const EFI_GUID global = EFI_GLOBAL_VARIABLE;
    if (is(name, L"BootNext")) {
        assert_true(fw.variable || !size); /* no start of ours is asked for that has nothing to do */
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
    assert_true(is(name, L"CairnSave"));
    assert_int_equal(attributes, VARIABLE_ATTRIBUTES);
    if (size ? !fw.keeps : !fw.deletes)
        return EFI_DEVICE_ERROR;
    assert_true(size <= sizeof fw.bytes);
    fw.variable = size != 0;
    fw.size = size;
    memcpy(fw.bytes, data ? data : "", size);
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
static EFI_BOOT_SERVICES services = {
    .AllocatePages = allocate_pages, .SetWatchdogTimer = set_watchdog, .Stall = stall};
EFI_RUNTIME_SERVICES *RT = &runtime;
EFI_BOOT_SERVICES *BS = &services;

UINTN Print(const CHAR16 *format, ...)
{
    (void)format;
    fw.lines++;
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

static EFI_FILE handle = {.Close = close_file, .Delete = delete_file, .Write = write_file, .Flush = flush_file};

static EFI_STATUS EFIAPI open_file(EFI_FILE_HANDLE root, EFI_FILE_HANDLE *new, CHAR16 *name, UINT64 mode, UINT64 what)
{
    (void)root, (void)what;
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

EFI_STATUS boot_volume_open(EFI_HANDLE image, EFI_FILE_HANDLE *root)
{
    assert_ptr_equal(image, &fw);
    *root = &volume;
    return fw.no_volume ? boot_fail(NULL, NULL, EFI_UNSUPPORTED) : EFI_SUCCESS;
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
    assert_int_equal(boot_save_begin(&volume, &info, &maps), EFI_SUCCESS);
    assert_true(info.save_area == AREA && info.save_bytes == 2 * MIB && fw.variable);
    assert_int_equal(header->state, SAVE_WRITING);
    assert_int_equal(info.save_notes[0][0], 0);
    assert_true(fw.has_next && fw.next == 0x2001);
    fw.allocated = 0;
    fw.lines = 0;

    /* larger than that: so that there are three pieces */
    header->bytes = AREA_SIZE;
    ((struct save_variable *)fw.bytes)->bytes = AREA_SIZE;
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
        boot_save_look(&fw, notes);
        assert_int_equal(fw.watchdog, 0); /* where the loader goes on it runs: it may hang */
    }
    fw.looking = false;
    return end;
}

/* It says why, it has no file, the next start is a run, and that run says it as well. */
static void refused(enum save_refusal why)
{
    assert_int_equal(start(), OFF);
    assert_null(fw.file);
    assert_true(fw.lines >= 2);
    assert_true(fw.variable);
    assert_int_equal(((struct save_variable *)fw.bytes)->told, why);
    assert_int_equal(start(), RUNS_ON);
    assert_string_equal(note + strlen(note) - strlen(save_words(why)), save_words(why));
    assert_int_equal(notes[1][0], 0);
    assert_false(fw.variable);
    note[0] = 0;
}

static void test_nothing_there(void **state)
{
    (void)state;
    fw.variable = false;
    assert_int_equal(start(), RUNS_ON);
    assert_int_equal(fw.lines, 0);
    assert_true(fw.allocated == 0);
    assert_int_equal(note[0], 0);
}

/* That there is no variable is nothing to speak of; that it cannot be read is. */
static void test_cannot_be_read(void **state)
{
    static const EFI_STATUS silent[] = {EFI_NOT_FOUND, EFI_UNSUPPORTED},
                            told[] = {EFI_DEVICE_ERROR, EFI_SECURITY_VIOLATION, EFI_INVALID_PARAMETER};
    (void)state;
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        fw.read_status = silent[i];
        assert_int_equal(start(), RUNS_ON);
        assert_true(fw.lines == 0 && !note[0]);
    }
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        fw.read_status = told[i];
        fw.lines = 0;
        assert_int_equal(start(), RUNS_ON);
        assert_true(fw.lines == 1 && fw.variable);
        assert_non_null(strstr(note, "CairnSave could not be read"));
        note[0] = 0;
    }
    fw.read_status = 0;
    assert_int_equal(start(), OFF); /* it is still there */
    assert_true(fw.file_size == TEXT_SIZE);
}

static void test_saved(void **state)
{
    (void)state;
    fw.files = 3;
    uint8_t *was = malloc(TEXT_SIZE);
    assert_non_null(was);
    memcpy(was, text, TEXT_SIZE);
    assert_int_equal(start(), OFF);
    assert_int_equal(fw.name[9], '3');
    assert_true(fw.file_size == TEXT_SIZE);
    assert_memory_equal(fw.file, was, TEXT_SIZE);
    assert_true(fw.closed && !fw.deleted && !fw.variable && !fw.failed);
    /* and cleared: a variable that could not be deleted finds a stale one */
    for (size_t i = 0; i < TEXT_SIZE; i++)
        assert_int_equal(text[i], 0);
    free(was);
    free(fw.file);
    fw.file = NULL;
    assert_int_equal(start(), RUNS_ON);
    assert_int_equal(note[0], 0);
}

static void test_saved_but_remembered(void **state)
{
    (void)state;
    fw.deletes = false;
    assert_int_equal(start(), OFF);
    assert_true(fw.file_size == TEXT_SIZE && fw.variable);
    free(fw.file);
    fw.file = NULL;
    fw.deletes = true;
    refused(SAVE_ALREADY);
}

/* The volume does not take it: nothing is left there, and the log stays as it was for another try. */
static void again(EFI_STATUS status)
{
    assert_int_equal(start(), STOPPED);
    assert_int_equal(fw.failed, status);
    assert_true(fw.variable && ((struct save_variable *)fw.bytes)->told == 0);
    assert_int_equal(header->state, SAVE_COMPLETE);
    free(fw.file);
    fw.file = NULL;
    fw.file_size = 0;
    fw.failed = 0;
    fw.deleted = false;
    fw.room = 100 * MIB;
    fw.files = 0;
    fw.open_status = fw.flush_status = 0;
    fw.no_volume = false;
    assert_int_equal(start(), OFF);
    assert_true(fw.file_size == TEXT_SIZE && !fw.failed && !fw.variable);
}

static void test_full_volume(void **state)
{
    (void)state;
    fw.room = MIB + 5;
    again(EFI_VOLUME_FULL);
}

static void test_full_when_flushed(void **state)
{
    (void)state;
    fw.flush_status = EFI_DEVICE_ERROR;
    again(EFI_DEVICE_ERROR);
}

static void test_read_only_volume(void **state)
{
    (void)state;
    fw.open_status = EFI_WRITE_PROTECTED;
    again(EFI_WRITE_PROTECTED);
}

static void test_all_names_taken(void **state)
{
    (void)state;
    fw.files = 1000;
    again(EFI_VOLUME_FULL);
}

static void test_no_volume(void **state)
{
    (void)state;
    fw.no_volume = true;
    again(EFI_UNSUPPORTED);
}

static void test_part_is_deleted(void **state)
{
    (void)state;
    fw.room = MIB + 5;
    assert_int_equal(start(), STOPPED);
    assert_true(fw.deleted);
}

static void test_half_written(void **state)
{
    (void)state;
    header->state = SAVE_WRITING;
    seal();
    refused(SAVE_HALF_WRITTEN);
}

static void test_another_run(void **state)
{
    (void)state;
    header->nonce ^= 1;
    seal();
    refused(SAVE_OTHER_RUN);
}

static void test_cleared(void **state)
{
    (void)state;
    memset(header, 0, AREA_SIZE);
    refused(SAVE_ABSENT);
}

static void test_firmware_has_the_header(void **state)
{
    (void)state;
    fw.taken_from = AREA;
    fw.taken_to = AREA + 1;
    refused(SAVE_TAKEN);
}

static void test_firmware_has_the_last_page(void **state)
{
    (void)state;
    fw.taken_from = AREA + SAVE_HEADER_BYTES + TEXT_SIZE - 1;
    fw.taken_to = fw.taken_from + 1;
    refused(SAVE_TAKEN);
}

/* Memory behind the log is the firmware's to use. */
static void test_firmware_has_what_is_behind(void **state)
{
    (void)state;
    fw.taken_from = AREA + ((SAVE_HEADER_BYTES + TEXT_SIZE + 4095) & ~UINT64_C(4095));
    fw.taken_to = AREA + AREA_SIZE;
    assert_int_equal(start(), OFF);
    assert_true(fw.file_size == TEXT_SIZE);
}

static void test_variable_is_damaged(void **state)
{
    static const UINTN sizes[] = {0, 1, 31, 33, 64};
    struct save_variable good;
    (void)state;
    memcpy(&good, fw.bytes, sizeof good);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fw.variable = true;
        memcpy(fw.bytes, &good, sizeof good);
        fw.size = sizes[i];
        refused(SAVE_BAD_VARIABLE);
    }
    const struct save_variable bad[] = {
        {2, 0, AREA, AREA_SIZE, 1},        {1, 0, 0, AREA_SIZE, 1},           {1, 0, AREA + 1, AREA_SIZE, 1},
        {1, 0, AREA, AREA_SIZE + 1, 1},    {1, 0, AREA, 0, 1},                {1, 0, AREA, UINT64_MAX, 1},
        {1, 0, UINT64_MAX - 4095, MIB, 1}, {1, 0, AREA, (SAVE_MIB_MAX + 1) * MIB, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fw.variable = true;
        fw.size = sizeof good;
        memcpy(fw.bytes, &bad[i], sizeof bad[i]);
        refused(SAVE_BAD_VARIABLE);
    }
    /* of a later version perhaps: words for any number, and the run goes on */
    fw.variable = true;
    fw.size = sizeof good;
    good.told = UINT32_MAX;
    memcpy(fw.bytes, &good, sizeof good);
    assert_int_equal(start(), RUNS_ON);
    assert_non_null(strstr(note, "does not know"));
    assert_false(fw.variable);
}

/* Each byte of the header counts, each field is in bounds though its CRC is right. */
static void test_header_is_damaged(void **state)
{
    struct save_variable v;
    (void)state;
    memcpy(&v, fw.bytes, sizeof v);
    for (size_t i = 0; i < SAVE_HEADER_BYTES; i++) {
        ((uint8_t *)header)[i] ^= 0x10;
        const enum save_refusal why = save_check_header(header, &v);
        assert_int_equal(why, i < 8 ? SAVE_ABSENT : i < 16 ? SAVE_OTHER_VERSION : SAVE_BAD_HEADER);
        ((uint8_t *)header)[i] ^= 0x10;
    }
    static const uint64_t lengths[] = {0, AREA_SIZE - SAVE_HEADER_BYTES + 1, AREA_SIZE, UINT64_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        header->used = lengths[i];
        seal();
        assert_int_equal(save_check_header(header, &v), SAVE_BAD_HEADER);
    }
    header->used = AREA_SIZE - SAVE_HEADER_BYTES;
    seal();
    assert_int_equal(save_check_header(header, &v), SAVE_GOOD);
    header->state = 4;
    seal();
    refused(SAVE_BAD_HEADER);
}

static void test_text_is_damaged(void **state)
{
    static const size_t places[] = {0, 5, MIB - 1, MIB, 2 * MIB, TEXT_SIZE - 1};
    uint32_t bad, first;
    (void)state;
    assert_int_equal(save_check_text(header, text, &bad, &first), SAVE_GOOD);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        text[places[i]] ^= 1;
        assert_int_equal(save_check_text(header, text, &bad, &first), SAVE_BAD_TEXT);
        assert_int_equal(bad, 1);
        assert_int_equal(first, places[i] / MIB);
        text[places[i]] ^= 1;
    }
    text[TEXT_SIZE] ^= 1; /* not of it any more */
    assert_int_equal(save_check_text(header, text, &bad, &first), SAVE_GOOD);
    text[7] ^= 1;
    text[MIB + 7] ^= 1;
    assert_int_equal(save_check_text(header, text, &bad, &first), SAVE_BAD_TEXT);
    assert_int_equal(bad, 2);
    refused(SAVE_BAD_TEXT);
}

/* ---- before a run ----------------------------------------------------------------------------------------------- */

static EFI_STATUS begin(const char *config, struct boot_info *info)
{
    const struct boot_efi_memory map = {
        .type = BOOT_MEMORY_CONVENTIONAL, .physical_start = AREA, .pages = AREA_SIZE / 4096};
    *info = (struct boot_info){.config = (uintptr_t)config};
    memcpy(info->save_notes, before, sizeof before);
    fw.variable = fw.has_next = false;
    return boot_save_begin(&volume, info, &(struct boot_efi_map){&map, sizeof map, sizeof map});
}

static void test_begin(void **state)
{
    static const char *const others[] = {"", "save=off\n", "save=espresso\n", "save=ES\n", "#save=esp\n", "save=\n"};
    struct boot_info info;
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(begin(others[i], &info), EFI_SUCCESS);
        assert_true(!info.save_area && !fw.variable);
    }
    assert_int_equal(begin("save=esp\nsave.mib=0x2\n", &info), EFI_SUCCESS);
    assert_true(info.save_area >= AREA && info.save_bytes == 2 * MIB && fw.variable && !info.save_notes[0][0]);

    fw.control = 1;
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_true(info.save_bytes == MIB);
    assert_non_null(strstr(info.save_notes[0], "MemoryOverwriteRequestControl)"));
    assert_int_equal(info.save_notes[1][0], 0);
    fw.control = 0x10; /* DisableAutoDetect alone */
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_int_equal(info.save_notes[0][0], 0);
}

/* Where the reset cannot lead back here, who sits there hears it before the run, and the log has it. */
static void test_next_start(void **state)
{
    static const UINTN sizes[] = {0, 1, 4};
    struct boot_info info;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fw.current_size = sizes[i];
        fw.lines = 0;
        assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
        assert_true(info.save_area && fw.variable && !fw.has_next && fw.lines == 2);
        assert_non_null(strstr(info.save_notes[0], "choose it in the firmware's menu"));
        assert_non_null(strstr(info.save_notes[0], "(BootCurrent)"));
        assert_int_equal(info.save_notes[1][0], 0);
    }
    fw.current_size = 2;
    fw.keeps_next = false;
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_true(info.save_area && fw.variable && !fw.has_next);
    assert_non_null(strstr(info.save_notes[0], "does not keep BootNext"));

    fw.keeps_next = true;
    fw.next = 0;
    assert_int_equal(begin("save=off\n", &info), EFI_SUCCESS);
    assert_false(fw.has_next);
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_true(fw.has_next && fw.next == 0x2001 && !info.save_notes[0][0]);
}

/* Before the run, and it goes on: how long the log becomes nobody knows. */
static void test_room(void **state)
{
    struct boot_info info;
    (void)state;
    const struct {
        uint64_t room;
        bool read_only;
        EFI_STATUS status;
        bool told;
    } cases[] = {{2 * MIB, false, 0, false},    {2 * MIB - 1, false, 0, true}, {0, false, 0, true},
                 {UINT64_MAX, false, 0, false}, {100 * MIB, true, 0, true},    {0, false, EFI_UNSUPPORTED, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fw.room = cases[i].room;
        fw.read_only = cases[i].read_only;
        fw.info_status = cases[i].status;
        fw.lines = 0;
        assert_int_equal(begin("save=esp\nsave.mib=2\n", &info), EFI_SUCCESS);
        assert_true(info.save_area && fw.variable);
        assert_int_equal(fw.lines, 1 + cases[i].told);
        assert_int_equal(strstr(info.save_notes[0], "less room than save.mib=") != NULL, cases[i].told);
        assert_int_equal(info.save_notes[1][0], 0);
    }
}

static void test_given_up(void **state)
{
    struct boot_info info;
    (void)state;
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_true(fw.variable && fw.has_next);
    boot_save_give_up(&info);
    assert_true(!fw.variable && !fw.has_next && !info.save_area && !info.save_bytes);
    assert_int_equal(start(), RUNS_ON);
    assert_int_equal(note[0], 0);

    fw.has_next = true; /* another's: nothing was begun */
    boot_save_give_up(&info);
    assert_true(fw.has_next);
}

/* All that there is to say is said, whole: of the run before, and of this one. */
static void test_notes(void **state)
{
    struct boot_info info;
    (void)state;
    for (uint32_t told = 0; told < SAVE_REFUSALS; told++) {
        const size_t head = strlen("the log of the run before this one was not saved: ");
        assert_true(head + strlen(save_words(told)) < BOOT_SAVE_NOTE);
    }
    fw.variable = true;
    fw.size = sizeof(struct save_variable);
    memcpy(fw.bytes, &(struct save_variable){.version = SAVE_VERSION, .told = SAVE_ABSENT}, fw.size);
    assert_int_equal(start(), RUNS_ON);
    fw.control = 1;
    fw.keeps_next = false;
    fw.room = 0;
    memcpy(before, notes, sizeof before);
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_non_null(strstr(info.save_notes[0], "the run before this one was not saved: it is not in memory"));
    assert_non_null(strstr(info.save_notes[1], "does not keep BootNext"));
    assert_non_null(strstr(info.save_notes[2], "MemoryOverwriteRequestControl)"));
    assert_non_null(strstr(info.save_notes[3], "less room than save.mib=: what does not fit stays in memory"));
}

static void test_cannot_begin(void **state)
{
    static const char *const large[] = {"save=esp", "save=esp\nsave.mib=0", "save=esp\nsave.mib=513",
                                        "save=esp\nsave.mib=x", "save=esp\nsave.mib=5"};
    struct boot_info info;
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        fw.failed = 0;
        assert_int_equal(begin(large[i], &info), EFI_OUT_OF_RESOURCES);
        assert_int_equal(fw.failed, EFI_OUT_OF_RESOURCES);
        assert_true(!info.save_area && !fw.variable);
    }
    fw.taken_from = AREA + 2 * MIB; /* after the map was read */
    fw.taken_to = fw.taken_from + 1;
    assert_int_equal(begin("save=esp\nsave.mib=3", &info), EFI_OUT_OF_RESOURCES);
    fw.taken_to = 0;
    fw.keeps = false;
    assert_int_equal(begin("save=esp\nsave.mib=2", &info), EFI_DEVICE_ERROR);
    assert_true(!info.save_area && fw.failed == EFI_DEVICE_ERROR);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_there),
        TEST(test_cannot_be_read),
        TEST(test_saved),
        TEST(test_saved_but_remembered),
        TEST(test_full_volume),
        TEST(test_full_when_flushed),
        TEST(test_read_only_volume),
        TEST(test_all_names_taken),
        TEST(test_no_volume),
        TEST(test_part_is_deleted),
        TEST(test_half_written),
        TEST(test_another_run),
        TEST(test_cleared),
        TEST(test_firmware_has_the_header),
        TEST(test_firmware_has_the_last_page),
        TEST(test_firmware_has_what_is_behind),
        TEST(test_variable_is_damaged),
        TEST(test_header_is_damaged),
        TEST(test_text_is_damaged),
        TEST(test_begin),
        TEST(test_cannot_begin),
        TEST(test_next_start),
        TEST(test_room),
        TEST(test_given_up),
        TEST(test_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
