/* SPDX-License-Identifier: MIT */
/*
 * Bytes of memory out of a file as people have them: the bytes themselves, or text that a tool printed of them.
 *
 * Text is one of: lines of hexadecimal bytes or words, with or without addresses in front and characters behind (xxd,
 * hexdump, od, gdb's x, dmesg, crash, WinDbg); \x escapes (bpftrace's buf, strings of C and Python); a list of numbers
 * (arrays of C, gdb's print); one string of hexadecimal digits; base64.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_bytes {
    uint8_t *items;
    size_t count, room;
    char form[64];  /* what it was, in words */
    bool text;      /* else the bytes themselves */
    bool either;    /* the order of bytes in a word is not certain: it may be the other one */
    bool addressed; /* the text says where in memory they lay: */
    uint64_t address;
    size_t skipped; /* lines in front of the bytes, which are none */
    /* What is wrong with the text behind these bytes; line 0: nothing is. Columns count from 1. */
    size_t line, column;
    char found[24], expected[96];
    char refused[96]; /* instead of what was found and expected */
};

/* `other`: where `either`, the order that is less likely. Never fails: what is no byte is noted as wrong. */
void cairn_bytes_read(struct cairn_bytes *bytes, const char *text, size_t size, bool other);
void cairn_bytes_free(struct cairn_bytes *bytes);
