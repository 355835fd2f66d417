/* SPDX-License-Identifier: MIT */
/* Lets C use kernel/user/ring3/calls.inc, in programs and in the kernel. */
#pragma once

#define NOTE(text)
#define NUMBER(name, value) enum { name = (value) };
#include "kernel/user/ring3/calls.inc"
#undef NOTE
#undef NUMBER
