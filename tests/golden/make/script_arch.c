/* SPDX-License-Identifier: MIT */
/* Architectural PEBS of the scripted machine: its registers, and its records, whole or in fragments. */
#include <string.h>

#include "ds/lbr_layout.h"
#include "ds/pebs23_layout.h"
#include "tests/golden/make/script.h"

#define DEPTH 32u

const char *const script_arch_events[] = {"INST_RETIRED.ANY_P:1000:uk", "BR_INST_RETIRED.ALL_BRANCHES:500:uk:plain",
                                          "INST_RETIRED.ANY:700:uk:plain", NULL};

/* Counters 0, 1 and fixed 0: an odd number, so a record with them needs padding. */
uint64_t script_arch_groups(enum script_arch arch)
{
    return arch == SCRIPT_ARCH_WHOLE
               ? IA32_PMC_CFG_C_GPR | IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED
               : IA32_PMC_CFG_C_AUX | IA32_PMC_CFG_C_GPR | IA32_PMC_CFG_C_XMM | IA32_PMC_CFG_C_LBR;
}

uint32_t script_arch_bytes(enum script_arch arch)
{
    const uint32_t headers = arch == SCRIPT_ARCH_FRAGMENTS ? 5 : 0; /* a null one, and four more fragments */
    return ds_arch_record_bytes(script_arch_groups(arch), 3, DEPTH) + headers * (uint32_t)sizeof(struct ds_arch_header);
}

/* ---- registers, and the drain ------------------------------------------------------------------------------------ */

static struct ds_arch_registers registers_of(const struct script *s, const struct script_cpu *cpu)
{
    const bool full = cpu->lost || cpu->lost_unknown;
    const uint64_t groups = script_arch_groups(s->options.arch);
    const uint64_t shown = groups & IA32_PMC_CFG_C_CNTR ? IA32_PMC_CFG_C_CNTR_ALLOW : 0;
    return (struct ds_arch_registers){
        .base = cpu->physical | (unsigned)__builtin_ctz(s->buffer_bytes / 4096),
        .index = ia32_pebs_index((uint32_t)cpu->index, SCRIPT_THRESHOLD * s->record_bytes) | IA32_PEBS_INDEX_EN |
                 (full ? IA32_PEBS_INDEX_FULL : 0),
        .gp_cfg_c = {IA32_PMC_CFG_C_EN | groups | shown | (-SCRIPT_PERIOD & IA32_PMC_CFG_C_RELOAD), shown},
        .fx_cfg_c = {shown},
    };
}

static void records_event(struct script_cpu *cpu, uint64_t tsc, uint32_t first, uint32_t bytes, uint32_t *part,
                          bool continues)
{
    struct cairn_ds_records head = {
        .kind = CAIRN_DS_RECORDS,
        .format = DS_FORMAT_ARCH,
        .continues = continues,
        .epoch = cpu->epoch,
        .address = cpu->physical + first,
        .bytes = bytes,
        .part = (*part)++,
    };
    struct trace_part parts[2] = {{&head, sizeof(head)}, {cpu->records + first, bytes}};
    trace_hub_event(cpu->trace, tsc, 0, HOOK_CAIRN_DS, HOOK_VERSION_CAIRN_DS, parts, 2);
}

void script_arch_epoch(const struct script *s, struct script_cpu *cpu, uint64_t tsc, enum cairn_ds_reason reason)
{
    const uint32_t room =
        (CAIRN_EVENT_MAX - 0x10u - (uint32_t)sizeof(struct cairn_ds_records)) / 16 * 16; /* of a part */
    const uint32_t one = s->record_bytes;
    const uint32_t each = one > room ? one : room / one * one, all = (uint32_t)cpu->index;
    const struct ds_arch_registers registers = registers_of(s, cpu);
    struct cairn_ds_epoch epoch = {
        .kind = CAIRN_DS_EPOCH,
        .reason = (uint8_t)reason,
        .format = DS_FORMAT_ARCH,
        .epoch = cpu->epoch,
        .tsc = tsc,
        .lost = cpu->lost,
        .record_bytes = all,
        .record_events = one > room ? all / one * ((one + room - 1) / room) : (all + each - 1) / each,
    };
    struct trace_part whole[] = {{&epoch, sizeof(epoch)}, {&registers, sizeof(registers)}};
    trace_hub_event(cpu->trace, tsc, 0, HOOK_CAIRN_DS, HOOK_VERSION_CAIRN_DS, whole, 2);
    for (uint32_t at = 0, part = 0; at < all; at += each)
        for (uint32_t in = 0, end = all - at < each ? all - at : each; in < end; in += room)
            records_event(cpu, tsc, at + in, end - in < room ? end - in : room, &part, in != 0);
}

