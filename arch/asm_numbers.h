/* SPDX-License-Identifier: MIT */
/* Lets C use arch/asm_offsets.inc. */
#pragma once

#define NOTE(text)
#define NUMBER(name, value) enum { name = (value) };
#include "arch/asm_offsets.inc"
#undef NOTE
#undef NUMBER
