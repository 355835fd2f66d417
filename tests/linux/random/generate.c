/* SPDX-License-Identifier: MIT */
/*
 * A program: functions of a few blocks each, private or shared as a whole. Within a function blocks lead to any other,
 * between functions there are calls, also into themselves. The first function's last block leads to the exit; so does
 * fuel that is used up, from wherever.
 * Longer than 500 lines: one pass makes code, tables and fuel, which point at each other.
 */
#include "tests/linux/random/items.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { FUNCTIONS = 6, FUNCTION_BLOCKS = 7, BLOCKS = 3 + FUNCTIONS * FUNCTION_BLOCKS, SLOTS = 400 };
enum { ENTRY, EXIT, HANDLER, FIRST_BLOCK };

#define FUEL     RANDOM_DATA
#define SLOTS_AT 0x7000u /* in data: pointers that calls and jumps go by */
#define SAVED_AT 0x6F40u /* in data: registers at the exit */

const uint64_t random_alias[RANDOM_ALIASES] = {0x20000000, 0x20005000, 0x31003000};

struct function {
    unsigned first, count, arguments;
    bool shared;
};

static struct {
    uint64_t rng;
    unsigned blocks, functions, slots;
    struct function function[FUNCTIONS];
    struct {
        struct random_emit code;
        bool fueled, falls; /* falls: the next block comes right behind */
        uint32_t place;     /* in the file */
    } block[BLOCKS];
    struct {
        unsigned block, alias;
        bool far;
    } slot[SLOTS];
    struct random_sites sites;
} g;

static unsigned alias(void)
{
    return random_below(&g.rng, RANDOM_ALIASES);
}

/* Number of a new slot that holds the address of a block. */
static unsigned slot(unsigned block, bool far)
{
    if (g.slots == SLOTS)
        abort();
    g.slot[g.slots].block = block;
    g.slot[g.slots].alias = alias();
    g.slot[g.slots].far = far;
    return g.slots++;
}

static uint64_t slot_address(unsigned number)
{
    return RANDOM_DATA + SLOTS_AT + 8 * number;
}

static void jump_near(struct random_emit *e, unsigned block)
{
    random_u8(e, 0xE9);
    random_fixup(e, RANDOM_TO_BLOCK, 0, 0, block);
    random_end(e, RANDOM_JUMP);
}

static void push_block(struct random_emit *e, unsigned block)
{
    random_u8(e, 0x68);
    random_fixup(e, RANDOM_BLOCK_HERE, 0, alias(), block);
    random_end(e, RANDOM_PLAIN);
}

static void leave_for(struct random_emit *e, unsigned block)
{
    push_block(e, block);
    RANDOM_INSN(e, RANDOM_RETURN, 0xC3);
}

/* Any way to a block of the same function. */
static void jump(struct random_emit *e, unsigned block)
{
    const unsigned reg = random_register(e, e->free);
    switch (random_below(e->rng, 9)) {
    case 0: /* JMP reg */
        random_mov_block(e, reg, block, alias());
        random_modrm(e, 4, 0xFF, 4, random_reg(reg), 0);
        random_end(e, RANDOM_JUMP);
        break;
    case 1: /* JMP [slot] */
        random_modrm(e, 4, 0xFF, 4, random_absolute(slot_address(slot(block, false))), 0);
        random_end(e, RANDOM_JUMP);
        break;
    case 2:
        leave_for(e, block);
        break;
    case 3: /* far JMP [slot] */
        random_modrm(e, 4, 0xFF, 5, random_absolute(slot_address(slot(block, true))), 0);
        random_end(e, RANDOM_FAR);
        break;
    case 4: /* far RET */
        RANDOM_INSN(e, RANDOM_PLAIN, 0x6A, 0x33);
        push_block(e, block);
        RANDOM_INSN(e, RANDOM_FAR, 0x48, 0xCB);
        break;
    case 5: /* IRET, which the kernel does not have to itself */
        random_modrm(e, 8, 0x89, RSP, random_reg(reg), 0);
        random_end(e, RANDOM_PLAIN);
        RANDOM_INSN(e, RANDOM_PLAIN, 0x6A, 0x2B);
        if (reg >= 8)
            random_u8(e, 0x41);
        random_u8(e, 0x50 | (reg & 7));
        random_end(e, RANDOM_PLAIN);
        RANDOM_INSN(e, RANDOM_PUSHF, 0x9C);
        RANDOM_INSN(e, RANDOM_PLAIN, 0x6A, 0x33);
        push_block(e, block);
        RANDOM_INSN(e, RANDOM_FAR, 0x48, 0xCF);
        break;
    default:
        jump_near(e, block);
    }
}

