/* SPDX-License-Identifier: MIT */
/* Records of a buffer, one behind another, and the DS area. */
#include "tools/pebs/inside.h"
#include "tools/pebs/pebs.h"

unsigned cairn_pebs_version(void)
{
    return CAIRN_PEBS_VERSION;
}

const char *cairn_pebs_strerror(int error)
{
    switch (error) {
    case CAIRN_PEBS_E_FORMAT:
        return "no such record format";
    case CAIRN_PEBS_E_CUT:
        return "the bytes end within it";
    case CAIRN_PEBS_E_SIZE:
        return "a size that it holds is impossible";
    case CAIRN_PEBS_E_GROUPS:
        return "the groups that it names do not fill it";
    default:
        return error < 0 ? "unknown error" : "no error";
    }
}

static bool known(unsigned format)
{
    return format <= 6 || format == CAIRN_PEBS_ARCH || format == CAIRN_PEBS_BTS;
}

uint32_t cairn_pebs_bytes(unsigned format, uint64_t data_cfg)
{
    if (format == CAIRN_PEBS_BTS)
        return sizeof(struct ds_bts_record);
    if (!known(format) || format == CAIRN_PEBS_ARCH)
        return 0;
    return format < CAIRN_PEBS_ADAPTIVE ? ds_pebs_fixed_size(format) : ds_pebs_adaptive_size(data_cfg);
}

static uint32_t arch_size(const uint8_t *record, uint32_t left, uint32_t *whole)
{
    uint32_t size = 0;
    for (;;) {
        *whole = UINT32_MAX;
        if (left - size < sizeof(struct ds_arch_header))
            return 0;
        const uint64_t format = cairn_pebs_get64(record + size);
        const uint32_t fragment = cairn_pebs_fragment_bytes(format);
        if (!fragment || fragment > CAIRN_PEBS_SIZE_MOST - size) {
            *whole = 0;
            return 0;
        }
        if (!cairn_pebs_goes_on(format))
            *whole = size + fragment;
        if (fragment > left - size)
            return 0;
        size += fragment;
        if (!cairn_pebs_goes_on(format))
            return size;
    }
}

static inline uint32_t size_at(unsigned format, const uint8_t *record, uint32_t left, uint32_t *whole)
{
    if (format == CAIRN_PEBS_ARCH)
        return arch_size(record, left, whole);
    if (format < CAIRN_PEBS_ADAPTIVE || format == CAIRN_PEBS_BTS) {
        *whole = cairn_pebs_bytes(format, 0);
    } else if (left < 8) {
        *whole = UINT32_MAX;
        return 0;
    } else {
        const uint32_t own = ds_pebs_head_size(cairn_pebs_get64(record));
        *whole = own >= sizeof(struct ds_pebs_basic) && own % 8 == 0 ? own : 0;
    }
    return *whole <= left ? *whole : 0;
}

uint32_t cairn_pebs_size(unsigned format, const void *record, size_t left, uint32_t *whole)
{
    *whole = 0;
    return known(format) ? size_at(format, record, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX, whole) : 0;
}

int cairn_pebs_open(struct cairn_pebs_buffer *b, unsigned format, const void *bytes, size_t size)
{
    b->bytes = bytes;
    b->size = known(format) ? size : 0;
    b->at = 0;
    b->format = format;
    b->reserved = 0;
    return known(format) ? 0 : CAIRN_PEBS_E_FORMAT;
}

int cairn_pebs_record(struct cairn_pebs_buffer *b, struct cairn_pebs_record *r)
{
    const size_t left = b->size - b->at;
    uint32_t whole;
    if (!left)
        return 0;
    r->size = size_at(b->format, b->bytes + b->at, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX, &whole);
    if (!r->size)
        return whole ? CAIRN_PEBS_E_CUT : CAIRN_PEBS_E_SIZE;
    r->bytes = b->bytes + b->at;
    r->at = b->at;
    r->format = b->format;
    b->at += r->size;
    return 1;
}

/* ---- the DS area ------------------------------------------------------------------------------------------------- */

uint32_t cairn_pebs_area_bytes(unsigned format)
{
    return format <= 6 ? ds_area_bytes(format, false) : 0;
}

int cairn_pebs_area(unsigned format, const void *bytes, size_t size, struct cairn_pebs_area *area)
{
    const uint8_t *at = bytes;
    const uint32_t end = cairn_pebs_area_bytes(format);
    uint64_t *const pointer[] = {&area->bts_base,  &area->bts_index,  &area->bts_maximum,  &area->bts_threshold,
                                 &area->pebs_base, &area->pebs_index, &area->pebs_maximum, &area->pebs_threshold};
    if (!end)
        return CAIRN_PEBS_E_FORMAT;
    if (size < end)
        return CAIRN_PEBS_E_CUT;
    for (unsigned i = 0; i < sizeof(pointer) / sizeof(pointer[0]); i++)
        *pointer[i] = cairn_pebs_get64(at + 8 * i);
    area->counters = 0;
    for (unsigned n = 0; n < CAIRN_PEBS_COUNTERS_MOST; n++) {
        const uint32_t fixed = format < 4 ? end : ds_area_reset(format, DS_COUNTER_FIXED);
        const uint32_t slot = ds_area_reset(format, n);
        const bool has = slot + 8 <= (n < DS_COUNTER_FIXED ? fixed : end);
        area->reset[n] = has ? cairn_pebs_get64(at + slot) : 0;
        area->counters |= has ? DS_BIT(n) : 0;
    }
    return 0;
}
