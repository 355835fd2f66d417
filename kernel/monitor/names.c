/* SPDX-License-Identifier: MIT */
/* Registers and fields by name: what `explain` says, and what values mean in words. Numbers and masks are those of
 * ds/layout.h and ds/pebs23_layout.h; tests/unit/kernel/test_monitor.c checks that each MSR and each bit of these files
 * is here. Sections are those of Intel's manual (SDM). */
#include "ds/layout.h"
#include "ds/lbr_layout.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/inside.h"

#define PERFMON  "SDM vol. 3B, \"Architectural Performance Monitoring\""
#define VERSION3 "SDM vol. 3B, \"Architectural Performance Monitoring Version 3\""
#define VERSION4 "SDM vol. 3B, \"Architectural Performance Monitoring Version 4\""
#define PEBS     "SDM vol. 3B, \"Processor Event Based Sampling (PEBS)\""
#define ADAPTIVE "SDM vol. 3B, \"Adaptive PEBS\""
#define DS       "SDM vol. 3B, \"BTS and DS Save Area\""
#define BTS      "SDM vol. 3B, \"Branch Trace Store (BTS)\""
#define DEBUGCTL "SDM vol. 3B, \"IA32_DEBUGCTL MSR\""
#define LBR      "SDM vol. 3B, \"Last Branch, Interrupt, and Exception Recording\""
#define ARCH_LBR "SDM vol. 3B, \"Last Branch Records\""
#define VOLUME4  "SDM vol. 4, \"Architectural MSRs\""
#define RECORD   "SDM vol. 3B, \"PEBS Record Format\""
#define ARCH     "SDM vol. 4, \"Architectural MSRs\"; its bits: Linux' arch/x86/include/asm/perf_event.h"

#define M(id, count_, counters_, section_, text_) {#id, KMONITOR_MSR, id, count_, 0, counters_, 0, text_, section_},
#define S(id, count_, text_)                      {#id, KMONITOR_MSR, id, count_, IA32_PMC_STEP, false, 0, text_, ARCH},
#define F(reg, id, text_)                         {#id, KMONITOR_FIELD, reg, 1, 0, false, reg##_##id, text_, NULL},
#define G(reg, id, mask_, text_)                  {#id, KMONITOR_FIELD, reg, 1, 0, false, mask_, text_, NULL},
#define A(id, at, section_, text_)                {id, KMONITOR_AREA, at, 1, 0, false, 0, text_, section_},
#define R(id, section_, text_)                    {id, KMONITOR_RECORD, 0, 1, 0, false, 0, text_, section_},
/* CFG_C of general-purpose and of fixed counters is the same. */
#define C(reg, id, text_) {#id, KMONITOR_FIELD, reg, 1, 0, false, IA32_PMC_CFG_C_##id, text_, NULL},
#define CFG_C(reg)                                                                                                     \
    C(reg, RELOAD, "reload value, sign-extended; 0: not reloaded")                                                     \
    C(reg, CNTR_ALLOW, "all counters' records may show this one")                                                      \
    C(reg, CNTR_GP, "group of counters: general-purpose ones")                                                         \
    C(reg, CNTR_FIXED, "group of counters: fixed ones")                                                                \
    C(reg, CNTR_METRICS, "group of counters: slots and metrics")                                                       \
    C(reg, LBR, "branch history: 1: 8 entries, 2: 16, 3: all")                                                         \
    C(reg, XMM, "XMM0 to XMM15")                                                                                       \
    C(reg, YMMH, "upper halves of YMM0 to YMM15")                                                                      \
    C(reg, EGPR, "R16 to R31; that it is this bit is inferred")                                                        \
    C(reg, OPMASK, "K0 to K7")                                                                                         \
    C(reg, ZMMH, "upper halves of ZMM0 to ZMM15")                                                                      \
    C(reg, H16ZMM, "ZMM16 to ZMM31")                                                                                   \
    C(reg, GPR, "general-purpose registers, RIP, RFLAGS, SSP")                                                         \
    C(reg, AUX, "address, source, latency of a memory access")                                                         \
    C(reg, EN, "PEBS is on for this counter")

