/* SPDX-License-Identifier: MIT */
/* Disassembles one instruction, in Intel's notation (Capstone). */
#pragma once

#include "tools/cairn/log/show.h"

/* "imul rax, rcx"; NULL: these `size` bytes are not one instruction. */
const char *cairn_disassemble(char out[CAIRN_SHOWN], const uint8_t *code, size_t size, uint64_t address);
