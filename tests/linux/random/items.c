/* SPDX-License-Identifier: MIT */
/* What of a random program the processor or the kernel does more about than running it. */
#include "tests/linux/random/items.h"

#include <sys/mman.h>
#include <sys/syscall.h>

static bool all_free(const struct random_emit *e, unsigned registers)
{
    return (e->free & registers) == registers;
}

/* Addresses in memory that may not be there yet, often so that 16 bytes are in two pages. */
static uint64_t strange(struct random_emit *e)
{
    const bool guard = random_chance(e->rng, 40);
    const unsigned page = 1 + random_below(e->rng, (guard ? RANDOM_GUARD_PAGES : RANDOM_COLD_PAGES) - 2);
    return (guard ? RANDOM_GUARD : RANDOM_COLD) + page * (uint64_t)RANDOM_PAGE +
           (random_chance(e->rng, 50) ? RANDOM_PAGE - 1 - random_below(e->rng, 16) : random_below(e->rng, 4000));
}

static uint64_t ordinary(struct random_emit *e)
{
    return RANDOM_DATA + 0x100 + random_below(e->rng, 0x6000);
}

void random_memory(struct random_emit *e)
{
    const bool wide = random_chance(e->rng, 30);
    const struct random_operand m = random_absolute(strange(e));
    switch (random_below(e->rng, 3)) {
    case 0:
        random_modrm(e, 8, wide ? 0x01 : 0x89, random_below(e->rng, 16), m, 0); /* ADD, MOV to it */
        break;
    case 1:
        random_modrm(e, 8, 0x8B, random_register(e, e->free), m, 0);
        break;
    default:
        random_modrm(e, 4, random_chance(e->rng, 50) ? 0xF3000F6F : 0xF3000F7F, random_below(e->rng, 16), m, 0);
    }
    random_end(e, RANDOM_PLAIN);
}

void random_string(struct random_emit *e)
{
    static const uint8_t ops[] = {0xA4, 0xA6, 0xAA, 0xAC, 0xAE}; /* MOVS CMPS STOS LODS SCAS, of bytes */
    if (!all_free(e, 1u << RAX | 1u << RCX | 1u << RSI | 1u << RDI))
        return;
    const unsigned op = random_below(e->rng, sizeof ops), size = random_below(e->rng, 4);
    const bool down = random_chance(e->rng, 20), compares = op == 1 || op == 4;
    unsigned count = random_chance(e->rng, 10) ? 0 : 1 + random_below(e->rng, 20);
    if (!down && random_chance(e->rng, 3))
        count = 300;
    random_mov_imm64(e, RSI, random_chance(e->rng, 50) ? strange(e) : ordinary(e));
    random_mov_imm64(e, RDI, random_chance(e->rng, 50) ? strange(e) : ordinary(e));
    random_mov_imm32(e, RCX, count);
    if (op == 4)
        random_mov_imm32(e, RAX, 0); /* cold memory has only these */
    if (down)
        RANDOM_INSN(e, RANDOM_PLAIN, 0xFD); /* STD */
    if (random_chance(e->rng, 10))
        random_u8(e, 0x2E); /* a segment prefix, which means nothing */
    if (size == 1)
        random_u8(e, 0x66);
    random_u8(e, compares && random_chance(e->rng, 50) ? 0xF2 : 0xF3);
    if (size == 3)
        random_u8(e, 0x48);
    random_u8(e, ops[op] | (size > 0));
    random_end(e, RANDOM_REP);
    if (random_chance(e->rng, 30))
        random_straight(e);
    if (down)
        RANDOM_INSN(e, RANDOM_PLAIN, 0xFC); /* CLD */
}