/* clang-format off */
const struct kmonitor_name kmonitor_names[] = {
M(IA32_DS_AREA, 1, false, DS,
  "linear address of this CPU's DS area, from which the processor reads where its BTS and PEBS buffers are; write "
  "it while PEBS and BTS are off")
M(IA32_PEBS_ENABLE, 1, true, PEBS,
  "which counters write a PEBS record after they overflow; bit 32 + i is fixed counter i with PEBS_BASELINE, else "
  "load latency of counter i")
F(IA32_PEBS_ENABLE, LL_EN, "load latency of PMC0 to PMC3, before PEBS_BASELINE; else bits of fixed counters")
F(IA32_PEBS_ENABLE, PS_EN, "precise store, Sandy Bridge only")
M(MSR_PEBS_DATA_CFG, 1, false, ADAPTIVE,
  "which groups a PEBS record has after its basic group; only with PEBS_BASELINE (record formats from 4 on)")
F(MSR_PEBS_DATA_CFG, MEMINFO, "memory group: address, source, latency")
F(MSR_PEBS_DATA_CFG, GPR, "general-purpose registers, RIP, RFLAGS")
F(MSR_PEBS_DATA_CFG, XMM, "XMM0 to XMM15")
F(MSR_PEBS_DATA_CFG, LBR, "the newest entries of the branch history")
F(MSR_PEBS_DATA_CFG, CNTR, "values of counters (format 6)")
F(MSR_PEBS_DATA_CFG, METRICS, "slots and performance metrics (format 6)")
G(MSR_PEBS_DATA_CFG, LBR_ENTRIES, UINT64_C(0xFF) << 24, "number of LBR entries, less one")
M(MSR_PEBS_LD_LAT, 1, false, PEBS, "load latency threshold in core cycles: faster loads are not recorded")
M(MSR_PEBS_FRONTEND, 1, false, PEBS, "which stalls of the frontend the event FRONTEND_RETIRED counts")
M(MSR_OFFCORE_RSP_0, 2, false, "SDM vol. 3B, \"Off-core Response Performance Monitoring\"",
  "which requests and answers the event OFFCORE_RESPONSE counts")
M(IA32_PEBS_BASE, 1, false, ARCH,
  "architectural PEBS: physical address of this CPU's buffer, and its size")
F(IA32_PEBS_BASE, SIZE, "the buffer has 4096 << SIZE bytes")
F(IA32_PEBS_BASE, ADDRESS, "physical address, in units of 4 KiB")
M(IA32_PEBS_INDEX, 1, false, ARCH,
  "architectural PEBS: how far the buffer is filled, when the PMI comes, and whether PEBS is on; bits 26:0 are the "
  "byte offset of the next record")
F(IA32_PEBS_INDEX, WR, "where the next record goes, in units of 16 bytes")
F(IA32_PEBS_INDEX, FULL, "a record found no room; software clears it")
F(IA32_PEBS_INDEX, EN, "PEBS is on, for counters whose CFG_C says so")
F(IA32_PEBS_INDEX, THRESH, "WR that sets ARCH_PEBS and raises a PMI")
M(IA32_PERF_GLOBAL_CTRL, 1, true, PERFMON,
  "enables counters; a counter counts only if its bit here and its own enable bit are set")
G(IA32_PERF_GLOBAL_CTRL, METRICS, IA32_PERF_GLOBAL_METRICS, "MSR_PERF_METRICS is on; in the status: it overflowed")
M(IA32_PERF_GLOBAL_STATUS, 1, true, PERFMON,
  "which counters have overflowed, and why a PMI came; read-only. The bit of a PEBS counter is set from its "
  "overflow to its record")
F(IA32_PERF_GLOBAL_STATUS, ARCH_PEBS, "architectural PEBS reached its threshold")
F(IA32_PERF_GLOBAL_STATUS, LBR_FRZ, "a PMI has frozen the branch history")
F(IA32_PERF_GLOBAL_STATUS, CTR_FRZ, "a PMI has frozen the counters")
F(IA32_PERF_GLOBAL_STATUS, ASCI, "an enclave's events may be among the counts")
F(IA32_PERF_GLOBAL_STATUS, UNCORE, "an uncore counter has overflowed")
F(IA32_PERF_GLOBAL_STATUS, OVF_BUF, "the DS buffer reached its threshold")
F(IA32_PERF_GLOBAL_STATUS, COND_CHG, "the state of the counters has changed")
M(IA32_PERF_GLOBAL_OVF_CTRL, 1, true, PERFMON,
  "a 1 clears that bit of IA32_PERF_GLOBAL_STATUS; from version 4 on its name is IA32_PERF_GLOBAL_STATUS_RESET")
M(IA32_PERF_GLOBAL_STATUS_SET, 1, true, VERSION4,
  "a 1 sets that bit of IA32_PERF_GLOBAL_STATUS; from version 4 on, for hypervisors")
M(IA32_PERF_GLOBAL_INUSE, 1, true, "SDM vol. 3B, \"IA32_PERF_GLOBAL_INUSE MSR\"",
  "which counters have an event selected; read-only, from version 4 on")
F(IA32_PERF_GLOBAL_INUSE, PMI, "some counter, or PEBS, is set to raise a PMI")
M(IA32_PERFEVTSEL0, 10, false, PERFMON,
  "what general-purpose counter 0 counts: event select, unit mask, rings; one register for each counter")
G(IA32_PERFEVTSEL0, EVENT, IA32_PERFEVTSEL_EVENT, "event select")
G(IA32_PERFEVTSEL0, UMASK, UINT64_C(0xFF00), "unit mask: which form of the event")
G(IA32_PERFEVTSEL0, USR, IA32_PERFEVTSEL_USR, "counts in rings 1 to 3")
G(IA32_PERFEVTSEL0, OS, IA32_PERFEVTSEL_OS, "counts in ring 0")
G(IA32_PERFEVTSEL0, EDGE, IA32_PERFEVTSEL_EDGE, "counts beginnings, not cycles")
G(IA32_PERFEVTSEL0, INT, IA32_PERFEVTSEL_INT, "an overflow raises a PMI; 0 on PEBS counters: theirs would, too")
G(IA32_PERFEVTSEL0, ANY, IA32_PERFEVTSEL_ANY, "counts for all threads of the core; deprecated in version 5")
G(IA32_PERFEVTSEL0, EN, IA32_PERFEVTSEL_EN, "the counter is enabled")
G(IA32_PERFEVTSEL0, INV, IA32_PERFEVTSEL_INV, "counts cycles with fewer events than CMASK")
G(IA32_PERFEVTSEL0, CMASK, IA32_PERFEVTSEL_CMASK, "counts cycles with at least so many events")
G(IA32_PERFEVTSEL0, ADAPTIVE, IA32_PERFEVTSEL_ADAPTIVE, "its records follow MSR_PEBS_DATA_CFG")
G(IA32_PERFEVTSEL0, EN_LBR_LOG, IA32_PERFEVTSEL_EN_LBR_LOG, "entries of the branch history log the counter")
G(IA32_PERFEVTSEL0, EQ, IA32_PERFEVTSEL_EQ, "counts cycles with exactly CMASK events")
G(IA32_PERFEVTSEL0, RDPMC_USR_DISABLE, IA32_PERFEVTSEL_RDPMC_USR_DISABLE, "RDPMC outside ring 0 reads 0")
G(IA32_PERFEVTSEL0, UMASK2, IA32_PERFEVTSEL_UMASK2, "unit mask extension")
M(IA32_PMC0, 10, false, PERFMON,
  "value of general-purpose counter 0. It counts up and overflows to 0, so a period of N begins at -N. A write "
  "takes 32 bits, sign-extended")
M(IA32_A_PMC0, 10, false, "SDM vol. 3B, \"Full-Width Writes to Performance Counter Registers\"",
  "the same counter as IA32_PMC0; a write takes the counter's full width")
M(IA32_FIXED_CTR_CTRL, 1, false, PERFMON,
  "four bits for each fixed counter: ring 0, rings 1 to 3, all threads, PMI; and ADAPTIVE from bit 32 on")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR0_EN, UINT64_C(0x3), "fixed counter 0: 1 ring 0, 2 rings 1 to 3, 3 all")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR0_PMI, UINT64_C(0x8), "its overflow raises a PMI")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR1_EN, UINT64_C(0x30), "fixed counter 1")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR1_PMI, UINT64_C(0x80), "its overflow raises a PMI")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR2_EN, UINT64_C(0x300), "fixed counter 2")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR2_PMI, UINT64_C(0x800), "its overflow raises a PMI")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR3_EN, UINT64_C(0x3000), "fixed counter 3")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR3_PMI, UINT64_C(0x8000), "its overflow raises a PMI")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR4_EN, UINT64_C(0x30000), "fixed counter 4")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR4_PMI, UINT64_C(0x80000), "its overflow raises a PMI")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR5_EN, UINT64_C(0x300000), "fixed counter 5")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR5_PMI, UINT64_C(0x800000), "its overflow raises a PMI")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR6_EN, UINT64_C(0x3000000), "fixed counter 6")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR6_PMI, UINT64_C(0x8000000), "its overflow raises a PMI")
