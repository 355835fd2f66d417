/* SPDX-License-Identifier: MIT */
/* The report's file, \cairn-machine.txt, and the screen. A line is on the volume before the step that it announces
 * begins, so the file of a machine that hangs says where. Source: UEFI specification, "File Protocol". */
#include "boot/loader.h"
#include "boot/save/room.h"
#include "kernel/lib/string.h"
#include "tools/report/report.h"

#define COLUMNS 80u

#define FILES        9u /* \cairn-machine.txt, then -2 to -9: a stick may see many machines, and a machine many tries */
#define FILE_MAX     (UINT64_C(1) << 20)
#define STEPS        16u
#define STEP_BYTES   40u
#define STEP_WORD    "step="
#define END_WORD     "end="
#define MACHINE_WORD "machine="
#define ROOM         (UINT64_C(256) << 10) /* bytes: no report is that long */

static EFI_FILE_HANDLE file;
static CHAR16 name[] = L"\\cairn-machine-2.txt";
static char hung[STEPS][STEP_BYTES]; /* steps that files of runs before this one end with */
static unsigned hung_count;
static char held[64 << 10];
static size_t held_size;
static unsigned lost; /* lines without room there */
static EFI_STATUS trouble;
static bool stopped;

static void name_file(unsigned number)
{
    static const CHAR16 first[] = L"\\cairn-machine.txt", later[] = L"\\cairn-machine-2.txt";
    __builtin_memcpy(name, number == 1 ? first : later, number == 1 ? sizeof first : sizeof later);
    if (number > 1)
        name[15] = (CHAR16)(L'0' + number);
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
    if (step && hung_count < STEPS) {
        size_t n = 0;
        while (step + n < end && step[n] > ' ' && n < STEP_BYTES - 1)
            n++;
        memcpy(hung[hung_count], step, n);
        hung[hung_count++][n] = '\0';
    }
}

static bool exists(EFI_FILE_HANDLE root)
{
    EFI_FILE_HANDLE handle;
    if (EFI_ERROR(root->Open(root, &handle, name, EFI_FILE_MODE_READ, 0)))
        return false;
    handle->Close(handle);
    return true;
}

/* Whether a file can be made whole: one that is cut off would look like that of a machine that hung. */
static bool has_room(EFI_FILE_HANDLE root)
{
    uint64_t room;
    return !save_room(root, &room) || room >= ROOM;
}

EFI_STATUS report_open(EFI_FILE_HANDLE root, const char *machine)
{
    unsigned number = 1;
    for (name_file(number); number <= FILES && exists(root); name_file(++number)) {
        struct boot_file before;
        if (!EFI_ERROR(boot_file_read(root, name, FILE_MAX, &before)))
            note_end((const char *)before.data, before.size, machine);
    }
    trouble = EFI_VOLUME_FULL;
    if (number > FILES) {
        Print(L"This stick has %d reports already: move some of them elsewhere\r\n", FILES);
        return trouble;
    }
    if (!has_room(root)) {
        Print(L"This stick is read-only, or has less than %d KiB of room\r\n", (int)(ROOM >> 10));
        return trouble;
    }
    trouble = root->Open(root, &file, name, EFI_FILE_MODE_READ | EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE, 0);
    if (EFI_ERROR(trouble)) {
        Print(L"%s cannot be written (%r)\r\n", name, trouble);
        file = NULL;
    }
    report_line("cairn-report=%s", CAIRN_VERSION);
    report_line(MACHINE_WORD "%s", machine);
    return trouble;
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

/* After the first failure nothing more is written: a hole in the middle of the file would not be seen. */
EFI_STATUS report_flush(void)
{
    UINTN bytes = held_size;
    if (file && !EFI_ERROR(trouble)) {
        trouble = file->Write(file, &bytes, held);
        if (!EFI_ERROR(trouble) && bytes != held_size)
            trouble = EFI_VOLUME_FULL;
        if (!EFI_ERROR(trouble))
            trouble = file->Flush(file);
        if (!EFI_ERROR(trouble) && lost)
            trouble = EFI_BUFFER_TOO_SMALL;
    }
    held_size = 0;
    return trouble;
}

/* Closed as well: some firmware writes a file's size only then. */
EFI_STATUS report_close(void)
{
    const EFI_STATUS flushed = report_flush();
    const EFI_STATUS closed = file ? file->Close(file) : EFI_SUCCESS;
    return EFI_ERROR(flushed) ? flushed : closed;
}

bool report_has_file(void)
{
    return file != NULL;
}

/* In *line, with its line feed. Returns its length. */
static size_t make(char line[REPORT_LINE], const char *format, va_list args)
{
    vsnprintf(line, REPORT_LINE - 1, format, args);
    const size_t n = strlen(line);
    line[n] = '\n';
    return n + 1;
}

static void show_character(char c)
{
    CHAR16 text[3] = {(CHAR16)c, 0, 0};
    if (c == '\n')
        text[0] = L'\r', text[1] = L'\n';
    ST->ConOut->OutputString(ST->ConOut, text);
}

/* With its line feed. Whole words where it is wider than the screen. */
static void show(const char *line, size_t n)
{
    for (size_t column = 0; n; line++, n--) {
        const char *blank = *line == ' ' ? memchr(line + 1, ' ', n - 1) : NULL;
        const size_t word = (size_t)((blank ? blank : line + n - 1) - line);
        if (*line == ' ' && column && column + word >= COLUMNS) {
            show_character('\n');
            column = 0;
            continue;
        }
        show_character(*line);
        column++;
    }
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
    show(line, n);
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
    return true;
}
