/* SPDX-License-Identifier: MIT */
/* The length decoder: prefixes, two opcode maps, ModRM, SIB, displacement, immediate. */
#include "ds/soft/insn.h"

struct reader {
    const uint8_t *code;
    size_t size;
    unsigned at;
    bool failed;
};

static uint8_t next(struct reader *r)
{
    if (r->at >= r->size || r->at >= DS_INSN_MAX) {
        r->failed = true;
        return 0;
    }
    return r->code[r->at++];
}

static void skip(struct reader *r, unsigned n)
{
    r->at += n;
    if (r->at > r->size || r->at > DS_INSN_MAX)
        r->failed = true;
}

struct prefixes {
    bool operand16, address32, rep, repne;
    uint8_t rex; /* 0: none */
};
#define REX_W 8u

/*
 * What follows the opcode byte. M: ModRM. B: one immediate byte. Z: an immediate of 4 bytes, 2 with operand size 16. J:
 * a near displacement of 4 bytes (Intel ignores the operand size prefix there). W: 2 bytes, of RET. E: 3, of ENTER. A:
 * a whole address. I: the only immediate of 8 bytes, or Z. T: ModRM, and for TEST (/0, /1) an immediate. R: registers,
 * whatever mod says. V: VMREAD; with 66 or F2 AMD's EXTRQ and INSERTQ have two immediate bytes. U: undefined in 64-bit
 * mode, or a prefix (which the caller has taken).
 */
enum form { N, M, B, Z, MB, MZ, J, W, E, A, I, T, R, V, U };

/* clang-format off */
static const uint8_t one_byte[256] = {
    /*        0  1  2  3  4  5  6  7  8  9  A  B  C  D  E  F */
    /* 0 */   M, M, M, M, B, Z, U, U, M, M, M, M, B, Z, U, U,
    /* 1 */   M, M, M, M, B, Z, U, U, M, M, M, M, B, Z, U, U,
    /* 2 */   M, M, M, M, B, Z, U, U, M, M, M, M, B, Z, U, U,
    /* 3 */   M, M, M, M, B, Z, U, U, M, M, M, M, B, Z, U, U,
    /* 4 */   U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U,
    /* 5 */   N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N,
    /* 6 */   U, U, U, M, U, U, U, U, Z,MZ, B,MB, N, N, N, N,
    /* 7 */   B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
    /* 8 */  MB,MZ, U,MB, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 9 */   N, N, N, N, N, N, N, N, N, N, U, N, N, N, N, N,
    /* A */   A, A, A, A, N, N, N, N, B, Z, N, N, N, N, N, N,
    /* B */   B, B, B, B, B, B, B, B, I, I, I, I, I, I, I, I,
    /* C */  MB,MB, W, N, U, U,MB,MZ, E, N, W, N, N, B, U, N,
    /* D */   M, M, M, M, U, U, U, N, M, M, M, M, M, M, M, M,
    /* E */   B, B, B, B, B, B, B, B, J, J, U, B, N, N, N, N,
    /* F */   U, N, U, U, N, N, T, T, N, N, N, N, N, N, M, M,
};
static const uint8_t two_byte[256] = { /* after 0F */
    /*        0  1  2  3  4  5  6  7  8  9  A  B  C  D  E  F */
    /* 0 */   M, M, M, M, U, N, N, N, N, N, U, N, U, M, N,MB,
    /* 1 */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 2 */   R, R, R, R, U, U, U, U, M, M, M, M, M, M, M, M,
    /* 3 */   N, N, N, N, N, N, U, N, U, U, U, U, U, U, U, U,
    /* 4 */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 5 */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 6 */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 7 */  MB,MB,MB,MB, M, M, M, N, V, M, U, U, M, M, M, M,
    /* 8 */   J, J, J, J, J, J, J, J, J, J, J, J, J, J, J, J,
    /* 9 */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* A */   N, N, N, M,MB, M, U, U, N, N, N, M,MB, M, M, M,
    /* B */   M, M, M, M, M, M, M, M, M, M,MB, M, M, M, M, M,
    /* C */   M, M,MB, M,MB,MB,MB, M, N, N, N, N, N, N, N, N,
    /* D */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* E */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* F */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
};
/* clang-format on */

