/* SPDX-License-Identifier: MIT */
/* Straight code, and branches that stay within it. Only results that the manual defines. */
#include "tests/linux/random/items.h"

static unsigned size_of(struct random_emit *e)
{
    static const uint8_t sizes[] = {1, 2, 4, 4, 8, 8};
    return sizes[random_below(e->rng, sizeof sizes)];
}

static unsigned any(struct random_emit *e)
{
    return random_below(e->rng, 16);
}

static unsigned dst(struct random_emit *e)
{
    return random_register(e, e->free);
}

/* Data at random, aligned or not; up to 16 bytes at it are data. May take an instruction before. */
static struct random_operand data(struct random_emit *e)
{
    const uint32_t first = 0x40, last = 0x6F00, at = first + random_below(e->rng, last - first);
    switch (random_below(e->rng, e->shared ? 4 : 5)) {
    case 0:
        return random_based(R14, (int32_t)random_below(e->rng, 256) - 128);
    case 1:
        return random_based(R14, (int32_t)at - 0x800);
    case 2: {
        struct random_operand m = random_based(R14, (int32_t)random_below(e->rng, 0x400));
        m.index = (int8_t)dst(e);
        m.scale = (uint8_t)random_below(e->rng, 4);
        random_modrm(e, 4, 0x81, 4, random_reg((unsigned)m.index), 4); /* AND */
        random_u32(e, 0xFF);
        random_end(e, RANDOM_PLAIN);
        return m;
    }
    case 3:
        return random_absolute(RANDOM_DATA + at);
    default:
        return (struct random_operand){.memory = true, .relative = true, .disp = (int32_t)(RANDOM_DATA + at)};
    }
}

static void arithmetic(struct random_emit *e)
{
    const unsigned op = random_below(e->rng, 8), size = size_of(e); /* ADD OR ADC SBB AND SUB XOR CMP */
    const uint32_t opcode = op << 3 | (size > 1);
    switch (random_below(e->rng, 5)) {
    case 0:
        random_modrm(e, size, opcode, any(e), random_reg(dst(e)), 0);
        break;
    case 1:
        random_modrm(e, size, opcode | 2, dst(e), data(e), 0);
        break;
    case 2:
        random_modrm(e, size, opcode, any(e), data(e), 0);
        break;
    case 3:
        random_modrm(e, size, size > 1 ? 0x83 : 0x80, op, random_reg(dst(e)), 1);
        random_u8(e, random_immediate(e->rng) & 0xFF);
        break;
    default: { /* of the whole register, so that it may be changed */
        struct random_operand to = random_chance(e->rng, 70) ? random_reg(dst(e)) : data(e);
        random_modrm(e, size == 8 ? 8 : 4, 0x81, op, to, 4);
        random_site(e, RANDOM_SITE_IMM32);
        random_u32(e, random_immediate(e->rng));
    }
    }
    random_end(e, RANDOM_PLAIN);
}

static void moves(struct random_emit *e)
{
    const unsigned size = size_of(e), to = dst(e);
    switch (random_below(e->rng, 8)) {
    case 0:
        random_mov_imm32(e, to, random_immediate(e->rng));
        return;
    case 1:
        random_u8(e, 0x48 | to >> 3);
        random_u8(e, 0xB8 | (to & 7));
        random_site(e, RANDOM_SITE_IMM64);
        random_u64(e, random_next(e->rng));
        break;
    case 2:
        random_modrm(e, size, size > 1 ? 0x8B : 0x8A, to, data(e), 0);
        break;
    case 3:
        random_modrm(e, size, size > 1 ? 0x89 : 0x88, any(e), data(e), 0);
        break;
    case 4: /* MOVZX, MOVSX */
        random_modrm(e, size == 8 ? 8 : 4, 0x0FB6 | random_below(e->rng, 2) | random_below(e->rng, 2) << 3, to,
                     random_chance(e->rng, 50) ? random_reg(any(e)) : data(e), 0);
        break;
    case 5: /* LEA */
        random_modrm(e, 8, 0x8D, to,
                     (struct random_operand){.memory = true,
                                             .base = (int8_t)any(e),
                                             .index = (int8_t)random_register(e, (uint16_t) ~(1u << RSP)),
                                             .scale = (uint8_t)random_below(e->rng, 4),
                                             .disp = (int32_t)random_immediate(e->rng)},
                     0);
        break;
    case 6: /* CMOVcc */
        random_modrm(e, size == 8 ? 8 : 4, 0x0F40 | random_below(e->rng, 16), to, random_reg(any(e)), 0);
        break;
    default: /* SETcc */
        random_modrm(e, 1, 0x0F90 | random_below(e->rng, 16), 0, random_reg(to), 0);
    }
    random_end(e, RANDOM_PLAIN);
}

