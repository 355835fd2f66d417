/* SPDX-License-Identifier: MIT */
/* The reader behind the checksum: the input is the payloads of intact frames (fuzz_frames). */
#include <stdint.h>
#include <stdlib.h>

#include "tests/fuzz/log.h"
#include "tests/fuzz/read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t log_size;
    char *log = fuzz_frames(data, size, &log_size);
    fuzz_read_all(log, log_size);
    free(log);
    return 0;
}