void random_flags(struct random_emit *e)
{
    const uint32_t arithmetic = 0x8D5;
    switch (random_below(e->rng, 5)) {
    case 0: /* PUSHF; POP */
        RANDOM_INSN(e, RANDOM_PUSHF, 0x9C);
        random_modrm(e, 4, 0x8F, 0, random_reg(random_register(e, e->free)), 0);
        random_end(e, RANDOM_PLAIN);
        break;
    case 1: /* PUSHF; XOR [RSP], flags; POPF */
        RANDOM_INSN(e, RANDOM_PUSHF, 0x9C);
        random_modrm(e, 4, 0x81, 6, random_based(RSP, 0), 4);
        random_u32(e, (uint32_t)random_next(e->rng) & arithmetic);
        random_end(e, RANDOM_PLAIN);
        RANDOM_INSN(e, RANDOM_PLAIN, 0x9D);
        break;
    case 2: /* PUSH; POPF */
        random_push_imm32(e, ((uint32_t)random_next(e->rng) & arithmetic) | 0x202);
        RANDOM_INSN(e, RANDOM_PLAIN, 0x9D);
        break;
    case 3:
        if (all_free(e, 1u << RAX)) {
            RANDOM_INSN(e, RANDOM_PLAIN, 0x9F); /* LAHF; SAHF */
            random_straight(e);
            RANDOM_INSN(e, RANDOM_PLAIN, 0x9E);
        }
        break;
    default:
        random_u8(e, (const uint8_t[]){0xF8, 0xF9, 0xF5}[random_below(e->rng, 3)]); /* CLC, STC, CMC */
        random_end(e, RANDOM_PLAIN);
    }
}

void random_syscall(struct random_emit *e)
{
    static const struct {
        uint16_t number, number32;
        int32_t rdi, rsi, rdx;
    } calls[] = {
        {SYS_getuid, 199, 0, 0, 0},
        {SYS_getppid, 64, 0, 0, 0},
        {SYS_close, 6, -1, 0, 0},
        {SYS_sched_yield, 158, 0, 0, 0},
        {SYS_umask, 60, 022, 0, 0},
        {SYS_madvise, 219, (int32_t)RANDOM_COLD, RANDOM_COLD_PAGES / 2 * (int)RANDOM_PAGE, MADV_DONTNEED},
        {SYS_mprotect, 125, (int32_t)RANDOM_GUARD, 2 * (int)RANDOM_PAGE, PROT_NONE},
        {9999, 9999, 0, 0, 0},
    };
    const unsigned i = random_below(e->rng, sizeof calls / sizeof calls[0]);
    const bool legacy = random_chance(e->rng, 30);
    if (!all_free(e, 1u << RAX | 1u << RBX | 1u << RCX | 1u << RDX | 1u << RSI | 1u << RDI | 0xF00)) /* R8-11 */
        return;
    random_mov_imm32(e, legacy ? RBX : RDI, (uint32_t)calls[i].rdi);
    random_mov_imm32(e, legacy ? RCX : RSI, (uint32_t)calls[i].rsi);
    random_mov_imm32(e, RDX, (uint32_t)calls[i].rdx);
    random_mov_imm32(e, RAX, legacy ? calls[i].number32 : calls[i].number);
    if (legacy)
        RANDOM_INSN(e, RANDOM_INT80, 0xCD, 0x80);
    else
        RANDOM_INSN(e, RANDOM_SYSCALL, 0x0F, 0x05);
}

/* ---- exceptions -------------------------------------------------------------------------------------------------- */

static void privileged(struct random_emit *e)
{
    static const struct {
        uint8_t length, bytes[4];
    } insns[] = {
        {1, {0xF4}},             /* HLT */
        {1, {0xFA}},             /* CLI */
        {1, {0xEC}},             /* IN */
        {2, {0x0F, 0x32}},       /* RDMSR */
        {2, {0x0F, 0x30}},       /* WRMSR */
        {2, {0x0F, 0x06}},       /* CLTS */
        {3, {0x0F, 0x20, 0xC0}}, /* MOV EAX, CR0 */
        {3, {0x0F, 0x01, 0x11}}, /* LGDT */
        {2, {0xCD, 0x21}},       /* INT 21H, which only ring 0 may use */
    };
    const unsigned i = random_below(e->rng, sizeof insns / sizeof insns[0]);
    random_bytes(e, insns[i].bytes, insns[i].length);
    random_end(e, RANDOM_PROTECTION);
}

static void divide(struct random_emit *e)
{
    const bool zero = random_chance(e->rng, 50);
    random_mov_imm32(e, RAX, random_immediate(e->rng));
    random_mov_imm32(e, RDX, zero ? 0 : 0x7FFFFFFF); /* else the quotient is too large */
    random_mov_imm32(e, RCX, zero ? 0 : 1);
    random_modrm(e, 4, 0xF7, 6 + random_below(e->rng, 2), random_reg(RCX), 0);
    random_end(e, RANDOM_DIVIDE);
}

