/* SPDX-License-Identifier: MIT */
/* The questions, in the order in which they are asked, and what is measured. This file has only the words, as the host
 * tool uses it, too. Questions that are policies of the model have the policies' names. */
#include "ds/policy/table/table.h"
#include "ds/probe/probe.h"
#include "kernel/lib/string.h"

#define PEBS DS_PROBE_PEBS
#define BTS  DS_PROBE_BTS
#define ARCH (DS_PROBE_PEBS | DS_PROBE_ARCH)

const struct ds_probe_row ds_probe_rows[DS_PROBE_ROWS] = {
    [DS_PROBE_Q_FIT] = {"fit", NULL, "end_lt and start_lt; Linux relies on end_le", NULL,
                        "records stored with three absolute maxima", PEBS,
                        "no absolute maximum; see arch_full and arch_fit"},
    [DS_PROBE_Q_DROP_RELOAD] = {"drop_reload", NULL, "nothing", NULL,
                                "a full buffer: counter and status after an overflow", PEBS,
                                .answers = "cleared stored"},
    [DS_PROBE_Q_BTS_FULL] = {"bts_full", NULL, "nothing", NULL, "64 branches, room for 32: which are in the buffer",
                             BTS, .answers = "beyond"},
    [DS_PROBE_Q_BTS_OVF_BUF] = {"bts_ovf_buf", NULL, "nothing; Linux does not trust it", NULL,
                                "status after branches up to the threshold", BTS},
    [DS_PROBE_Q_MASKED_PMI] = {"masked_pmi", NULL, "nothing", NULL,
                               "PMIs after the threshold while masked, and after unmasking", PEBS,
                               .answers = "delivered"},
    [DS_PROBE_Q_BYSTANDER] = {"bystander", NULL, "formats 0 to 2: reloaded; later ones: nothing", NULL,
                              "a branch arms a counter; another has a record before the next branch", PEBS},
    [DS_PROBE_Q_PDIST_MINIMUM] = {"pdist_minimum", NULL, "nothing; Linux keeps 128", NULL,
                                  "distance of records with a period of 50", PEBS},
    [DS_PROBE_Q_RESERVED] = {"reserved", NULL, "#GP", NULL, "a reserved bit written to each of some MSRs, counters off",
                             DS_PROBE_COUNTERS},
    [DS_PROBE_Q_RESIDUAL] = {"residual", NULL, "some, for an unspecified time", NULL,
                             "the index right after the WRMSR, and some time later", PEBS},
    [DS_PROBE_Q_UNMAPPED] = {"unmapped", NULL, "must always be mapped", NULL,
                             "PebsIndex on a page that is not mapped, then in the buffer", PEBS,
                             "the address is physical, so no page table is asked"},
    [DS_PROBE_Q_SPACING] = {"spacing",
                            "how many events apart are the records of an ordinary counter with a period of N?",
                            "the Nth arms, the next writes it: N + 1", "n_plus_1",
                            "records among divisions, slow instructions", PEBS, .answers = "n"},
    [DS_PROBE_Q_PDIST_SPACING] = {"pdist_spacing",
                                  "how many events apart are the records of a counter with precise distribution?", "N",
                                  "n", "the same; on PMC0, branches among jumps", PEBS, .answers = "n_plus_1"},
    [DS_PROBE_Q_SHADOW] = {"shadow", "do fast instructions after a slow one get as many records as the slow one?",
                           "not always", "even", "records of a division and seven NOPs, repeated", PEBS,
                           .answers = "uneven"},
    [DS_PROBE_Q_EVENTING_IP] = {"eventing_ip", "is a record's EventingIP the instruction that caused the event?", "yes",
                                "yes", "a counter of branches: its record of the last of 64 jumps", PEBS,
                                .answers = "next"},
    [DS_PROBE_Q_RIP] = {"rip", "to which instruction does a record's RIP point?", "the next one", "next", "the same",
                        PEBS, .answers = "eventing"},
    [DS_PROBE_Q_OVERFLOW_BIT] = {"overflow_bit",
                                 "is a counter's bit of GLOBAL_STATUS set between its overflow and its record?",
                                 "yes; the record clears it", "set",
                                 "counters turned off after the overflow, before the next event", PEBS,
                                 "see arch_overflow", .answers = "clear"},
    [DS_PROBE_Q_FULL_SIGNAL] =
        {"full_signal",
         "does a record that a full buffer drops set OVF_BUF (architectural PEBS: or bit 54), or raise a PMI?", "no",
         "no", "a full buffer, above its threshold", PEBS, .answers = "yes"},
    [DS_PROBE_Q_SELF_MASK] = {"self_mask", "does a PMI mask LVTPC?", "yes", "yes", "LVTPC after a PMI", PEBS,
                              .answers = "no"},
    [DS_PROBE_Q_THRESHOLD_AGAIN] =
        {"threshold_again",
         "does a record above the threshold raise another PMI if the index was not reset after the first?", "yes",
         "yes", "more records after a PMI, the index not changed", PEBS, .answers = "no"},
    [DS_PROBE_Q_BTS_CIRCULAR] = {"bts_circular", "what does a full BTS buffer with BTINT clear do?",
                                 "continues at its base", "wrap", "64 branches into 32 records, threshold out of reach",
                                 BTS, .answers = "stop beyond"},
    [DS_PROBE_Q_BTS_CIRCULAR_PMI] = {"bts_circular_pmi", "does the BTS threshold raise a PMI if BTINT is clear?",
                                     "may; to be put out of reach", "yes", "branches up to the threshold", BTS,
                                     .answers = "no"},
    [DS_PROBE_Q_DS_AREA] = {"ds_area", "what does writing a non-canonical address to IA32_DS_AREA do?",
                            "nothing; Linux' KVM: #GP", "fault", "written and read", 0, .answers = "ignore kept"},
    [DS_PROBE_Q_PMC_WRITE] = {"pmc_write", "which bits of the value does a write to IA32_PMCx use?",
                              "32, sign-extended", "sign_extended", "written and read", DS_PROBE_COUNTERS,
                              .answers = "all_bits low_half fault"},
    [DS_PROBE_Q_HYPERVISOR] = {"hypervisor", "does a hypervisor refuse registers that the processor has?", "nothing",
                               "none", "CPUID.40000000H; registers of the record format read, BTINT written", 0,
                               .answers = "some"},
    [DS_PROBE_Q_ARCH_THRESHOLD] = {"arch_threshold", NULL, "not found; Linux works with both", NULL,
                                   "a record that ends at the threshold, one that ends 16 bytes above it", ARCH},
    [DS_PROBE_Q_ARCH_FULL] = {"arch_full", NULL, "not found; Linux sets both anew when it drains", NULL,
                              "a record is due, 16 bytes are left", ARCH},
    [DS_PROBE_Q_ARCH_FIT] = {"arch_fit",
                             "architectural PEBS: is a record stored that ends exactly where the buffer ends?",
                             "not found", "yes", "a record is due, as many bytes are left", ARCH, .answers = "no"},
    [DS_PROBE_Q_ARCH_BASE] = {"arch_base", NULL, "not found; Linux' 64 KiB are aligned", NULL,
                              "8 KiB at an odd page written to IA32_PEBS_BASE, nothing recording", ARCH},
    [DS_PROBE_Q_ARCH_SIZE] = {"arch_size", NULL, "not found; Linux uses SIZE 4", NULL,
                              "each bit of SIZE written, nothing recording", ARCH},
    [DS_PROBE_Q_ARCH_PADDING] = {"arch_padding", NULL, "not found", NULL,
                                 "a record with one counter's value, which needs 8 bytes more", ARCH},
    [DS_PROBE_Q_ARCH_OVERFLOW] = {"arch_overflow", NULL, "not found; Linux ignores the bit", NULL,
                                  "status after an overflow without its record, and with it", ARCH},
    [DS_PROBE_Q_ARCH_OVF_BUF] = {"arch_ovf_buf", NULL, "not found; Linux relies on bit 54", NULL,
                                 "status after the threshold", ARCH},
    [DS_PROBE_Q_ARCH_FRAGMENTS] = {"arch_fragments", NULL, "not found; Linux joins them", NULL,
                                   "headers of a record with all groups", ARCH},
    [DS_PROBE_Q_ARCH_TOGETHER] = {"arch_together", NULL, "not found; records have a mask of counters", NULL,
                                  "two counters of instructions, started together", ARCH},
};

