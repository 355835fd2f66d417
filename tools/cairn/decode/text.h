/* SPDX-License-Identifier: MIT */
/*
 * Reads bytes of memory from a file: the bytes themselves, or text that a tool printed of them.
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
    bool either;    /* the order of bytes in a word, or where a string begins, is not certain */
    bool addressed; /* the text says where in memory they were: */
    uint64_t address;
    size_t skipped; /* lines of other text */
    /* What is wrong with the text after these bytes. line 0: nothing. Columns count from 1. */
    size_t line, column;
    char found[24], expected[96];
    char refused[96]; /* instead of what was found and expected */
};

/* `other`: if there are two ways to read it (`either`), takes the less likely one. Never fails: text that is no byte is
 * noted as wrong. */
void cairn_bytes_read(struct cairn_bytes *bytes, const char *text, size_t size, bool other);
void cairn_bytes_free(struct cairn_bytes *bytes);
