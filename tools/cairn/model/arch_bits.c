/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/arch_bits.h"

#include <inttypes.h>
#include <stdio.h>

#include "ds/pebs23_layout.h"

/* Groups are where they are in both. */
#define GROUP_BITS                                                                                                     \
    {"AUX", 62, 1}, {"GPR", 61, 1}, {"H16ZMM", 55, 1}, {"ZMMH", 54, 1}, {"OPMASK", 53, 1}, {"EGPR", 51, 1},            \
        {"YMMH", 50, 1}, {"XMM", 49, 1}, {"LBR", 40, 2}, {"METRICS", 38, 1}, {"FIXED", 37, 1},                         \
    {                                                                                                                  \
        "GP", 36, 1                                                                                                    \
    }

const struct cairn_bits cairn_bits_base[] = {{"address", 12, 40}, {"SIZE", 0, 4}, {NULL, 0, 0}};
const struct cairn_bits cairn_bits_index[] = {
    {"THRESH", 36, 23}, {"EN", 32, 1}, {"FULL", 31, 1}, {"WR", 4, 23}, {NULL, 0, 0}};
const struct cairn_bits cairn_bits_cfg_c[] = {
    {"EN", 63, 1}, GROUP_BITS, {"ALLOW", 35, 1}, {"RELOAD", 0, 32}, {NULL, 0, 0}};
const struct cairn_bits cairn_bits_header[] = {{"BASIC", 63, 1},  GROUP_BITS,      {"CONT", 31, 1},
                                               {"MODE64", 30, 1}, {"size", 0, 16}, {NULL, 0, 0}};

#define FIELD(low, count) ((count) == 64 ? UINT64_MAX : (DS_BIT(count) - 1) << (low))
_Static_assert(FIELD(12, 40) == IA32_PEBS_BASE_ADDRESS && FIELD(0, 4) == IA32_PEBS_BASE_SIZE, "IA32_PEBS_BASE");
_Static_assert((FIELD(36, 23) | FIELD(32, 1) | FIELD(31, 1) | FIELD(4, 23)) == IA32_PEBS_INDEX_VALID, "its fields");
_Static_assert(FIELD(62, 1) == IA32_PMC_CFG_C_AUX && FIELD(61, 1) == IA32_PMC_CFG_C_GPR, "CFG_C");
_Static_assert(FIELD(40, 2) == IA32_PMC_CFG_C_LBR && FIELD(36, 3) == IA32_PMC_CFG_C_CNTR, "CFG_C");
_Static_assert((FIELD(53, 3) | FIELD(49, 3) | DS_BIT(52)) == IA32_PMC_CFG_C_XER, "CFG_C: XER");

uint64_t cairn_bits_all(const struct cairn_bits *bits)
{
    uint64_t all = 0;
    for (; bits->name; bits++)
        all |= FIELD(bits->low, bits->count);
    return all;
}

const char *cairn_show_all_bits(char out[CAIRN_SHOWN_BITS], const struct cairn_bits *bits, uint64_t value, bool zeros)
{
    size_t n = 0;
    out[0] = '\0';
    for (; bits->name && n < CAIRN_SHOWN_BITS; bits++) {
        const uint64_t field = value >> bits->low & FIELD(0, bits->count);
        value &= ~FIELD(bits->low, bits->count);
        if (!field && !zeros)
            continue;
        n += (size_t)snprintf(out + n, CAIRN_SHOWN_BITS - n, "%s%s[%d", n ? ", " : "", bits->name,
                              bits->low + bits->count - 1);
        if (bits->count > 1 && n < CAIRN_SHOWN_BITS)
            n += (size_t)snprintf(out + n, CAIRN_SHOWN_BITS - n, ":%d", bits->low);
        if (n < CAIRN_SHOWN_BITS)
            n += (size_t)snprintf(out + n, CAIRN_SHOWN_BITS - n, "]");
        if ((bits->count > 1 || zeros) && n < CAIRN_SHOWN_BITS)
            n += (size_t)snprintf(out + n, CAIRN_SHOWN_BITS - n, field < 10 ? "=%" PRIX64 : "=%" PRIX64 "H", field);
    }
    if (value && n < CAIRN_SHOWN_BITS)
        snprintf(out + n, CAIRN_SHOWN_BITS - n, "%sreserved bits: %" PRIX64 "H", n ? ", " : "", value);
    return out;
}

const char *cairn_show_groups(char out[CAIRN_SHOWN], uint64_t groups)
{
    static const char *const lbr[] = {"", "LBR=8", "LBR=16", "LBR"};
    const struct {
        const char *name;
        uint64_t bit;
    } names[] = {
        {"BASIC", DS_ARCH_HEADER_BASIC},
        {"AUX", IA32_PMC_CFG_C_AUX},
        {"GPR", IA32_PMC_CFG_C_GPR},
        {"XMM", IA32_PMC_CFG_C_XMM},
        {"YMMH", IA32_PMC_CFG_C_YMMH},
        {"EGPR", IA32_PMC_CFG_C_EGPR},
        {"OPMASK", IA32_PMC_CFG_C_OPMASK},
        {"ZMMH", IA32_PMC_CFG_C_ZMMH},
        {"H16ZMM", IA32_PMC_CFG_C_H16ZMM},
        {lbr[ia32_pmc_cfg_c_lbr(groups)], IA32_PMC_CFG_C_LBR},
        {"CNTR", IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED},
        {"METRICS", IA32_PMC_CFG_C_CNTR_METRICS},
    };
    int used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (groups & names[i].bit)
            used += snprintf(out + used, CAIRN_SHOWN - (size_t)used, "%s%s", used ? " " : "", names[i].name);
    return out;
}
