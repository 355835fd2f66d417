/* SPDX-License-Identifier: MIT */
/*
 * What a format that writes a folder (cairn_writer.folder) puts there: its main file, and parts with a number each. The
 * main file is called NAME.partial until all is written, so a folder that was cut short is not taken for a whole one.
 */
#pragma once

#include "tools/cairn/export/writer.h"

/* Whether the path is something that this format has not written, an empty folder excepted. */
bool cairn_folder_is_kept(const struct cairn_output *o);

/* Makes the folder or empties it; o->file is its main file. 0 or negative errno. */
int cairn_folder_begin(struct cairn_output *o);
/* A part, to be closed by the caller. NULL: errno tells. */
FILE *cairn_folder_part(const struct cairn_output *o, unsigned number);
/* Closes the main file. `e`: 0, or the error because of which all of it is removed. 0 or negative errno. */
int cairn_folder_end(struct cairn_output *o, int e);
