/* SPDX-License-Identifier: MIT */
/* A process for each test, where a source's variables are as they are when the kernel starts. In place of
 * cmocka_run_group_tests; returns the number of tests that failed. */
#pragma once

#include "tests/unit/support/cmocka.h"

int alone_run_tests(const struct CMUnitTest *tests, size_t count);
