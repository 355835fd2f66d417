/* SPDX-License-Identifier: MIT */
/* kernel/this_cpu.h in unit tests: a function of the fake processor (tests/unit/fake/processor.c). */
#pragma once

struct kcpu;
struct kcpu *kcpu_this(void);
