/* SPDX-License-Identifier: MIT */
/* A part of cairn info: which providers' events an ETL file has besides the kernel logger's. */
#pragma once

#include "tools/cairn/log/log.h"

/* A line for each provider with the count of its events, most first; nothing where there are none. */
void cairn_info_providers(const struct cairn_log *log);
