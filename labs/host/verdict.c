/* SPDX-License-Identifier: MIT */
/* labs/check.h on the host. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "labs/check.h"
#include "labs/host/student.h"

uint64_t lab_seed(void)
{
    const char *seed = getenv("LAB_SEED");
    return seed ? strtoull(seed, NULL, 10) : 1;
}

static void verdict(const char *word, const char *name, const char *format, va_list args)
{
    lab_student_end();
    printf("%s: %s: ", word, name);
    vprintf(format, args);
    printf("\n");
}

void lab_pass(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    verdict("PASS", name, format, args);
    va_end(args);
}

void lab_fail(const char *name, const char *hint, const char *read, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    verdict("FAIL", name, format, args);
    va_end(args);
    printf("hint: %s\nread: %s\n", hint, read);
    exit(1);
}
