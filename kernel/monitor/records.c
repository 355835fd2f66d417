/* SPDX-License-Identifier: MIT */
/* Command `records`: what lies in the PEBS buffer, a line for each record, or one record word by word. */
#include "ds/layout.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/inside.h"

#define LIST_MOST 64u

static const char *const fixed_words[] = {
    "RFLAGS",     "RIP",     "RAX",        "RBX", "RCX", "RDX", "RSI", "RDI", "RBP",    "RSP",
    "R8",         "R9",      "R10",        "R11", "R12", "R13", "R14", "R15", "Status", "DataLinearAddress",
    "DataSource", "Latency", "EventingIP", "TX",  "TSC"};
static const char *const basic_words[] = {"RecordFormat", "EventingIP", "ApplicableCounters", "TSC"};
static const char *const memory_words[] = {"DataLinearAddress", "DataSource", "Latency", "TX"};
static const char *const gpr_words[] = {"RFLAGS", "RIP", "RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI",
                                        "RDI",    "R8",  "R9",  "R10", "R11", "R12", "R13", "R14", "R15"};
#define COUNT(words) (sizeof(words) / sizeof(words)[0])

#define FRAGMENTS_MOST 8u /* a header for each group, a null header, and padding */
#define RECORD_MOST    (DS_ARCH_RECORD_MAX + FRAGMENTS_MOST * 32u)

/* Of a fragment of architectural PEBS. */
static const char *const header_words[] = {"RecordHeader", "reserved"};
static const char *const arch_basic_words[] = {"EventingIP", "ApplicableCounters", "TSC",
                                               "Retire",     "reserved",           "reserved"};
static const char *const aux_words[] = {"DataLinearAddress", "reserved",   "reserved", "reserved",
                                        "reserved",          "DataSource", "Latency",  "TX"};
static const char *const ssp_words[] = {"SSP", "reserved"};

#define ALWAYS UINT64_MAX
struct group {
    uint64_t bits; /* of the header; any of them */
    const char *name;
    const char *const *names; /* NULL: numbered words of `name` */
    uint32_t words;           /* 0: to the record's or the fragment's end */
};
static const struct group fixed_groups[] = {{ALWAYS, "", fixed_words, COUNT(fixed_words)}};
static const struct group adaptive_groups[] = {
    {ALWAYS, "", basic_words, COUNT(basic_words)},
    {MSR_PEBS_DATA_CFG_MEMINFO, "", memory_words, COUNT(memory_words)},
    {MSR_PEBS_DATA_CFG_GPR, "", gpr_words, COUNT(gpr_words)},
    {MSR_PEBS_DATA_CFG_XMM, "XMM", NULL, sizeof(struct ds_pebs_xmm) / 8},
    {ALWAYS, "LBR/CNTR", NULL, 0},
};
static const struct group arch_groups[] = {
    {ALWAYS, "", header_words, COUNT(header_words)},
    {DS_ARCH_HEADER_BASIC, "", arch_basic_words, COUNT(arch_basic_words)},
    {IA32_PMC_CFG_C_AUX, "", aux_words, COUNT(aux_words)},
    {IA32_PMC_CFG_C_GPR, "", gpr_words, COUNT(gpr_words)},
    {IA32_PMC_CFG_C_GPR, "", ssp_words, COUNT(ssp_words)},
    {IA32_PMC_CFG_C_XER, "XER", NULL, sizeof(struct ds_arch_xer) / 8},
    {IA32_PMC_CFG_C_XMM, "XMM", NULL, DS_ARCH_XMM_BYTES / 8},
    {IA32_PMC_CFG_C_YMMH, "YMMH", NULL, DS_ARCH_YMMH_BYTES / 8},
    {IA32_PMC_CFG_C_EGPR, "EGPR", NULL, DS_ARCH_EGPR_BYTES / 8},
    {IA32_PMC_CFG_C_OPMASK, "OPMASK", NULL, DS_ARCH_OPMASK_BYTES / 8},
    {IA32_PMC_CFG_C_ZMMH, "ZMMH", NULL, DS_ARCH_ZMMH_BYTES / 8},
    {IA32_PMC_CFG_C_H16ZMM, "H16ZMM", NULL, DS_ARCH_H16ZMM_BYTES / 8},
    {ALWAYS, "LBR/CNTR", NULL, 0},
};

/* The name of word `n` of a record, or of a fragment, with the groups of this header. */
static void name_word(const struct group *g, uint64_t header, unsigned n, char *name, size_t size)
{
    for (;; g++) {
        const bool there = g->bits == ALWAYS || header & g->bits;
        if (there && (!g->words || n < g->words))
            break;
        n -= there ? g->words : 0;
    }
    if (g->names)
        snprintf(name, size, "%s", g->names[n]);
    else if (g->bits == MSR_PEBS_DATA_CFG_XMM || g->bits == IA32_PMC_CFG_C_XMM)
        snprintf(name, size, "XMM%u.%s", n / 2, n % 2 ? "high" : "low");
    else
        snprintf(name, size, "%s word %u", g->name, n);
}

struct buffer {
    struct kmonitor_ds ds;
    uint64_t base, index;
    uint8_t record[RECORD_MOST];
    uint32_t size; /* of the record */
};

