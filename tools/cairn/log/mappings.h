/* SPDX-License-Identifier: MIT */
/* Where the processes of a Linux had code, as cairn grab's keys tell. */
#pragma once

#include "tools/cairn/frame/text_streams.h"

struct cairn_mapping {
    uint64_t process, from, to;
    uint64_t offset; /* in the file */
    struct cairn_slice name;
    struct cairn_slice build_id; /* of the file, hexadecimal; size 0: not known */
};

struct cairn_mappings {
    struct cairn_mapping *items; /* by process */
    size_t count, room;
};

/* None, if the log is not of cairn grab. The caller frees `items`. */
void cairn_mappings_read(struct cairn_mappings *maps, const struct cairn_text *text);
/* Those of a process: *count of them; NULL: nothing is told of it. */
const struct cairn_mapping *cairn_mappings_of(const struct cairn_mappings *maps, uint64_t process, size_t *count);
/* The one that has an address of a process, NULL: none. */
const struct cairn_mapping *cairn_mappings_at(const struct cairn_mappings *maps, uint64_t process, uint64_t address);
/* The name of its file, without its folders. */
struct cairn_slice cairn_mapping_file(const struct cairn_mapping *map);
/* The process of a thread. */
uint64_t cairn_mappings_process(const struct cairn_text *text, uint32_t tid);
