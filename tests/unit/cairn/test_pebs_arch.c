/* SPDX-License-Identifier: MIT */
/* Records of architectural PEBS: by hand as Linux' structures have them, and made at random, in fragments or whole. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/pebs/pebs.h"

#define FORMAT DS_FORMAT_ARCH

static struct cairn_pebs_field field_at(const uint64_t *record, uint32_t size, uint32_t at)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f = {0};
    cairn_pebs_walk(&walk, FORMAT, (const uint8_t *)record, size);
    while (cairn_pebs_next(&walk, &f))
        if (f.at == at)
            return f;
    fail_msg("nothing at 0x%x", at);
    return f;
}

#define NAMED(record, size, at, text) assert_string_equal(field_at(record, size, at).name, text)

static uint32_t whole_size(const uint64_t *record, uint32_t left)
{
    uint32_t whole;
    const uint32_t size = cairn_pebs_size(FORMAT, (const uint8_t *)record, left, &whole);
    assert_int_equal(size, ds_arch_record_size(record, left)); /* what the kernel makes of it */
    assert_true(!size || whole == size);
    return size;
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

/* First words, as bits say them, and the bytes that follow from Linux' structures. */
static void header_words(void **state)
{
    (void)state;
    static const struct {
        uint64_t header;
        uint32_t bytes;
        const char *group;
    } by_hand[] = {
        {0x8000000040000040, 64, "BASIC"}, {0xA0000000400000E0, 224, "GPR"}, {0xC000000040000080, 128, "AUX"},
        {0xE000000040000120, 288, "GPR"},  {0xA0020000400001F0, 496, "XMM"}, {0xA0060000400002F0, 752, "YMMH"},
        {0x8000010040000130, 304, "LBR"},  {0x80000200400001F0, 496, "LBR"}, {0x8000030040000370, 880, "LBR"},
        {0x8000003040000070, 112, "CNTR"},
    };
    for (unsigned i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++) {
        static uint64_t r[110];
        struct cairn_pebs_walk walk;
        struct cairn_pebs_field f;
        const char *last = "";
        memset(r, 0, sizeof(r));
        r[0] = by_hand[i].header;
        if (r[0] >> 40 & 3)
            r[8 + 2] = 32; /* LBR_DEPTH */
        if (r[0] >> 36 & 7)
            r[8] = 0x0000000300000003; /* two general-purpose, two fixed */
        assert_int_equal(whole_size(r, sizeof(r)), by_hand[i].bytes);
        cairn_pebs_walk(&walk, FORMAT, (const uint8_t *)r, by_hand[i].bytes);
        while (cairn_pebs_next(&walk, &f))
            last = cairn_pebs_group_name(f.group);
        assert_string_equal(last, by_hand[i].group);
        assert_int_equal(walk.at, by_hand[i].bytes);
        assert_false(walk.cut);
    }
}

/* Every offset of a record with basic group and general registers. */
static void basic_and_registers(void **state)
{
    (void)state;
    static const char *const names[28] = {
        "header", "reserved", "EventingIP", "counters", "TSC", "retire", "reserved", "reserved", "RFLAGS", "RIP",
        "RAX",    "RCX",      "RDX",        "RBX",      "RSP", "RBP",    "RSI",      "RDI",      "R8",     "R9",
        "R10",    "R11",      "R12",        "R13",      "R14", "R15",    "SSP",      "reserved"};
    uint64_t r[28], value;
    for (unsigned i = 0; i < 28; i++)
        r[i] = 8 * i;
    r[0] = 0xA0000000400000E0;
    assert_int_equal(whole_size(r, sizeof(r)), 224);
    for (unsigned i = 0; i < 28; i++)
        NAMED(r, sizeof(r), 8 * i, names[i]);
#define GETS(what, word)                                                                                               \
    assert_true(cairn_pebs_get(FORMAT, (const uint8_t *)r, sizeof(r), what, &value) && value == 8 * (word))
    GETS(CAIRN_PEBS_EVENTING_IP, 2);
    GETS(CAIRN_PEBS_COUNTERS, 3);
    GETS(CAIRN_PEBS_TSC, 4);
    GETS(CAIRN_PEBS_RETIRE, 5);
    GETS(CAIRN_PEBS_RFLAGS, 8);
    GETS(CAIRN_PEBS_RIP, 9);
    GETS(CAIRN_PEBS_SSP, 26);
#undef GETS
    assert_false(cairn_pebs_get(FORMAT, (const uint8_t *)r, sizeof(r), CAIRN_PEBS_HEAD, &value));
    assert_false(cairn_pebs_get(FORMAT, (const uint8_t *)r, sizeof(r), CAIRN_PEBS_STATUS, &value));
    assert_false(cairn_pebs_get(FORMAT, (const uint8_t *)r, sizeof(r), CAIRN_PEBS_DATA_ADDRESS, &value));
}