F(IA32_FIXED_CTR_CTRL, METRICS_CLEAR, "a record that shows the metrics clears them")
G(IA32_FIXED_CTR_CTRL, FIXED_CTR0_ADAPTIVE, DS_BIT(32), "its records follow MSR_PEBS_DATA_CFG")
M(IA32_FIXED_CTR0, 7, false, PERFMON,
  "value of a fixed counter: 0 instructions, 1 core cycles, 2 reference cycles; slots: 3 all, 4 bad speculation, "
  "5 front end, 6 retiring")
S(IA32_PMC_GP0_CTR, 10, "another name of IA32_A_PMC0; these four rows from version 6 on")
S(IA32_PMC_GP0_CFG_A, 10, "another name of IA32_PERFEVTSEL0")
S(IA32_PMC_GP0_CFG_B, 10,
  "auto counter reload: counters whose overflow reloads this one, by their bits in IA32_PERF_GLOBAL_STATUS")
G(IA32_PMC_GP0_CFG_B, METRICS_CLEAR, IA32_PMC_CFG_B_METRICS_CLEAR, "and clears the performance metrics")
S(IA32_PMC_GP0_CFG_C, 10,
  "architectural PEBS of this counter: what a record contains, what the counter is reloaded with")
CFG_C(IA32_PMC_GP0_CFG_C)
S(IA32_PMC_FX0_CTR, 7, "another name of IA32_FIXED_CTR0; fixed counters have no CFG_A: see IA32_FIXED_CTR_CTRL")
S(IA32_PMC_FX0_CFG_B, 7, "auto counter reload of a fixed counter")
S(IA32_PMC_FX0_CFG_C, 7, "architectural PEBS of a fixed counter, as IA32_PMC_GP0_CFG_C")
CFG_C(IA32_PMC_FX0_CFG_C)
M(MSR_PERF_METRICS, 1, false, "SDM vol. 3B, \"Performance Metrics\"",
  "shares of the slots by kind, a byte each; only with IA32_PERF_CAPABILITIES.PERF_METRICS")