static void jump_nowhere(struct random_emit *e)
{
    static const uint64_t where[] = {RANDOM_ABSENT, RANDOM_ABSENT + 0xFFD, RANDOM_DATA + 0x123, RANDOM_GUARD + 0x77FF};
    const unsigned reg = random_register(e, e->free);
    random_mov_imm32(e, reg, (uint32_t)where[random_below(e->rng, 4)]);
    random_modrm(e, 4, 0xFF, 4, random_reg(reg), 0);
    random_end(e, RANDOM_JUMP);
}

void random_fault(struct random_emit *e)
{
    if (!all_free(e, 1u << RAX | 1u << RCX | 1u << RDX))
        return;
    random_bytes(e, "\x4C\x8D\x3D", 3); /* LEA R15, [RIP + what comes behind] */
    const unsigned at = e->at;
    random_u32(e, 0);
    random_end(e, RANDOM_PLAIN);
    if (random_chance(e->rng, 30))
        random_straight(e);
    switch (random_below(e->rng, 9)) {
    case 0:
        RANDOM_INSN(e, RANDOM_UD, 0x0F, 0x0B);
        break;
    case 1:
        RANDOM_INSN(e, RANDOM_INT3, 0xCC);
        break;
    case 2:
        RANDOM_INSN(e, RANDOM_INT3, 0xCD, 0x03);
        break;
    case 3:
        RANDOM_INSN(e, RANDOM_INT4, 0xCD, 0x04);
        break;
    case 4:
        divide(e);
        break;
    case 5:
    case 6:
        privileged(e);
        break;
    case 7:
        jump_nowhere(e);
        break;
    default:
        if (random_chance(e->rng, 50)) { /* an address that is not canonical: #GP */
            random_mov_imm64(e, RAX, UINT64_C(0x8000000000000000) | random_next(e->rng) >> 2);
            random_modrm(e, 8, 0x8B, RCX, random_based(RAX, 0), 0);
            random_end(e, RANDOM_PROTECTION);
        } else { /* nothing there: #PF */
            random_modrm(e, 8, 0x8B, RCX, random_absolute(RANDOM_ABSENT + random_below(e->rng, 9000)), 0);
            random_end(e, RANDOM_PLAIN);
        }
    }
    for (unsigned n = random_below(e->rng, 3); n; n--)
        RANDOM_INSN(e, RANDOM_UD, 0x0F, 0x0B); /* never reached */
    const uint32_t distance = e->at - at - 4;
    for (unsigned i = 0; i < 4; i++)
        e->bytes[at + i] = (uint8_t)(distance >> 8 * i);
    RANDOM_INSN(e, RANDOM_PLAIN, 0x45, 0x31, 0xFF); /* XOR R15D, R15D */
}

/* ---- code that changes code -------------------------------------------------------------------------------------- */

/* Changes a site by an instruction of this opcode, field of ModRM and immediate, if any. */
static void change(struct random_emit *e, unsigned size, uint32_t opcode, unsigned field, unsigned immediate_bytes,
                   enum random_site_kind kind, int own)
{
    const unsigned rex = size == 8 ? 8u : 0u;
    if (rex || field >= 8)
        random_u8(e, 0x40 | rex | field >> 3 << 2);
    random_u8(e, opcode);
    if (own >= 0) {
        random_u8(e, (field & 7) << 3 | 5);
        random_fixup(e, RANDOM_TO_SITE, immediate_bytes, 0, (uint32_t)own);
    } else {
        random_u8(e, (field & 7) << 3 | 4);
        random_u8(e, 0x25);
        random_fixup(e, RANDOM_SITE_HERE, immediate_bytes, random_below(e->rng, RANDOM_ALIASES), kind);
    }
    if (immediate_bytes == 1)
        random_u8(e, size == 1 && kind == RANDOM_SITE_CONDITION ? 1 : random_immediate(e->rng) & 0x7F);
    else if (immediate_bytes == 4)
        random_u32(e, (uint32_t)random_next(e->rng));
    random_end(e, RANDOM_PLAIN);
}

