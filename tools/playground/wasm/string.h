/* SPDX-License-Identifier: MIT */
/* The same for <string.h>. */
#pragma once

#include "kernel/lib/string.h"
