/* SPDX-License-Identifier: MIT */
/* The parts of a CPU's stream, which are in frames of a serial log or in buffers of an ETL file. */
#pragma once

#include "tools/cairn/log/log.h"

/* Adds one to the CPU's: no hole before it, all else 0. */
struct cairn_piece *cairn_add_piece(struct cairn_cpu *cpu);
/* Its frames. */
struct cairn_chain cairn_piece_chain(const struct cairn_piece *piece);
/* The head of the buffer that it begins (`header`). `links`: of the same log. False: the file has changed. */
bool cairn_piece_head(struct cairn_links *links, const struct cairn_piece *piece, struct wmi_buffer_header *head);
/* The number of its last frame. */
uint32_t cairn_piece_last(const struct cairn_piece *piece);

/* Whether a chain of the trace is what a CPU's stream can hold. */
bool cairn_chain_fits(const struct cairn_chain *chain);

/* Gives each CPU the chains of the session's trace, in the order of its stream, each frame once. Their events have not
 * been looked at: cairn_log_index. */
void cairn_pieces_place(struct cairn_log *log);
/* Once they have been: finds what is missing between them, and behind. */
void cairn_pieces_holes(struct cairn_log *log);
