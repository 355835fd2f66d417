/* SPDX-License-Identifier: MIT */
/* Lab 4: compares what parse() has returned with what the record holds. */
#pragma once

#include "task.h"

struct sample {         /* a record, and what it holds */
    const char *source; /* "made by the check", "boot-1.log" */
    unsigned format;
    uint32_t size; /* of the record */
    const uint8_t *bytes;
    const struct record *is;
};

/* Ends the lab at the first difference. `count`: what parse() has returned. */
void compare(const struct sample *sample, uint32_t count, const struct record *yours);
