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
 * a near displacement of 4 bytes (Intel ignores the operand size prefix there). W: 2 bytes. X: see the code. U:
 * undefined in 64-bit mode, or a prefix (which the caller has taken).
 */
enum form { N, M, B, Z, MB, MZ, J, W, X, U };

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
    /* A */   X, X, X, X, N, N, N, N, B, Z, N, N, N, N, N, N,
    /* B */   B, B, B, B, B, B, B, B, X, X, X, X, X, X, X, X,
    /* C */  MB,MB, W, N, U, U,MB,MZ, X, N, W, N, N, B, U, N,
    /* D */   M, M, M, M, U, U, U, N, M, M, M, M, M, M, M, M,
    /* E */   B, B, B, B, B, B, B, B, J, J, U, B, N, N, N, N,
    /* F */   U, N, U, U, N, N, X, X, N, N, N, N, N, N, M, M,
};
static const uint8_t two_byte[256] = { /* after 0F */
    /*        0  1  2  3  4  5  6  7  8  9  A  B  C  D  E  F */
    /* 0 */   M, M, M, M, U, N, N, N, N, N, U, N, U, M, N,MB,
    /* 1 */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 2 */   X, X, X, X, U, U, U, U, M, M, M, M, M, M, M, M,
    /* 3 */   N, N, N, N, N, N, U, N, U, U, U, U, U, U, U, U,
    /* 4 */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 5 */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 6 */   M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 7 */  MB,MB,MB,MB, M, M, M, N, X, M, U, U, M, M, M, M,
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

static unsigned immediate_z(const struct prefixes *p)
{
    return p->operand16 && !(p->rex & REX_W) ? 2 : 4;
}

static void one_byte_extra(struct reader *r, const struct prefixes *p, uint8_t op)
{
    if (op >= 0xA0 && op <= 0xA3) { /* MOV with a whole address */
        skip(r, p->address32 ? 4 : 8);
    } else if (op >= 0xB8 && op <= 0xBF) { /* MOV reg, imm: the only immediate of 8 bytes */
        skip(r, p->rex & REX_W ? 8 : immediate_z(p));
    } else if (op == 0xC8) { /* ENTER imm16, imm8 */
        skip(r, 3);
    } else { /* F6, F7: TEST (/0, /1) has an immediate, the others none */
        if ((modrm(r) >> 3 & 7) <= 1)
            skip(r, op == 0xF6 ? 1 : immediate_z(p));
    }
}

static void two_byte_extra(struct reader *r, const struct prefixes *p, uint8_t op)
{
    if (op == 0x78) { /* VMREAD; with 66 or F2 AMD's EXTRQ and INSERTQ have two immediate bytes */
        modrm(r);
        if (p->operand16 || p->repne)
            skip(r, 2);
    } else {
        next(r); /* MOV CRn, DRn: always registers, whatever mod says */
    }
}

/* clang-format off */
static uint8_t operands(struct reader *r, const struct prefixes *p, enum form form)
{
    uint8_t m = 0;
    if (form == M || form == MB || form == MZ)
        m = modrm(r);
    switch (form) {
    case B: case MB: skip(r, 1); break;
    case Z: case MZ: skip(r, immediate_z(p)); break;
    case J: skip(r, 4); break;
    case W: skip(r, 2); break;
    case U: r->failed = true; break;
    default: break;
    }
    return m;
}
/* clang-format on */

/* clang-format off */
static uint8_t one_byte_kind(const struct prefixes *p, uint8_t op, uint8_t m)
{
    uint8_t reg = m >> 3 & 7;
    switch (op) {
    case 0x6C: case 0x6D: case 0x6E: case 0x6F: /* INS, OUTS */
    case 0xA4: case 0xA5: case 0xA6: case 0xA7: /* MOVS, CMPS */
    case 0xAA: case 0xAB: case 0xAC: case 0xAD: case 0xAE: case 0xAF: /* STOS, LODS, SCAS */
        return p->rep || p->repne ? DS_INSN_REP_STRING : DS_INSN_OTHER;
    case 0x70: case 0x71: case 0x72: case 0x73: case 0x74: case 0x75: case 0x76: case 0x77: /* Jcc */
    case 0x78: case 0x79: case 0x7A: case 0x7B: case 0x7C: case 0x7D: case 0x7E: case 0x7F:
    case 0xE0: case 0xE1: case 0xE2: case 0xE3: /* LOOP, JRCXZ */
        return DS_INSN_CONDITIONAL;
    case 0xE9: case 0xEB: return DS_INSN_JUMP;
    case 0xE8: return DS_INSN_CALL;
    case 0xC2: case 0xC3: return DS_INSN_RETURN;
    case 0xCA: case 0xCB: return DS_INSN_FAR; /* RET */
    case 0xFF: {
        static const uint8_t kinds[8] = {[2] = DS_INSN_CALL, [3] = DS_INSN_FAR, [4] = DS_INSN_JUMP, [5] = DS_INSN_FAR};
        return kinds[reg];
    }
    case 0x8E:
        return reg == 2 ? DS_INSN_SHADOW : DS_INSN_OTHER;
    case 0x9C: return DS_INSN_PUSHF;
    case 0x9D: return DS_INSN_POPF;
    case 0xCF: return DS_INSN_IRET;
    case 0xCC: case 0xCD: case 0xF1: return DS_INSN_INTERRUPT;
    case 0xFB: return DS_INSN_SHADOW; /* STI */
    default: return DS_INSN_OTHER;
    }
}
/* clang-format on */

static uint8_t two_byte_kind(uint8_t op)
{
    if (op >= 0x80 && op <= 0x8F)
        return DS_INSN_CONDITIONAL;
    return op == 0x05 || op == 0x07 || op == 0x34 || op == 0x35 ? DS_INSN_SYSTEM : DS_INSN_OTHER;
}

#define CONDITION_LOOP      0x10u /* + 0: LOOPNE, 1: LOOPE, 2: LOOP, 3: JRCXZ */
#define CONDITION_ADDRESS32 0x20u /* they take ECX */

/* A branch whose last `bytes` bytes say where it goes. */
static void set_target(const struct reader *r, unsigned bytes, uint8_t condition, struct ds_insn *insn)
{
    if (r->failed)
        return;
    const uint8_t *at = r->code + r->at - bytes;
    insn->direct = true;
    insn->condition = condition;
    insn->displacement =
        bytes == 1 ? (int8_t)at[0] : (int32_t)(at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24);
}

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

static uint8_t decode_two_byte(struct reader *r, const struct prefixes *p, struct ds_insn *insn)
{
    uint8_t op = next(r);
    if (op == 0x38 || op == 0x3A) { /* three-byte maps: all ModRM, 3A with an immediate byte */
        next(r);
        operands(r, p, op == 0x38 ? M : MB);
        return DS_INSN_OTHER;
    }
    if (two_byte[op] == X)
        two_byte_extra(r, p, op);
    else
        operands(r, p, two_byte[op]);
    if (two_byte[op] == J)
        set_target(r, 4, op & 0xF, insn);
    return two_byte_kind(op);
}

/* Map 1 is the 0F map: shuffles, shifts, compares, inserts and extracts have an immediate byte. */
static enum form vector_map_1(uint8_t op)
{
    if (op == 0x77) /* VZEROUPPER, VZEROALL */
        return N;
    bool immediate = (op >= 0x70 && op <= 0x73) || op == 0xC2 || (op >= 0xC4 && op <= 0xC6);
    return immediate ? MB : M;
}

/* VEX, EVEX and XOP: the map number says what follows. None of them is a branch or touches RFLAGS.TF. */
static void decode_vector(struct reader *r, const struct prefixes *p, unsigned map)
{
    uint8_t op = next(r);
    if (map == 1)
        operands(r, p, vector_map_1(op));
    else if (map == 2 || map == 5 || map == 6 || map == 9)
        operands(r, p, M);
    else if (map == 3 || map == 8)
        operands(r, p, MB);
    else if (map == 10) { /* XOP: an immediate of 4 bytes */
        operands(r, p, M);
        skip(r, 4);
    } else
        r->failed = true;
}

static uint8_t decode_opcode(struct reader *r, const struct prefixes *p, uint8_t op, struct ds_insn *insn)
{
    switch (op) {
    case 0x0F:
        return decode_two_byte(r, p, insn);
    case 0xC5: /* VEX, 2 bytes: map 1 */
        next(r);
        decode_vector(r, p, 1);
        return DS_INSN_OTHER;
    case 0xC4: { /* VEX, 3 bytes */
        unsigned map = next(r) & 0x1F;
        next(r);
        decode_vector(r, p, map <= 3 ? map : 0);
        return DS_INSN_OTHER;
    }
    case 0x62: { /* EVEX */
        unsigned map = next(r) & 7;
        next(r);
        next(r);
        decode_vector(r, p, map);
        return DS_INSN_OTHER;
    }
    case 0x8F: { /* POP r/m; with a ModRM.reg that is not 0 it is AMD's XOP, whose maps begin at 8 */
        uint8_t following = r->at < r->size ? r->code[r->at] : 0;
        if (following & 0x18) {
            unsigned map = next(r) & 0x1F; /* 8 or more, by the bits just tested */
            next(r);
            decode_vector(r, p, map);
            return DS_INSN_OTHER;
        }
        break;
    }
    default:
        break;
    }
    uint8_t m = 0;
    if (one_byte[op] == X)
        one_byte_extra(r, p, op);
    else
        m = operands(r, p, one_byte[op]);
    if (one_byte[op] == J)
        set_target(r, 4, 0, insn);
    else if (op >= 0xE0 && op <= 0xE3)
        set_target(r, 1, (uint8_t)(CONDITION_LOOP | (p->address32 ? CONDITION_ADDRESS32 : 0) | (op & 3)), insn);
    else if ((op >= 0x70 && op <= 0x7F) || op == 0xEB)
        set_target(r, 1, op & 0xF, insn);
    return one_byte_kind(p, op, m);
}

/* The opcode byte after all prefixes. REX counts only right before it. */
static uint8_t read_prefixes(struct reader *r, struct prefixes *p)
{
    for (;;) {
        uint8_t b = next(r);
        if (r->failed)
            return 0;
        switch (b) {
        case 0x66:
            p->operand16 = true;
            break;
        case 0x67:
            p->address32 = true;
            break;
        case 0xF2:
            p->repne = true;
            break;
        case 0xF3:
            p->rep = true;
            break;
        case 0xF0:
        case 0x26:
        case 0x2E:
        case 0x36:
        case 0x3E:
        case 0x64:
        case 0x65:
            break;
        default:
            if ((b & 0xF0) != 0x40)
                return b;
            p->rex = b;
            continue;
        }
        p->rex = 0;
    }
}

unsigned ds_insn_decode(const uint8_t *code, size_t size, struct ds_insn *insn)
{
    struct reader r = {.code = code, .size = size};
    struct prefixes p = {0};
    *insn = (struct ds_insn){0};
    uint8_t op = read_prefixes(&r, &p);
    uint8_t kind = r.failed ? DS_INSN_OTHER : decode_opcode(&r, &p, op, insn);
    if (r.failed) {
        *insn = (struct ds_insn){0};
        return 0;
    }
    insn->kind = kind;
    insn->length = (uint8_t)r.at;
    return r.at;
}
