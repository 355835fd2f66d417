/* SPDX-License-Identifier: MIT */
/* SDM vol. 2, appendix A, "Opcode Map". */
#include "tools/qemu-ds/modelled/access_decode.h"

#include <string.h>

#define LOCK          0xF0
#define MEMORY(modrm) ((modrm) < 0xC0) /* the operand is not a register */
#define REG(modrm)    ((modrm) >> 3 & 7)
#define RM(modrm)     ((modrm)&7)

static bool is_rex(uint8_t byte)
{
    return (byte & 0xF0) == 0x40;
}

bool qds_is_prefix(uint8_t byte)
{
    static const uint8_t legacy[] = {0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x66, 0x67, 0xF2, 0xF3};
    return is_rex(byte) || memchr(legacy, byte, sizeof legacy);
}

/* Opcodes of one byte without ModRM that access no memory: operations with an immediate, XCHG and MOV of registers,
 * branches, flags, CPUID's neighbours. */
static bool plain(uint8_t opcode)
{
    if (opcode < 0x40)
        return (opcode & 7) == 4 || (opcode & 7) == 5;
    return (opcode >= 0x70 && opcode < 0x80) || (opcode >= 0x90 && opcode < 0x9A) || opcode == 0x9E || opcode == 0x9F ||
           opcode == 0xA8 || opcode == 0xA9 || (opcode >= 0xB0 && opcode < 0xC0) || (opcode >= 0xE0 && opcode < 0xE4) ||
           opcode == 0xE9 || opcode == 0xEB || opcode == 0xF4 || opcode == 0xF5 || (opcode >= 0xF8 && opcode < 0xFE);
}

/* Opcodes of one byte with ModRM. */
static bool has_modrm(uint8_t opcode)
{
    if (opcode < 0x40)
        return (opcode & 7) < 4;
    return opcode == 0x63 || opcode == 0x69 || opcode == 0x6B || (opcode >= 0x80 && opcode < 0x90) || opcode == 0xC0 ||
           opcode == 0xC1 || opcode == 0xC6 || opcode == 0xC7 || (opcode >= 0xD0 && opcode < 0xD4) ||
           (opcode >= 0xD8 && opcode < 0xE0) || opcode == 0xF6 || opcode == 0xF7 || opcode >= 0xFE;
}

static bool one_byte_accesses(uint8_t opcode, uint8_t modrm)
{
    if (plain(opcode) || opcode == 0x8D) /* LEA */
        return false;
    if (opcode == 0x8E) /* MOV to a segment register: a descriptor */
        return true;
    if (opcode == 0x8F || (opcode == 0xFF && REG(modrm) >= 2 && REG(modrm) != 4)) /* POP, CALL and PUSH: the stack */
        return true;
    return !has_modrm(opcode) || MEMORY(modrm);
}

static bool two_byte_accesses(uint8_t opcode, uint8_t modrm)
{
    if ((opcode >= 0x80 && opcode < 0x90) || (opcode >= 0xC8 && opcode < 0xD0)) /* Jcc, BSWAP */
        return false;
    switch (opcode) {
    case 0x05: /* SYSCALL, SYSRET, CLTS, INVD, WBINVD, UD2 */
    case 0x06:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x0B:
    case 0x0D: /* hints */
    case 0x18:
    case 0x1F:
    case 0x20: /* MOV of control and debug registers */
    case 0x21:
    case 0x22:
    case 0x23:
    case 0x30: /* WRMSR, RDTSC, RDMSR, RDPMC */
    case 0x31:
    case 0x32:
    case 0x33:
    case 0x77: /* EMMS */
    case 0xA2: /* CPUID */
        return false;
    case 0x00: /* LLDT, LTR, VERR, LAR, LSL: a descriptor */
    case 0x02:
    case 0x03:
    case 0xA0: /* PUSH and POP of FS and GS */
    case 0xA1:
    case 0xA8:
    case 0xA9:
    case 0xF7: /* MASKMOVQ, MASKMOVDQU */
        return true;
    default:
        return MEMORY(modrm);
    }
}

/* What an instruction surely does. Not so: far transfers, segment registers, shifts (their count may be 0), strings,
 * bit tests, what is atomic, and whatever is rare. */
enum certain { NOTHING, LOADS, STORES, BOTH, UNKNOWN };

static enum certain one_byte_certain(uint8_t opcode, uint8_t modrm)
{
    const unsigned reg = REG(modrm);
    const bool memory = MEMORY(modrm);
    if (opcode < 0x40 && (opcode & 7) < 4) /* ADD to CMP */
        return !memory ? NOTHING : (opcode & 2) || opcode >= 0x38 ? LOADS : BOTH;
    if (opcode >= 0x50 && opcode < 0x60)
        return opcode < 0x58 ? STORES : LOADS;
    switch (opcode) {
    case 0x68: /* PUSH, PUSHF, CALL, MOV to an address */
    case 0x6A:
    case 0x9C:
    case 0xE8:
    case 0xA2:
    case 0xA3:
        return STORES;
    case 0x9D: /* POPF, RET, LEAVE, MOV from an address */
    case 0xC2:
    case 0xC3:
    case 0xC9:
    case 0xA0:
    case 0xA1:
        return LOADS;
    case 0x80: /* ADD to CMP with an immediate */
    case 0x81:
    case 0x83:
        return !memory ? NOTHING : reg == 7 ? LOADS : BOTH;
    case 0x69: /* IMUL, TEST, MOV */
    case 0x6B:
    case 0x84:
    case 0x85:
    case 0x8A:
    case 0x8B:
        return memory ? LOADS : NOTHING;
    case 0x88: /* MOV */
    case 0x89:
        return memory ? STORES : NOTHING;
    case 0x8F: /* POP */
        return reg ? UNKNOWN : memory ? BOTH : LOADS;
    case 0xC6: /* MOV */
    case 0xC7:
        return reg ? UNKNOWN : memory ? STORES : NOTHING;
    case 0xF6: /* TEST; NOT and NEG; MUL to IDIV */
    case 0xF7:
        return !memory ? NOTHING : reg == 2 || reg == 3 ? BOTH : LOADS;
    case 0xFE: /* INC and DEC; of FF CALL, JMP, PUSH */
    case 0xFF:
        if (reg < 2)
            return memory ? BOTH : NOTHING;
        if (opcode == 0xFE || reg == 3 || reg == 5 || reg == 7)
            return UNKNOWN;
        return reg == 4 ? (memory ? LOADS : NOTHING) : memory ? BOTH : STORES;
    default:
        return UNKNOWN;
    }
}