/* clang-format off */
static const uint8_t one_byte_kinds[256] = {
    [0x6C ... 0x6F] = DS_INSN_REP_STRING, /* with REP: INS, OUTS */
    [0x70 ... 0x7F] = DS_INSN_CONDITIONAL, /* Jcc */
    [0x8E] = DS_INSN_SHADOW, /* MOV, to SS */
    [0x9C] = DS_INSN_PUSHF, [0x9D] = DS_INSN_POPF,
    [0xA4 ... 0xA7] = DS_INSN_REP_STRING, /* MOVS, CMPS */
    [0xAA ... 0xAF] = DS_INSN_REP_STRING, /* STOS, LODS, SCAS */
    [0xC2 ... 0xC3] = DS_INSN_RETURN, [0xCA ... 0xCB] = DS_INSN_FAR, /* RET */
    [0xCC ... 0xCD] = DS_INSN_INTERRUPT, [0xCF] = DS_INSN_IRET,
    [0xE0 ... 0xE3] = DS_INSN_CONDITIONAL, /* LOOP, JRCXZ */
    [0xE8] = DS_INSN_CALL, [0xE9] = DS_INSN_JUMP, [0xEB] = DS_INSN_JUMP,
    [0xF1] = DS_INSN_INTERRUPT, [0xFB] = DS_INSN_SHADOW, /* STI */
};
static const uint8_t two_byte_kinds[256] = {
    [0x05] = DS_INSN_SYSTEM, [0x07] = DS_INSN_SYSTEM, [0x34 ... 0x35] = DS_INSN_SYSTEM,
    [0x80 ... 0x8F] = DS_INSN_CONDITIONAL,
};
/* clang-format on */

static uint8_t one_byte_kind(const struct prefixes *p, uint8_t op, uint8_t reg)
{
    static const uint8_t of_ff[8] = {[2] = DS_INSN_CALL, [3] = DS_INSN_FAR, [4] = DS_INSN_JUMP, [5] = DS_INSN_FAR};
    const uint8_t kind = op == 0xFF ? of_ff[reg] : one_byte_kinds[op];
    const bool other = (kind == DS_INSN_REP_STRING && !p->rep && !p->repne) || (op == 0x8E && reg != 2);
    return other ? DS_INSN_OTHER : kind;
}

/* ModRM with what it brings: SIB and displacement. Returns the ModRM byte. */
static uint8_t modrm(struct reader *r)
{
    uint8_t b = next(r), mod = b >> 6, rm = b & 7;
    if (mod == 3)
        return b;
    uint8_t base = rm;
    if (rm == 4)
        base = next(r) & 7;
    if (mod == 1)
        skip(r, 1);
    else if (mod == 2 || (mod == 0 && base == 5)) /* mod 0, base 5: disp32 alone, or RIP-relative without SIB */
        skip(r, 4);
    return b;
}

/* clang-format off */
/* Returns the ModRM byte, 0: there is none. */
static uint8_t operands(struct reader *r, const struct prefixes *p, uint8_t op, enum form form)
{
    const bool has_modrm = form == M || form == MB || form == MZ || form == T || form == V;
    const uint8_t m = has_modrm ? modrm(r) : 0;
    const unsigned z = p->operand16 && !(p->rex & REX_W) ? 2 : 4;
    switch (form) {
    case B: case MB: case R: skip(r, 1); break;
    case Z: case MZ: skip(r, z); break;
    case J: skip(r, 4); break;
    case W: skip(r, 2); break;
    case E: skip(r, 3); break;
    case A: skip(r, p->address32 ? 4 : 8); break;
    case I: skip(r, p->rex & REX_W ? 8 : z); break;
    case T: skip(r, (m >> 3 & 7) > 1 ? 0 : op & 1 ? z : 1); break;
    case V: skip(r, p->operand16 || p->repne ? 2 : 0); break;
    case U: r->failed = true; break;
    default: break;
    }
    return m;
}
/* clang-format on */

#define CONDITION_LOOP      0x10u /* + 0: LOOPNE, 1: LOOPE, 2: LOOP, 3: JRCXZ */
#define CONDITION_ADDRESS32 0x20u /* they take ECX */

bool ds_insn_taken(const struct ds_insn *insn, uint64_t rflags, uint64_t rcx)
{
    /* SDM vol. 1, appendix B, "EFLAGS Condition Codes": the low bit turns the test of the others round. */
    const bool cf = rflags & 1, pf = rflags >> 2 & 1, zf = rflags >> 6 & 1, sf = rflags >> 7 & 1, of = rflags >> 11 & 1;
    const bool holds[8] = {of, cf, zf, cf || zf, sf, pf, sf != of, zf || sf != of};
    unsigned c = insn->condition;
    if (!(c & CONDITION_LOOP))
        return holds[c >> 1] != (c & 1);
    uint64_t count = c & CONDITION_ADDRESS32 ? (uint32_t)rcx : rcx;
    switch (c & 3) {
    case 0:
        return count && !zf;
    case 1:
        return count && zf;
    case 2:
        return count;
    default:
        return !count;
    }
}

