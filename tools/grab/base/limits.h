/* SPDX-License-Identifier: MIT */
/* The limits of this process that a recording needs higher: of locked memory, and of open files. */
#pragma once

/* As high as may be. */
void grab_limits_raise(void);
/* As they were before; in a child that becomes another program. */
void grab_limits_restore(void);
