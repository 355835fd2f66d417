/* SPDX-License-Identifier: MIT */
/*
 * Files that are written completely or not at all. Each has another name until all of them are complete; the old file
 * stays until then. If the process ends before (an error, exit(), a signal), they are removed; only SIGKILL leaves them
 * behind. One set of files at a time.
 */
#pragma once

#include <stdio.h>

#define CAIRN_PARTIAL ".partial"

/* Opens a file that is to become `path`, which is a regular file or nothing, perhaps behind links: they stay. It has
 * the mode of that file, where there is one, and lies beside it, so that there must be room for both. NULL: errno. */
FILE *cairn_partial_file(const char *path);
/* Where the first file that was opened is, for writers that open it themselves. */
const char *cairn_partial_path(void);
/* The same as PATH.partial, whatever was there: for a folder that is all its writer's own. */
FILE *cairn_partial_part(const char *path);
/* Makes a folder for such parts. 0, or negative errno: -EEXIST, and nothing else was done. */
int cairn_partial_folder(const char *path);

/* All are written and closed: they take their places, the first one last. No signal ends the process in between.
 * `clear`: removes what is not to stay beside them, or NULL. 0, or negative errno, and what has no place yet is
 * removed. */
int cairn_partial_commit(int (*clear)(const void *context), const void *context);
/* Removes them all. They may be open still. */
void cairn_partial_drop(void);
