/* SPDX-License-Identifier: MIT */
/* C's way to read kernel/user/ring3/calls.inc; the kernel's side too. */
#pragma once

#define NOTE(text)
#define NUMBER(name, value) enum { name = (value) };
#include "kernel/user/ring3/calls.inc"
#undef NOTE
#undef NUMBER
