/* SPDX-License-Identifier: MIT */
/* base64 with RFC 4648's standard alphabet, padded, on one line. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define KBASE64_SIZE(bytes) (((bytes) + 2u) / 3u * 4u)

/* Writes KBASE64_SIZE(size) characters, no NUL. Returns their number. */
size_t kbase64_encode(char *to, const void *from, size_t size);
