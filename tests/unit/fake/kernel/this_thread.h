/* SPDX-License-Identifier: MIT */
/* kernel/this_thread.h in unit tests: a function of the fake processor (tests/unit/fake/processor.c). */
#pragma once

#include "kernel/thread.h"

struct kthread *kthread_from_stack(void);
