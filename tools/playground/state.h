/* SPDX-License-Identifier: MIT */
/*
 * Everything that the page shows, in one flat block of memory without pointers or padding: the same bytes on every
 * machine. The page reads it by the table of its fields, which play_state_layout writes as JSON.
 */
#pragma once

#include "tools/playground/machine.h"
#include "tools/playground/why.h"

#define PLAY_AREA_ROWS    24u
#define PLAY_FIELDS       ((PLAY_RECORD_MAX + 7u) / 8u)
#define PLAY_ROW_TEXT     64u
#define PLAY_LISTING_TEXT 32u

struct play_field { /* a word of the newest record */
    char name[16];
    char means[48];
    char group[8]; /* from format 4 on */
    uint64_t at, value;
};

struct play_area_row {
    char name[30];
    char by, pad; /* 'd': the driver writes it, 'p': the processor */
    char what[PLAY_ROW_TEXT];
    uint64_t at, value;
};

/* ---- F(name, number of elements, type for the page) */
/* clang-format off */
#define PLAY_STATE_FIELDS(F)                                                                                           \
    F(step, 1, uint64_t) F(last_step, 1, uint64_t) F(at, 1, uint64_t) F(in_handler, 1, uint64_t)                       \
    F(pmi_due, 1, uint64_t) F(pmi_delay, 1, uint64_t) F(cpl, 1, uint64_t)                                              \
    F(rip, 1, uint64_t) F(rflags, 1, uint64_t) F(rax, 1, uint64_t) F(rbx, 1, uint64_t) F(rcx, 1, uint64_t)             \
    F(rsi, 1, uint64_t) F(rdi, 1, uint64_t) F(rsp, 1, uint64_t)                                                        \
    F(value, DS_COUNTER_NUMBERS, uint64_t) F(initial, DS_COUNTER_NUMBERS, uint64_t)                                    \
    F(code, DS_COUNTER_NUMBERS, uint64_t) F(moved, 1, uint64_t)                                                        \
    F(used, 1, uint64_t) F(pebs, 1, uint64_t) F(armed, 1, uint64_t) F(pdist, 1, uint64_t) F(width, 1, uint64_t)        \
    F(global_status, 1, uint64_t) F(global_ctrl, 1, uint64_t) F(pebs_enable, 1, uint64_t) F(data_cfg, 1, uint64_t)     \
    F(debugctl, 1, uint64_t) F(lvtpc, 1, uint64_t) F(pmi_latched, 1, uint64_t)                                         \
    F(records, 1, uint64_t) F(dropped, 1, uint64_t) F(lost, 1, uint64_t) F(swallowed, 1, uint64_t)                     \
    F(bts_records, 1, uint64_t) F(bts_dropped, 1, uint64_t) F(pmis, 1, uint64_t) F(pmis_lost, 1, uint64_t)             \
    F(drains, 1, uint64_t) F(drained, 1, uint64_t) F(bts_drained, 1, uint64_t)                                         \
    F(pebs_base, 1, uint64_t) F(pebs_index, 1, uint64_t)                                                               \
    F(format, 1, uint64_t) F(record_bytes, 1, uint64_t)                                                                \
    F(newest_address, 1, uint64_t) F(newest_bytes, 1, uint64_t) F(newest_step, 1, uint64_t)                            \
    F(data, PLAY_DATA_WORDS, uint64_t) F(stack, PLAY_STACK_WORDS, uint64_t)                                            \
    F(said_count, 1, uint64_t) F(rows, 1, uint64_t) F(fields, 1, uint64_t) F(listing_count, 1, uint64_t)               \
    F(row, PLAY_AREA_ROWS, struct play_area_row) F(field, PLAY_FIELDS, struct play_field)                              \
    F(said, PLAY_SENTENCES * PLAY_SENTENCE, char) F(listing, PLAY_PROGRAM_ALL * PLAY_LISTING_TEXT, char)               \
    F(newest, PLAY_RECORD_MAX, uint8_t) F(area, DS_AREA_BYTES_MAX, uint8_t)                                   \
    F(buffer, PLAY_BUFFER_BYTES, uint8_t) F(bts, PLAY_BTS_RECORDS * sizeof(struct ds_bts_record), uint8_t)             \
    F(marks, PLAY_STEPS, uint8_t) F(text, PLAY_TEXT, char)
/* clang-format on */

#define PLAY_MEMBER(name, count, type) type name[count];
struct play_state {
    PLAY_STATE_FIELDS(PLAY_MEMBER)
};
#undef PLAY_MEMBER

void play_state_fill(struct play_state *state, const struct play_machine *machine);
/* A digest of all of it, which also takes in the digest of the states before. */
uint64_t play_state_digest(const struct play_state *state, uint64_t before);
/* JSON: {"size":N,"fields":[["step",OFFSET,COUNT,BYTES],...],...}; what was needed, as snprintf. */
size_t play_state_layout(char *text, size_t size);
