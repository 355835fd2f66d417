/* SPDX-License-Identifier: MIT */
/* Names of fields and groups, made without a C library. */
#include "tools/pebs/inside.h"
#include "tools/pebs/pebs.h"

#define GROUPS (CAIRN_PEBS_PADDING + 1u)

const char *cairn_pebs_group_name(unsigned group)
{
    static const char names[GROUPS][8] = {"BASIC", "MEMINFO", "GPR",  "XMM",    "LBR",  "CNTR",   "HEADER", "AUX",
                                          "XER",   "YMMH",    "EGPR", "OPMASK", "ZMMH", "H16ZMM", "PADDING"};
    return group < GROUPS ? names[group] : "";
}

static unsigned put_text(char *out, unsigned at, const char *text)
{
    while (*text)
        out[at++] = *text++;
    out[at] = '\0';
    return at;
}

static unsigned put_number(char *out, unsigned at, uint32_t number, unsigned base)
{
    char digits[10];
    unsigned n = 0;
    do
        digits[n++] = "0123456789abcdef"[number % base];
    while (number /= base);
    while (n)
        out[at++] = digits[--n];
    out[at] = '\0';
    return at;
}

/* "XMM3.high"; "PMC0" where `last` is empty. */
static void put_name(struct cairn_pebs_field *f, const char *before, uint32_t number, const char *last)
{
    unsigned at = put_number(f->name, put_text(f->name, 0, before), number, 10);
    if (*last)
        put_text(f->name, put_text(f->name, at, "."), last);
}

static void put_part(struct cairn_pebs_field *f, const char *before, uint32_t number, unsigned part)
{
    const char last[] = {(char)('0' + part), '\0'}; /* no register has more than eight */
    put_name(f, before, number, last);
}

void cairn_pebs_put(char *out, const char *text)
{
    put_text(out, 0, text);
}

static void name_counter(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    uint32_t n = w->index - 2u, gp = cairn_pebs_count(w->gp), fixed = cairn_pebs_count(w->fixed);
    uint32_t mask = n < gp ? w->gp : w->fixed;
    f->what = CAIRN_PEBS_CNTR_VALUE;
    if (n >= gp + fixed) {
        cairn_pebs_put(f->name, n == gp + fixed ? "slots" : "PERF_METRICS");
        return;
    }
    for (uint32_t skip = n < gp ? n : n - gp; skip; skip--)
        mask &= mask - 1;
    put_name(f, n < gp ? "PMC" : "FIXED_CTR", (uint32_t)__builtin_ctz(mask), "");
}

void cairn_pebs_name_cntr(struct cairn_pebs_walk *w, struct cairn_pebs_field *f)
{
    if (w->index == 0) {
        cairn_pebs_put(f->name, "masks");
        f->what = CAIRN_PEBS_CNTR_MASKS;
        w->gp = (uint32_t)f->value;
        w->fixed = (uint32_t)(f->value >> 32);
    } else if (w->index == 1) {
        cairn_pebs_put(f->name, "metrics");
        f->what = CAIRN_PEBS_CNTR_METRICS;
        w->metrics = (uint32_t)f->value ? 2 : 0;
    } else {
        name_counter(w, f);
    }
}

void cairn_pebs_name_lbr(unsigned i, struct cairn_pebs_field *f)
{
    static const char names[3][5] = {"from", "to", "info"};
    put_name(f, "", i / 3u, names[i % 3]);
    f->what = (uint8_t)(CAIRN_PEBS_LBR_FROM + i % 3);
}

void cairn_pebs_name_xmm(uint16_t i, struct cairn_pebs_field *f)
{
    put_name(f, "XMM", i / 2u, i % 2 ? "high" : "low");
    f->what = i % 2 ? CAIRN_PEBS_XMM_HIGH : CAIRN_PEBS_XMM_LOW;
}

bool cairn_pebs_name_vector(unsigned group, unsigned i, struct cairn_pebs_field *f)
{
    f->what = CAIRN_PEBS_VECTOR;
    switch (group) {
    case CAIRN_PEBS_YMMH:
        put_part(f, "YMM", i / 2, 2 + i % 2);
        return true;
    case CAIRN_PEBS_ZMMH:
        put_part(f, "ZMM", i / 4, 4 + i % 4);
        return true;
    case CAIRN_PEBS_H16ZMM:
        put_part(f, "ZMM", 16 + i / 8, i % 8);
        return true;
    case CAIRN_PEBS_EGPR:
        put_name(f, "R", 16 + i, "");
        return true;
    case CAIRN_PEBS_OPMASK:
        put_name(f, "k", i, "");
        return true;
    default:
        return false;
    }
}

const char *cairn_pebs_name(char out[CAIRN_PEBS_NAME], const struct cairn_pebs_field *f)
{
    const bool again = f->what == CAIRN_PEBS_FRAGMENT || f->what == CAIRN_PEBS_RESERVED;
    const unsigned at = put_text(out, 0, f->name);
    if (again)
        put_number(out, put_text(out, at, "@"), f->at, 16);
    return out;
}
