/* SPDX-License-Identifier: MIT */
/* Sets the base priority of the calling thread, 1..31, and removes a boost. 0 or -EINVAL. */
#pragma once

int kpriority_set(int base);
