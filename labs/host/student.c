/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE // vasprintf
#include "labs/host/student.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool begun;

int lab_student_putchar(int c)
{
    if (!begun)
        printf("| ");
    begun = c != '\n';
    return putchar(c);
}

static void put(const char *text)
{
    while (*text)
        lab_student_putchar((unsigned char)*text++);
}

int lab_student_puts(const char *text)
{
    put(text);
    return lab_student_putchar('\n');
}

int lab_student_printf(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    if (length >= 0)
        put(text);
    free(text);
    return length;
}

void lab_student_end(void)
{
    if (begun)
        lab_student_putchar('\n');
}
