/* SPDX-License-Identifier: MIT */
/* Lab 8: samples both programs, and compares what lab_scrub leaves of each record. */
#include "labs/check.h"

#include "check_parts.h"
#include "kernel/lib/string.h"
#include "labs/machine/sample.h"

#define RECORD_SECTION "SDM vol. 3B, \"PEBS Record Format\""
#define GROUPS_SECTION "SDM vol. 3B, \"Adaptive PEBS\""
#define LBR_ENTRIES    16u
#define USER_BRANCHES  18u /* of lab_user_8: 8 CALL, 8 RET, RET, SYSCALL */
#define KERNEL(a)      ((a) >> 63)

lab_program lab_kernel_8, lab_user_8; /* program.asm, ring3/program.asm */

static uint8_t before[DS_PEBS_RECORD_MAX_4]; /* the record as the processor has written it */
static uint32_t rips, entries;               /* what there was to hide */

static struct { /* the words of a record that may be addresses of the kernel's code */
    uint64_t eventing_ip;
    uint32_t rip; /* offset */
    uint32_t lbr, lbr_entries;
    uint32_t bytes;
} is;

static void parse(unsigned format)
{
    if (format < 4) {
        const struct ds_pebs_fmt3 *fixed = (const void *)before;
        is.eventing_ip = fixed->fmt2.eventing_ip;
        is.rip = offsetof(struct ds_pebs_fmt0, rip);
        is.lbr = is.bytes = sizeof *fixed;
        is.lbr_entries = 0;
        return;
    }
    const struct ds_pebs_basic *basic = (const void *)before;
    const uint32_t groups = ds_pebs_head_groups(basic->head);
    uint32_t at = sizeof *basic + (groups & MSR_PEBS_DATA_CFG_MEMINFO ? sizeof(struct ds_pebs_meminfo) : 0);
    is.eventing_ip = basic->eventing_ip;
    is.rip = groups & MSR_PEBS_DATA_CFG_GPR ? at + offsetof(struct ds_pebs_gpr, rip) : 0; /* 0: the head, no address */
    at += groups & MSR_PEBS_DATA_CFG_GPR ? sizeof(struct ds_pebs_gpr) : 0;
    at += groups & MSR_PEBS_DATA_CFG_XMM ? sizeof(struct ds_pebs_xmm) : 0;
    is.lbr = at;
    is.bytes = ds_pebs_head_size(basic->head);
    is.lbr_entries = (is.bytes - at) / sizeof(struct ds_pebs_lbr);
}

static uint64_t word(const uint8_t *record, uint32_t at)
{
    return *(const uint64_t *)(const void *)(record + at);
}

static void check_lbr(const uint8_t *after)
{
    for (uint32_t i = 0; i < is.lbr_entries; i++) {
        const uint32_t at = is.lbr + i * sizeof(struct ds_pebs_lbr);
        const uint64_t from = word(before, at), to = word(before, at + 8);
        if (!KERNEL(from) && !KERNEL(to))
            continue;
        entries++;
        if (word(after, at) || word(after, at + 8) || word(after, at + 16))
            lab_fail(
                "lbr",
                "An LBR entry is a branch, with two addresses. The history is older than the record's own "
                "instruction: it may hold what the kernel did before, and the way into it and out of it. `from`, `to` "
                "and `info` of such an entry become 0.",
                GROUPS_SECTION,
                "entry %u was from 0x%lx to 0x%lx; after lab_scrub it is from 0x%lx to 0x%lx, info 0x%lx; expected 0",
                i, (unsigned long)from, (unsigned long)to, (unsigned long)word(after, at),
                (unsigned long)word(after, at + 8), (unsigned long)word(after, at + 16));
    }
}

/* Whether the word at `at` is one that lab_scrub has to clear. */
static bool to_hide(uint32_t at)
{
    if (at == is.rip)
        return KERNEL(word(before, at));
    if (at < is.lbr || at >= is.bytes || !is.lbr_entries)
        return false;
    const uint32_t entry = at - (at - is.lbr) % (uint32_t)sizeof(struct ds_pebs_lbr);
    return KERNEL(word(before, entry)) || KERNEL(word(before, entry + 8));
}