static void change_any(struct random_emit *e, enum random_site_kind kind, int own)
{
    switch (kind) {
    case RANDOM_SITE_CONDITION:
        change(e, 1, 0x80, 6, 1, kind, own); /* XOR [site], 1 */
        break;
    case RANDOM_SITE_IMM32:
        switch (random_below(e->rng, 3)) {
        case 0:
            change(e, 4, 0xC7, 0, 4, kind, own); /* MOV */
            break;
        case 1:
            change(e, 4, 0x83, 0, 1, kind, own); /* ADD */
            break;
        default:
            change(e, 4, 0x31, random_below(e->rng, 16), 0, kind, own); /* XOR with a register */
        }
        break;
    default:
        change(e, 8, 0x01, random_below(e->rng, 16), 0, kind, own); /* ADD */
    }
}

void random_modify(struct random_emit *e)
{
    const enum random_site_kind kind = (enum random_site_kind)random_below(e->rng, RANDOM_SITE_KINDS);
    if (random_chance(e->rng, 50) || e->sites->count == RANDOM_SITES || !all_free(e, 1u << RAX)) {
        change_any(e, kind, -1);
        return;
    }
    /* The next instruction but few: the site is not there yet, and takes the next number in the list. */
    const unsigned fixup = e->fixup_count;
    change_any(e, kind, 0);
    if (random_chance(e->rng, 50))
        random_modrm(e, 8, 0x31, RAX, random_reg(RAX), 0), random_end(e, RANDOM_PLAIN);
    switch (kind) {
    case RANDOM_SITE_CONDITION:
        e->fixups[fixup].target = random_site(e, kind);
        random_u8(e, 0x70 | random_below(e->rng, 16));
        random_u8(e, 5);
        random_end(e, RANDOM_JCC);
        random_mov_imm32(e, RAX, random_immediate(e->rng));
        break;
    case RANDOM_SITE_IMM32:
        random_u8(e, 0xB8);
        e->fixups[fixup].target = random_site(e, kind);
        random_u32(e, random_immediate(e->rng));
        random_end(e, RANDOM_PLAIN);
        break;
    default:
        random_u8(e, 0x48);
        random_u8(e, 0xB8);
        e->fixups[fixup].target = random_site(e, kind);
        random_u64(e, random_next(e->rng));
        random_end(e, RANDOM_PLAIN);
    }
}

void random_odd(struct random_emit *e)
{
    static const uint32_t leaves[] = {0, 1, 2, 4, 7, 0x0A, 0x14, 0x1C, 0x80000000, 0x80000002, 0x40000000, 0xFFFFFFFF};
    switch (random_below(e->rng, 6)) {
    case 0:
        if (!all_free(e, 1u << RAX | 1u << RBX | 1u << RCX | 1u << RDX))
            return;
        random_mov_imm32(e, RAX, leaves[random_below(e->rng, sizeof leaves / sizeof leaves[0])]);
        random_mov_imm32(e, RCX, random_below(e->rng, 2));
        RANDOM_INSN(e, RANDOM_PLAIN, 0x0F, 0xA2);
        break;
    case 1:
        RANDOM_INSN(e, RANDOM_PLAIN, 0xF3, 0x90); /* PAUSE */
        break;
    case 2:
        if (!all_free(e, 1u << RAX))
            return;
        RANDOM_INSN(e, RANDOM_PLAIN, 0x8C, 0xD0); /* MOV EAX, SS */
        RANDOM_INSN(e, RANDOM_SHADOW, 0x8E, 0xD0);
        RANDOM_INSN(e, RANDOM_PLAIN, 0x0F, 0x1F, 0x40, 0x00); /* NOP: nothing that is more than one step */
        break;
    case 3:
        RANDOM_INSN(e, RANDOM_PLAIN, 0x0F, 0xAE, 0xF0); /* MFENCE */
        break;
    case 4: /* FLD1; FSTP ST(0) */
        RANDOM_INSN(e, RANDOM_PLAIN, 0xD9, 0xE8);
        RANDOM_INSN(e, RANDOM_PLAIN, 0xDD, 0xD8);
        break;
    default: /* the longest: 15 bytes */
        RANDOM_INSN(e, RANDOM_PLAIN, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2E, 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0);
    }
}
