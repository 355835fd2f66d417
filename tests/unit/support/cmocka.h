/* SPDX-License-Identifier: MIT */
/* cmocka, and the headers that it wants before its own. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
