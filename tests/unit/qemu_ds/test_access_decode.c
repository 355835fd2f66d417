/* SPDX-License-Identifier: MIT */
/* What instructions do with memory: the bytes of some, as an assembler gives them. */
#include "tests/unit/support/cmocka.h"
#include "tools/qemu-ds/modelled/access_decode.h"

enum { NOTHING, ACCESSES = 1, LOCKED = 2, FLUSHES = 4, PREFETCHES = 8 };

static void some_instructions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned is;
        int page;
        unsigned size;
        uint8_t code[12];
    } rows[] = {
        {"mov rax, rbx", NOTHING, -1, 3, {0x48, 0x89, 0xD8}},
        {"mov rax, [rbx]", ACCESSES, -1, 3, {0x48, 0x8B, 0x03}},
        {"lea rax, [rbx]", NOTHING, -1, 3, {0x48, 0x8D, 0x03}},
        {"add eax, 5", NOTHING, -1, 3, {0x83, 0xC0, 0x05}},
        {"add dword [rax], 5", ACCESSES, -1, 3, {0x83, 0x00, 0x05}},
        {"add eax, imm32", NOTHING, -1, 5, {0x05, 1, 2, 3, 4}},
        {"lock inc dword [rdi]", ACCESSES | LOCKED, -1, 3, {0xF0, 0xFF, 0x07}},
        {"xchg [rdi], eax", ACCESSES | LOCKED, -1, 2, {0x87, 0x07}},
        {"xchg ebx, eax", NOTHING, -1, 1, {0x93}},
        {"xchg ebx, ecx", NOTHING, -1, 2, {0x87, 0xCB}},
        {"push rax", ACCESSES, -1, 1, {0x50}},
        {"push r8", ACCESSES, -1, 2, {0x41, 0x50}},
        {"call rax", ACCESSES, -1, 2, {0xFF, 0xD0}},
        {"jmp rax", NOTHING, -1, 2, {0xFF, 0xE0}},
        {"jmp [rax]", ACCESSES, -1, 2, {0xFF, 0x20}},
        {"call near", ACCESSES, -1, 5, {0xE8, 0, 0, 0, 0}},
        {"jmp near", NOTHING, -1, 5, {0xE9, 0, 0, 0, 0}},
        {"jz near", NOTHING, -1, 6, {0x0F, 0x84, 0, 0, 0, 0}},
        {"ret", ACCESSES, -1, 1, {0xC3}},
        {"rep stosq", ACCESSES, -1, 3, {0xF3, 0x48, 0xAB}},
        {"prefetchnta [rax]", PREFETCHES, -1, 3, {0x0F, 0x18, 0x00}},
        {"prefetcht2 [r8]", PREFETCHES, -1, 4, {0x41, 0x0F, 0x18, 0x18}},
        {"prefetchw [rax]", PREFETCHES, -1, 3, {0x0F, 0x0D, 0x08}},
        {"nop by 0F 18 /4", NOTHING, -1, 3, {0x0F, 0x18, 0x20}},
        {"nop by 0F 18, a register", NOTHING, -1, 3, {0x0F, 0x18, 0xC8}},
        {"AMD's prefetch, a nop here", NOTHING, -1, 3, {0x0F, 0x0D, 0x00}},
        {"nop [rax]", NOTHING, -1, 3, {0x0F, 0x1F, 0x00}},
        {"movaps xmm0, [rax]", ACCESSES, -1, 3, {0x0F, 0x28, 0x00}},
        {"movaps xmm0, xmm1", NOTHING, -1, 3, {0x0F, 0x28, 0xC1}},
        {"vmovups ymm0, [rax]", ACCESSES, -1, 4, {0xC5, 0xFC, 0x10, 0x00}},
        {"vmovups ymm0, ymm1", NOTHING, -1, 4, {0xC5, 0xFC, 0x10, 0xC1}},
        {"vpaddd ymm8, ymm8, [r8]", ACCESSES, -1, 5, {0xC4, 0x41, 0x3D, 0xFE, 0x00}},
        {"pshufb xmm0, [rax]", ACCESSES, -1, 5, {0x66, 0x0F, 0x38, 0x00, 0x00}},
        {"cpuid", NOTHING, -1, 2, {0x0F, 0xA2}},
        {"push fs", ACCESSES, -1, 2, {0x0F, 0xA0}},
        {"xsave [rax]", ACCESSES, -1, 3, {0x0F, 0xAE, 0x20}},
        {"mov cr3, rax", FLUSHES, -1, 3, {0x0F, 0x22, 0xD8}},
        {"mov cr8, rax", NOTHING, -1, 4, {0x44, 0x0F, 0x22, 0xC0}},
        {"mov cr2, rax", NOTHING, -1, 3, {0x0F, 0x22, 0xD0}},
        {"mov rax, cr3", NOTHING, -1, 3, {0x0F, 0x20, 0xD8}},
        {"invlpg [rbx]", FLUSHES, 3, 3, {0x0F, 0x01, 0x3B}},
        {"invlpg [r10]", FLUSHES, 10, 4, {0x41, 0x0F, 0x01, 0x3A}},
        {"invlpg [rsp]", FLUSHES, -1, 4, {0x0F, 0x01, 0x3C, 0x24}},
        {"invlpg [rip + n]", FLUSHES, -1, 7, {0x0F, 0x01, 0x3D, 0, 0, 0, 0}},
        {"invpcid rax, [rbx]", ACCESSES | FLUSHES, -1, 5, {0x66, 0x0F, 0x38, 0x82, 0x03}},
        {"swapgs", NOTHING, -1, 3, {0x0F, 0x01, 0xF8}},
        {"clac", NOTHING, -1, 3, {0x0F, 0x01, 0xCA}},
        {"lgdt [rax]", ACCESSES, -1, 3, {0x0F, 0x01, 0x10}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct qds_access_decoded d = qds_access_decode(rows[i].code, rows[i].size);
        const unsigned is = (d.accesses ? ACCESSES : 0) | (d.locked ? LOCKED : 0) | (d.flushes ? FLUSHES : 0) |
                            (d.prefetch ? PREFETCHES : 0);
        if (is != rows[i].is || d.page != rows[i].page)
            fail_msg("%s: %u, page %d", rows[i].name, is, d.page);
    }
}

