/* SPDX-License-Identifier: MIT */
/*
 * The line editor of the monitor: it gets one character after another, as a terminal sends them, and says what to show.
 * Keys: left, right, home, end, delete, backspace, up, down, tab, ^A ^E ^B ^F ^D ^H ^K ^U ^W ^P ^N ^C ^L. A line has at
 * most KMONITOR_LINE characters, so that prompt and line stay within 80 columns; more are refused with a BEL. Pure,
 * also compiled on the host. It reads no character twice and waits for nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define KMONITOR_LINE    71u /* with the prompt and the cursor: 79 */
#define KMONITOR_HISTORY 16u

struct kmonitor_line {
    /* Shows `size` characters on the terminal, control sequences among them. */
    void (*put)(void *context, const char *text, size_t size);
    /* The `i`th word that could stand where the word begins that the cursor is in or behind; `line` is what stands
     * before it. NULL: there are no more. */
    const char *(*choice)(void *context, const char *line, size_t size, unsigned i);
    void *context;
    const char *prompt;

    char text[KMONITOR_LINE + 1]; /* NUL-terminated */
    size_t size, at;              /* at: the cursor */
    char own[KMONITOR_LINE + 1];  /* what was typed before the history was looked at */
    char history[KMONITOR_HISTORY][KMONITOR_LINE + 1];
    unsigned kept, back; /* lines in the history; how far back the line shown is, 0: it is not from there */
    enum { KMONITOR_PLAIN, KMONITOR_ESCAPE, KMONITOR_SEQUENCE } state;
    char parameter; /* of a control sequence: its first character */
    bool after_cr;  /* a line feed that follows belongs to it */
};

/* A new, empty line, with its prompt. The caller has set the first four fields; all others begin as 0. */
void kmonitor_line_begin(struct kmonitor_line *l);
/* One character. True: the line is complete, it is in `text`, and in the history unless it is empty or the same again.
 * The next call is kmonitor_line_begin. */
bool kmonitor_line_key(struct kmonitor_line *l, char c);
/* Shows prompt and line anew. */
void kmonitor_line_show(struct kmonitor_line *l);