/* ---- a record ---------------------------------------------------------------------------------------------------- */

struct cursor {
    uint8_t *to;
    uint64_t left; /* groups that are to come */
    bool fragments;
};

static void put(struct cursor *at, uint64_t value)
{
    memcpy(at->to, &value, 8);
    at->to += 8;
}

static void put_zeros(struct cursor *at, unsigned n)
{
    for (; n; n--)
        put(at, 0);
}

/* The header in front of `groups`, if they have one of their own. */
static void begin(struct cursor *at, uint64_t groups, uint32_t bytes)
{
    at->left &= ~groups;
    if (!at->fragments)
        return;
    put(at, groups | (sizeof(struct ds_arch_header) + bytes) | DS_ARCH_HEADER_MODE64 |
                (at->left ? DS_ARCH_HEADER_CONT : 0));
    put(at, 0);
}

static uint64_t branch_of(uint64_t ip, unsigned i, bool to)
{
    const uint64_t function = script_symbols[3 + i % 3].address;
    return i ? function + 4 * (i % 8) + (to ? 0x40 : 0) : to ? ip : ip - 4;
}

static uint64_t counter_of(unsigned i, uint64_t tsc)
{
    return i == 0 ? 1 : tsc / (3 + i) & 0xFFFFFF;
}

static uint64_t half_of_xmm(unsigned i, uint64_t tsc)
{
    return tsc * (2 * i + 3);
}

void script_arch_record(struct script *s, uint32_t c, uint64_t tsc, uint64_t ip)
{
    struct script_cpu *cpu = &s->cpu[c];
    const uint64_t groups = script_arch_groups(s->options.arch);
    struct cursor at = {.to = cpu->records + cpu->index,
                        .left = groups | DS_ARCH_HEADER_BASIC,
                        .fragments = s->options.arch == SCRIPT_ARCH_FRAGMENTS};
    if (at.fragments)
        put(&at, sizeof(struct ds_arch_header)); /* a null header */
    else
        put(&at, groups | DS_ARCH_HEADER_BASIC | DS_ARCH_HEADER_MODE64 | s->record_bytes);
    put(&at, 0);
    begin(&at, DS_ARCH_HEADER_BASIC, sizeof(struct ds_arch_basic));
    put(&at, ip);
    put(&at, 1); /* IA32_PMC0 */
    put(&at, tsc);
    put_zeros(&at, 3);
    if (groups & IA32_PMC_CFG_C_AUX) {
        begin(&at, IA32_PMC_CFG_C_AUX, sizeof(struct ds_arch_aux));
        put_zeros(&at, sizeof(struct ds_arch_aux) / 8);
    }
    begin(&at, IA32_PMC_CFG_C_GPR, sizeof(struct ds_arch_gpr));
    for (unsigned i = 0; i < 18; i++)
        put(&at, script_register(i, tsc, ip));
    put_zeros(&at, 2);
    if (groups & IA32_PMC_CFG_C_XMM) {
        begin(&at, IA32_PMC_CFG_C_XMM, sizeof(struct ds_arch_xer) + DS_ARCH_XMM_BYTES);
        put(&at, 2); /* XSTATE component 1 */
        put(&at, 0);
        for (unsigned i = 0; i < 32; i++)
            put(&at, half_of_xmm(i, tsc));
    }
    if (groups & IA32_PMC_CFG_C_LBR) {
        begin(&at, IA32_PMC_CFG_C_LBR, sizeof(struct ds_arch_lbr) + DEPTH * sizeof(struct ds_pebs_lbr));
        put(&at, 0);
        put(&at, IA32_LBR_CTL_LBREN | IA32_LBR_CTL_OS | IA32_LBR_CTL_USR | IA32_LBR_CTL_BRANCHES);
        put(&at, DEPTH);
        put_zeros(&at, 3);
        for (unsigned i = 0; i < DEPTH; i++) {
            put(&at, branch_of(ip, i, false));
            put(&at, branch_of(ip, i, true));
            put(&at, 0);
        }
    }
    if (groups & IA32_PMC_CFG_C_CNTR) {
        put(&at, UINT64_C(1) << 32 | 3);
        put(&at, 0);
        for (unsigned i = 0; i < 3; i++)
            put(&at, counter_of(i, tsc));
        put(&at, 0); /* padding */
    }
    cpu->index += s->record_bytes;
    cpu->all_records++;
}