/* After 0F, where it has an operand in memory. `repe`: after F3. */
static enum certain two_byte_certain(uint8_t opcode, bool repe)
{
    if ((opcode >= 0x40 && opcode < 0x50) || (opcode >= 0x54 && opcode < 0x60)) /* CMOV, arithmetic of SSE */
        return LOADS;
    if (opcode >= 0x90 && opcode < 0xA0) /* SETcc */
        return STORES;
    switch (opcode) {
    case 0x10: /* moves of SSE; IMUL, MOVZX, MOVSX */
    case 0x28:
    case 0x6E:
    case 0x6F:
    case 0xAF:
    case 0xB6:
    case 0xB7:
    case 0xBE:
    case 0xBF:
        return LOADS;
    case 0x11: /* moves of SSE; MOVNTI, MOVNTDQ */
    case 0x29:
    case 0x7F:
    case 0xC3:
    case 0xD6:
    case 0xE7:
        return STORES;
    case 0x7E:
        return repe ? LOADS : STORES;
    default:
        return UNKNOWN;
    }
}

static void set_certain(struct qds_access_decoded *d, enum certain certain)
{
    d->certain = certain != UNKNOWN && !d->locked;
    d->loads = d->certain && (certain == LOADS || certain == BOTH);
    d->stores = d->certain && (certain == STORES || certain == BOTH);
}

/* After 0F. */
static void two_bytes(const uint8_t *code, size_t size, uint8_t rex, bool repe, struct qds_access_decoded *d)
{
    const uint8_t opcode = code[0], modrm = size > 1 ? code[1] : 0;
    if (opcode == 0x38 || opcode == 0x3A) {
        d->accesses = size < 3 || MEMORY(code[2]);
        d->flushes = opcode == 0x38 && modrm == 0x82; /* INVPCID */
        return;
    }
    d->accesses = two_byte_accesses(opcode, modrm);
    d->prefetch = MEMORY(modrm) && ((opcode == 0x18 && REG(modrm) < 4) || (opcode == 0x0D && REG(modrm) == 1));
    if (opcode != 0x01) /* with all kinds of things */
        set_certain(d, d->accesses ? two_byte_certain(opcode, repe) : NOTHING);
    if (opcode == 0x22 && REG(modrm) != 2 && !(rex & 4)) /* not CR2, nor CR8 */
        d->flushes = true;
    if (opcode == 0xAA)
        d->flushes = true;
    if (opcode == 0x01 && MEMORY(modrm) && REG(modrm) == 7) { /* INVLPG */
        d->flushes = true;
        d->accesses = false;
        if (modrm < 0x40 && RM(modrm) != 4 && RM(modrm) != 5)
            d->page = (int8_t)(RM(modrm) | (rex & 1 ? 8 : 0));
    }
}

struct qds_access_decoded qds_access_decode(const uint8_t *code, size_t size)
{
    struct qds_access_decoded d = {.accesses = true, .page = -1};
    uint8_t rex = 0;
    bool repe = false;
    size_t at = 0;
    for (; at < size && (code[at] == LOCK || qds_is_prefix(code[at])); at++) {
        d.locked |= code[at] == LOCK;
        repe |= code[at] == 0xF3;
        rex = is_rex(code[at]) ? code[at] : 0;
    }
    if (at == size)
        return d;
    const uint8_t opcode = code[at++], modrm = at < size ? code[at] : 0;
    if (opcode == 0x0F) {
        if (at < size)
            two_bytes(code + at, size - at, rex, repe, &d);
    } else if (opcode == 0xC4 || opcode == 0xC5 || opcode == 0x62) { /* VEX and EVEX: one opcode, then ModRM */
        at += opcode == 0xC5 ? 2 : opcode == 0xC4 ? 3 : 4;
        d.accesses = at >= size || MEMORY(code[at]);
    } else {
        d.accesses = one_byte_accesses(opcode, modrm);
        d.locked |= (opcode == 0x86 || opcode == 0x87) && MEMORY(modrm);
        enum certain certain = one_byte_certain(opcode, modrm);
        if (opcode == 0x63 && rex & 8) /* MOVSXD; ARPL in other modes, where nothing begins with REX */
            certain = MEMORY(modrm) ? LOADS : NOTHING;
        set_certain(&d, certain == UNKNOWN && !d.accesses ? NOTHING : certain);
    }
    d.locked &= d.accesses;
    return d;
}
