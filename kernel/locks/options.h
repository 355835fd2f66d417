/* SPDX-License-Identifier: MIT */
/* The options spinlock.*, of lock tracing. */
#pragma once

#include "trace/locks/lock_sampling.h"

/* What the options say of the events of spin locks. */
extern struct trace_spinlock_sampling klock_sampling;
