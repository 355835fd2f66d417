/* SPDX-License-Identifier: MIT */
/* The bytes of a log: a file, mapped where that can be done, or standard input. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cairn_input {
    const char *name; /* for messages */
    const char *data;
    size_t size;
    bool mapped;
};

/* `path` "-" is standard input. 0 or negative errno. */
int cairn_input_open(struct cairn_input *input, const char *path);
void cairn_input_close(struct cairn_input *input);
