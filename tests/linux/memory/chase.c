/* SPDX-License-Identifier: MIT */
/*
 * A pointer chase: so many KiB of lines, each of which leads to another one of them, in an order that no two
 * neighbours have; all are followed so many times. `chase` is the loop, of three instructions for each line.
 */
#include <stdint.h>
#include <stdlib.h>

#define LINE 64u

__attribute__((noinline)) static void *chase(void *at, uint64_t lines)
{
    __asm__ volatile("chase_loop: mov (%0), %0\n\tdec %1\n\tjnz chase_loop" : "+r"(at), "+r"(lines) : : "memory", "cc");
    return at;
}

int main(int argc, char **argv)
{
    const uint64_t kib = argc > 1 ? strtoull(argv[1], NULL, 10) : 16,
                   times = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const uint64_t lines = kib * 1024 / LINE; /* a power of 2: any odd step visits them all */
    char *memory = aligned_alloc(4096, kib * 1024);
    const uint64_t step = lines > 8 ? lines / 8 * 3 + 1 : 1;
    for (uint64_t i = 0; i < lines; i++)
        *(void **)(memory + i * LINE) = memory + (i + step) % lines * LINE;
    chase(memory, lines); /* warm */
    return chase(memory, lines * times) == memory ? 0 : 1;
}