M(IA32_PERF_CAPABILITIES, 1, false, VOLUME4,
  "what the counters, PEBS and the branch history can do; bits 11:8 are the PEBS record format; read-only")
F(IA32_PERF_CAPABILITIES, LBR_FMT, "form of the branch history's entries")
F(IA32_PERF_CAPABILITIES, PEBS_TRAP, "records show the state after the instruction")
F(IA32_PERF_CAPABILITIES, PEBS_ARCH_REG, "records have the architectural registers")
G(IA32_PERF_CAPABILITIES, PEBS_REC_FORMAT, UINT64_C(0xF00), "PEBS record format")
G(IA32_PERF_CAPABILITIES, FREEZE_WHILE_SMM, DS_BIT(12), "IA32_DEBUGCTL has FREEZE_WHILE_SMM")
F(IA32_PERF_CAPABILITIES, FW_WRITE, "IA32_A_PMC0 and its like exist")
F(IA32_PERF_CAPABILITIES, PEBS_BASELINE, "adaptive records, PEBS on all counters")
F(IA32_PERF_CAPABILITIES, PERF_METRICS, "MSR_PERF_METRICS exists")
F(IA32_PERF_CAPABILITIES, PEBS_TIMING, "records have the retire latency")
M(IA32_MISC_ENABLE, 1, false, "SDM vol. 4, \"IA32_MISC_ENABLE\"",
  "features of the processor; of interest here: whether it can count, trace branches, sample")
