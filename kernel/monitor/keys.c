/* SPDX-License-Identifier: MIT */
#include "kernel/monitor/keys.h"

#include <stddef.h>

#define RELEASED 0x80u
#define EXTENDED 0xE0u
enum { CONTROL = 0x1D, LEFT_SHIFT = 0x2A, RIGHT_SHIFT = 0x36 };

/* From scan code 0 on; '\0': no character. */
static const char plain[] = "\0\x1b"
                            "1234567890-=\b\tqwertyuiop[]\r\0asdfghjkl;'`\0\\zxcvbnm,./\0*\0 ";
static const char shifted[] = "\0\x1b"
                              "!@#$%^&*()_+\b\tQWERTYUIOP{}\r\0ASDFGHJKL:\"~\0|ZXCVBNM<>?\0*\0 ";
_Static_assert(sizeof plain == sizeof shifted, "both say the same keys");

static const struct {
    uint8_t code;
    const char *text;
} extended[] = {{0x48, "\x1b[A"}, {0x50, "\x1b[B"},  {0x4D, "\x1b[C"}, {0x4B, "\x1b[D"}, {0x47, "\x1b[H"},
                {0x4F, "\x1b[F"}, {0x53, "\x1b[3~"}, {0x1C, "\r"},     {0x35, "/"}};

const char *kmonitor_keys_code(struct kmonitor_keys *k, uint8_t code)
{
    const bool released = code & RELEASED, after_extended = k->extended;
    const uint8_t key = code & 0x7F;
    k->extended = code == EXTENDED;
    if (k->extended)
        return "";
    if (key == CONTROL)
        k->control = !released;
    if ((key == LEFT_SHIFT || key == RIGHT_SHIFT) && !after_extended) /* E0H 2AH: a keyboard's own, around arrows */
        k->shift = !released;
    if (released)
        return "";
    if (after_extended) {
        for (size_t i = 0; i < sizeof extended / sizeof extended[0]; i++)
            if (extended[i].code == key)
                return extended[i].text;
        return "";
    }
    k->text[0] = key < sizeof plain - 1 ? (k->shift ? shifted : plain)[key] : '\0';
    const char letter = (char)(k->text[0] | 32);
    if (k->control)
        k->text[0] = letter >= 'a' && letter <= 'z' ? (char)(letter & 0x1F) : '\0';
    k->text[1] = '\0';
    return k->text;
}