/* ---- its truth --------------------------------------------------------------------------------------------------- */

static uint8_t add_words(struct script_cpu *cpu, uint8_t c, uint8_t group, const uint64_t *words, unsigned count)
{
    uint8_t records = 0;
    for (unsigned i = 0; i < count; i += CAIRN_TRUTH_PER_RECORD, records++) {
        struct cairn_truth_words *w = &script_add_truth(cpu)->words;
        *w = (struct cairn_truth_words){.kind = CAIRN_TRUTH_WORDS, .cpu = c, .group = group, .first = (uint8_t)i};
        for (unsigned k = i; k < count && k < i + CAIRN_TRUTH_PER_RECORD; k++)
            w->word[k - i] = words[k];
    }
    return records;
}

uint8_t script_arch_words(const struct script *s, struct script_cpu *cpu, uint8_t c, uint64_t tsc, uint64_t ip)
{
    const uint64_t groups = script_arch_groups(s->options.arch);
    uint64_t state[CAIRN_TRUTH_STATES] = {[CAIRN_TRUTH_RFLAGS] = script_register(0, tsc, ip),
                                          [CAIRN_TRUTH_TSC_FIRST] = tsc - 9,
                                          [CAIRN_TRUTH_TSC_LAST] = tsc + 300,
                                          [CAIRN_TRUTH_MSR] = groups};
    uint64_t arch[CAIRN_TRUTH_ARCH_WORDS] = {[CAIRN_TRUTH_ARCH_MODE64] = 1}, words[2 * DEPTH];
    uint8_t n = 0;
    for (unsigned i = 0; i < 16; i++)
        state[CAIRN_TRUTH_RAX + i] = script_register(2 + i, tsc, ip);
    n += add_words(cpu, c, CAIRN_TRUTH_STATE, state, CAIRN_TRUTH_STATES);
    if (groups & IA32_PMC_CFG_C_XMM) {
        arch[CAIRN_TRUTH_ARCH_XSTATE] = 2;
        for (unsigned i = 0; i < 32; i++)
            words[i] = half_of_xmm(i, tsc);
        n += add_words(cpu, c, CAIRN_TRUTH_XMM, words, 32);
    }
    if (groups & IA32_PMC_CFG_C_LBR) {
        arch[CAIRN_TRUTH_ARCH_LBR_CTL] =
            IA32_LBR_CTL_LBREN | IA32_LBR_CTL_OS | IA32_LBR_CTL_USR | IA32_LBR_CTL_BRANCHES;
        arch[CAIRN_TRUTH_ARCH_LBR_DEPTH] = DEPTH;
        for (unsigned i = 0; i < 2 * DEPTH; i++)
            words[i] = branch_of(ip, i / 2, i % 2);
        n += add_words(cpu, c, CAIRN_TRUTH_LBR, words, 2 * DEPTH);
    }
    if (groups & IA32_PMC_CFG_C_CNTR) {
        arch[CAIRN_TRUTH_ARCH_COUNTERS] = UINT64_C(1) << 32 | 3;
        for (unsigned i = 0; i < 3; i++)
            words[i] = counter_of(i, tsc);
        n += add_words(cpu, c, CAIRN_TRUTH_CNTR, words, 3);
    }
    return n + add_words(cpu, c, CAIRN_TRUTH_ARCH, arch, CAIRN_TRUTH_ARCH_WORDS);
}
