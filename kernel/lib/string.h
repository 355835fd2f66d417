/* SPDX-License-Identifier: MIT */
/* Memory, strings and formatting: on the host from the C library, in the kernel from string.c and format.c. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#if __STDC_HOSTED__
#include <stdio.h>
#include <string.h>
#else
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
void *memchr(const void *s, int c, size_t n);

/* As in C, for %d %i %u %x %X %c %s %p %% with flags '-' and '0', width, precision (strings), '*', and the lengths hh h
 * l ll z. No floating point. Returns what the whole text would have taken. */
int snprintf(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *to, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
#endif

/* Whether these `size` characters begin with `with`. */
static inline bool kstring_begins(const char *s, size_t size, const char *with)
{
    return size >= strlen(with) && memcmp(s, with, strlen(with)) == 0;
}
