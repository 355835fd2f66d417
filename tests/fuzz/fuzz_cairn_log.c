/* SPDX-License-Identifier: MIT */
/* The host tool's reader on any bytes at all. */
#include <stdint.h>

#include "tests/fuzz/read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read_all((const char *)data, size);
    return 0;
}