/* VEX, EVEX and XOP: the map number says what follows. None of them is a branch or touches RFLAGS.TF. */
static void decode_vector(struct reader *r, const struct prefixes *p, uint8_t escape)
{
    /* 1 to 3 as after 0F, 0F38, 0F3A; 5, 6: EVEX alone; 8 to 10: XOP, the last with an immediate of 4 bytes */
    static const uint8_t forms[] = {U, M, M, MB, U, M, M, U, MB, M, M};
    const uint8_t first = next(r);
    unsigned map = escape == 0xC5 ? 1 : first & (escape == 0x62 ? 7 : 0x1F);
    skip(r, escape == 0xC5 ? 0 : escape == 0x62 ? 2 : 1);
    const uint8_t op = next(r);
    enum form form = map >= sizeof forms || (escape == 0xC4 && map > 3) ? U : forms[map];
    if (map == 1 && op == 0x77) /* VZEROUPPER, VZEROALL */
        form = N;
    else if (map == 1 && ((op >= 0x70 && op <= 0x73) || op == 0xC2 || (op >= 0xC4 && op <= 0xC6)))
        form = MB;
    operands(r, p, op, form);
    skip(r, map == 10 ? 4 : 0);
}

static void decode_opcode(struct reader *r, const struct prefixes *p, uint8_t op, struct ds_insn *insn)
{
    enum form form = one_byte[op];
    const bool two = op == 0x0F, xop = op == 0x8F && r->at < r->size && r->code[r->at] & 0x18; /* else POP */
    if (op == 0xC4 || op == 0xC5 || op == 0x62 || xop) {
        decode_vector(r, p, op);
        return;
    }
    if (two) {
        op = next(r);
        form = two_byte[op];
        if (op == 0x38 || op == 0x3A) { /* three-byte maps: all ModRM, 3A with an immediate byte */
            form = op == 0x38 ? M : MB;
            next(r);
        }
    }
    const uint8_t m = operands(r, p, op, form);
    insn->kind = two ? two_byte_kinds[op] : one_byte_kind(p, op, m >> 3 & 7);
    if (r->failed || insn->kind < DS_INSN_CONDITIONAL || insn->kind > DS_INSN_CALL || (form != J && form != B))
        return;
    const uint8_t *at = r->code + r->at - (form == J ? 4 : 1);
    insn->direct = true;
    insn->displacement =
        form == B ? (int8_t)at[0] : (int32_t)(at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24);
    if (insn->kind == DS_INSN_CONDITIONAL)
        insn->condition = (uint8_t)((op & 0xF) | (two || op < 0xE0 ? 0 : CONDITION_LOOP) |
                                    (!two && op >= 0xE0 && p->address32 ? CONDITION_ADDRESS32 : 0));
}

/* The opcode byte after all prefixes. REX counts only right before it. */
/* clang-format off */
static uint8_t read_prefixes(struct reader *r, struct prefixes *p)
{
    for (;;) {
        const uint8_t b = next(r);
        switch (b) {
        case 0x66: p->operand16 = true; break;
        case 0x67: p->address32 = true; break;
        case 0xF2: p->repne = true; break;
        case 0xF3: p->rep = true; break;
        case 0xF0: case 0x26: case 0x2E: case 0x36: case 0x3E: case 0x64: case 0x65: break;
        default:
            if (r->failed || (b & 0xF0) != 0x40)
                return b;
            p->rex = b;
            continue;
        }
        p->rex = 0;
    }
}
/* clang-format on */

unsigned ds_insn_decode(const uint8_t *code, size_t size, struct ds_insn *insn)
{
    struct reader r = {.code = code, .size = size};
    struct prefixes p = {0};
    *insn = (struct ds_insn){0};
    const uint8_t op = read_prefixes(&r, &p);
    decode_opcode(&r, &p, op, insn);
    if (r.failed)
        *insn = (struct ds_insn){0};
    else
        insn->length = (uint8_t)r.at;
    return insn->length;
}