static void jump_if(struct random_emit *e, unsigned block)
{
    random_u8(e, 0x0F);
    random_site(e, RANDOM_SITE_CONDITION);
    random_u8(e, 0x80 | random_below(e->rng, 16));
    random_fixup(e, RANDOM_TO_BLOCK, 0, 0, block);
    random_end(e, RANDOM_JCC);
}

/* JMP [table + reg * 8] */
static void jump_by_table(struct random_emit *e, const unsigned block[4])
{
    const unsigned reg = random_register(e, e->free);
    unsigned first = slot(block[0], false);
    for (unsigned i = 1; i < 4; i++)
        slot(block[i], false);
    random_modrm(e, 4, 0x83, 4, random_reg(reg), 1); /* AND reg, 3 */
    random_u8(e, 3);
    random_end(e, RANDOM_PLAIN);
    struct random_operand to = random_absolute(slot_address(first));
    to.index = (int8_t)reg;
    to.scale = 3;
    random_modrm(e, 4, 0xFF, 4, to, 0);
    random_end(e, RANDOM_JUMP);
}

static void call(struct random_emit *e)
{
    const struct function *f = &g.function[1 + random_below(e->rng, g.functions - 1)]; /* the first ends the program */
    for (unsigned i = 0; i < f->arguments; i++)
        random_push_imm32(e, random_immediate(e->rng));
    const unsigned reg = random_register(e, e->free), how = random_below(e->rng, 4);
    if (how == 0) {
        random_mov_block(e, reg, f->first, alias());
        random_modrm(e, 4, 0xFF, 2, random_reg(reg), 0);
    } else if (how == 1 || f->shared != e->shared) {
        random_modrm(e, 4, 0xFF, 2, random_absolute(slot_address(slot(f->first, false))), 0);
    } else {
        random_u8(e, 0xE8);
        random_fixup(e, RANDOM_TO_BLOCK, 0, 0, f->first);
    }
    random_end(e, RANDOM_CALL);
}

static void use_fuel(struct random_emit *e)
{
    random_modrm(e, 4, 0xFF, 1, random_absolute(FUEL), 0); /* DEC */
    random_end(e, RANDOM_PLAIN);
    if (e->shared) {
        RANDOM_INSN(e, RANDOM_JCC, 0x79, 0x06); /* JNS over the next two */
        leave_for(e, EXIT);
    } else {
        random_u8(e, 0x0F);
        random_u8(e, 0x88); /* JS */
        random_fixup(e, RANDOM_TO_BLOCK, 0, 0, EXIT);
        random_end(e, RANDOM_JCC);
    }
}

static void item(struct random_emit *e)
{
    static const struct {
        unsigned weight;
        void (*add)(struct random_emit *e);
    } items[] = {
        {30, random_straight}, {15, random_skip},  {6, random_loop},    {8, random_string},
        {5, random_flags},     {6, random_memory}, {4, random_syscall}, {6, random_fault},
        {6, random_modify},    {5, random_odd},    {8, call},
    };
    unsigned at = random_below(e->rng, 99);
    for (unsigned i = 0; i < sizeof items / sizeof items[0]; at -= items[i++].weight)
        if (at < items[i].weight) {
            items[i].add(e);
            return;
        }
}

/* Where block i of f goes on, always in the function: mostly forward, back where that costs fuel. */
static unsigned successor(const struct function *f, unsigned i)
{
    unsigned to = f->first + random_below(&g.rng, f->count);
    if (to <= f->first + i && !(random_chance(&g.rng, 60) && g.block[to].fueled))
        to = f->first + i + 1 + random_below(&g.rng, f->count - i - 1);
    return to;
}

