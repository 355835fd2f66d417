/* SPDX-License-Identifier: MIT */
/* The questions, in the order they are asked, and what is measured: the words alone, for the host tool has them, too.
 * Those of the model's policies have their names. */
#include "ds/model/model.h"
#include "ds/probe/probe.h"
#include "kernel/lib/string.h"

#define PEBS DS_PROBE_PEBS
#define BTS  DS_PROBE_BTS

const struct ds_probe_row ds_probe_rows[DS_PROBE_ROWS] = {
    [DS_PROBE_Q_FIT] = {"fit", NULL, "both of the last two; Linux relies on the first", NULL,
                        "records stored of many, under three maxima", PEBS},
    [DS_PROBE_Q_DROP_RELOAD] = {"drop_reload", NULL, "nothing", NULL,
                                "a full buffer: counter and status behind an overflow", PEBS},
    [DS_PROBE_Q_BTS_FULL] = {"bts_full", NULL, "nothing", NULL, "64 branches into 32 records: which are there", BTS},
    [DS_PROBE_Q_BTS_OVF_BUF] = {"bts_ovf_buf", NULL, "nothing; Linux does not trust it", NULL,
                                "status after branches up to the threshold", BTS},
    [DS_PROBE_Q_MASKED_PMI] = {"masked_pmi", NULL, "nothing", NULL,
                               "PEBS threshold while masked, then unmasked: PMIs counted", PEBS},
    [DS_PROBE_Q_BYSTANDER] = {"bystander", NULL, "formats 0 to 2: reloaded; later ones: nothing", NULL,
                              "a counter armed by a branch; another's record before the next branch", PEBS},
    [DS_PROBE_Q_PDIST_MINIMUM] = {"pdist_minimum", NULL, "nothing; Linux keeps 128", NULL,
                                  "distance of records with a period of 50", PEBS},
    [DS_PROBE_Q_RESERVED] = {"reserved", NULL, "#GP", NULL, "a reserved bit written to each of some MSRs, counters off",
                             DS_PROBE_COUNTERS},
    [DS_PROBE_Q_RESIDUAL] = {"residual", NULL, "some, within a time it does not tell", NULL,
                             "PebsIndex behind the WRMSR, and a while later", PEBS},
    [DS_PROBE_Q_UNMAPPED] = {"unmapped", NULL, "always to be mapped", NULL,
                             "PebsIndex on a page that is not there, then in the buffer again", PEBS},
    [DS_PROBE_Q_SPACING] = {"spacing",
                            "how many events apart are the records of an ordinary counter with a period of N?",
                            "armed by the Nth, written with the next: N + 1", "n_plus_1",
                            "records among divisions, slow instructions", PEBS},
    [DS_PROBE_Q_PDIST_SPACING] = {"pdist_spacing", "and those of a counter with precise distribution?", "N", "n",
                                  "the same; on PMC0, branches among jumps", PEBS},
    [DS_PROBE_Q_SHADOW] = {"shadow", "are records of fast instructions behind a slow one as many as of that?",
                           "not always", "even", "records of a division and seven NOPs, again and again", PEBS},
    [DS_PROBE_Q_EVENTING_IP] = {"eventing_ip", "is a record's EventingIP the instruction whose event the record is of?",
                                "yes", "yes", "a counter of branches: its record of the last of 64 jumps", PEBS},
    [DS_PROBE_Q_RIP] = {"rip", "which instruction is a record's RIP?", "the next one", "next", "the same", PEBS},
    [DS_PROBE_Q_OVERFLOW_BIT] = {"overflow_bit",
                                 "is a counter's bit of GLOBAL_STATUS set between its overflow and its record?",
                                 "yes; the record clears it", "set",
                                 "counters go off behind the overflow, before the next event", PEBS},
    [DS_PROBE_Q_FULL_SIGNAL] = {"full_signal",
                                "does a record that is dropped at the maximum set OVF_BUF, or raise a PMI?", "no", "no",
                                "a full buffer, above its threshold", PEBS},
    [DS_PROBE_Q_SELF_MASK] = {"self_mask", "does LVTPC mask itself with a PMI?", "yes", "yes", "LVTPC after a PMI",
                              PEBS},
    [DS_PROBE_Q_THRESHOLD_AGAIN] =
        {"threshold_again",
         "does a record above the threshold raise a PMI though the first one did not rewind the index?", "yes", "yes",
         "more records after a PMI, PebsIndex left alone", PEBS},
    [DS_PROBE_Q_BTS_CIRCULAR] = {"bts_circular", "what does a full BTS buffer with BTINT clear do?",
                                 "goes on at its base", "wrap", "64 branches into 32 records, threshold out of reach",
                                 BTS},
    [DS_PROBE_Q_BTS_CIRCULAR_PMI] = {"bts_circular_pmi", "does a BTS threshold raise a PMI with BTINT clear?",
                                     "may: to be put out of reach", "yes", "branches up to the threshold", BTS},
    [DS_PROBE_Q_DS_AREA] = {"ds_area", "what does an address that is not canonical do in IA32_DS_AREA?",
                            "nothing; Linux' KVM: #GP", "fault", "written and read", 0},
    [DS_PROBE_Q_PMC_WRITE] = {"pmc_write", "which bits does a write of IA32_PMCx take?", "32, sign-extended",
                              "sign_extended", "written and read", DS_PROBE_COUNTERS},
    [DS_PROBE_Q_HYPERVISOR] = {"hypervisor", "does a hypervisor refuse registers that the processor has?", "nothing",
                               "none", "CPUID.40000000H; registers of the record format read, BTINT written", 0},
};

#define LBR (MSR_PEBS_DATA_CFG_LBR | (UINT64_C(31) << 24)) /* 32 entries */

const struct ds_probe_cost_row ds_probe_costs[DS_PROBE_COSTS] = {
    {"record", "a PEBS record: basic, or of formats 0 to 3", 0},
    {"record_mem", "a PEBS record with the memory group", MSR_PEBS_DATA_CFG_MEMINFO},
    {"record_gpr", "a PEBS record with general-purpose registers", MSR_PEBS_DATA_CFG_GPR},
    {"record_xmm", "a PEBS record with XMM registers", MSR_PEBS_DATA_CFG_XMM},
    {"record_lbr", "a PEBS record with 32 branches of history, which is off", LBR},
    {"record_counters", "a PEBS record with the counter of instructions", MSR_PEBS_DATA_CFG_CNTR},
    [DS_PROBE_DRAIN] = {"drain", "a PEBS record drained: the driver's work, copied once", 0},
    [DS_PROBE_PMI] = {"pmi", "a PMI: there, a handler that counts, and back", 0},
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