/* Up to two entries behind the record: its buffer is full of what looks like addresses of the kernel. */
static void check_rest(const uint8_t *after)
{
    for (uint32_t at = 0; at < is.bytes + 2 * sizeof(struct ds_pebs_lbr); at += 8)
        if (!to_hide(at) && word(after, at) != word(before, at))
            lab_fail(
                "own",
                "The program's registers are its own, also if it keeps a number there that looks like an address "
                "of the kernel. So is an LBR entry with two addresses of the program. All else stays as it is, too, "
                "also what lies behind the record.",
                RECORD_SECTION, "the word at offset 0x%x of a record of 0x%x bytes was 0x%lx and is 0x%lx", at,
                is.bytes, (unsigned long)word(before, at), (unsigned long)word(after, at));
}

static void check_record(unsigned format, uint8_t *record)
{
    if (!record)
        lab_fail("none", "The check's own sampling does not work here.", RECORD_SECTION, "no record has come");
    memcpy(before, record, sizeof before);
    parse(format);
    for (uint32_t i = 0; i < is.lbr_entries; i++) /* the model's `info` is 0: nobody would see that it stays */
        ((struct ds_pebs_lbr *)(void *)(record + is.lbr))[i].info |= 1;
    memcpy(before, record, sizeof before);
    const bool shown = lab_scrub(format, record);
    const unsigned long rip = (unsigned long)word(before, is.rip), ip = (unsigned long)is.eventing_ip;
    if (KERNEL(is.eventing_ip) && shown)
        lab_fail(
            "kernel-record",
            "This record is of an instruction of the kernel. All its registers are the kernel's: pointers, and the "
            "data it works with. The program may not see it.",
            RECORD_SECTION, "lab_scrub shows a record with EventingIP 0x%lx", ip);
    if (KERNEL(is.eventing_ip))
        return;
    if (!shown)
        lab_fail("withheld",
                 "The instruction of this record is the program's own: EventingIP says whose it is. Only what it tells "
                 "beside that has to go.",
                 RECORD_SECTION, "lab_scrub withholds a record with EventingIP 0x%lx and RIP 0x%lx", ip, rip);
    if (KERNEL(rip)) {
        rips++;
        if (word(record, is.rip))
            lab_fail("rip",
                     "RIP is where the program goes on. After SYSCALL that is the kernel's entry: whoever knows its "
                     "address knows where the kernel lies.",
                     RECORD_SECTION, "EventingIP is 0x%lx and RIP still 0x%lx; expected 0", ip,
                     (unsigned long)word(record, is.rip));
    }
    check_lbr(record);
    check_rest(record);
}

static void sample(unsigned format, struct lab_sample *s, uint64_t debugctl)
{
    /* the history: first of the kernel's program, then of what is sampled */
    (void)lab_wrmsr(IA32_DEBUGCTL, debugctl);
    (void)lab_run(lab_kernel_8, 0, 0);
    lab_sample_begin(s);
    const int e =
        s->user ? lab_run_user(lab_user_8, 0, DS_BIT(s->counter)) : lab_run(lab_kernel_8, 0, DS_BIT(s->counter));
    (void)lab_wrmsr(IA32_DEBUGCTL, 0);
    if (e)
        lab_fail("run", "The check itself cannot run here.", RECORD_SECTION, "no program can run in ring %u",
                 s->user ? 3u : 0u);
    check_record(format, lab_sample_end(s));
}

void lab_check_records(void)
{
    const unsigned format = lab_format();
    const uint64_t groups = format < 4 ? 0 : MSR_PEBS_DATA_CFG_GPR;
    const uint64_t more = format < 4 ? 0
                                     : groups | MSR_PEBS_DATA_CFG_MEMINFO | MSR_PEBS_DATA_CFG_XMM |
                                           MSR_PEBS_DATA_CFG_LBR | msr_pebs_data_cfg_entries(LBR_ENTRIES);
    struct lab_sample s = {.counter = 1 + lab_seed() % 3, .event = ia32_perfevtsel(0xC4, format < 4 ? 4 : 0)};
    uint32_t records = 0;
    for (unsigned user = 0; user < 2; user++)
        for (uint64_t period = 1; period < USER_BRANCHES; period++) {
            s.user = user;
            s.period = period;
            s.groups = groups;
            sample(format, &s, 0);
            s.groups = more;
            sample(format, &s, IA32_DEBUGCTL_LBR);
            s.groups = more & ~(period % 16); /* all sets of groups */
            sample(format, &s, IA32_DEBUGCTL_LBR);
            records += 3;
        }
    if (!rips || (format >= 4 && !entries))
        lab_fail("none", "The check has found nothing to hide: please report this.", RECORD_SECTION,
                 "%u addresses in RIP, %u LBR entries", rips, entries);
    lab_pass("records", "%u records; RIP led into the kernel in %u, and %u LBR entries did", records, rips, entries);
}
