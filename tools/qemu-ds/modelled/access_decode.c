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
    if (opcode == 0xFF && REG(modrm) >= 2 && REG(modrm) != 4) /* CALL and PUSH use the stack */
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
    case 0xA0: /* PUSH and POP of FS and GS */
    case 0xA1:
    case 0xA8:
    case 0xA9:
        return true;
    default:
        return MEMORY(modrm);
    }
}

/* After 0F. */
static void two_bytes(const uint8_t *code, size_t size, uint8_t rex, struct qds_access_decoded *d)
{
    const uint8_t opcode = code[0], modrm = size > 1 ? code[1] : 0;
    if (opcode == 0x38 || opcode == 0x3A) {
        d->accesses = size < 3 || MEMORY(code[2]);
        d->flushes = opcode == 0x38 && modrm == 0x82; /* INVPCID */
        return;
    }
    d->accesses = two_byte_accesses(opcode, modrm);
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
    size_t at = 0;
    for (; at < size && (code[at] == LOCK || qds_is_prefix(code[at])); at++) {
        d.locked |= code[at] == LOCK;
        rex = is_rex(code[at]) ? code[at] : 0;
    }
    if (at == size)
        return d;
    const uint8_t opcode = code[at++], modrm = at < size ? code[at] : 0;
    if (opcode == 0x0F) {
        if (at < size)
            two_bytes(code + at, size - at, rex, &d);
    } else if (opcode == 0xC4 || opcode == 0xC5 || opcode == 0x62) { /* VEX and EVEX: one opcode, then ModRM */
        at += opcode == 0xC5 ? 2 : opcode == 0xC4 ? 3 : 4;
        d.accesses = at >= size || MEMORY(code[at]);
    } else {
        d.accesses = one_byte_accesses(opcode, modrm);
        d.locked |= (opcode == 0x86 || opcode == 0x87) && MEMORY(modrm);
    }
    d.locked &= d.accesses;
    return d;
}