static void shifts(struct random_emit *e)
{
    static const uint8_t ops[] = {0, 1, 4, 5, 7}; /* ROL ROR SHL SHR SAR: by one all flags but AF are defined */
    const unsigned size = size_of(e);
    random_modrm(e, size, size > 1 ? 0xD1 : 0xD0, ops[random_below(e->rng, sizeof ops)], random_reg(dst(e)), 0);
    random_end(e, RANDOM_PLAIN);
}

static void unary(struct random_emit *e)
{
    const unsigned size = size_of(e);
    const bool memory = random_chance(e->rng, 30);
    const struct random_operand to = memory ? data(e) : random_reg(dst(e));
    const unsigned op = random_below(e->rng, 4); /* INC DEC NOT NEG */
    const bool lock = memory && random_chance(e->rng, 30);
    if (lock)
        random_u8(e, 0xF0);
    random_modrm(e, size, op < 2 ? 0xFE | (size > 1) : 0xF6 | (size > 1), op, to, 0);
    random_end(e, lock ? RANDOM_LOCKED : RANDOM_PLAIN);
}

static void exchanges(struct random_emit *e)
{
    const unsigned size = size_of(e);
    bool lock = false;
    if (random_chance(e->rng, 50)) { /* XCHG */
        random_modrm(e, size, size > 1 ? 0x87 : 0x86, dst(e), random_reg(dst(e)), 0);
    } else { /* XADD */
        const struct random_operand to = data(e);
        const unsigned from = dst(e);
        lock = random_chance(e->rng, 50);
        if (lock)
            random_u8(e, 0xF0);
        random_modrm(e, size, size > 1 ? 0x0FC1 : 0x0FC0, from, to, 0);
    }
    random_end(e, lock ? RANDOM_LOCKED : RANDOM_PLAIN);
}

static void test(struct random_emit *e)
{
    random_modrm(e, 8, 0x85, any(e), random_reg(any(e)), 0);
    random_end(e, RANDOM_PLAIN);
}

static void bits(struct random_emit *e) /* BT, BTS, BTR, BTC with an immediate: the operand stays in place */
{
    const struct random_operand to = random_chance(e->rng, 40) ? data(e) : random_reg(dst(e));
    random_modrm(e, random_chance(e->rng, 30) ? 8 : 4, 0x0FBA, 4 + random_below(e->rng, 4), to, 1);
    random_u8(e, random_below(e->rng, 32));
    random_end(e, RANDOM_UNDEFINED);
    test(e);
}

static void multiplies(struct random_emit *e)
{
    random_modrm(e, random_chance(e->rng, 50) ? 8 : 4, 0x0FAF, dst(e),
                 random_chance(e->rng, 60) ? random_reg(any(e)) : data(e), 0);
    random_end(e, RANDOM_UNDEFINED);
    test(e);
}

static void stack(struct random_emit *e)
{
    const unsigned from = any(e), to = dst(e);
    if (from >= 8)
        random_u8(e, 0x41);
    random_u8(e, 0x50 | (from & 7));
    random_end(e, RANDOM_PLAIN);
    if (to >= 8)
        random_u8(e, 0x41);
    random_u8(e, 0x58 | (to & 7));
    random_end(e, RANDOM_PLAIN);
}

