/* SPDX-License-Identifier: MIT */
/* For sources that are written for a host, compiled to WebAssembly, where there is no C library: of <stdio.h> they use
 * snprintf alone, which is the kernel's. */
#pragma once

#include "kernel/lib/string.h"