#define LBR (MSR_PEBS_DATA_CFG_LBR | (UINT64_C(31) << 24)) /* 32 entries */

const struct ds_probe_cost_row ds_probe_costs[DS_PROBE_COSTS] = {
    {"record", "a PEBS record: basic, or of formats 0 to 3", 0},
    {"record_mem", "a PEBS record with the memory group", MSR_PEBS_DATA_CFG_MEMINFO},
    {"record_gpr", "a PEBS record with general-purpose registers", MSR_PEBS_DATA_CFG_GPR},
    {"record_xmm", "a PEBS record with XMM registers", MSR_PEBS_DATA_CFG_XMM},
    {"record_lbr", "a PEBS record with 32 branches of history, which is off", LBR},
    {"record_counters", "a PEBS record with the counter of instructions", MSR_PEBS_DATA_CFG_CNTR},
    [DS_PROBE_DRAIN] = {"drain", "a PEBS record drained: the driver's work, with one copy", 0},
    [DS_PROBE_PMI] = {"pmi", "a PMI: entry, a handler that counts, return", 0},
    [DS_PROBE_BRANCH] = {"bts", "a BTS record", 0},
};
static const struct ds_model_policy_row *policy(const struct ds_probe_row *row)
{
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++)
        if (strcmp(ds_model_policies[i].name, row->name) == 0)
            return &ds_model_policies[i];
    return NULL;
}

const char *ds_probe_question(const struct ds_probe_row *row)
{
    return row->question ? row->question : policy(row)->question;
}

const char *ds_probe_model(const struct ds_probe_row *row)
{
    return row->model ? row->model : policy(row)->values[0];
}

bool ds_probe_lists(const struct ds_probe_row *row, const char *answer)
{
    const struct ds_model_policy_row *of = policy(row);
    const size_t size = strlen(answer);
    bool found = strcmp(answer, "other") == 0 || strcmp(answer, ds_probe_model(row)) == 0;
    for (unsigned i = 0; of && of->values[i]; i++)
        found |= strcmp(answer, of->values[i]) == 0;
    for (const char *word = row->answers, *end; word; word = end ? end + 1 : NULL) {
        end = strchr(word, ' ');
        found |= (end ? (size_t)(end - word) : strlen(word)) == size && memcmp(word, answer, size) == 0;
    }
    return found;
}
