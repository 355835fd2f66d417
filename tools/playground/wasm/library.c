/* SPDX-License-Identifier: MIT */
/* The functions of kernel/lib/string.h in WebAssembly, whose memory.copy and memory.fill do the work: string.c of the
 * kernel has instructions of x86. */
#include "kernel/lib/string.h"

void *memcpy(void *to, const void *from, size_t n)
{
    return __builtin_memcpy(to, from, n);
}

void *memmove(void *to, const void *from, size_t n)
{
    return __builtin_memmove(to, from, n);
}

void *memset(void *to, int c, size_t n)
{
    return __builtin_memset(to, c, n);
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
    for (; n; n--, a++, b++)
        if (*a != *b || !*a)
            return (unsigned char)*a - (unsigned char)*b;
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, (size_t)-1);
}
