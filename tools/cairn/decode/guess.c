/* SPDX-License-Identifier: MIT */
/*
 * Each format is tried from one place on, record by record, as far as its records are plausible: reserved bits are 0,
 * addresses are canonical, groups fill the record's size. The format whose records reach furthest is the guess. How
 * much one such record proves differs: the size in the head of an adaptive record and its groups agree by chance once
 * in millions, while almost any three numbers could be a branch.
 */
#include "tools/cairn/decode/guess.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ds/layout.h"
#include "ds/lbr_layout.h"
#include "ds/pebs23_layout.h"
#include "tools/cairn/base/bytes.h"
#include "tools/pebs/pebs.h"

#define BEGINS_MOST 4096u /* places in front of the first record, 8 bytes apart, that are tried */

static const unsigned formats[] = {0, 1, 2, 3, 4, 6, CAIRN_PEBS_ARCH, CAIRN_PEBS_BTS};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

uint64_t cairn_guess_bit(unsigned format)
{
    return format == CAIRN_GUESS_AREA ? DS_BIT(63) : format == CAIRN_PEBS_BTS ? DS_BIT(62) : DS_BIT(format);
}

const char *cairn_sure_name(enum cairn_sure sure)
{
    static const char *const names[] = {"unknown", "a weak guess", "likely", "sure"};
    return names[sure];
}

const char *cairn_format_name(char out[64], unsigned format)
{
    if (format == CAIRN_GUESS_AREA)
        snprintf(out, 64, "a DS area");
    else if (format == CAIRN_PEBS_BTS)
        snprintf(out, 64, "BTS records");
    else if (format == CAIRN_PEBS_ARCH)
        snprintf(out, 64, "records of architectural PEBS (format 15)");
    else
        snprintf(out, 64, "PEBS records of format %u", format);
    return out;
}

/* ---- what is plausible ------------------------------------------------------------------------------------------- */

/* Linear addresses of 57 bits; nothing is in the first page. */
static bool is_address(uint64_t v)
{
    const uint64_t top = v >> 56;
    return v >= 0x1000 && (top == 0 || top == 0xFF);
}

#define RFLAGS_RESERVED UINT64_C(0xFFFFFFFFFFC08028) /* 63:22, 15, 5, 3; bit 1 is always 1 */
#define COUNTERS        UINT64_C(0x0000FFFFFFFFFFFF) /* numbers below DS_COUNTER_NUMBERS */
/* IA32_PERF_GLOBAL_STATUS: counters, metrics, trace, and what is frozen, in use or full. */
#define STATUS (COUNTERS | IA32_PERF_GLOBAL_METRICS | DS_BIT(55) | UINT64_C(0xFC) << 56)

static uint64_t get(unsigned format, const uint8_t *r, uint32_t size, enum cairn_pebs_what what)
{
    uint64_t value = 0;
    cairn_pebs_get(format, r, size, what, &value);
    return value;
}

static bool flags_plausible(uint64_t flags)
{
    return flags & 2 && !(flags & RFLAGS_RESERVED);
}

static bool fixed_plausible(unsigned format, const uint8_t *r, uint32_t size)
{
    if (!flags_plausible(get(format, r, size, CAIRN_PEBS_RFLAGS)) || !is_address(get(format, r, size, CAIRN_PEBS_RIP)))
        return false;
    const uint64_t status = get(format, r, size, format == 3 ? CAIRN_PEBS_COUNTERS : CAIRN_PEBS_STATUS);
    if (format >= 1 && (!status || status & ~(format == 3 ? COUNTERS : STATUS)))
        return false;
    if (format >= 1 && get(format, r, size, CAIRN_PEBS_LATENCY) >> 32)
        return false;
    if (format >= 2 && !is_address(get(format, r, size, CAIRN_PEBS_EVENTING_IP)))
        return false;
    return format < 3 || get(format, r, size, CAIRN_PEBS_TSC);
}

/* Whether the fields of groups, which fill the record, are plausible. */
static bool groups_plausible(unsigned format, const uint8_t *r, uint32_t size)
{
    uint64_t value, counters = get(format, r, size, CAIRN_PEBS_COUNTERS);
    if (cairn_pebs_get(format, r, size, CAIRN_PEBS_COUNTERS, &value) && (!counters || counters & ~COUNTERS))
        return false;
    if (cairn_pebs_get(format, r, size, CAIRN_PEBS_EVENTING_IP, &value) && !is_address(value))
        return false;
    return !cairn_pebs_get(format, r, size, CAIRN_PEBS_RFLAGS, &value) || flags_plausible(value);
}

