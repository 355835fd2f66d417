/* SPDX-License-Identifier: MIT */
/* The files of a format that writes a folder (cairn_writer.folder): its main file, and numbered parts. They are called
 * NAME.partial until all are written (partial.h); until then the old files stay. */
#pragma once

#include "tools/cairn/export/writer.h"

/* Whether the path is something that this format has not written, an empty folder excepted. */
bool cairn_folder_is_kept(const struct cairn_output *o);

/* Makes the folder, if it is not there; o->file is its main file. 0 or negative errno. */
int cairn_folder_begin(struct cairn_output *o);
/* A part, to be closed by the caller. NULL: errno tells. */
FILE *cairn_folder_part(const struct cairn_output *o, unsigned number);
/* Closes the main file; what was there before goes, and all of this comes in its place. `e`: not 0 where that is not to
 * be, and what was there stays. That, or negative errno. */
int cairn_folder_end(struct cairn_output *o, int e);