/* tests/qemu_ds/random_guest.py runs those that are certain; here are some that must not be taken for such. */
static void what_is_not_certain(void **state)
{
    (void)state;
    static const uint8_t codes[][6] = {
        {1, 0xA4},                         /* movsb */
        {2, 0xF3, 0xAA},                   /* rep stosb */
        {2, 0xD3, 0x20},                   /* shl dword [rax], cl */
        {3, 0xC1, 0x20, 0x00},             /* shl dword [rax], 0 */
        {3, 0x0F, 0xAB, 0x08},             /* bts [rax], ecx */
        {3, 0xF0, 0xFF, 0x00},             /* lock inc dword [rax] */
        {2, 0x87, 0x08},                   /* xchg [rax], ecx */
        {2, 0x8E, 0xD0},                   /* mov ss, eax */
        {1, 0xCB},                         /* retf */
        {2, 0xFF, 0x18},                   /* call far [rax] */
        {3, 0x0F, 0x00, 0xD0},             /* lldt ax */
        {4, 0x66, 0x0F, 0xF7, 0xC1},       /* maskmovdqu xmm0, xmm1 */
        {4, 0xC5, 0xFC, 0x10, 0x00},       /* vmovups ymm0, [rax] */
        {5, 0xC4, 0xE2, 0x7D, 0x2C, 0x00}, /* vmaskmovps */
        {1, 0x48},                         /* dec eax, in 32-bit mode */
        {2, 0x63, 0x00},                   /* arpl [eax], ax there */
        {2, 0x62, 0x00},                   /* bound there */
        {1, 0x60},                         /* pusha there */
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (qds_access_decode(codes[i] + 1, codes[i][0]).certain)
            fail_msg("%zu", i);
    const uint8_t add[] = {0x01, 0x08}, push[] = {0xFF, 0x30}, movsxd[] = {0x48, 0x63, 0x00};
    const struct qds_access_decoded both = qds_access_decode(add, 2), pushes = qds_access_decode(push, 2),
                                    loads = qds_access_decode(movsxd, 3);
    assert_true(both.certain && both.loads && both.stores && pushes.certain && pushes.loads && pushes.stores);
    assert_true(loads.certain && loads.loads && !loads.stores);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(some_instructions), cmocka_unit_test(what_is_not_certain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