/* Everything in one record: names where the groups are. */
static void all_groups(void **state)
{
    (void)state;
    static uint64_t r[DS_ARCH_RECORD_MAX / 8];
    const uint64_t groups = DS_ARCH_HEADER_BASIC | IA32_PMC_CFG_C_AUX | IA32_PMC_CFG_C_GPR | IA32_PMC_CFG_C_XMM |
                            IA32_PMC_CFG_C_YMMH | IA32_PMC_CFG_C_EGPR | IA32_PMC_CFG_C_OPMASK | IA32_PMC_CFG_C_ZMMH |
                            IA32_PMC_CFG_C_H16ZMM | IA32_PMC_CFG_C_LBR | IA32_PMC_CFG_C_CNTR;
    const uint32_t size = ds_arch_record_bytes(groups, 14 + 2, 32), aux = 64, gpr = aux + 64, xer = gpr + 160;
    const uint32_t ymmh = xer + 16 + 256, egpr = ymmh + 256, opmask = egpr + 128, zmmh = opmask + 64;
    const uint32_t h16zmm = zmmh + 512, lbr = h16zmm + 1024, cntr = lbr + 48 + 32 * 24;
    assert_int_equal(size, DS_ARCH_RECORD_MAX);
    r[0] = groups | DS_ARCH_HEADER_MODE64 | size;
    r[lbr / 8 + 2] = 32;
    r[cntr / 8] = 0x0000000F000003FF;
    r[cntr / 8 + 1] = DS_PEBS_CNTR_METRICS;
    assert_int_equal(whole_size(r, size), size);
    NAMED(r, size, aux, "data address");
    NAMED(r, size, aux + 0x08, "reserved");
    NAMED(r, size, aux + 0x28, "data source");
    NAMED(r, size, aux + 0x30, "latency");
    NAMED(r, size, aux + 0x38, "TX");
    NAMED(r, size, gpr + 0x90, "SSP");
    NAMED(r, size, xer, "xstate");
    NAMED(r, size, xer + 8, "reserved");
    NAMED(r, size, xer + 16 + 8, "XMM0.high");
    NAMED(r, size, ymmh, "YMM0.2");
    NAMED(r, size, ymmh + 248, "YMM15.3");
    NAMED(r, size, egpr + 120, "R31");
    NAMED(r, size, opmask + 56, "k7");
    NAMED(r, size, zmmh + 24, "ZMM0.7");
    NAMED(r, size, zmmh + 32, "ZMM1.4");
    NAMED(r, size, h16zmm, "ZMM16.0");
    NAMED(r, size, h16zmm + 1016, "ZMM31.7");
    NAMED(r, size, lbr, "reserved");
    NAMED(r, size, lbr + 8, "LBR_CTL");
    NAMED(r, size, lbr + 16, "LBR_DEPTH");
    NAMED(r, size, lbr + 40, "LER.info");
    NAMED(r, size, lbr + 48 + 31 * 24, "31.from");
    NAMED(r, size, cntr, "masks");
    NAMED(r, size, cntr + 16 + 72, "PMC9");
    NAMED(r, size, cntr + 16 + 80, "FIXED_CTR0");
    NAMED(r, size, size - 16, "slots");
    NAMED(r, size, size - 8, "PERF_METRICS");
}

/* A null header, then a fragment with the basic group, then one with the registers alone. */
static void fragments(void **state)
{
    (void)state;
    uint64_t r[(16 + 64 + 176) / 8] = {0}, value;
    r[0] = 0x0000000000000010;
    r[2] = 0x80000000C0000040; /* CONT */
    r[4] = 0x1234;
    r[10] = 0x20000000400000B0;
    r[10 + 2 + 1] = 0x5678; /* RIP */
    assert_int_equal(whole_size(r, sizeof(r)), sizeof(r));
    assert_true(cairn_pebs_get(FORMAT, (const uint8_t *)r, sizeof(r), CAIRN_PEBS_EVENTING_IP, &value));
    assert_int_equal(value, 0x1234);
    assert_true(cairn_pebs_get(FORMAT, (const uint8_t *)r, sizeof(r), CAIRN_PEBS_RIP, &value));
    assert_int_equal(value, 0x5678);
    NAMED(r, sizeof(r), 0, "header");
    NAMED(r, sizeof(r), 16, "header");
    NAMED(r, sizeof(r), 80, "header");
    NAMED(r, sizeof(r), 96, "RFLAGS");
    NAMED(r, sizeof(r), 248, "reserved");
}

