/* SPDX-License-Identifier: MIT */
/* The command that is recorded, and the limits that are not for it. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/cmocka.h"
#include "tools/grab/base/error.h"
#include "tools/grab/base/limits.h"
#include "tools/grab/command.h"

#define FEW 64

/* What a shell's command says, in one line. */
static void run(char *line, int size, const char *script)
{
    char shell[] = "sh", option[] = "-c", text[256], *words[] = {shell, option, text, NULL};
    struct grab_command c;
    int out[2];
    assert_int_equal(pipe(out), 0);
    snprintf(text, sizeof text, "exec >&%d; %s", out[1], script);
    assert_int_equal(grab_command_prepare(&c, words), 0);
    close(out[1]);
    assert_int_equal(grab_command_go(&c, words[0]), 0);
    FILE *from = fdopen(out[0], "r");
    assert_non_null(fgets(line, size, from));
    fclose(from);
    assert_int_equal(waitpid(c.pid, NULL, 0), c.pid);
}

static void test_limits(void **state)
{
    (void)state;
    char before[128], after[128];
    struct rlimit files, memory, now;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files) | getrlimit(RLIMIT_MEMLOCK, &memory), 0);
    files.rlim_cur = FEW;
    memory.rlim_cur = memory.rlim_max < 1 << 16 ? memory.rlim_max : 1 << 16;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files) | setrlimit(RLIMIT_MEMLOCK, &memory), 0);
#define SCRIPT "echo $(ulimit -Sn) $(ulimit -Hn) $(ulimit -Sl) $(ulimit -Hl)"
    run(before, sizeof before, SCRIPT);
    grab_limits_raise();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    assert_in_range(now.rlim_cur, FEW + 1, RLIM_INFINITY);
    assert_int_equal(now.rlim_cur, now.rlim_max);
    run(after, sizeof after, SCRIPT);
    assert_string_equal(before, after);
    assert_memory_equal(after, "64 ", 3);
}

static void test_no_such_command(void **state)
{
    (void)state;
    char name[] = "/nowhere/to/be/found", *words[] = {name, NULL};
    struct grab_command c;
    assert_int_equal(grab_command_prepare(&c, words), 0);
    assert_int_equal(grab_command_go(&c, words[0]), GRAB_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_such_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