static void finish(struct random_emit *e, const struct function *f, unsigned i)
{
    if (i == f->count - 1) {
        if (f == &g.function[0]) {
            leave_for(e, EXIT);
        } else if (f->arguments) {
            random_u8(e, 0xC2);
            random_u8(e, 8 * f->arguments);
            random_u8(e, 0);
            random_end(e, RANDOM_RETURN);
        } else {
            RANDOM_INSN(e, RANDOM_RETURN, 0xC3);
        }
        return;
    }
    const unsigned how = random_below(e->rng, 10);
    if (how < 5)
        jump_if(e, successor(f, i));
    if (how < 3) {
        g.block[f->first + i].falls = true;
    } else if (how == 9) {
        const unsigned to[4] = {successor(f, i), successor(f, i), successor(f, i), successor(f, i)};
        jump_by_table(e, to);
    } else {
        jump(e, successor(f, i));
    }
}

static struct random_emit *begin(unsigned block, bool shared)
{
    struct random_emit *e = &g.block[block].code;
    e->rng = &g.rng;
    e->block = block;
    e->shared = shared;
    e->free = RANDOM_REGISTERS;
    e->sites = &g.sites;
    return e;
}

static void entry(void)
{
    struct random_emit *e = begin(ENTRY, false);
    RANDOM_INSN(e, RANDOM_INT3, 0xCC);
    for (unsigned reg = 0; reg < 16; reg++)
        random_mov_imm64(e, reg,
                         reg == RSP   ? RANDOM_STACK + RANDOM_STACK_PAGES * RANDOM_PAGE - 0x100
                         : reg == R14 ? RANDOM_R14
                         : reg == R15 ? 0
                                      : random_next(e->rng));
    RANDOM_INSN(e, RANDOM_PLAIN, 0xDB, 0xE3); /* FNINIT */
    for (unsigned i = 0; i < 16; i++) {
        random_modrm(e, 4, 0x0F10, i, random_absolute(RANDOM_DATA + 0x100 + 16 * i), 0);
        random_end(e, RANDOM_PLAIN);
    }
    random_push_imm32(e, 0x202);
    RANDOM_INSN(e, RANDOM_PLAIN, 0x9D);
    /* one site of each kind, so that there is one */
    random_u8(e, 0xB8);
    random_site(e, RANDOM_SITE_IMM32);
    random_u32(e, 1);
    random_end(e, RANDOM_PLAIN);
    random_u8(e, 0x48);
    random_u8(e, 0xBB);
    random_site(e, RANDOM_SITE_IMM64);
    random_u64(e, 1);
    random_end(e, RANDOM_PLAIN);
    random_site(e, RANDOM_SITE_CONDITION);
    RANDOM_INSN(e, RANDOM_JCC, 0x74, 0x00);
    leave_for(e, g.function[0].first);
}

static void leave(void)
{
    struct random_emit *e = begin(EXIT, false);
    for (unsigned reg = 0; reg < 16; reg++)
        if (reg != RSP) {
            random_modrm(e, 8, 0x89, reg, random_absolute(RANDOM_DATA + SAVED_AT + 8 * reg), 0);
            random_end(e, RANDOM_PLAIN);
        }
    random_mov_imm32(e, RDI, 0);
    random_mov_imm32(e, RAX, SYS_exit_group);
    RANDOM_INSN(e, RANDOM_SYSCALL, 0x0F, 0x05);
}

