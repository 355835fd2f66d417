/* SPDX-License-Identifier: MIT */
/* C's way to read arch/percpu.inc. */
#pragma once

#define NOTE(text)
#define NUMBER(name, value)                                                                                            \
    enum {                                                                                                             \
        name = (value)                                                                                                 \
    };
#include "arch/percpu.inc"
#undef NOTE
#undef NUMBER