F(IA32_MISC_ENABLE, FAST_STRINGS, "fast REP MOVS and REP STOS")
F(IA32_MISC_ENABLE, PERFMON, "there is performance monitoring")
F(IA32_MISC_ENABLE, BTS_UNAVAIL, "there is no BTS")
F(IA32_MISC_ENABLE, PEBS_UNAVAIL, "there is no PEBS")
M(IA32_DEBUGCTL, 1, false, DEBUGCTL, "turns on branch tracing and branch history, and says what a PMI freezes")
F(IA32_DEBUGCTL, LBR, "the branch history is on")
F(IA32_DEBUGCTL, BTF, "TF traps on branches, not on instructions")
F(IA32_DEBUGCTL, TR, "branch trace messages are on; with BTS: they go to the buffer")
F(IA32_DEBUGCTL, BTS, "branches are stored in the BTS buffer")
F(IA32_DEBUGCTL, BTINT, "a PMI at the BTS threshold; else the buffer is circular")
F(IA32_DEBUGCTL, BTS_OFF_OS, "no BTS in ring 0")
F(IA32_DEBUGCTL, BTS_OFF_USR, "no BTS in rings 1 to 3")
F(IA32_DEBUGCTL, FREEZE_LBRS_ON_PMI, "a PMI freezes the branch history")
F(IA32_DEBUGCTL, FREEZE_PERFMON_ON_PMI, "a PMI freezes the counters")
F(IA32_DEBUGCTL, FREEZE_WHILE_SMM, "counters stand still in SMM")
M(MSR_LBR_SELECT, 1, false, LBR, "branches that the history leaves out, by ring and type; not with architectural LBR")
F(MSR_LBR_SELECT, CPL_EQ_0, "leaves out branches that end in ring 0")
F(MSR_LBR_SELECT, CPL_NEQ_0, "leaves out branches that end in rings 1 to 3")
F(MSR_LBR_SELECT, JCC, "leaves out conditional branches")
F(MSR_LBR_SELECT, NEAR_REL_CALL, "leaves out near relative calls")
F(MSR_LBR_SELECT, NEAR_IND_CALL, "leaves out near indirect calls")
F(MSR_LBR_SELECT, NEAR_RET, "leaves out near returns")
F(MSR_LBR_SELECT, NEAR_IND_JMP, "leaves out near indirect jumps")
F(MSR_LBR_SELECT, NEAR_REL_JMP, "leaves out near relative jumps")
F(MSR_LBR_SELECT, FAR_BRANCH, "leaves out far branches")
F(MSR_LBR_SELECT, EN_CALLSTACK, "a near return removes the newest entry")
M(MSR_LASTBRANCH_TOS, 1, false, LBR, "which entry of the branch history is the newest")
M(MSR_LASTBRANCH_CORE_0_FROM_IP, 8, false, LBR, "where branch 0 of the history began, Core 2")
M(MSR_LASTBRANCH_CORE_0_TO_IP, 8, false, LBR, "where branch 0 of the history ended, Core 2")
M(MSR_LASTBRANCH_0_FROM_IP, 32, false, LBR, "where branch 0 of the history began, from Nehalem on")
M(MSR_LASTBRANCH_0_TO_IP, 32, false, LBR, "where branch 0 of the history ended, from Nehalem on")
M(MSR_LBR_INFO_0, 32, false, LBR, "flags and cycles of branch 0 of the history, from Skylake on")
M(IA32_LBR_CTL, 1, false, ARCH_LBR, "turns on the architectural branch history, by ring and type of branch")
F(IA32_LBR_CTL, LBREN, "the branch history is on")
F(IA32_LBR_CTL, OS, "records branches in ring 0")
F(IA32_LBR_CTL, USR, "records branches in rings 1 to 3")
F(IA32_LBR_CTL, CALL_STACK, "a near return removes the newest entry")
F(IA32_LBR_CTL, BRANCHES, "types: JCC, relative and indirect jumps and calls, returns, others")
M(IA32_LBR_DEPTH, 1, false, ARCH_LBR, "number of entries of the branch history; a write clears it")
M(IA32_LBR_0_INFO, 32, false, ARCH_LBR, "flags and cycles of the newest branch")
M(IA32_LBR_0_FROM_IP, 32, false, ARCH_LBR, "where the newest branch began")
M(IA32_LBR_0_TO_IP, 32, false, ARCH_LBR, "where the newest branch ended")
M(IA32_BIOS_SIGN_ID, 1, false, "SDM vol. 3A, \"Update Signature and Verification\"",
  "microcode revision, in bits 63:32 on Intel's processors")
M(MSR_TSX_FORCE_ABORT, 1, false, VOLUME4, "whether transactions always abort, which gives software PMC3")
F(MSR_TSX_FORCE_ABORT, RTM, "transactions always abort")
{"LVTPC", KMONITOR_APIC, 0, 1, 0, false, 0,
  "entry of the local APIC for the PMI: vector, delivery mode, and a mask bit that the processor sets with each PMI; "
  "software must clear it", "SDM vol. 3A, \"Local Vector Table\""},
