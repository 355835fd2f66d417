/* SPDX-License-Identifier: MIT */
/* Which files a recorder may overwrite: only logs of Cairn, and no trace is lost. */
#pragma once

/* Makes room for a log at `path`: one that is there with a trace, or that cannot be read, is renamed to `path`.1; one
 * without a trace, something empty, a device or a pipe is left to be written over. 0; CAIRN_USAGE where the file is no
 * serial log of Cairn's, CAIRN_UNREADABLE where it cannot be renamed: both told, and nothing has changed.
 * `option` is how the user has named it. */
int cairn_keep_log(const char *option, const char *path);
