/* SPDX-License-Identifier: MIT */
/* The functions gcc expects of a freestanding environment, and the few string functions the kernel uses. */
#include "kernel/lib/string.h"

#include <stdint.h>

/* REP MOVSB and STOSB: nothing hot copies through them, and processors since Ivy Bridge (ERMSB) do them fast. */
void *memcpy(void *to, const void *from, size_t n)
{
    void *start = to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
    return start;
}

void *memmove(void *to, const void *from, size_t n)
{
    if ((uintptr_t)to - (uintptr_t)from >= n)
        return memcpy(to, from, n);
    uint8_t *t = to;
    const uint8_t *f = from;
    while (n--)
        t[n] = f[n];
    return to;
}

void *memset(void *to, int c, size_t n)
{
    void *start = to;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(c) : "memory");
    return start;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;
    for (; n; n--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}

size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n; n--, a++, b++) {
        if (*a != *b)
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        if (!*a)
            break;
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *s, int c)
{
    for (;; s++) {
        if (*s == (char)c)
            return (char *)(uintptr_t)s;
        if (!*s)
            return NULL;
    }
}

void *memchr(const void *s, int c, size_t n)
{
    for (const uint8_t *p = s; n; n--, p++)
        if (*p == (uint8_t)c)
            return (void *)(uintptr_t)p;
    return NULL;
}
