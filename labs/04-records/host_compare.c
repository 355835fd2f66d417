/* SPDX-License-Identifier: MIT */
#include "host_compare.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "labs/check.h"

#define FORMATS  "SDM vol. 3B, \"PEBS Record Format\""
#define ADAPTIVE "SDM vol. 3B, \"Adaptive PEBS\""
#define OURS     "docs/explain/ds.md, \"Formats side by side\""

/* Fields in the order of memory, so that the first one that differs is where things go wrong. */
static const struct field {
    const char *hint, *member;
    uint32_t at, words;
    const char *text, *read;
} fields[] = {
#define FIELD(hint, member, text, read)                                                                                \
    {                                                                                                                  \
        hint, #member, offsetof(struct record, member), sizeof(((struct record *)0)->member) / 8, text, read           \
    }
    FIELD("eventing-ip", eventing_ip,
          "EventingIP is the address of the instruction that caused the record. RIP, in another place, is where "
          "execution went on.",
          FORMATS),
    FIELD("status", status,
          "In formats 1 and 2 the word at 90H is IA32_PERF_GLOBAL_STATUS. Only format 3 and up name the counters of "
          "this record there.",
          OURS),
    FIELD("counters", counters, "The word is the record's own field of applicable counters: copy it as it is.", OURS),
    FIELD("tsc", tsc, "Format 3 has the TSC behind all else; an adaptive record has it in the basic group.", OURS),
    FIELD("memory", data_address,
          "The data address, the data source and the latency are three words in this order. In an adaptive record they "
          "begin the memory group, which follows the basic group.",
          FORMATS),
    FIELD("memory", data_source, "The data source follows the data address.", FORMATS),
    FIELD("memory", latency, "The latency follows the data source.", FORMATS),
    FIELD("tx", tx, "TX follows EventingIP in formats 2 and 3. In the memory group it follows the latency.", FORMATS),
    FIELD("rflags", rflags, "RFLAGS is the first word of the registers.", FORMATS),
    FIELD("rip", rip, "RIP is the second word of the registers, behind RFLAGS.", FORMATS),
    FIELD("registers", gpr,
          "Formats 0 to 3 have RAX RBX RCX RDX RSI RDI RBP RSP. The group of adaptive records has another order, that "
          "of the instruction encoding. struct record has one order for both.",
          OURS),
    FIELD("xmm", xmm, "The XMM group has 16 registers of two words each, the low half first.", ADAPTIVE),
    FIELD("lbr", lbr, "An entry has three words: from, to, info. The one that comes first in the record is lbr[0].",
          ADAPTIVE),
    FIELD("values", gp,
          "Behind the two words of masks there is one word for each bit that is set, from bit 0 up: those of gp_mask "
          "first, then those of fixed_mask. There is no word for a bit that is clear.",
          ADAPTIVE),
    FIELD("values", fixed, "The values of fixed counters follow those of general-purpose ones, bit by bit.", ADAPTIVE),
    FIELD("metrics", slots, "Behind the values of counters come slots and PERF_METRICS, if `metrics` says so.",
          ADAPTIVE),
    FIELD("metrics", metrics, "PERF_METRICS follows slots.", ADAPTIVE),
};
#define FIELDS (sizeof fields / sizeof fields[0])

static uint64_t word(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Where the record has this word: " (the word at 90H)". Empty if it is nowhere, or in more than one place. */
static const char *place(char out[32], const struct sample *s, uint64_t value)
{
    uint32_t found = 0, at = 0;
    for (uint32_t i = 0; i + 8 <= s->size; i += 8)
        if (word(s->bytes + i) == value) {
            found++;
            at = i;
        }
    out[0] = '\0';
    if (found == 1)
        snprintf(out, 32, " (the word at %" PRIX32 "H)", at);
    return out;
}

static void compare_size(const struct sample *s, uint32_t count)
{
    if (count == s->size)
        return;
    lab_fail("size",
             s->format < 4 ? "All records of formats 0 to 3 have the size of their format. You have a whole record "
                             "here, so parse returns its size."
                           : "An adaptive record says in bits 63:48 of its first word how many bytes it has. You have "
                             "a whole record here, so parse returns that number.",
             s->format < 4 ? FORMATS : ADAPTIVE,
             "%s, format %u: parse returns %" PRIu32 "; expected %" PRIu32 ", the bytes of the record", s->source,
             s->format, count, s->size);
}

static void compare_has(const struct sample *s, uint32_t has)
{
    static const char *const names[] = {"EVENTING_IP", "COUNTERS", "STATUS", "TSC",    "MEMORY", "TX",
                                        "GPR",         "XMM",      "LBR",    "VALUES", "METRICS"};
    const uint32_t wrong = has ^ s->is->has;
    if (!wrong)
        return;
    const unsigned bit = (unsigned)__builtin_ctz(wrong);
    lab_fail(s->format < 4 ? "fields" : "groups",
             s->format < 4 ? "Each format has the fields of the one before and some more. The word at 90H changes its "
                             "meaning with format 3."
                           : "Bits 31:0 of the first word say which groups follow the basic group, one bit for each: "
                             "MSR_PEBS_DATA_CFG_... of ds/layout.h.",
             s->format < 4 ? OURS : ADAPTIVE, "%s, format %u, first word 0x%" PRIx64 ": HAS_%s is %s; expected %s",
             s->source, s->format, word(s->bytes), bit < 11 ? names[bit] : "(unknown)",
             has >> bit & 1 ? "set" : "clear", has >> bit & 1 ? "clear" : "set");
}

static void compare_field(const struct sample *s, const struct field *f, const struct record *yours)
{
    char here[32], there[32];
    for (uint32_t i = 0; i < f->words; i++) {
        const uint64_t is = word((const uint8_t *)yours + f->at + 8 * i);
        const uint64_t right = word((const uint8_t *)s->is + f->at + 8 * i);
        if (is == right)
            continue;
        lab_fail(f->hint, f->text, f->read,
                 "%s, format %u, %" PRIu32 " bytes: word %" PRIu32 " of .%s is 0x%" PRIx64 "%s; expected 0x%" PRIx64
                 "%s",
                 s->source, s->format, s->size, i, f->member, is, place(here, s, is), right, place(there, s, right));
    }
}

static void compare_number(const struct sample *s, const char *hint, const char *text, const char *member, uint32_t is,
                           uint32_t right)
{
    if (is != right)
        lab_fail(hint, text, ADAPTIVE,
                 "%s, format %u, first word 0x%" PRIx64 ": .%s is %" PRIu32 " (0x%" PRIx32 "); expected %" PRIu32
                 " (0x%" PRIx32 ")",
                 s->source, s->format, word(s->bytes), member, is, is, right, right);
}

void compare(const struct sample *s, uint32_t count, const struct record *yours)
{
    compare_size(s, count);
    compare_has(s, yours->has);
    compare_number(s, "entries",
                   "If the LBR group is chosen, bits 31:24 of the first word are the number of its entries less one. "
                   "Otherwise it has none.",
                   "branches", yours->branches, s->is->branches);
    static const char masks[] = "The first word of the counter group has two masks: general-purpose counters in bits "
                                "31:0, fixed counters in bits 63:32.";
    compare_number(s, "masks", masks, "gp_mask", yours->gp_mask, s->is->gp_mask);
    compare_number(s, "masks", masks, "fixed_mask", yours->fixed_mask, s->is->fixed_mask);
    for (unsigned i = 0; i < FIELDS; i++)
        compare_field(s, &fields[i], yours);
}
