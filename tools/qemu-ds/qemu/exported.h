/* SPDX-License-Identifier: MIT */
/* What QEMU's binary exports, and plugins are not meant to use. It need not be there; Debian's binary exports all. */
#pragma once

/* Sets the pointer at `to` to QEMU's function or variable of this name. NULL: this binary does not export it. */
void qds_exported(const char *name, void *to);

#define QDS_RELEASE(major, minor) ((major)*100 + (minor))
/* Of this QEMU. 0: unknown, as the binary does not export qmp_query_version. */
int qds_release(void);