/* A counter too many for a multiple of 16: one word of padding, which the size counts or not. */
static void padding(void **state)
{
    (void)state;
    for (unsigned counted = 0; counted < 2; counted++) {
        uint64_t r[14] = {0x8000003040000068 + 8 * counted};
        r[8] = 0x0000000100000003;
        assert_int_equal(whole_size(r, sizeof(r)), 112);
        NAMED(r, sizeof(r), 96, "FIXED_CTR0");
        NAMED(r, sizeof(r), 104, "padding");
    }
}

static void invalid_sizes(void **state)
{
    (void)state;
    static uint64_t r[16];
    static const uint16_t sizes[] = {0, 1, 8, 15, 17, 100, 0x7FFF, 0xFFFF};
    uint32_t whole;
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        r[0] = DS_ARCH_HEADER_BASIC | sizes[i];
        assert_int_equal(cairn_pebs_size(FORMAT, (const uint8_t *)r, sizeof(r), &whole), 0);
        assert_int_equal(whole, 0);
    }
    for (unsigned i = 0; i < 16; i += 2) /* fragments without an end: more may come */
        r[i] = 16 | DS_ARCH_HEADER_CONT;
    assert_int_equal(cairn_pebs_size(FORMAT, (const uint8_t *)r, sizeof(r), &whole), 0);
    assert_int_equal(whole, UINT32_MAX);
    uint64_t *endless = calloc(1, 2 * CAIRN_PEBS_SIZE_MOST);
    for (unsigned i = 0; i < 2 * CAIRN_PEBS_SIZE_MOST / 8; i += 2)
        endless[i] = 16;
    assert_int_equal(cairn_pebs_size(FORMAT, (const uint8_t *)endless, 2 * CAIRN_PEBS_SIZE_MOST, &whole), 0);
    assert_int_equal(whole, 0);
    free(endless);
}

/* ---- at random --------------------------------------------------------------------------------------------------- */

static uint64_t seed = 0x9E3779B97F4A7C15;

static uint64_t random64(void) /* xorshift64* */
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * UINT64_C(0x2545F4914F6CDD1D);
}

static unsigned below(unsigned n)
{
    return (unsigned)(random64() >> 33) % n;
}

static struct made { /* a record, and what its words are called */
    uint64_t word[2048];
    char name[2048][16];
    uint8_t group[2048];
    unsigned words;
    uint64_t ip, tsc;
} made;

