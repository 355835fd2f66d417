/* SPDX-License-Identifier: MIT */
/* Gives files to a fuzzer's entry point, without the fuzzer: saved inputs are tests. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
        uint8_t *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
        if (!data || fseek(f, 0, SEEK_SET) || fread(data, 1, (size_t)size, f) != (size_t)size) {
            fprintf(stderr, "replay: %s cannot be read\n", argv[i]);
            return 1;
        }
        fclose(f);
        LLVMFuzzerTestOneInput(data, (size_t)size);
        free(data);
    }
    return 0;
}