/* Of signals, with three arguments in RDI, RSI and RDX: goes on at what R15 was, else makes the page accessible. */
static void handler(bool shared)
{
    enum { UC_R15 = 96, UC_RIP = 168, SI_ADDR = 16 };
    struct random_emit *e = begin(HANDLER, shared);
    e->free &= (uint16_t) ~(1u << RDX | 1u << RSI);
    random_straights(e, random_below(e->rng, 4));
    random_skip(e);
    random_modrm(e, 8, 0x8B, RAX, random_based(RDX, UC_R15), 0);
    random_end(e, RANDOM_PLAIN);
    RANDOM_INSN(e, RANDOM_PLAIN, 0x48, 0x85, 0xC0); /* TEST RAX, RAX */
    RANDOM_INSN(e, RANDOM_JCC, 0x74, 0x10);         /* JZ over the next three */
    random_u8(e, 0x48);                             /* MOV [RDX + UC_RIP], RAX */
    random_u8(e, 0x89);
    random_u8(e, 0x82);
    random_u32(e, UC_RIP);
    random_end(e, RANDOM_PLAIN);
    random_u8(e, 0x48); /* MOV QWORD [RDX + UC_R15], 0 */
    random_u8(e, 0xC7);
    random_u8(e, 0x42);
    random_u8(e, UC_R15);
    random_u32(e, 0);
    random_end(e, RANDOM_PLAIN);
    RANDOM_INSN(e, RANDOM_RETURN, 0xC3);
    random_modrm(e, 8, 0x8B, RDI, random_based(RSI, SI_ADDR), 0);
    random_end(e, RANDOM_PLAIN);
    RANDOM_INSN(e, RANDOM_PLAIN, 0x48, 0x81, 0xE7, 0x00, 0xF0, 0xFF, 0xFF); /* AND RDI, -4096 */
    random_mov_imm32(e, RSI, RANDOM_PAGE);
    random_mov_imm32(e, RDX, 3); /* PROT_READ | PROT_WRITE */
    random_mov_imm32(e, RAX, SYS_mprotect);
    RANDOM_INSN(e, RANDOM_SYSCALL, 0x0F, 0x05);
    RANDOM_INSN(e, RANDOM_RETURN, 0xC3);
    random_mov_imm32(e, RAX, SYS_rt_sigreturn); /* the restorer: the last 7 bytes */
    RANDOM_INSN(e, RANDOM_SYSCALL, 0x0F, 0x05);
}

