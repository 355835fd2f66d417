/* SPDX-License-Identifier: MIT */
/* What every format of `cairn export` promises of the file it writes, and of those that are there. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/cmocka.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/export/writer.h"

#define LOG "tests/golden/small.log"

#define WRITER(name, word) &cairn_writer_##name,
static const struct cairn_writer *const writers[] = {CAIRN_WRITERS(WRITER)};
#define COUNT (sizeof(writers) / sizeof(writers[0]))

static char folder[] = "/tmp/cairn-export-XXXXXX", log_path[PATH_MAX], out_path[PATH_MAX];
static char *bytes; /* of the log */
static size_t size;

static int set_up(void **state)
{
    (void)state;
    FILE *f = fopen(LOG, "rb");
    if (!f || !mkdtemp(folder) || fseek(f, 0, SEEK_END))
        return -1;
    size = (size_t)ftell(f);
    bytes = malloc(size);
    rewind(f);
    snprintf(log_path, sizeof(log_path), "%s/log", folder);
    snprintf(out_path, sizeof(out_path), "%s/out", folder);
    const bool good = fread(bytes, 1, size, f) == size;
    fclose(f);
    signal(SIGXFSZ, SIG_IGN);
    return good ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(bytes);
    unlink(log_path);
    return rmdir(folder); /* nothing else is left */
}

struct opened {
    struct cairn_input input;
    struct cairn_log log;
};

static struct opened *open_log(void)
{
    struct opened *opened = malloc(sizeof(*opened));
    char refusal[CAIRN_REFUSAL];
    FILE *f = fopen(log_path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
    assert_int_equal(cairn_input_open(&opened->input, log_path), 0);
    assert_int_equal(cairn_log_read(&opened->log, &opened->input, &(struct cairn_choice){0}, refusal), 0);
    return opened;
}

static void close_log(struct opened *opened)
{
    cairn_log_free(&opened->log);
    cairn_input_close(&opened->input);
    free(opened);
}

/* Another character in the last frame of the trace. */
static void change_log(void)
{
    size_t at = size - 2;
    while (memcmp(bytes + at, "~T", 2) != 0)
        at--;
    at += 50;
    FILE *f = fopen(log_path, "r+b");
    assert_non_null(f);
    fseek(f, (long)at, SEEK_SET);
    fputc(bytes[at] == 'A' ? 'B' : 'A', f);
    fclose(f);
}

static int export(const struct cairn_writer *w, struct opened *opened, const char *path)
{
    struct cairn_output o = {.log = &opened->log, .writer = w, .path = path};
    return cairn_export(&o, CAIRN_BY_FORMAT);
}

static bool is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void remove_output(const struct cairn_writer *w)
{
    char part[PATH_MAX + 32];
    for (unsigned cpu = 0; w->folder && cpu < 2; cpu++) {
        snprintf(part, sizeof(part), "%s/%s%u", out_path, w->parts, cpu);
        assert_int_equal(unlink(part), 0);
    }
    snprintf(part, sizeof(part), "%s/%s", out_path, w->folder ? w->folder : "");
    assert_int_equal(unlink(w->folder ? part : out_path), 0);
    if (w->folder)
        assert_int_equal(rmdir(out_path), 0);
}

static void log_that_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        struct opened *opened = open_log();
        assert_int_equal(export(writers[i], opened, out_path), CAIRN_GOOD);
        close_log(opened);
        assert_true(is_there(out_path));
        remove_output(writers[i]);
    }
}

static void log_that_changes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        for (int written_before = 0; written_before < 2; written_before++) {
            struct opened *opened = open_log();
            if (written_before)
                assert_int_equal(export(writers[i], opened, out_path), CAIRN_GOOD);
            change_log();
            assert_int_equal(export(writers[i], opened, out_path), CAIRN_UNREADABLE);
            assert_int_equal(opened->log.input.error, -ESTALE);
            if (written_before) /* that stays, all of it */
                remove_output(writers[i]);
            assert_false(is_there(out_path));
            close_log(opened);
        }
}

static void standard_output_is_not_ended(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length = 0;
    FILE *out = stdout;
    for (int changed = 0; changed < 2; changed++) {
        struct opened *opened = open_log();
        if (changed)
            change_log();
        stdout = open_memstream(&text, &length);
        const int status = export(&cairn_writer_json, opened, NULL);
        fclose(stdout);
        stdout = out;
        assert_int_equal(status, changed ? CAIRN_UNREADABLE : CAIRN_GOOD);
        assert_non_null(strstr(text, "{\"type\":\"switch\""));
        assert_int_equal(strstr(text, "{\"type\":\"end\"") == NULL, changed);
        free(text);
        close_log(opened);
    }
}

static void disk_that_is_full(void **state)
{
    (void)state;
    struct rlimit before, little;
    getrlimit(RLIMIT_FSIZE, &before);
    little = (struct rlimit){20, before.rlim_max};
    for (size_t i = 0; i < COUNT; i++) {
        struct opened *opened = open_log();
        setrlimit(RLIMIT_FSIZE, &little);
        const int status = export(writers[i], opened, out_path);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, CAIRN_UNREADABLE);
        assert_false(is_there(out_path));
        close_log(opened);
    }
}

static void log_is_no_output(void **state)
{
    (void)state;
    char link_path[PATH_MAX];
    snprintf(link_path, sizeof(link_path), "%s/link", folder);
    for (size_t i = 0; i < COUNT; i++)
        for (int way = 0; way < 3; way++) {
            struct opened *opened = open_log();
            assert_true(way == 0 || (way == 1 ? link : symlink)(log_path, link_path) == 0);
            assert_int_equal(export(writers[i], opened, way ? link_path : log_path), CAIRN_USAGE);
            close_log(opened);
            unlink(link_path);
            char *now = malloc(size + 1);
            FILE *f = fopen(log_path, "rb");
            assert_true(f && fread(now, 1, size + 1, f) == size);
            assert_memory_equal(now, bytes, size);
            fclose(f);
            free(now);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_that_is_whole),
        cmocka_unit_test(log_that_changes),
        cmocka_unit_test(standard_output_is_not_ended),
        cmocka_unit_test(disk_that_is_full),
        cmocka_unit_test(log_is_no_output),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
