/* SPDX-License-Identifier: MIT */
/* Proofs about the sizes of PEBS records (ds/layout.h, ds/pebs23_layout.h). */
#include "ds/pebs23_layout.h"

/* A walk along `left` bytes of records with any contents, by the size that each has: it stays within them. */
#define MOST 96u
static union {
    uint64_t words[MOST / 8]; /* records are aligned */
    uint8_t bytes[MOST];
} buffer;

static void walk(unsigned format, uint32_t left)
{
    PROVE_ANY(buffer);
    const uint32_t size = ds_record_size_at(format, PROVE_LAST(buffer.bytes, left), left);
    //@ check inside: size <= left;
    //@ check whole: size % 8 == 0;
    PROVE_END();
}

void record_size(void)
{
    uint32_t left = Frama_C_unsigned_int_interval(0, MOST);
    unsigned format = Frama_C_unsigned_int_interval(0, 14);
    //@ split left;
    //@ split format;
    walk(format, left);
}

void record_size_arch(void)
{
    uint32_t left = Frama_C_unsigned_int_interval(0, MOST);
    //@ split left;
    walk(DS_FORMAT_ARCH, left);
}

/* What a configuration asks for; the driver and the model size their buffers by it. */
void record_size_asked(void)
{
    uint64_t any = Frama_C_unsigned_long_interval(0, UINT64_MAX);
    ds_pebs_adaptive_size(any);
    const uint32_t arch =
        ds_arch_record_bytes(any, Frama_C_unsigned_int_interval(0, 50), Frama_C_unsigned_int_interval(0, 64));
    //@ check arch: 64 <= arch && arch % 16 == 0 && arch <= 65535;
    PROVE_END();
}
