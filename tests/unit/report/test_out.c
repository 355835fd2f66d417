/* SPDX-License-Identifier: MIT */
/* tools/report/out.c and screen.c: what a machine that hangs leaves, under a firmware that writes a file's size only
 * when the file is closed and that has no Flush. */
#include <stdlib.h>

#include "tests/unit/support/cmocka.h"
#include "tools/report/out.c" /* a start of the machine begins with its state anew */

#define ROOM_THERE (UINT64_C(1) << 20)

EFI_BOOT_SERVICES *BS;
EFI_SYSTEM_TABLE *ST;

static struct {
    unsigned reports;      /* cairn-machine.txt and so on are there */
    const char *texts[99]; /* of them; NULL: an end */
    const char *read;      /* the one that is open */
    uint64_t room;
    EFI_STATUS opens, writes, flushes, closes;
    UINTN takes;     /* bytes of a write */
    unsigned number; /* of the file that is written */
    bool open;
    char file[1 << 17]; /* as the volume has it, and what of it a reset would lose */
    size_t size, unseen;
} fw;

static struct {
    char rows[64][81];
    unsigned row, column, calls;
} screen;

static unsigned number_of(const CHAR16 *text)
{
    unsigned n = 0;
    assert_int_equal(text[0], '\\');
    for (; *text; text++)
        n = *text >= '0' && *text <= '9' ? n * 10 + (unsigned)(*text - '0') : n;
    return n ? n : 1;
}

static EFI_STATUS EFIAPI get_info(EFI_FILE_HANDLE handle, EFI_GUID *guid, UINTN *size, void *data);

