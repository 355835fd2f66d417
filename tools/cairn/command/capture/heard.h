/* SPDX-License-Identifier: MIT */
/* What the lines of a machine say about the end of its run: words of the firmware, the loader and the kernel. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CAIRN_HEARD_LINE 300u /* longer lines are cut */

struct cairn_heard {
    /* The first line of its kind; empty: there was none. */
    char backend[CAIRN_HEARD_LINE];   /* of the Debug Store */
    char fail[CAIRN_HEARD_LINE];      /* what failed, as the kernel says it */
    char loader[CAIRN_HEARD_LINE];    /* why the loader gave up */
    char firmware[CAIRN_HEARD_LINE];  /* why the firmware started nothing */
    char not_saved[CAIRN_HEARD_LINE]; /* why the log of the last run is not on the volume (save=esp) */
    bool monitor;                     /* the kernel's monitor listens */
    bool kernel;                      /* the kernel has spoken */
    bool refused;                     /* firmware: Secure Boot did not allow the loader */
    bool summary, passed;             /* the kernel's verdict came; it is good */
    bool halted, off;                 /* the machine stays as it is; it goes off, its log is on the volume */
};

/* The text of a line without escape sequences, control characters and blanks at its end. Returns its length; `out` has
 * room for `size` characters and is not ended by a NUL. */
size_t cairn_plain(char *out, const char *text, size_t size);

/* Takes a line of plain text into account. */
void cairn_heard(struct cairn_heard *heard, const char *line, size_t size);
