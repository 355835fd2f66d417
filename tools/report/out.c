/* SPDX-License-Identifier: MIT */
/* The report's file, \cairn-machine.txt, and the screen. A line is on the volume before the step that it announces
 * begins, so the file of a machine that hangs says where; so does the last row of its screen. Source: UEFI
 * specification, "File Protocol", "Simple Text Output Protocol". */
#include "boot/elf.h"
#include "boot/loader.h"
#include "boot/save/exists.h"
#include "boot/save/room.h"
#include "kernel/lib/string.h"
#include "tools/report/report.h"

#define FILES        99u /* \cairn-machine.txt, then -2 to -99: a stick may see many machines, a machine many tries */
#define FILE_MAX     (UINT64_C(1) << 20)
#define FILE_END     UINT64_MAX /* of SetPosition */
#define STEP_BYTES   40u
#define STEP_WORD    "step="
#define END_WORD     "end="
#define MACHINE_WORD "machine="
#define ROOM         (UINT64_C(256) << 10) /* bytes: no report is that long */

static EFI_FILE_HANDLE volume;
static bool has_file;
static CHAR16 name[] = L"\\cairn-machine-99.txt";
static char hung[FILES][STEP_BYTES]; /* steps that files of runs before this one end with */
static unsigned hung_count;
static char held[64 << 10];
static size_t held_size;
static unsigned lost; /* lines without room there */
static EFI_STATUS trouble;
static bool stopped;

static void name_file(unsigned number)
{
    char text[sizeof name / sizeof name[0]];
    snprintf(text, sizeof text, number == 1 ? "\\cairn-machine.txt" : "\\cairn-machine-%u.txt", number);
    for (unsigned i = 0; i < sizeof text; i++)
        name[i] = (CHAR16)text[i];
}

/* The last line that names a step, if no end follows it; of this machine alone. */
static void note_end(const char *text, uint64_t size, const char *machine)
{
    const char *step = NULL, *line = text, *end = text + size;
    while (line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        const size_t length = (size_t)((next ? next : end) - line);
        if (kstring_begins(line, length, MACHINE_WORD) &&
            (length != strlen(MACHINE_WORD) + strlen(machine) ||
             !kstring_begins(line + strlen(MACHINE_WORD), length, machine)))
            return;
        if (kstring_begins(line, length, STEP_WORD))
            step = line + strlen(STEP_WORD);
        if (kstring_begins(line, length, END_WORD))
            step = NULL;
        line = next ? next + 1 : end;
    }
    if (step && hung_count < FILES) {
        size_t n = 0;
        while (step + n < end && step[n] > ' ' && n < STEP_BYTES - 1)
            n++;
        memcpy(hung[hung_count], step, n);
        hung[hung_count++][n] = '\0';
    }
}

static void read_before(const char *machine)
{
    struct boot_file before;
    if (EFI_ERROR(boot_file_read(volume, name, FILE_MAX, &before)))
        return;
    note_end((const char *)before.data, before.size, machine);
    BS->FreePages((uintptr_t)before.data, before.size / BOOT_PAGE_SIZE + 1);
}

/* Whether a file can be made whole: one that is cut off would look like that of a machine that hung. */
static bool has_room(void)
{
    uint64_t room;
    return !save_room(volume, &room) || room >= ROOM;
}

void report_open(EFI_FILE_HANDLE root, const char *machine)
{
    unsigned number = 1;
    volume = root;
    for (name_file(number); number <= FILES && save_exists(volume, name); name_file(++number))
        read_before(machine);
    report_line("cairn-report=%s", CAIRN_VERSION);
    report_line(MACHINE_WORD "%s", machine);
    trouble = number > FILES ? REPORT_TOO_MANY : has_room() ? EFI_SUCCESS : EFI_VOLUME_FULL;
    report_flush();
}

bool report_stopped(void)
{
    return stopped;
}

/* Kept until report_flush: who writes a line may have taken the processor from the firmware. */
static void keep(const char *text, size_t size)
{
    stopped |= kstring_begins(text, size, "stopped=");
    if (size > sizeof held - held_size) {
        lost++;
        return;
    }
    memcpy(held + held_size, text, size);
    held_size += size;
}

/* At its end. */
static EFI_STATUS append(EFI_FILE_HANDLE file)
{
    UINTN bytes = held_size;
    EFI_STATUS status = file->SetPosition(file, FILE_END);
    if (EFI_ERROR(status))
        return status;
    has_file = true;
    status = file->Write(file, &bytes, held);
    if (!EFI_ERROR(status) && bytes != held_size)
        return EFI_VOLUME_FULL;
    if (!EFI_ERROR(status))
        status = file->Flush(file);
    return status == EFI_UNSUPPORTED ? EFI_SUCCESS : status; /* some have no Flush; Close does it, too */
}

/* Opened and closed each time: some firmware writes a file's size only when it is closed. */
static EFI_STATUS write_held(void)
{
    EFI_FILE_HANDLE file;
    EFI_STATUS status =
        volume->Open(volume, &file, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0);
    if (EFI_ERROR(status))
        return status;
    status = append(file);
    const EFI_STATUS closed = file->Close(file);
    return EFI_ERROR(status) ? status : closed;
}

/* After the first failure nothing more is written: a hole in the middle of the file would not be seen. */
EFI_STATUS report_flush(void)
{
    if (!EFI_ERROR(trouble))
        trouble = write_held();
    if (!EFI_ERROR(trouble) && lost)
        trouble = EFI_BUFFER_TOO_SMALL;
    held_size = 0;
    return trouble;
}

bool report_has_file(void)
{
    return has_file;
}

/* In *line, with its line feed. Returns its length. */
static size_t make(char line[REPORT_LINE], const char *format, va_list args)
{
    vsnprintf(line, REPORT_LINE - 1, format, args);
    const size_t n = strlen(line);
    line[n] = '\n';
    return n + 1;
}

void report_line(const char *format, ...)
{
    char line[REPORT_LINE];
    va_list args;
    va_start(args, format);
    keep(line, make(line, format, args));
    va_end(args);
}

void report_say(const char *format, ...)
{
    char line[REPORT_LINE];
    va_list args;
    va_start(args, format);
    const size_t n = make(line, format, args);
    va_end(args);
    keep(line, n);
    report_show(line, n);
}

bool report_step(const char *step)
{
    for (unsigned i = 0; i < hung_count; i++)
        if (strcmp(hung[i], step) == 0) {
            report_say("skipped.%s=the run before this one ended there", step);
            return false;
        }
    report_line(STEP_WORD "%s", step);
    report_flush();
    report_show_step(step);
    return true;
}