static void put(unsigned group, uint64_t value, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void put(unsigned group, uint64_t value, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(made.name[made.words], 16, format, args);
    va_end(args);
    made.group[made.words] = (uint8_t)group;
    made.word[made.words++] = value;
}

static void put_named(unsigned group, const char *names) /* blanks between; "-": reserved */
{
    for (const char *at = names; *at; at += strcspn(at, " "), at += *at == ' ') {
        const int length = (int)strcspn(at, " ");
        char name[16];
        snprintf(name, sizeof(name), "%.*s", length, at);
        for (char *c = name; *c; c++)
            *c = *c == '_' && strncmp(name, "data", 4) == 0 ? ' ' : *c;
        const uint64_t value = strcmp(name, "-") == 0 ? 0 : random64();
        if (strcmp(name, "EventingIP") == 0)
            made.ip = value;
        if (strcmp(name, "TSC") == 0)
            made.tsc = value;
        put(group, value, "%s", strcmp(name, "-") == 0 ? "reserved" : name);
    }
}

static void put_lbr(uint64_t *header)
{
    const unsigned kind = 1 + below(3), depth = below(40), entries = kind == 3 ? depth : 8 * kind;
    *header |= (uint64_t)kind << 40;
    put_named(CAIRN_PEBS_LBR, "-");
    put(CAIRN_PEBS_LBR, random64(), "LBR_CTL");
    put(CAIRN_PEBS_LBR, depth, "LBR_DEPTH");
    put_named(CAIRN_PEBS_LBR, "LER.from LER.to LER.info");
    for (unsigned i = 0; i < entries; i++) {
        put(CAIRN_PEBS_LBR, random64(), "%u.from", i);
        put(CAIRN_PEBS_LBR, random64(), "%u.to", i);
        put(CAIRN_PEBS_LBR, random64(), "%u.info", i);
    }
}

static void put_counters(uint64_t *header)
{
    const uint64_t bits = (1 + below(7)) * IA32_PMC_CFG_C_CNTR_GP;
    const uint32_t gp = bits & IA32_PMC_CFG_C_CNTR_GP ? (uint32_t)random64() & 0x3FF : 0;
    const uint32_t fixed = bits & IA32_PMC_CFG_C_CNTR_FIXED ? (uint32_t)random64() & 0x7F : 0;
    const bool metrics = bits & IA32_PMC_CFG_C_CNTR_METRICS;
    *header |= bits;
    put(CAIRN_PEBS_CNTR, (uint64_t)fixed << 32 | gp, "masks");
    put(CAIRN_PEBS_CNTR, metrics ? DS_PEBS_CNTR_METRICS : 0, "metrics");
    for (unsigned i = 0; i < 32; i++)
        if (gp >> i & 1)
            put(CAIRN_PEBS_CNTR, random64(), "PMC%u", i);
    for (unsigned i = 0; i < 32; i++)
        if (fixed >> i & 1)
            put(CAIRN_PEBS_CNTR, random64(), "FIXED_CTR%u", i);
    if (metrics)
        put_named(CAIRN_PEBS_CNTR, "slots PERF_METRICS");
}

static void put_area(uint64_t *header, unsigned component, unsigned group, unsigned words, unsigned each, unsigned from)
{
    static const char *const names[] = {"XMM", "YMM", "ZMM", "ZMM", "R", "k"};
    static const unsigned of[] = {CAIRN_PEBS_XMM,    CAIRN_PEBS_YMMH, CAIRN_PEBS_ZMMH,
                                  CAIRN_PEBS_H16ZMM, CAIRN_PEBS_EGPR, CAIRN_PEBS_OPMASK};
    unsigned k = 0;
    while (of[k] != group)
        k++;
    *header |= DS_BIT(48 + component);
    for (unsigned i = 0; i < words; i++)
        if (group == CAIRN_PEBS_XMM)
            put(group, random64(), "XMM%u.%s", i / 2, i % 2 ? "high" : "low");
        else if (each == 1)
            put(group, random64(), "%s%u", names[k], from + i);
        else /* by words of the whole register, of 8 */
            put(group, random64(), "%s%u.%u", names[k], (group == CAIRN_PEBS_H16ZMM ? 16 : 0) + i / each,
                from + i % each);
}

static void put_xer(uint64_t *header)
{
    const unsigned which = 1 + below(63);
    put(CAIRN_PEBS_XER, random64(), "xstate");
    put_named(CAIRN_PEBS_XER, "-");
    if (which & 1)
        put_area(header, 1, CAIRN_PEBS_XMM, 32, 2, 0);
    if (which & 2)
        put_area(header, 2, CAIRN_PEBS_YMMH, 32, 2, 2);
    if (which & 4)
        put_area(header, 3, CAIRN_PEBS_EGPR, 16, 1, 16);
    if (which & 8)
        put_area(header, 5, CAIRN_PEBS_OPMASK, 8, 1, 0);
    if (which & 16)
        put_area(header, 6, CAIRN_PEBS_ZMMH, 64, 4, 4);
    if (which & 32)
        put_area(header, 7, CAIRN_PEBS_H16ZMM, 128, 8, 0);
}

/* Some of the groups of bits `which`: 0 basic, 1 auxiliary, 2 registers, 3 extended, 4 history, 5 counters. */
static void put_fragment(unsigned which, bool more)
{
    const unsigned first = made.words;
    uint64_t header = (below(2) ? DS_ARCH_HEADER_MODE64 : 0) | (more ? DS_ARCH_HEADER_CONT : 0);
    put(CAIRN_PEBS_HEADER, 0, "header");
    put_named(CAIRN_PEBS_HEADER, "-");
    if (which & 1) {
        header |= DS_ARCH_HEADER_BASIC;
        put_named(CAIRN_PEBS_BASIC, "EventingIP counters TSC retire - -");
    }
    if (which & 2) {
        header |= IA32_PMC_CFG_C_AUX;
        put_named(CAIRN_PEBS_AUX, "data_address - - - - data_source latency TX");
    }
    if (which & 4) {
        header |= IA32_PMC_CFG_C_GPR;
        put_named(CAIRN_PEBS_GPR, "RFLAGS RIP RAX RCX RDX RBX RSP RBP RSI RDI R8 R9 R10 R11 R12 R13 R14 R15 SSP -");
    }
    if (which & 8)
        put_xer(&header);
    if (which & 16)
        put_lbr(&header);
    if (which & 32)
        put_counters(&header);
    const unsigned odd = (made.words - first) % 2, counted = odd && below(2);
    made.word[first] = header | 8 * (made.words - first + counted);
    if (odd)
        put(CAIRN_PEBS_PADDING, 0, "padding");
}

static void make(void)
{
    unsigned left = 1 | below(64);
    made.words = 0;
    if (below(4) == 0) {
        put(CAIRN_PEBS_HEADER, 16, "header");
        put_named(CAIRN_PEBS_HEADER, "-");
    }
    for (bool first = true; left || first; first = false) {
        const unsigned now = below(3) ? left : left & (below(64) | first);
        left &= ~now;
        put_fragment(now, left);
    }
}

static void random_records(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 20000; n++) {
        struct cairn_pebs_walk walk;
        struct cairn_pebs_field f;
        struct cairn_pebs_branch branch;
        uint64_t value, groups = 0;
        unsigned i = 0, branches = 0;
        make();
        const uint32_t size = 8 * made.words;
        assert_int_equal(whole_size(made.word, size + 8 * below(100)), size);
        cairn_pebs_walk(&walk, FORMAT, (const uint8_t *)made.word, size);
        for (; cairn_pebs_next(&walk, &f); i++) {
            assert_int_equal(f.at, 8 * i);
            assert_int_equal(f.value, made.word[i]);
            assert_string_equal(f.name, made.name[i]);
            assert_int_equal(f.group, made.group[i]);
            groups |= UINT64_C(1) << f.group;
            if (f.what != CAIRN_PEBS_LBR_FROM)
                continue;
            assert_true(cairn_pebs_branch(FORMAT, made.word, size, branches++, &branch));
            assert_true(branch.from == f.value && branch.to == made.word[i + 1] && branch.info == made.word[i + 2]);
        }
        assert_int_equal(i, made.words);
        assert_false(cairn_pebs_branch(FORMAT, made.word, size, branches, &branch));
        assert_true(cairn_pebs_groups(FORMAT, made.word, size) == groups);
        assert_int_equal(cairn_pebs_check(FORMAT, made.word, size), 0);
        assert_false(walk.cut);
        assert_true(cairn_pebs_get(FORMAT, (const uint8_t *)made.word, size, CAIRN_PEBS_EVENTING_IP, &value));
        assert_true(value == made.ip);
        assert_true(cairn_pebs_get(FORMAT, (const uint8_t *)made.word, size, CAIRN_PEBS_TSC, &value));
        assert_true(value == made.tsc);
    }
}

