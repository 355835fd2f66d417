/* SPDX-License-Identifier: MIT */
#include "tests/linux/random/emit.h"

#include <stdlib.h>
#include <string.h>

uint64_t random_next(uint64_t *rng)
{
    uint64_t z = *rng += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

unsigned random_below(uint64_t *rng, unsigned n)
{
    return (unsigned)((random_next(rng) >> 32) * n >> 32);
}

uint32_t random_immediate(uint64_t *rng)
{
    static const uint32_t borders[] = {0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    switch (random_below(rng, 3)) {
    case 0:
        return random_below(rng, 16);
    case 1:
        return borders[random_below(rng, sizeof borders / sizeof borders[0])];
    default:
        return (uint32_t)random_next(rng);
    }
}

unsigned random_register(struct random_emit *e, uint16_t mask)
{
    unsigned reg;
    do
        reg = random_below(e->rng, 16);
    while (!(mask >> reg & 1));
    return reg;
}

void random_bytes(struct random_emit *e, const void *bytes, unsigned n)
{
    if (e->at + n > sizeof e->bytes)
        abort();
    memcpy(e->bytes + e->at, bytes, n);
    e->at += n;
}

void random_u8(struct random_emit *e, unsigned value)
{
    uint8_t byte = (uint8_t)value;
    random_bytes(e, &byte, 1);
}

void random_u32(struct random_emit *e, uint32_t value)
{
    random_bytes(e, &value, sizeof value);
}

void random_u64(struct random_emit *e, uint64_t value)
{
    random_bytes(e, &value, sizeof value);
}

void random_end(struct random_emit *e, enum random_kind kind)
{
    if (e->count == RANDOM_BLOCK_INSNS || e->at == e->start || e->at - e->start > 15)
        abort();
    e->insns[e->count].at = (uint16_t)e->start;
    e->insns[e->count].insn = (struct random_insn){.length = (uint8_t)(e->at - e->start), .kind = (uint8_t)kind};
    e->count++;
    e->start = e->at;
}

void random_fixup(struct random_emit *e, enum random_fixup_kind kind, unsigned behind, unsigned alias, uint32_t target)
{
    if (e->fixup_count == RANDOM_BLOCK_FIXUPS)
        abort();
    e->fixups[e->fixup_count++] = (struct random_fixup){.at = (uint16_t)e->at,
                                                        .kind = (uint8_t)kind,
                                                        .behind = (uint8_t)behind,
                                                        .alias = (uint8_t)alias,
                                                        .target = target};
    random_u32(e, 0);
}

unsigned random_site(struct random_emit *e, enum random_site_kind kind)
{
    struct random_sites *s = e->sites;
    if (s->count == RANDOM_SITES)
        return random_below(e->rng, RANDOM_SITES); /* enough to choose from; this one stays as it is */
    s->of[s->count] = (struct random_site){(uint16_t)e->block, (uint16_t)e->at, (uint8_t)kind};
    return s->count++;
}

/* ModRM, SIB, displacement. */
static void address(struct random_emit *e, unsigned reg, struct random_operand rm, unsigned behind)
{
    const unsigned field = (reg & 7) << 3;
    if (!rm.memory) {
        random_u8(e, 0xC0 | field | (rm.reg & 7));
        return;
    }
    if (rm.relative) {
        random_u8(e, field | 5);
        random_fixup(e, RANDOM_TO_DATA, behind, 0, (uint32_t)rm.disp);
        return;
    }
    const bool sib = rm.base < 0 || rm.index >= 0 || (rm.base & 7) == RSP;
    unsigned mod = rm.base < 0                         ? 0u
                   : !rm.disp && (rm.base & 7) != RBP  ? 0u
                   : rm.disp >= -128 && rm.disp <= 127 ? 1u
                                                       : 2u;
    random_u8(e, mod << 6 | field | (sib ? 4u : rm.base & 7u));
    if (sib)
        random_u8(e, (unsigned)rm.scale << 6 | (rm.index < 0 ? 4u : rm.index & 7u) << 3 |
                         (rm.base < 0 ? 5u : rm.base & 7u));
    if (mod == 1)
        random_u8(e, (unsigned)rm.disp & 0xFF);
    else if (mod == 2 || rm.base < 0)
        random_u32(e, (uint32_t)rm.disp);
}

void random_modrm(struct random_emit *e, unsigned size, uint32_t opcode, unsigned reg, struct random_operand rm,
                  unsigned behind)
{
    unsigned rex = (size == 8) << 3 | (reg >= 8) << 2;
    rex |= rm.memory ? (unsigned)(rm.index >= 8) << 1 | (rm.base >= 8) : (unsigned)(rm.reg >= 8);
    const bool byte = size == 1 && (reg >= 4 || (!rm.memory && rm.reg >= 4)); /* SPL, not AH */
    if (size == 2)
        random_u8(e, 0x66);
    unsigned mandatory = opcode >> 24; /* 66, F2 or F3 goes before REX */
    if (mandatory)
        random_u8(e, mandatory);
    if (rex || byte)
        random_u8(e, 0x40 | rex);
    for (int shift = 16; shift >= 0; shift -= 8)
        if (opcode >> shift & 0xFF || !shift)
            random_u8(e, opcode >> shift & 0xFF);
    address(e, reg, rm, behind);
}

void random_mov_imm32(struct random_emit *e, unsigned reg, uint32_t value)
{
    if (reg >= 8)
        random_u8(e, 0x41);
    random_u8(e, 0xB8 | (reg & 7));
    random_u32(e, value);
    random_end(e, RANDOM_PLAIN);
}

void random_mov_imm64(struct random_emit *e, unsigned reg, uint64_t value)
{
    random_u8(e, 0x48 | reg >> 3);
    random_u8(e, 0xB8 | (reg & 7));
    random_u64(e, value);
    random_end(e, RANDOM_PLAIN);
}

void random_push_imm32(struct random_emit *e, uint32_t value)
{
    random_u8(e, 0x68);
    random_u32(e, value);
    random_end(e, RANDOM_PLAIN);
}

void random_mov_block(struct random_emit *e, unsigned reg, unsigned block, unsigned alias)
{
    if (reg >= 8)
        random_u8(e, 0x41);
    random_u8(e, 0xB8 | (reg & 7));
    random_fixup(e, RANDOM_BLOCK_HERE, 0, alias, block);
    random_end(e, RANDOM_PLAIN);
}
