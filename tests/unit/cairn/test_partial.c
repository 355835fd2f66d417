/* SPDX-License-Identifier: MIT */
/* Files that are written whole or not at all, whatever ends the process that writes them. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/cmocka.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/partial.h"

static int enter(void **state)
{
    char folder[] = "/tmp/cairn-partial-XXXXXX";
    *state = mkdtemp(folder) ? strdup(folder) : NULL;
    return !*state || chdir(*state);
}

static int leave(void **state)
{
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", (char *)*state);
    free(*state);
    return chdir("/") || system(command);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void has(const char *path, const char *text)
{
    char is[64] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fread(is, 1, sizeof(is) - 1, f), strlen(text));
    fclose(f);
    assert_string_equal(is, text);
}

static void has_names(const char *folder, unsigned count)
{
    unsigned found = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir))
        found++;
    closedir(dir);
    assert_int_equal(found, count + 2); /* "." and ".." */
}

static FILE *begin(const char *path)
{
    FILE *f = cairn_partial_file(path);
    assert_non_null(f);
    fputs("new", f);
    assert_int_equal(fflush(f), 0);
    return f;
}

static void end(FILE *f)
{
    assert_int_equal(fclose(f), 0);
    assert_int_equal(cairn_partial_commit(NULL, NULL), 0);
}

static void a_file_takes_its_place(void **state)
{
    struct stat st;
    (void)state;
    end(begin("file"));
    has("file", "new");
    const mode_t mask = umask(022);
    umask(mask);
    assert_true(stat("file", &st) == 0 && (st.st_mode & 07777) == (0666 & ~mask));
    put("file", "old");
    assert_int_equal(chmod("file", 0604), 0);
    FILE *f = begin("file");
    has("file", "old");
    end(f);
    has("file", "new");
    assert_true(stat("file", &st) == 0 && (st.st_mode & 07777) == 0604);
    put("file", "old");
    f = begin("file");
    fclose(f);
    cairn_partial_drop();
    has("file", "old");
    has_names(".", 1);
}

static void links_stay(void **state)
{
    char to[16];
    (void)state;
    assert_int_equal(mkdir("far", 0777), 0);
    assert_int_equal(symlink("far/link", "link"), 0);
    assert_int_equal(symlink("file", "far/link"), 0);
    for (int i = 0; i < 2; i++) { /* at first it leads nowhere */
        end(begin("link"));
        assert_int_equal(readlink("link", to, sizeof(to)), 8);
        assert_int_equal(readlink("far/link", to, sizeof(to)), 4);
        has("far/file", "new");
        put("far/file", "old");
    }
    has_names("far", 2);
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    assert_true(!cairn_partial_file("a") && errno == ELOOP);
}

static void the_longest_names(void **state)
{
    char name[NAME_MAX + 1];
    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[NAME_MAX] = '\0';
    end(begin(name));
    has(name, "new");
}

static void other_runs_are_left_alone(void **state)
{
    char name[64];
    (void)state;
    snprintf(name, sizeof(name), "cairn-%ld" CAIRN_PARTIAL, (long)getpid());
    put(name, "another's");
    end(begin("file"));
    has("file", "new");
    has(name, "another's");
    assert_true(!cairn_partial_file("no/file") && errno == ENOENT);
    cairn_partial_drop();
    has_names(".", 2);
}

/* How a child ends that is writing, as wait() tells. */
static int ended(void (*end_it)(int), int number, bool folder)
{
    fflush(NULL);
    const pid_t child = fork();
    if (!child) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(99);
        if (folder) {
            if (cairn_partial_folder("folder") || !cairn_partial_part("folder/a") || !cairn_partial_part("folder/b"))
                _exit(98);
        } else {
            begin("file");
        }
        end_it(number);
        _exit(97);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void by_signal(int number)
{
    raise(number);
}

static void by_exit(int number)
{
    (void)number;
    cairn_out_of_memory();
}

static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};

static void nothing_partial_is_left(void **state)
{
    (void)state;
    put("file", "old");
    for (int folder = 0; folder <= 1; folder++) {
        for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
            const int status = ended(by_signal, numbers[i], folder);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == numbers[i]);
            has_names(".", 1);
        }
        const int status = ended(by_exit, 0, folder);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
        has_names(".", 1);
    }
    has("file", "old");
}

static void by_nohup(int number)
{
    raise(number);
    _exit(cairn_partial_commit(NULL, NULL) ? 1 : 0);
}

static void a_signal_that_is_ignored_stays_so(void **state)
{
    (void)state;
    signal(SIGHUP, SIG_IGN);
    assert_int_equal(ended(by_nohup, SIGHUP, false), 0);
    signal(SIGHUP, SIG_DFL);
    has("file", "new");
}

static int clear_fails(const void *context)
{
    (void)context;
    return -EIO;
}

static void a_folder(void **state)
{
    (void)state;
    assert_int_equal(cairn_partial_folder("folder"), 0);
    put("folder/a" CAIRN_PARTIAL, "of one that was killed");
    FILE *a = cairn_partial_part("folder/a"), *b = cairn_partial_part("folder/b");
    assert_true(a && b);
    has_names("folder", 2);
    fclose(b);
    end(a);
    has("folder/a", "");
    has("folder/b", "");
    put("folder/a", "old");
    assert_int_equal(cairn_partial_folder("folder"), -EEXIST);
    assert_non_null(a = cairn_partial_part("folder/a"));
    fclose(a);
    assert_int_equal(cairn_partial_commit(clear_fails, NULL), -EIO);
    has_names("folder", 2);
    has("folder/a", "old");
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    /* What runs this may have SIGINT and SIGHUP ignored, as a shell does for what it runs in the background. */
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        signal(numbers[i], SIG_DFL);
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(a_file_takes_its_place),
        IN_A_FOLDER(links_stay),
        IN_A_FOLDER(the_longest_names),
        IN_A_FOLDER(other_runs_are_left_alone),
        IN_A_FOLDER(nothing_partial_is_left),
        IN_A_FOLDER(a_signal_that_is_ignored_stays_so),
        IN_A_FOLDER(a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
