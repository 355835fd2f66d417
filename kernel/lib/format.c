/* SPDX-License-Identifier: MIT */
/* snprintf for the kernel: the conversions named in kernel/lib/string.h. No allocation, no lock: usable in a panic. */
#include "kernel/lib/string.h"

#include <stdbool.h>
#include <stdint.h>

struct out {
    char *to;
    size_t size, length;
};

static void put(struct out *o, char c)
{
    if (o->length + 1 < o->size)
        o->to[o->length] = c;
    o->length++;
}

static void put_padded(struct out *o, const char *text, size_t n, int width, bool left, char pad)
{
    int fill = width > (int)n ? width - (int)n : 0;
    for (int i = 0; !left && i < fill; i++)
        put(o, pad);
    for (size_t i = 0; i < n; i++)
        put(o, text[i]);
    for (int i = 0; left && i < fill; i++)
        put(o, ' ');
}

static void put_number(struct out *o, uint64_t v, bool negative, unsigned base, bool upper, int width, bool left,
                       bool zero)
{
    char text[24];
    size_t at = sizeof text;
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    do {
        text[--at] = digits[v % base];
        v /= base;
    } while (v);
    if (negative && zero && !left) { /* the sign stands before the zeros */
        put(o, '-');
        width--;
    } else if (negative) {
        text[--at] = '-';
    }
    put_padded(o, text + at, sizeof text - at, width, left, zero && !left ? '0' : ' ');
}

int vsnprintf(char *to, size_t size, const char *f, va_list args)
{
    struct out o = {to, size, 0};
    for (; *f; f++) {
        if (*f != '%') {
            put(&o, *f);
            continue;
        }
        bool left = false, zero = false;
        for (f++; *f == '-' || *f == '0'; f++) {
            left |= *f == '-';
            zero |= *f == '0';
        }
        int width = 0, precision = -1, length = 0;
        if (*f == '*') {
            width = va_arg(args, int);
            f++;
        }
        for (; *f >= '0' && *f <= '9'; f++)
            width = width * 10 + (*f - '0');
        if (*f == '.') {
            precision = 0;
            if (*++f == '*') {
                precision = va_arg(args, int);
                f++;
            }
            for (; *f >= '0' && *f <= '9'; f++)
                precision = precision * 10 + (*f - '0');
        }
        for (; *f == 'l' || *f == 'h' || *f == 'z'; f++)
            length += *f == 'h' ? -1 : 1; /* size_t is as wide as long, here and in WebAssembly */
        switch (*f) {
        case 'd':
        case 'i': {
            int64_t v = length > 1 ? va_arg(args, long long) : length > 0 ? va_arg(args, long) : va_arg(args, int);
            put_number(&o, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0, 10, false, width, left, zero);
            break;
        }
        case 'u':
        case 'x':
        case 'X': {
            uint64_t v = length > 1   ? va_arg(args, unsigned long long)
                         : length > 0 ? va_arg(args, unsigned long)
                                      : va_arg(args, unsigned);
            put_number(&o, v, false, *f == 'u' ? 10 : 16, *f == 'X', width, left, zero);
            break;
        }
        case 'p':
            put(&o, '0');
            put(&o, 'x');
            put_number(&o, (uintptr_t)va_arg(args, void *), false, 16, false, 16, false, true);
            break;
        case 'c': {
            char c = (char)va_arg(args, int);
            put_padded(&o, &c, 1, width, left, ' ');
            break;
        }
        case 's': {
            const char *s = va_arg(args, const char *);
            size_t n = 0;
            if (!s)
                s = "(null)";
            while (s[n] && (precision < 0 || n < (size_t)precision))
                n++;
            put_padded(&o, s, n, width, left, ' ');
            break;
        }
        case '%':
            put(&o, '%');
            break;
        default: /* a conversion nobody wrote: shown, so that it is found */
            put(&o, '%');
            if (!*f)
                goto end;
            put(&o, *f);
        }
    }
end:
    if (size)
        to[o.length < size ? o.length : size - 1] = '\0';
    return (int)o.length;
}

int snprintf(char *to, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(to, size, format, args);
    va_end(args);
    return n;
}