static void vectors(struct random_emit *e)
{
    static const uint32_t ops[] = {
        0xF3000F6F, 0xF3000F7F, 0x66000FFE, 0x66000FEF, 0x66000FD4, 0x0F10, 0x66000F61, 0x66000F74,
    }; /* MOVDQU from and to memory, PADDD, PXOR, PADDQ, MOVUPS, PUNPCKLWD, PCMPEQB */
    const unsigned i = random_below(e->rng, sizeof ops / sizeof ops[0]);
    const bool memory = i < 2 || i == 5;
    random_modrm(e, 4, ops[i], random_below(e->rng, 16), memory ? data(e) : random_reg(any(e)), 0);
    random_end(e, RANDOM_PLAIN);
}

void random_straight(struct random_emit *e)
{
    static void (*const items[])(struct random_emit *) = {
        arithmetic, arithmetic, arithmetic, moves, moves, shifts, unary, exchanges, bits, multiplies, vectors, stack};
    items[random_below(e->rng, sizeof items / sizeof items[0])](e);
}

void random_straights(struct random_emit *e, unsigned count)
{
    while (count--)
        random_straight(e);
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

enum { SHORT_JCC, NEAR_JCC, SHORT_JUMP, NEAR_JUMP, LOOPS };

static void set32(struct random_emit *e, unsigned at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        e->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

void random_skip(struct random_emit *e)
{
    const unsigned how = random_below(e->rng, 5), condition = random_below(e->rng, 16);
    const bool near = how == NEAR_JCC || how == NEAR_JUMP;
    enum random_kind kind = how == LOOPS ? RANDOM_LOOP : how <= NEAR_JCC ? RANDOM_JCC : RANDOM_JUMP;
    if (how == LOOPS && !(e->free >> RCX & 1))
        return;
    switch (how) {
    case SHORT_JCC:
        random_site(e, RANDOM_SITE_CONDITION);
        random_u8(e, 0x70 | condition);
        break;
    case NEAR_JCC:
        random_u8(e, 0x0F);
        random_site(e, RANDOM_SITE_CONDITION);
        random_u8(e, 0x80 | condition);
        break;
    case SHORT_JUMP:
        random_u8(e, 0xEB);
        break;
    case NEAR_JUMP:
        random_u8(e, 0xE9);
        break;
    default:
        if (random_chance(e->rng, 60))
            random_mov_imm32(e, RCX, random_below(e->rng, 3));
        if (random_chance(e->rng, 20))
            random_u8(e, 0x67);
        random_u8(e, 0xE0 | random_below(e->rng, 4));
    }
    const unsigned at = e->at;
    if (near)
        random_u32(e, 0);
    else
        random_u8(e, 0);
    random_end(e, kind);
    if (random_chance(e->rng, 75)) /* else to what follows, taken or not */
        random_straights(e, 1 + random_below(e->rng, 3));
    if (near)
        set32(e, at, e->at - at - 4);
    else
        e->bytes[at] = (uint8_t)(e->at - at - 1);
}

void random_loop(struct random_emit *e)
{
    const uint16_t before = e->free;
    const bool loop = random_chance(e->rng, 50) && e->free >> RCX & 1, near = random_chance(e->rng, 50);
    const unsigned counter = loop ? (unsigned)RCX : random_register(e, e->free);
    random_mov_imm32(e, counter, 1 + random_below(e->rng, 6));
    e->free &= (uint16_t) ~(1u << counter);
    const unsigned top = e->at;
    if (!loop || random_chance(e->rng, 80))               /* else LOOP to itself */
        random_straights(e, 1 + random_below(e->rng, 3)); /* below 100 bytes */
    if (!loop && near)
        random_skip(e);
    if (loop) {
        random_u8(e, 0xE0 | random_below(e->rng, 3)); /* LOOPNE and LOOPE leave it earlier */
        random_u8(e, (top - e->at - 1) & 0xFF);
        random_end(e, RANDOM_LOOP);
    } else {
        random_modrm(e, 4, 0xFF, 1, random_reg(counter), 0); /* DEC */
        random_end(e, RANDOM_PLAIN);
        if (near) { /* JNZ */
            random_u8(e, 0x0F);
            random_u8(e, 0x85);
            random_u32(e, top - e->at - 4);
        } else {
            random_u8(e, 0x75);
            random_u8(e, (top - e->at - 1) & 0xFF);
        }
        random_end(e, RANDOM_JCC);
    }
    e->free = before;
}
