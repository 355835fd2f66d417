/* SPDX-License-Identifier: MIT */
/*
 * One block of code on its way: bytes, which of them begin instructions, and what is to be filled in when all blocks
 * have their places.
 */
#pragma once

#include "tests/linux/random/random.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

#define RANDOM_BLOCK_BYTES  1600u
#define RANDOM_BLOCK_INSNS  400u
#define RANDOM_BLOCK_FIXUPS 96u
#define RANDOM_SITES        512u

enum random_fixup_kind {
    RANDOM_TO_BLOCK,   /* 4 bytes, relative to their end: a block of the same region */
    RANDOM_BLOCK_HERE, /* 4 bytes: address of a block; of shared code by the fixup's alias */
    RANDOM_TO_DATA,    /* 4 bytes, relative to the end of the instruction: an address of data */
    RANDOM_TO_SITE,    /* the same, of a site in this block */
    RANDOM_SITE_HERE,  /* 4 bytes: address of any site of a kind */
};

struct random_fixup {
    uint16_t at;
    uint8_t kind;   /* enum random_fixup_kind */
    uint8_t behind; /* bytes of the instruction behind it */
    uint8_t alias;
    uint32_t target; /* block, address, site in the list, or kind of site */
};

/* Code that the program itself changes: any value does in an immediate, and conditions are turned round. */
enum random_site_kind { RANDOM_SITE_CONDITION, RANDOM_SITE_IMM32, RANDOM_SITE_IMM64, RANDOM_SITE_KINDS };

struct random_site {
    uint16_t block, at;
    uint8_t kind;
};

struct random_sites {
    unsigned count;
    struct random_site of[RANDOM_SITES];
};

struct random_emit {
    uint64_t *rng;
    unsigned block; /* its number */
    bool shared;
    uint16_t free; /* registers that may be written */
    unsigned at, start, count, fixup_count;
    uint8_t bytes[RANDOM_BLOCK_BYTES];
    struct {
        uint16_t at;
        struct random_insn insn;
    } insns[RANDOM_BLOCK_INSNS];
    struct random_fixup fixups[RANDOM_BLOCK_FIXUPS];
    struct random_sites *sites;
};

#define RANDOM_REGISTERS                                                                                               \
    ((uint16_t) ~(1u << RSP | 1u << R14 | 1u << R15)) /* R14: data, R15: where a handler goes on                       \
                                                       */
#define RANDOM_R14 (RANDOM_DATA + 0x800)

uint64_t random_next(uint64_t *rng);
/* 0 .. n - 1 */
unsigned random_below(uint64_t *rng, unsigned n);
static inline bool random_chance(uint64_t *rng, unsigned percent)
{
    return random_below(rng, 100) < percent;
}
/* An immediate: small ones, borders and any. */
uint32_t random_immediate(uint64_t *rng);
/* A register of the mask. */
unsigned random_register(struct random_emit *e, uint16_t mask);

/* ---- bytes and instructions ---- */

/* `emit(e, kind, n, ...)`: an instruction of n bytes. */
void random_bytes(struct random_emit *e, const void *bytes, unsigned n);
void random_u8(struct random_emit *e, unsigned value);
void random_u32(struct random_emit *e, uint32_t value);
void random_u64(struct random_emit *e, uint64_t value);
/* All bytes since the last are one instruction. */
void random_end(struct random_emit *e, enum random_kind kind);
#define RANDOM_INSN(e, kind, ...)                                                                                      \
    do {                                                                                                               \
        static const uint8_t insn_bytes_[] = {__VA_ARGS__};                                                            \
        random_bytes(e, insn_bytes_, sizeof insn_bytes_);                                                              \
        random_end(e, kind);                                                                                           \
    } while (0)
void random_fixup(struct random_emit *e, enum random_fixup_kind kind, unsigned behind, unsigned alias, uint32_t target);
/* The bytes to come are one. Returns its number. */
unsigned random_site(struct random_emit *e, enum random_site_kind kind);

struct random_operand {      /* of ModRM */
    bool memory, relative;   /* relative: to RIP, `disp` is the address */
    int8_t reg, base, index; /* -1: none */
    uint8_t scale;
    int32_t disp;
};
static inline struct random_operand random_reg(unsigned reg)
{
    return (struct random_operand){.reg = (int8_t)reg};
}
static inline struct random_operand random_absolute(uint64_t address)
{
    return (struct random_operand){.memory = true, .base = -1, .index = -1, .disp = (int32_t)address};
}
static inline struct random_operand random_based(unsigned base, int32_t disp)
{
    return (struct random_operand){.memory = true, .base = (int8_t)base, .index = -1, .disp = disp};
}

/* REX, opcode (bytes from the highest that is not 0) and ModRM with what it brings. `size`: 1, 2, 4 or 8; `behind`:
 * bytes of immediate to come. */
void random_modrm(struct random_emit *e, unsigned size, uint32_t opcode, unsigned reg, struct random_operand rm,
                  unsigned behind);

void random_mov_imm32(struct random_emit *e, unsigned reg, uint32_t value); /* the upper half is 0 */
void random_mov_imm64(struct random_emit *e, unsigned reg, uint64_t value);
void random_push_imm32(struct random_emit *e, uint32_t value);
/* MOV reg, address of a block */
void random_mov_block(struct random_emit *e, unsigned reg, unsigned block, unsigned alias);