static bool adaptive_plausible(unsigned format, const uint8_t *r, uint32_t size)
{
    const uint32_t groups = ds_pebs_head_groups(cairn_get64(r));
    const uint64_t valid = MSR_PEBS_DATA_CFG_VALID | (format == 6 ? MSR_PEBS_DATA_CFG_GROUPS : 0);
    return !(groups & ~valid) && groups_plausible(format, r, size) && !cairn_pebs_check(format, r, size);
}

static bool arch_plausible(const uint8_t *r, uint32_t size)
{
    const uint64_t known = DS_ARCH_HEADER_GROUPS | DS_ARCH_HEADER_SIZE | DS_ARCH_HEADER_MODE64 | DS_ARCH_HEADER_CONT;
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    bool any = false;
    cairn_pebs_walk(&walk, CAIRN_PEBS_ARCH, r, size);
    while (cairn_pebs_next(&walk, &f)) {
        if (f.what == CAIRN_PEBS_FRAGMENT && (f.value & ~known || f.value & DS_BIT(39)))
            return false;
        if (f.what == CAIRN_PEBS_RESERVED && f.value)
            return false;
        any |= f.what == CAIRN_PEBS_EVENTING_IP || f.what == CAIRN_PEBS_RIP;
    }
    return any && groups_plausible(CAIRN_PEBS_ARCH, r, size) && !cairn_pebs_check(CAIRN_PEBS_ARCH, r, size);
}

static bool bts_plausible(const uint8_t *r)
{
    return is_address(cairn_get64(r)) && is_address(cairn_get64(r + 8)) &&
           !(cairn_get64(r + 16) & ~(uint64_t)DS_BTS_PREDICTED);
}

