/* SPDX-License-Identifier: MIT */
/* C's way to read kernel/user/known.inc. */
#pragma once

#define NOTE(text)
#define NUMBER(name, value)                                                                                            \
    enum {                                                                                                             \
        name = (value)                                                                                                 \
    };
#include "kernel/user/known.inc"
#undef NOTE
#undef NUMBER
