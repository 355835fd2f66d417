/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* Units of 100 ns from 1601-01-01 to this moment of the Gregorian calendar (the years from 1601 on); month and day
 * from 1. A day or time outside its range continues the count: day 0 is the day before the first. */
int64_t trace_filetime(uint32_t year, uint32_t month, uint32_t day, uint32_t hour, uint32_t minute, uint32_t second);
