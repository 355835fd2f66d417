/* SPDX-License-Identifier: MIT */
/* libcairn-pebs: the first byte is the format, the others are a buffer of records, and a DS area. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/pebs/pebs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool true_)
{
    if (!true_)
        abort();
}

static void take_apart(const struct cairn_pebs_record *r)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    struct cairn_pebs_branch branch;
    char name[CAIRN_PEBS_NAME];
    uint64_t value, groups = 0;
    uint32_t at = 0;
    unsigned branches = 0;
    cairn_pebs_walk(&walk, r->format, r->bytes, r->size);
    for (; cairn_pebs_next(&walk, &f); at += 8) {
        need(f.at == at && f.name[0] && memchr(f.name, '\0', sizeof(f.name)) != NULL);
        need(strlen(cairn_pebs_name(name, &f)) < sizeof(name));
        groups |= UINT64_C(1) << f.group;
        branches += f.what == CAIRN_PEBS_LBR_INFO;
    }
    need(at == walk.at && at <= r->size);
    need(r->format < 4 || r->format == CAIRN_PEBS_BTS || cairn_pebs_groups(r->format, r->bytes, r->size) == groups);
    if (!cairn_pebs_check(r->format, r->bytes, r->size))
        need(at == r->size);
    for (unsigned what = 0; what <= CAIRN_PEBS_BTS_FLAGS + 1; what++)
        cairn_pebs_get(r->format, r->bytes, r->size, (enum cairn_pebs_what)what, &value);
    for (unsigned n = 0; cairn_pebs_branch(r->format, r->bytes, r->size, n, &branch); n++)
        need(n < branches); /* of architectural PEBS another fragment may have more */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cairn_pebs_buffer b;
    struct cairn_pebs_record r;
    struct cairn_pebs_area area;
    if (!size)
        return 0;
    const unsigned format = data[0];
    uint8_t *copy = malloc(size); /* the format left out, exactly as large; and not aligned */
    need(copy);
    memcpy(copy, data + 1, size - 1);
    size_t at = 0;
    int e = cairn_pebs_open(&b, format, copy, size - 1);
    while (e >= 0 && (e = cairn_pebs_record(&b, &r)) == 1) {
        need(r.at == at && r.size && r.bytes == copy + at && r.size <= size - 1 - at);
        at += r.size;
        need(b.at == at);
        take_apart(&r);
    }
    need(b.at == at && (e < 0 || at == size - 1));
    if (e == CAIRN_PEBS_E_CUT) { /* what is there of the last one */
        r = (struct cairn_pebs_record){copy + at, at, (uint32_t)(size - 1 - at), format};
        take_apart(&r);
    }
    cairn_pebs_area(format, copy, size - 1, &area);
    free(copy);
    return 0;
}
