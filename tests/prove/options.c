/* SPDX-License-Identifier: MIT */
/* Proofs about the option parser (kernel/options/options.h). */
#include "kernel/lib/number.h"
#include "kernel/options/row.h"

#define MOST 24u /* one more than the longest number has */
static char text[MOST];

/* All characters, in ranges: so that it is known for each whether the number begins with 0x. */
void options_number(void)
{
    static const char first[][2] = {{CHAR_MIN, '0' - 1}, {'0', '0'}, {'0' + 1, CHAR_MAX}};
    static const char second[][2] = {
        {CHAR_MIN, 'X' - 1}, {'X', 'X'}, {'X' + 1, 'x' - 1}, {'x', 'x'}, {'x' + 1, CHAR_MAX}};
    size_t size = Frama_C_size_t_interval(0, MOST);
    unsigned f = Frama_C_unsigned_int_interval(0, 2), s = Frama_C_unsigned_int_interval(0, 4);
    uint64_t value;
    PROVE_ANY(text);
    //@ split size;
    //@ split f;
    //@ split s;
    char *number = PROVE_LAST(text, size);
    if (size > 0)
        number[0] = Frama_C_char_interval(first[f][0], first[f][1]);
    if (size > 1)
        number[1] = Frama_C_char_interval(second[s][0], second[s][1]);
    knumber_parse(number, size, &value);
    PROVE_END();
}

void options_word(void)
{
    size_t size = Frama_C_size_t_interval(0, 12);
    PROVE_ANY(text);
    //@ split size;
    const int i = kopt_word_index("none|now|null|stack|double", PROVE_LAST(text, size), size);
    //@ check position: -1 <= i < 5;
    PROVE_END();
}
