/* SPDX-License-Identifier: MIT */
/* Lab 11: records of formats 3 and 4 in which every word has another value. */
#include "labs/check.h"

#include "check_parts.h"
#include "kernel/lib/string.h"

#define SECTION "SDM vol. 3B, \"Data Source Encoding for Load Latency Record\""
#define LAYOUT  "SDM vol. 3B, \"PEBS Record Format\", \"Adaptive PEBS\""
#define RECORDS 300u

static const enum lab_source sources[16] = {
    LAB_UNKNOWN, LAB_L1,      LAB_FILL_BUFFER, LAB_L2,      LAB_L3,      LAB_L3,      LAB_L3,      LAB_OTHER_CORE,
    LAB_UNKNOWN, LAB_UNKNOWN, LAB_MEMORY,      LAB_UNKNOWN, LAB_UNKNOWN, LAB_UNKNOWN, LAB_UNKNOWN, LAB_UNKNOWN,
};
static const char *const words[] = {"UNKNOWN", "L1", "FILL_BUFFER", "L2", "L3", "OTHER_CORE", "MEMORY"};

static const char *name_of(unsigned source)
{
    return source < sizeof words / sizeof words[0] ? words[source] : "(no such value)";
}

static uint64_t word(void)
{
    return (uint64_t)which_below(UINT32_MAX) << 32 | which_below(UINT32_MAX);
}

/* What a record says. */
struct content {
    uint64_t counters, address, source, latency;
};

static void make(unsigned format, uint64_t *record, const struct content *c)
{
    for (unsigned i = 0; i < DS_PEBS_RECORD_MAX_4 / 8; i++)
        record[i] = word();
    if (format < 4) {
        struct ds_pebs_fmt3 *r = (void *)record;
        r->fmt2.fmt1.status = c->counters;
        r->fmt2.fmt1.data_linear_address = c->address;
        r->fmt2.fmt1.data_source = c->source;
        r->fmt2.fmt1.latency = c->latency;
        return;
    }
    const uint32_t groups = MSR_PEBS_DATA_CFG_MEMINFO | (which_below(2) ? MSR_PEBS_DATA_CFG_GPR : 0);
    struct ds_pebs_basic *basic = (void *)record;
    struct ds_pebs_meminfo *memory = (void *)(basic + 1);
    basic->head = ds_pebs_head(groups, ds_pebs_adaptive_size(groups));
    basic->counters = c->counters;
    memory->data_linear_address = c->address;
    memory->data_source = c->source;
    memory->latency = c->latency;
}

static void judge(unsigned format, const struct content *c, bool load, bool store, const struct lab_access *a)
{
    const enum lab_source source = load ? sources[c->source & 15] : LAB_UNKNOWN;
    if (a->address != c->address)
        lab_fail("address", "The word is called Data Linear Address. ds/layout.h has the offsets of each format.",
                 LAYOUT, "format %u: address 0x%lx; expected 0x%lx", format, (unsigned long)a->address,
                 (unsigned long)c->address);
    if (a->load != load || a->store != store)
        lab_fail("kind",
                 "The record has a bit for each counter that it is for: in the word of counters of format 4, and in "
                 "format 3 where older formats have a status. Bits of other counters may be set, too.",
                 LAYOUT, "format %u, counters 0x%lx: %s%s; expected %s%s", format, (unsigned long)c->counters,
                 a->load ? "load " : "", a->store ? "store" : "", load ? "load " : "", store ? "store" : "");
    if (!load && (a->latency || a->source != LAB_UNKNOWN))
        lab_fail("stale",
                 "Latency and data source are those of a load. Where the record is not for the counter of loads, do "
                 "not believe what these words have.",
                 SECTION, "format %u, a store: latency %u, LAB_%s; expected 0, LAB_UNKNOWN", format, a->latency,
                 name_of(a->source));
    if (load && a->latency != c->latency)
        lab_fail("latency", "The latency is a number of cycles, in a word of its own.", LAYOUT,
                 "format %u: %u cycles; expected %lu", format, a->latency, (unsigned long)c->latency);
    if (load && a->source != source && source == LAB_UNKNOWN)
        lab_fail("unknown",
                 "Another processor may use the codes that the README's table does not have for something else. Do not "
                 "guess: task.h says what they are.",
                 "the lab's README.md and task.h", "format %u, data source 0x%lx: LAB_%s; expected LAB_UNKNOWN", format,
                 (unsigned long)c->source, name_of(a->source));
    if (a->source != source)
        lab_fail("source",
                 "Bits 3:0 of the data source say where the data was. Bits 4 and 5 say something else: the STLB did "
                 "not have the page, and the access was locked.",
                 SECTION, "format %u, data source 0x%lx: LAB_%s; expected LAB_%s", format, (unsigned long)c->source,
                 name_of(a->source), words[source]);
}

void which_check_records(void)
{
    static uint64_t record[DS_PEBS_RECORD_MAX_4 / 8];
    for (uint32_t i = 0; i < RECORDS; i++) {
        const unsigned format = 3 + i % 2, loads = which_below(4), stores = (loads + 1 + which_below(3)) % 4;
        const unsigned kind = 1 + which_below(3), other = (loads + stores + 1) % 4;
        const bool load = kind & 1, store = kind & 2;
        const struct content c = {
            .counters = (load ? DS_BIT(loads) : 0) | (store ? DS_BIT(stores) : 0) |
                        (which_below(2) ? DS_BIT(DS_COUNTER_FIXED) : 0) |
                        (other != loads && other != stores && which_below(2) ? DS_BIT(other) : 0),
            .address = word(),
            .source = which_below(64),
            .latency = 1 + which_below(0xFFFF),
        };
        struct lab_access a;
        memset(&a, 0xA5, sizeof a);
        a.load = a.store = which_below(2);
        make(format, record, &c);
        lab_read_record(format, (const uint8_t *)record, loads, stores, &a);
        judge(format, &c, load, store, &a);
    }
    lab_pass("records", "%u records of formats 3 and 4", RECORDS);
}