static void function(const struct function *f)
{
    for (unsigned i = 0; i < f->count; i++)
        g.block[f->first + i].fueled = i == 0 || random_chance(&g.rng, 30);
    for (unsigned i = 0; i < f->count; i++) {
        struct random_emit *e = begin(f->first + i, f->shared);
        if (g.block[f->first + i].fueled)
            use_fuel(e);
        for (unsigned n = 1 + random_below(&g.rng, 6); n; n--)
            item(e);
        finish(e, f, i);
    }
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static bool shared(unsigned block)
{
    return g.block[block].code.shared;
}

static uint64_t address_of(uint32_t place, unsigned through)
{
    return place < RANDOM_SHARED_AT ? RANDOM_CODE + place : random_alias[through] + place - RANDOM_SHARED_AT;
}

/* Blocks that fall into each other stay together; a quarter of them begin near the end of a page. */
static bool place_all(void)
{
    uint32_t at[2] = {RANDOM_CODE_AT, RANDOM_SHARED_AT};
    const uint32_t end[2] = {RANDOM_SHARED_AT, RANDOM_CODE_SIZE};
    unsigned order[BLOCKS];
    for (unsigned i = 0; i < g.blocks; i++) {
        unsigned with = random_below(&g.rng, i + 1);
        order[i] = order[with];
        order[with] = i;
    }
    for (unsigned n = 0; n < g.blocks; n++) {
        unsigned b = order[n];
        if (b > 0 && g.block[b - 1].falls)
            continue; /* with the first */
        uint32_t *to = &at[shared(b)];
        *to += random_below(&g.rng, random_chance(&g.rng, 20) ? 300 : 16);
        if (random_chance(&g.rng, 25))
            *to += (2 * RANDOM_PAGE - 1 - random_below(&g.rng, 40) - *to % RANDOM_PAGE) % RANDOM_PAGE;
        for (bool more = true; more; b++) {
            g.block[b].place = *to;
            *to += g.block[b].code.at;
            more = g.block[b].falls;
        }
        if (*to > end[shared(order[n])])
            return false;
    }
    return true;
}

static uint32_t resolve(const struct random_emit *e, const struct random_fixup *f)
{
    const uint32_t here = g.block[e->block].place + f->at, behind = here + 4 + f->behind;
    switch (f->kind) {
    case RANDOM_TO_BLOCK:
        return g.block[f->target].place - behind;
    case RANDOM_BLOCK_HERE:
        return (uint32_t)address_of(g.block[f->target].place, f->alias);
    case RANDOM_TO_DATA:
        return f->target - (uint32_t)address_of(behind, 0);
    case RANDOM_TO_SITE:
        return g.block[g.sites.of[f->target].block].place + g.sites.of[f->target].at - behind;
    default:
        break;
    }
    const struct random_site *site;
    do
        site = &g.sites.of[random_below(&g.rng, g.sites.count)];
    while (site->kind != f->target);
    return (uint32_t)address_of(g.block[site->block].place + site->at, f->alias);
}

static void write_code(struct random_program *p)
{
    for (unsigned b = 0; b < g.blocks; b++) {
        struct random_emit *e = &g.block[b].code;
        for (unsigned i = 0; i < e->fixup_count; i++) {
            uint32_t value = resolve(e, &e->fixups[i]);
            memcpy(e->bytes + e->fixups[i].at, &value, sizeof value);
        }
        memcpy(p->file + g.block[b].place, e->bytes, e->at);
        for (unsigned i = 0; i < e->count; i++)
            p->insns[g.block[b].place + e->insns[i].at] = e->insns[i].insn;
    }
}

static void write_data(struct random_program *p)
{
    uint8_t *data = p->file + RANDOM_DATA_AT;
    for (unsigned i = 0; i < SLOTS_AT; i += 8) {
        uint64_t value = random_next(&g.rng);
        memcpy(data + i, &value, sizeof value);
    }
    const uint32_t fuel = 20 + random_below(&g.rng, 40);
    memcpy(data, &fuel, sizeof fuel);
    for (unsigned i = 0; i < g.slots; i++) {
        uint64_t value = address_of(g.block[g.slot[i].block].place, g.slot[i].alias);
        if (g.slot[i].far)
            value |= UINT64_C(0x33) << 32; /* CS of 64-bit user code */
        memcpy(data + SLOTS_AT + 8 * i, &value, sizeof value);
    }
}

static bool attempt(struct random_program *p)
{
    uint64_t rng = g.rng;
    memset(&g, 0, sizeof g);
    g.rng = rng;
    g.functions = 2 + random_below(&g.rng, FUNCTIONS - 1);
    g.blocks = FIRST_BLOCK;
    for (unsigned i = 0; i < g.functions; i++) {
        struct function *f = &g.function[i];
        f->first = g.blocks;
        f->count = i ? 1 + random_below(&g.rng, FUNCTION_BLOCKS) : FUNCTION_BLOCKS;
        f->shared = random_chance(&g.rng, 40);
        f->arguments = random_chance(&g.rng, 30) ? random_below(&g.rng, 3) : 0;
        g.blocks += f->count;
    }
    entry();
    leave();
    handler(random_chance(&g.rng, 30));
    for (unsigned i = 0; i < g.functions; i++)
        function(&g.function[i]);
    if (!place_all())
        return false;
    const unsigned through = alias();
    write_code(p);
    write_data(p);
    p->entry = address_of(g.block[ENTRY].place, 0);
    p->handler = address_of(g.block[HANDLER].place, through);
    p->restorer = p->handler + g.block[HANDLER].code.at - 7;
    return true;
}

void random_generate(struct random_program *p, uint64_t seed)
{
    p->seed = seed;
    memset(p->file, 0, RANDOM_FILE_SIZE);
    memset(p->insns, 0, sizeof p->insns);
    g.rng = seed;
    while (!attempt(p)) /* too large: the next one */
        ;
}

long random_place(uint64_t address)
{
    const struct {
        uint64_t base;
        unsigned pages, at;
    } regions[] = {
        {RANDOM_CODE, RANDOM_CODE_PAGES, RANDOM_CODE_AT},
        {random_alias[0], RANDOM_SHARED_PAGES, RANDOM_SHARED_AT},
        {random_alias[1], RANDOM_SHARED_PAGES, RANDOM_SHARED_AT},
        {random_alias[2], RANDOM_SHARED_PAGES, RANDOM_SHARED_AT},
        {RANDOM_STACK, RANDOM_STACK_PAGES, RANDOM_STACK_AT},
    };
    for (unsigned i = 0; i < sizeof regions / sizeof regions[0]; i++)
        if (address - regions[i].base < regions[i].pages * (uint64_t)RANDOM_PAGE)
            return (long)(regions[i].at + (address - regions[i].base));
    return -1;
}

const struct random_insn *random_at(const struct random_program *p, uint64_t address)
{
    long place = random_place(address);
    return place >= 0 && place < RANDOM_CODE_SIZE && p->insns[place].kind ? &p->insns[place] : NULL;
}