static EFI_STATUS EFIAPI read_file(EFI_FILE_HANDLE handle, UINTN *size, void *data)
{
    (void)handle;
    memcpy(data, fw.read, *size);
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI close_read(EFI_FILE_HANDLE handle)
{
    (void)handle;
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI set_position(EFI_FILE_HANDLE handle, UINT64 at)
{
    (void)handle;
    assert_int_equal(at, UINT64_MAX);
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI write_file(EFI_FILE_HANDLE handle, UINTN *size, void *data)
{
    (void)handle;
    assert_true(fw.open);
    *size = *size < fw.takes ? *size : fw.takes;
    memcpy(fw.file + fw.size + fw.unseen, data, *size);
    fw.unseen += *size;
    return fw.writes;
}

static EFI_STATUS EFIAPI flush_file(EFI_FILE_HANDLE handle)
{
    (void)handle;
    return fw.flushes;
}

static EFI_STATUS EFIAPI close_written(EFI_FILE_HANDLE handle)
{
    (void)handle;
    fw.open = false;
    fw.size += fw.unseen;
    fw.unseen = 0;
    return fw.closes;
}

static EFI_FILE old = {.GetInfo = get_info, .Read = read_file, .Close = close_read};
static EFI_FILE written = {
    .SetPosition = set_position, .Write = write_file, .Flush = flush_file, .Close = close_written};

static EFI_STATUS EFIAPI open_file(EFI_FILE_HANDLE root, EFI_FILE_HANDLE *opened, CHAR16 *path, UINT64 mode,
                                   UINT64 attributes)
{
    const unsigned number = number_of(path);
    (void)root, (void)attributes;
    if (mode == EFI_FILE_MODE_READ) {
        if (number > fw.reports)
            return EFI_NOT_FOUND;
        fw.read = fw.texts[number - 1] ? fw.texts[number - 1] : "end=x\n";
        *opened = &old;
        return EFI_SUCCESS;
    }
    assert_false(fw.open);
    if (EFI_ERROR(fw.opens))
        return fw.opens;
    fw.open = true;
    fw.number = number;
    *opened = &written;
    return EFI_SUCCESS;
}

static EFI_FILE root = {.Open = open_file, .GetInfo = get_info};

static EFI_STATUS EFIAPI get_info(EFI_FILE_HANDLE handle, EFI_GUID *guid, UINTN *size, void *data)
{
    (void)guid, (void)size;
    if (handle == &root)
        *(EFI_FILE_SYSTEM_INFO *)data = (EFI_FILE_SYSTEM_INFO){.FreeSpace = fw.room};
    else
        *(EFI_FILE_INFO *)data = (EFI_FILE_INFO){.FileSize = strlen(fw.read)};
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI free_pages(EFI_PHYSICAL_ADDRESS at, UINTN pages)
{
    (void)pages;
    free((void *)(uintptr_t)at);
    return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI output(SIMPLE_TEXT_OUTPUT_INTERFACE *console, CHAR16 *text)
{
    (void)console;
    screen.calls++;
    for (; *text; text++) {
        if (*text == L'\r')
            screen.column = 0;
        else if (*text == L'\n')
            assert_in_range(++screen.row, 0, 63);
        else {
            assert_in_range(screen.column, 0, 79);
            screen.rows[screen.row][screen.column++] = (char)*text;
        }
    }
    return EFI_SUCCESS;
}

EFI_STATUS boot_fail(const CHAR16 *what, const CHAR16 *reason, EFI_STATUS status)
{
    (void)what, (void)reason;
    return status;
}

void *boot_alloc(uint64_t pages)
{
    return calloc(pages, EFI_PAGE_SIZE);
}

static int setup(void **state)
{
    static EFI_BOOT_SERVICES services = {.FreePages = free_pages};
    static SIMPLE_TEXT_OUTPUT_INTERFACE console = {.OutputString = output};
    static EFI_SYSTEM_TABLE table = {.ConOut = &console};
    (void)state;
    BS = &services;
    ST = &table;
    report_show("\n", 1); /* no step of the test before is shown */
    memset(&fw, 0, sizeof fw);
    memset(&screen, 0, sizeof screen);
    fw.room = ROOM_THERE;
    fw.takes = sizeof fw.file;
    fw.flushes = EFI_UNSUPPORTED;
    has_file = stopped = false;
    held_size = 0;
    lost = hung_count = 0;
    return 0;
}

/* As a reset leaves the file. */
static void assert_ends(const char *end)
{
    assert_true(fw.size >= strlen(end));
    assert_memory_equal(fw.file + fw.size - strlen(end), end, strlen(end));
    assert_false(fw.open);
}

static const char *row(void)
{
    char *text = screen.rows[screen.row];
    for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
    return text;
}

static void test_step_is_there(void **state)
{
    (void)state;
    report_open(&root, "mine");
    assert_ends("machine=mine\n");
    assert_true(report_has_file());
    assert_true(report_step("first"));
    assert_ends("machine=mine\nstep=first\n");
    assert_string_equal(row(), "step=first");
    report_line("found=1");
    assert_true(report_step("two"));
    assert_ends("step=first\nfound=1\nstep=two\n");
    assert_string_equal(row(), "step=two");
    assert_int_equal(screen.calls, 2);
    report_say("x=%s", "y");
    assert_int_equal(screen.calls, 3);
    assert_string_equal(row(), "");
    screen.row--;
    assert_string_equal(row(), "x=y");
    assert_int_equal(report_flush(), EFI_SUCCESS);
    assert_ends("x=y\n");
    assert_false(report_stopped());
    report_line("stopped=x");
    assert_true(report_stopped());
}

static void test_wide_lines(void **state)
{
    (void)state;
    report_show("0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 012\n", 81);
    assert_int_equal(screen.row, 2);
    assert_string_equal(screen.rows[1], "012");
    report_show_step("a-name-that-is-as-long-as-no-other-is-and-then-some-more-of-it-until-the-screen-ends");
    assert_int_equal(strlen(row()), 79);
    assert_int_equal(screen.calls, 2);
}

/* What hung this machine is left out, however many reports there are. */
static void test_runs_before(void **state)
{
    (void)state;
    fw.reports = 98;
    fw.texts[0] = "machine=mine\nstep=a\nstep=b\n";
    fw.texts[1] = "machine=other\nstep=c\n";
    fw.texts[2] = "machine=mine\nstep=d\nend=x\n";
    fw.texts[97] = "machine=mine\nstep=e";
    report_open(&root, "mine");
    assert_int_equal(fw.number, 99);
    assert_true(report_step("a") && report_step("c") && report_step("d"));
    assert_false(report_step("b") || report_step("e"));
    report_flush();
    assert_ends("skipped.b=the run before this one ended there\nskipped.e=the run before this one ended there\n");
}

static void test_names(void **state)
{
    static const unsigned there[] = {0, 1, 8, 9, 98};
    for (unsigned i = 0; i < sizeof there / sizeof there[0]; i++) {
        setup(state);
        fw.reports = there[i];
        report_open(&root, "mine");
        assert_int_equal(fw.number, there[i] + 1);
    }
}

/* Why there is no file is returned, and nothing is written; the run goes on. */
static void test_no_file(void **state)
{
    static const EFI_STATUS returned[] = {REPORT_TOO_MANY, EFI_VOLUME_FULL, EFI_WRITE_PROTECTED};
    for (unsigned why = 0; why < 3; why++) {
        setup(state);
        fw.reports = why == 0 ? 99 : 0;
        fw.room = why == 1 ? 100 : ROOM_THERE;
        fw.opens = why == 2 ? EFI_WRITE_PROTECTED : EFI_SUCCESS;
        report_open(&root, "mine");
        assert_true(report_step("a"));
        assert_int_equal(report_flush(), returned[why]);
        assert_true(!report_has_file() && fw.size == 0);
    }
}

/* After the first error nothing more is written, and it is told at the end. */
static void test_errors(void **state)
{
    for (unsigned what = 0; what < 4; what++) {
        setup(state);
        report_open(&root, "mine");
        const size_t size = fw.size;
        fw.writes = what == 0 ? EFI_DEVICE_ERROR : EFI_SUCCESS;
        fw.takes = what == 1 ? 3 : sizeof fw.file;
        fw.flushes = what == 2 ? EFI_DEVICE_ERROR : EFI_SUCCESS;
        fw.closes = what == 3 ? EFI_DEVICE_ERROR : EFI_SUCCESS;
        report_step("a");
        assert_in_range(fw.size, size, size + strlen("step=a\n"));
        const size_t then = fw.size;
        fw.writes = fw.flushes = fw.closes = EFI_SUCCESS;
        report_step("b");
        assert_int_equal(report_flush(), what == 1 ? EFI_VOLUME_FULL : EFI_DEVICE_ERROR);
        assert_true(fw.size == then && !fw.open && report_has_file());
    }
}

/* More than there is room for in memory: the file is not whole, and that is told. */
static void test_too_much(void **state)
{
    (void)state;
    report_open(&root, "mine");
    for (unsigned i = 0; i < 1000; i++)
        report_line("%080u", i);
    assert_int_equal(report_flush(), EFI_BUFFER_TOO_SMALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_step_is_there, setup), cmocka_unit_test_setup(test_wide_lines, setup),
        cmocka_unit_test_setup(test_runs_before, setup),   cmocka_unit_test_setup(test_names, setup),
        cmocka_unit_test_setup(test_no_file, setup),       cmocka_unit_test_setup(test_errors, setup),
        cmocka_unit_test_setup(test_too_much, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
