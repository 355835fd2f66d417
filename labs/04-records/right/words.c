/* SPDX-License-Identifier: MIT */
/* A right program for lab 4: a record of a fixed format is read word by word, at offsets. */
#define parse right_parse
#include "labs/04-records/solution.c"
#undef parse

static uint64_t word(const uint8_t *at)
{
    uint64_t value = 0;
    for (unsigned i = 8; i--;)
        value = value << 8 | at[i];
    return value;
}

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    static const uint8_t place[16] = {2, 4, 5, 3, 9, 8, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17}; /* of RAX, RCX, ... */
    static const uint32_t sizes[] = {0, 0xB0, 0xC0, 0xC8};
    if (format >= 4)
        return right_parse(format, bytes, left, r);
    if (left < sizes[format])
        return 0;
    r->rflags = word(bytes);
    r->rip = word(bytes + 8);
    for (unsigned i = 0; i < 16; i++)
        r->gpr[i] = word(bytes + (size_t)8 * place[i]);
    r->data_address = word(bytes + 0x98);
    r->data_source = word(bytes + 0xA0);
    r->latency = word(bytes + 0xA8);
    r->has = HAS_MEMORY + HAS_GPR;
    if (format >= 2) {
        r->has += HAS_EVENTING_IP + HAS_TX;
        r->eventing_ip = word(bytes + 0xB0);
        r->tx = word(bytes + 0xB8);
    }
    if (format == 3) {
        r->has += HAS_COUNTERS + HAS_TSC;
        r->counters = word(bytes + 0x90);
        r->tsc = word(bytes + 0xC0);
    } else {
        r->has += HAS_STATUS;
        r->status = word(bytes + 0x90);
    }
    return sizes[format];
}
