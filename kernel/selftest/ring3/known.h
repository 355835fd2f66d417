/* SPDX-License-Identifier: MIT */
/* Lets C use kernel/selftest/ring3/known.inc. */
#pragma once

#define NOTE(text)
#define NUMBER(name, value) enum { name = (value) };
#include "kernel/selftest/ring3/known.inc"
#undef NOTE
#undef NUMBER
