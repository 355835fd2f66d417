/* SPDX-License-Identifier: MIT */
#include "tests/unit/support/alone.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int alone_run_tests(const struct CMUnitTest *tests, size_t count)
{
    int failed = 0;
    for (size_t i = 0; i < count; i++) {
        const pid_t child = fork();
        if (!child)
            exit(_cmocka_run_group_tests(tests[i].name, &tests[i], 1, NULL, NULL));
        int status;
        failed += child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    return failed;
}
