/* SPDX-License-Identifier: MIT */
/* What is counted of batches (0525H). Frames that hold nothing else are not read again for it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cairn_event;

struct cairn_batch_counts {
    uint64_t forms; /* switches of each form: 16 bits */
    uint16_t count; /* of batches */
    uint8_t states; /* all state fields are below it */
    bool alone;     /* nothing else is there */
};

/* Switches of that form. */
static inline uint32_t cairn_batch_counts_form(const struct cairn_batch_counts *batches, unsigned form)
{
    return batches->forms >> 16 * form & UINT16_MAX;
}

/* Adds a batch. False: it does not end with a record, or one of them is of nobody. */
bool cairn_batch_count(struct cairn_batch_counts *to, const struct cairn_event *event);
/* Adds others. */
void cairn_batch_counts_add(struct cairn_batch_counts *to, const struct cairn_batch_counts *more);
/* Those in `size` bytes of a trace frame, behind WMI_BUFFER_HEADER where that is part of it. */
struct cairn_batch_counts cairn_batch_counts_of(const uint8_t *data, uint32_t size);

/* Whether an event is what this kernel writes, to the byte. Windows' own events come in more versions and headers. */
bool cairn_event_own(const struct cairn_event *event);