/* The record at `at`; false: there is none whole, and a line has said why if it is not the end. */
static bool read_record(struct kmonitor *m, struct buffer *b, uint64_t at)
{
    const uint64_t left = b->index - at;
    const uint32_t n = left < sizeof b->record ? (uint32_t)left : (uint32_t)sizeof b->record;
    if (at >= b->index)
        return false;
    if (m->machine->read(at, b->record, n) != 0)
        kmonitor_say(m, "0x%lx: not mapped for the kernel", (unsigned long)at);
    else if (!(b->size = ds_record_size_at(b->ds.format, b->record, n)))
        kmonitor_say(m, "0x%lx: no record of format %u: its size is wrong", (unsigned long)at, b->ds.format);
    else
        return true;
    return false;
}

static uint64_t word_at(const struct buffer *b, unsigned n)
{
    uint64_t v = 0;
    if (8 * n + 8 <= b->size)
        memcpy(&v, b->record + 8 * n, 8);
    return v;
}

/* Which word EventingIP, or RIP, is; counters and TSC follow it from format 4 on. */
static unsigned ip_word(const struct buffer *b)
{
    const unsigned null = ds_arch_header_null(word_at(b, 0)) ? 2 : 0;
    return b->ds.format == DS_FORMAT_ARCH ? null + 2 : b->ds.format >= 4 ? 1 : b->ds.format >= 2 ? 22 : 1;
}

static void list(struct kmonitor *m, const struct buffer *b, unsigned i)
{
    const bool adaptive = b->ds.format >= 4;
    const unsigned at = ip_word(b);
    const uint64_t ip = word_at(b, at);
    char where[80];
    if (!i)
        kmonitor_print(m, "      EventingIP or RIP           ApplicableCounters  TSC\n");
    kmonitor_print(m, "%4u  %-26.26s  0x%-16lx  ", i, kmonitor_place_of(m, ip, where, sizeof where),
                   (unsigned long)word_at(b, adaptive ? at + 1 : 18));
    if (ds_pebs_has_tsc(b->ds.format))
        kmonitor_print(m, "%lu\n", (unsigned long)word_at(b, adaptive ? at + 2 : 24));
    else
        kmonitor_print(m, "none in format %u\n", b->ds.format);
}

static void print_words(struct kmonitor *m, const struct buffer *b)
{
    unsigned fragment = 0, end = 0; /* words */
    for (unsigned n = 0; 8 * n < b->size; n++) {
        char name[32], where[80] = "";
        if (b->ds.format == DS_FORMAT_ARCH && n == end) {
            fragment = n;
            end = n + (ds_arch_header_size(word_at(b, n)) + 15) / 16 * 2;
        }
        if (b->ds.format == DS_FORMAT_ARCH)
            name_word(arch_groups, word_at(b, fragment), n - fragment, name, sizeof name);
        else if (b->ds.format >= 4)
            name_word(adaptive_groups, ds_pebs_head_groups(word_at(b, 0)), n, name, sizeof name);
        else
            name_word(fixed_groups, 0, n, name, sizeof name);
        if (strcmp(name, "RIP") == 0 || strcmp(name, "EventingIP") == 0)
            kmonitor_place_of(m, word_at(b, n), where, sizeof where);
        kmonitor_print(m, "%4x %-20s %016lx  %s\n", 8 * n, name, (unsigned long)word_at(b, n), where);
    }
}

static int records(struct kmonitor *m, unsigned words, char **word)
{
    static struct buffer b; /* not on an interrupt's stack */
    struct ds_area_60 area;
    uint64_t wanted = UINT64_MAX;
    unsigned i = 0;
    if (words && !kmonitor_number(m, word[0], UINT32_MAX, &wanted))
        return 0;
    const bool there = m->machine->ds(m->cpu, &b.ds) == 0, arch = there && b.ds.format == DS_FORMAT_ARCH;
    if (!there || (arch ? !b.ds.buffer : !b.ds.area || m->machine->read(b.ds.area, &area, sizeof area) != 0)) {
        kmonitor_say(m, arch ? "CPU %u has no PEBS buffer: `ds` says why" : "CPU %u has no DS area: `ds` says why",
                     m->cpu);
        return 0;
    }
    b.base = arch ? b.ds.buffer : area.pebs_buffer_base;
    b.index = arch ? b.base + ia32_pebs_index_wr(b.ds.index) : area.pebs_index;
    for (uint64_t at = b.base; read_record(m, &b, at); at += b.size, i++) {
        if (i == wanted) {
            print_words(m, &b);
            return 0;
        }
        if (wanted == UINT64_MAX && i < LIST_MOST)
            list(m, &b, i);
        if (i > UINT16_MAX) /* PebsIndex cannot be right */
            break;
    }
    if (wanted != UINT64_MAX)
        kmonitor_say(m, "there is no record %lu: the buffer has %u", (unsigned long)wanted, i);
    else
        kmonitor_print(m, "%u record%s in the PEBS buffer of CPU %u%s\n", i, kmonitor_plural(i), m->cpu,
                       i > LIST_MOST ? ", the first 64 are shown" : "");
    return 0;
}

const struct kmonitor_command kmonitor_records[] = {
    {"records", "[N]", "records in the PEBS buffer; N: that one word by word, the first is 0", 0, 1, records, NULL},
    {NULL, NULL, NULL, 0, 0, NULL, NULL},
};