A("BtsBufferBase", 0x00, DS, "where the BTS buffer begins; 0: there is none. The driver writes it")
A("BtsIndex", 0x08, DS, "where the next BTS record goes. The processor moves it on; the driver sets it back")
A("BtsAbsoluteMaximum", 0x10, DS, "the end of the BTS buffer: the byte after the last record")
A("BtsInterruptThreshold", 0x18, DS, "BtsIndex at which a PMI comes; beyond the end: none, the buffer is circular")
A("PebsBufferBase", 0x20, DS, "where the PEBS buffer begins. The driver writes it")
A("PebsIndex", 0x28, DS,
  "where the next PEBS record goes. The processor moves it on; the driver sets it back to base at a drain")
A("PebsAbsoluteMaximum", 0x30, DS, "the end of the PEBS buffer: a record that would pass it is not written")
A("PebsInterruptThreshold", 0x38, DS, "PebsIndex at which OVF_BUF is set and a PMI comes")
A("PebsCounterReset", 0x40, DS,
  "what a counter is reloaded with after its record: minus the period. One word for each counter; fixed counters' "
  "follow")
R("FROM", BTS, "BTS record, offset 00H: the address of the branch")
R("TO", BTS, "BTS record, offset 08H: where the branch went")
R("FLAGS", BTS, "BTS record, offset 10H: bit 4: the branch was predicted; not on every processor")
R("RFLAGS", RECORD, "PEBS record: RFLAGS; formats 0 to 3, and the GPR group")
R("RIP", RECORD, "PEBS record: the instruction after the event; formats 0 to 3, and the GPR group")
R("EventingIP", RECORD, "PEBS record: the instruction that caused the event; from format 2 on")
R("TSC", RECORD, "PEBS record: the time stamp counter when it was written; from format 3 on")
R("RecordFormat", ADAPTIVE,
  "basic group, first word: the groups of the record (bits 31:0), its retire latency (47:32) and its size (63:48)")
R("RecordHeader", ARCH,
  "architectural PEBS, first word of a record: its size (bits 15:0), whether a fragment follows (31), its groups "
  "(63:35)")
R("ApplicableCounters", RECORD,
  "PEBS record: the counters whose overflow it is of, numbered as in IA32_PERF_GLOBAL_STATUS")
R("DataLinearAddress", RECORD, "PEBS record: address of a load or store; memory group, or formats 1 to 3")
R("DataSource", RECORD, "PEBS record: where the data came from, coded; memory group, or formats 1 to 3")
R("Latency", RECORD, "PEBS record: cycles that the access took; memory group, or formats 1 to 3")
};
/* clang-format on */
const size_t kmonitor_names_count = sizeof kmonitor_names / sizeof kmonitor_names[0];

static uint32_t step_of(const struct kmonitor_name *row)
{
    return row->step ? row->step : 1;
}

int kmonitor_msr_index(const struct kmonitor_name *row, uint32_t number)
{
    const uint32_t at = number - row->number, step = step_of(row);
    return row->kind == KMONITOR_MSR && at % step == 0 && at / step < row->count ? (int)(at / step) : -1;
}

const struct kmonitor_name *kmonitor_msr(uint32_t number)
{
    for (size_t i = 0; i < kmonitor_names_count; i++)
        if (kmonitor_msr_index(&kmonitor_names[i], number) >= 0)
            return &kmonitor_names[i];
    return NULL;
}

/* The length of a name up to the digit that counts, and what follows that. */
static size_t digit_of(const struct kmonitor_name *n, const char **behind)
{
    size_t at = strlen(n->name);
    while (n->name[at - 1] != '0')
        at--;
    *behind = n->name + at;
    return at - 1;
}

const char *kmonitor_msr_name(uint32_t number, char *text, size_t size)
{
    const struct kmonitor_name *n = kmonitor_msr(number);
    const char *behind;
    if (!n)
        snprintf(text, size, "MSR %XH", number);
    else if (n->count == 1)
        snprintf(text, size, "%s", n->name);
    else {
        const int before = (int)digit_of(n, &behind);
        snprintf(text, size, "%.*s%d%s", before, n->name, kmonitor_msr_index(n, number), behind);
    }
    return text;
}

bool kmonitor_msr_named(const char *name, uint32_t *number)
{
    char text[48];
    for (size_t i = 0; i < kmonitor_names_count; i++)
        for (uint32_t n = 0; kmonitor_names[i].kind == KMONITOR_MSR && n < kmonitor_names[i].count; n++) {
            *number = kmonitor_names[i].number + n * step_of(&kmonitor_names[i]);
            if (kmonitor_same(kmonitor_msr_name(*number, text, sizeof text), name))
                return true;
        }
    return false;
}