/* However little is there of it, nothing behind that is read; how long the whole would be is known or not. */
static void cut_records(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 300; n++) {
        make();
        const uint32_t size = 8 * made.words;
        const uint32_t left = 4 * below(size / 4);
        uint8_t *r = malloc(left + !left); /* of that size, for the address sanitizer */
        struct cairn_pebs_walk walk;
        struct cairn_pebs_field f;
        uint64_t value;
        uint32_t whole;
        memcpy(r, made.word, left);
        assert_int_equal(cairn_pebs_size(FORMAT, r, left, &whole), 0);
        assert_true(whole == size || whole == UINT32_MAX);
        cairn_pebs_walk(&walk, FORMAT, r, left);
        while (cairn_pebs_next(&walk, &f))
            assert_true(f.at + 8 <= left);
        cairn_pebs_get(FORMAT, r, left, CAIRN_PEBS_RIP, &value);
        free(r);
    }
}

/* Bytes that are no record: whatever comes of them, it stays within them. */
static void noise(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 20000; n++) {
        const uint32_t left = 16 + below(2000);
        uint8_t *r = malloc(left);
        struct cairn_pebs_walk walk;
        struct cairn_pebs_field f;
        uint32_t whole;
        uint64_t value, word;
        for (uint32_t at = 0; at < left; at += 8) {
            word = below(3) ? random64() : (random64() & ~UINT64_C(0xFFFF)) | 16 * below(20);
            memcpy(r + at, &word, left - at < 8 ? left - at : 8);
        }
        cairn_pebs_size(FORMAT, r, left, &whole);
        cairn_pebs_walk(&walk, FORMAT, r, left);
        while (cairn_pebs_next(&walk, &f))
            assert_true(f.at + 8 <= left && f.name[0]);
        for (unsigned what = 0; what <= CAIRN_PEBS_RESERVED; what++)
            cairn_pebs_get(FORMAT, r, left, what, &value);
        free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_words),   cmocka_unit_test(basic_and_registers),
        cmocka_unit_test(all_groups),     cmocka_unit_test(fragments),
        cmocka_unit_test(padding),        cmocka_unit_test(invalid_sizes),
        cmocka_unit_test(random_records), cmocka_unit_test(cut_records),
        cmocka_unit_test(noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