static bool plausible(const struct cairn_pebs_record *r)
{
    return r->format == CAIRN_PEBS_BTS    ? bts_plausible(r->bytes)
           : r->format == CAIRN_PEBS_ARCH ? arch_plausible(r->bytes, r->size)
           : r->format >= 4               ? adaptive_plausible(r->format, r->bytes, r->size)
                                          : fixed_plausible(r->format, r->bytes, r->size);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* From where a branch leads, execution goes on without another branch to where the next one begins. */
static bool is_path(const uint8_t *bytes, size_t records)
{
    size_t near = 0;
    for (size_t i = 1; i < records; i++)
        near += cairn_get64(bytes + 24 * i) - cairn_get64(bytes + 24 * i - 16) < 0x10000;
    return 4 * near >= 3 * (records - 1);
}

/* `all`: nothing but zeros follows. */
static enum cairn_sure sure_of(const struct cairn_guess *g, const uint8_t *bytes, bool all)
{
    if (g->format == CAIRN_PEBS_BTS) /* any three numbers could be one */
        return g->records < 4 || !is_path(bytes + g->begin, g->records) ? CAIRN_SURE_WEAK
               : all                                                    ? CAIRN_SURE_YES
                                                                        : CAIRN_SURE_LIKELY;
    if (g->format >= 4) /* each tells its size */
        return g->records >= 2 ? CAIRN_SURE_YES : CAIRN_SURE_LIKELY;
    if (g->records >= 3)
        return all ? CAIRN_SURE_YES : CAIRN_SURE_LIKELY;
    return all ? CAIRN_SURE_LIKELY : CAIRN_SURE_WEAK;
}

/* The beginning of an adaptive record that is cut off. */
static bool begins_adaptive(const uint8_t *bytes, size_t left)
{
    const uint64_t head = left >= 16 ? cairn_get64(bytes) : 0;
    const uint32_t groups = ds_pebs_head_groups(head);
    return groups && !(groups & ~MSR_PEBS_DATA_CFG_VALID) && ds_pebs_adaptive_size(groups) == ds_pebs_head_size(head) &&
           ds_pebs_head_size(head) > left && is_address(cairn_get64(bytes + 8));
}

static bool zeros(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* How far records of a format go from `begin` on. */
static void try_records(struct cairn_guess *g, unsigned format, const uint8_t *bytes, size_t size, size_t begin)
{
    struct cairn_pebs_buffer buffer;
    struct cairn_pebs_record r;
    *g = (struct cairn_guess){.format = format, .begin = begin, .end = begin};
    cairn_pebs_open(&buffer, format, bytes + begin, size - begin);
    while (cairn_pebs_record(&buffer, &r) == 1 && plausible(&r)) {
        g->records++;
        g->end = begin + r.at + r.size;
    }
    if (g->records)
        g->sure = sure_of(g, bytes, zeros(bytes + g->end, size - g->end));
    else if (format == 4 && begins_adaptive(bytes + begin, size - begin))
        g->sure = CAIRN_SURE_WEAK;
}

static void explain(struct cairn_guess *g)
{
    const unsigned long long n = g->records;
    const char *each = n == 1 ? "the record's" : "each record's";
    if (!n)
        snprintf(g->why, sizeof(g->why), "the head of a record that is cut off");
    else if (g->format == CAIRN_PEBS_BTS)
        snprintf(g->why, sizeof(g->why), "two addresses and flags, %llu time%s%s", n, n == 1 ? "" : "s",
                 g->sure > CAIRN_SURE_WEAK ? "; most continue the path of the previous record" : "");
    else if (g->format >= 4)
        snprintf(g->why, sizeof(g->why), "%s groups fill its size%s%s", each,
                 n == 1 ? "" : ", and the next record follows",
                 g->format == 4 ? "; formats 4 and 5 have the same records" : "");
    else
        snprintf(g->why, sizeof(g->why), "%s reserved bits of RFLAGS are 0, and RIP%s can be right; %u bytes each",
                 each, g->format ? " and the other fields" : "", cairn_pebs_bytes(g->format, 0));
}

/* ---- DS areas ---------------------------------------------------------------------------------------------------- */

/* A buffer's four pointers: none, or in order. `used`: it is there. */
static bool pointers_plausible(const uint8_t *at, bool *used)
{
    const uint64_t base = cairn_get64(at), index = cairn_get64(at + 8), maximum = cairn_get64(at + 16),
                   threshold = cairn_get64(at + 24);
    *used = base;
    if (!base)
        return !index && !maximum && !threshold;
    return is_address(base) && base % 8 == 0 && base < maximum && maximum - base <= UINT32_MAX && index >= base &&
           index <= maximum && threshold >= base && threshold - base <= UINT32_MAX;
}

/* A reset value is minus a period in the width of a counter, or was never written. */
static bool reset_plausible(uint64_t v)
{
    const uint64_t top = v >> 31;
    return !v || top == 0 || top == UINT64_MAX >> 31 || top == (UINT64_C(1) << 17) - 1 || top == 1 || v >> 48 == 0;
}

/* Bytes of the area that are plausible, up to the form of the latest formats. */
static void try_area(struct cairn_guess *g, const uint8_t *bytes, size_t size)
{
    bool bts, pebs;
    uint32_t end = 0x40;
    *g = (struct cairn_guess){.format = CAIRN_GUESS_AREA};
    if (size < end || !pointers_plausible(bytes, &bts) || !pointers_plausible(bytes + 0x20, &pebs) || !(bts || pebs))
        return;
    while (end + 8 <= size && end < DS_AREA_BYTES_MAX && reset_plausible(cairn_get64(bytes + end)))
        end += 8;
    g->area = end >= DS_AREA_BYTES_MAX ? 5 : end >= sizeof(struct ds_area_a0) ? 4 : 0;
    g->end = end < ds_area_bytes(g->area, false) ? end : ds_area_bytes(g->area, false);
    g->sure = bts && pebs && end > 0x40 ? CAIRN_SURE_YES : CAIRN_SURE_LIKELY;
    snprintf(g->why, sizeof(g->why), "%s: base, index, maximum and threshold are in order%s",
             bts && pebs ? "two buffers"
             : pebs      ? "a PEBS buffer, no BTS buffer"
                         : "a BTS buffer, no PEBS buffer",
             g->end == 0x40  ? "; without reset values the format is unknown, and 0 is assumed"
             : g->end < 0x60 ? "; some reset values are missing"
                             : "");
}

/* ---- the guess --------------------------------------------------------------------------------------------------- */

static void better(struct cairn_guess *best, const struct cairn_guess *g)
{
    const size_t reach = g->end - g->begin, best_reach = best->end - best->begin;
    if (g->sure && (!best->sure || reach > best_reach || (reach == best_reach && g->sure > best->sure)))
        *best = *g;
}

void cairn_guess(struct cairn_guess *guess, const uint8_t *bytes, size_t size, uint64_t only)
{
    struct cairn_guess g;
    *guess = (struct cairn_guess){0};
    for (size_t begin = 0; begin < size && begin < 8 * (size_t)BEGINS_MOST && !guess->sure; begin += 8) {
        for (unsigned f = 0; f < FORMATS; f++) {
            if (!(only & cairn_guess_bit(formats[f])) && !(formats[f] == 4 && only & cairn_guess_bit(5)))
                continue;
            try_records(&g, formats[f], bytes, size, begin);
            if (begin && g.sure)
                g.sure = g.sure - 1 < CAIRN_SURE_LIKELY && g.format == CAIRN_PEBS_BTS ? CAIRN_SURE_NOT : g.sure - 1;
            better(guess, &g);
        }
        if (!begin && only & cairn_guess_bit(CAIRN_GUESS_AREA)) {
            try_area(&g, bytes, size);
            if (g.sure && guess->sure < g.sure)
                *guess = g;
        }
    }
    if (guess->sure && guess->format != CAIRN_GUESS_AREA)
        explain(guess);
    if (guess->sure && guess->format == 4 && !(only & cairn_guess_bit(4)))
        guess->format = 5;
}
