/* SPDX-License-Identifier: MIT */
/* What stepping leaves: records, their groups, losses, and the model's log of how they came about. */
#include <stdlib.h>
#include <string.h>

#include "ds/lbr_layout.h"
#include "ds/pebs23_layout.h"
#include "tests/unit/ds/soft/soft_machine.h"
#include "tests/unit/support/cmocka.h"
#include "trace/wire/model_log.h"

static void snapshot_and_pmi(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90, 0x90};
    soft_begin("skylake", "instructions:1:k", 2);
    frame = (struct arch_trap_frame){.cs = 8,
                                     .rax = 1,
                                     .rbx = 2,
                                     .rcx = 3,
                                     .rdx = 4,
                                     .rsi = 5,
                                     .rdi = 6,
                                     .rbp = 7,
                                     .rsp = 8,
                                     .r8 = 9,
                                     .r9 = 10,
                                     .r10 = 11,
                                     .r11 = 12,
                                     .r12 = 13,
                                     .r13 = 14,
                                     .r14 = 15,
                                     .r15 = 16};
    soft_step(code, code + 1, TF | 0x46);
    uint64_t before = arch_rdtsc();
    soft_step(code + 1, code + 2, TF | 0x46);
    uint64_t after = arch_rdtsc();
    assert_int_equal(seen_count, 1);
    const struct ds_pebs_fmt3 *r = (const void *)(uintptr_t)seen[0].address;
    const struct ds_pebs_fmt0 *g = &r->fmt2.fmt1.registers;
    const uint64_t expected[10] = {0x46, (uintptr_t)code + 2, 1, 2, 3, 4, 5, 6, 7, 8};
    assert_memory_equal(g, expected, sizeof expected);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(g->r8_r15[i], 9 + i);
    assert_int_equal(r->fmt2.eventing_ip, (uintptr_t)code + 1);
    assert_true(r->tsc >= before && r->tsc <= after);
    assert_int_equal(seen[0].tsc, r->tsc);
    const uint64_t *had = words[CAIRN_TRUTH_STATE];
    assert_int_equal(words_seen[CAIRN_TRUTH_STATE], CAIRN_TRUTH_STATES);
    assert_int_equal(seen[0].more, DS_TRUTH_RECORDS(CAIRN_TRUTH_STATES)); /* and no other group */
    const uint64_t truth[17] = {0x46, 1, 3, 4, 2, 8, 7, 5, 6, 9, 10, 11, 12, 13, 14, 15, 16};
    assert_memory_equal(had, truth, sizeof truth);
    assert_true(before <= had[CAIRN_TRUTH_TSC_FIRST] && had[CAIRN_TRUTH_TSC_FIRST] <= r->tsc);
    assert_true(r->tsc <= had[CAIRN_TRUTH_TSC_LAST] && had[CAIRN_TRUTH_TSC_LAST] <= after);
    assert_int_equal(had[CAIRN_TRUTH_MSR], 0); /* nothing shapes a record of format 3 */
    assert_int_equal(seen[0].tid, 4711);
    assert_int_equal(seen[0].cpu, 3);
    assert_int_equal(seen[0].counters, 1);
    assert_int_equal(seen[0].stored, 1);
    frame.cs = 0x33; /* CPL 3 does not count with :k */
    soft_step(code, code + 1, TF);
    soft_step(code, code + 1, TF);
    assert_int_equal(seen_count, 1);
    frame.cs = 8;
    soft_step(code, code + 1, TF);
    soft_step(code, code + 1, TF);
    assert_int_equal(ipis, 1); /* the second record reached the threshold */
    soft_step(code, code + 1, TF);
    soft_step(code, code + 1, TF); /* no room */
    assert_int_equal(seen[2].stored, 0);
    assert_int_equal(seen[2].more, 0);
    assert_true(ds_pmi(ds));
    assert_int_equal(drained_bytes, 2 * 200);
    assert_int_equal(drained_lost, 1);
    assert_false(ds_pmi(ds));
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.records, 2);
    assert_int_equal(counts.lost, 1);
    assert_int_equal(counts.pmis, 1);
    assert_int_equal(counts.steps, 8);
    assert_int_equal(counts.faults, 0);
    ds_stop(ds);
    assert_int_equal(soft_read_msr(IA32_PEBS_ENABLE), 0);
    assert_int_equal(soft_read_msr(IA32_DS_AREA), 0);
}

/* The LBR group, turned on as each processor does it: newest first, as many as asked for, and so says the truth. */
static void history_group(void **state)
{
    (void)state;
    static const uint8_t code[] = {0xEB, 0x02, 0x90, 0x90, 0x75, 0xFA}; /* JMP +2; JNE back */
    static const struct {
        const char *preset, *events; /* the 50th writes: by precise distribution, or as the one behind the overflow */
    } rows[] = {{"icelake", "instructions:50:k"}, {"sapphirerapids", "instructions:49:k"}};
    const uint64_t jump = (uintptr_t)code, jne = jump + 4;
    for (unsigned i = 0; i < 2; i++) {
        groups = MSR_PEBS_DATA_CFG_LBR | msr_pebs_data_cfg_entries(32);
        soft_begin(rows[i].preset, rows[i].events, 8);
        groups = MSR_PEBS_DATA_CFG_GPR;
        frame = (struct arch_trap_frame){.cs = 8};
        for (unsigned s = 0; s < 25; s++) {
            soft_step(code, code + 4, TF);
            soft_step(code + 4, s < 20 ? code : code + 6, TF | (s < 20 ? 0 : 0x40)); /* 20 times taken */
        }
        assert_int_equal(seen_count, 1);
        assert_int_equal(words_seen[CAIRN_TRUTH_LBR], CAIRN_TRUTH_WORDS_MAX);
        const struct ds_pebs_basic *basic = (const void *)(uintptr_t)seen[0].address;
        const struct ds_pebs_lbr *lbr = (const void *)(basic + 1);
        assert_int_equal(ds_pebs_head_size(basic->head), sizeof *basic + 32 * sizeof *lbr);
        for (unsigned e = 0; e < 32; e++) {
            bool at_jump = e < 5 || e % 2 == 0; /* the last five rounds have one branch, those before two */
            assert_int_equal(lbr[e].from, at_jump ? jump : jne);
            assert_int_equal(lbr[e].to, at_jump ? jne : jump);
            assert_int_equal(lbr[e].info, 0);
            assert_int_equal(words[CAIRN_TRUTH_LBR][2 * e], lbr[e].from);
            assert_int_equal(words[CAIRN_TRUTH_LBR][2 * e + 1], lbr[e].to);
        }
        assert_true(words[CAIRN_TRUTH_STATE][CAIRN_TRUTH_MSR] == (MSR_PEBS_DATA_CFG_LBR | UINT64_C(31) << 24));
    }
}

/* The XMM group: the processor's own registers, and so says the truth. Of these the compiler uses the lower ones. */
static void xmm_group(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    static const uint64_t value[4] = {0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x1111, 0x2222};
    groups = MSR_PEBS_DATA_CFG_XMM;
    soft_begin("icelake", "instructions:1:k", 8);
    groups = MSR_PEBS_DATA_CFG_GPR;
    frame = (struct arch_trap_frame){.cs = 8};
    __asm__ volatile("movdqu (%0), %%xmm14\n\tmovdqu 16(%0), %%xmm15" ::"r"(value) : "memory", "xmm14", "xmm15");
    soft_step(code, code + 1, TF);
    assert_int_equal(seen_count, 1);
    assert_int_equal(words_seen[CAIRN_TRUTH_XMM], 35);
    const struct ds_pebs_basic *basic = (const void *)(uintptr_t)seen[0].address;
    const struct ds_pebs_xmm *xmm = (const void *)(basic + 1);
    assert_int_equal(ds_pebs_head_size(basic->head), sizeof *basic + sizeof *xmm);
    assert_memory_equal(xmm->xmm[14], value, sizeof value);
    assert_memory_equal(&words[CAIRN_TRUTH_XMM][28], value, sizeof value);
}

/* Architectural PEBS: every group that there is, its headers, and padding; and so says the truth. */
static void architectural_groups(void **state)
{
    (void)state;
    static const uint8_t code[] = {0xEB, 0x00, 0x90}; /* JMP to the next */
    static const uint64_t value[2] = {0x0123456789ABCDEF, 0xFEDCBA9876543210};
    groups = MSR_PEBS_DATA_CFG_MEMINFO | MSR_PEBS_DATA_CFG_GPR | MSR_PEBS_DATA_CFG_XMM | MSR_PEBS_DATA_CFG_CNTR |
             MSR_PEBS_DATA_CFG_LBR | msr_pebs_data_cfg_entries(8);
    soft_begin("clearwaterforest", "instructions:3:k,branches:100:k:plain,cycles:7:k:plain", 8);
    groups = MSR_PEBS_DATA_CFG_GPR;
    frame = (struct arch_trap_frame){.cs = 8, .rbx = 2, .r15 = 16};
    __asm__ volatile("movdqu (%0), %%xmm15" ::"r"(value) : "memory", "xmm15");
    soft_step(code, code + 2, TF | 0x46);
    soft_step(code, code + 2, TF | 0x46);
    soft_step(code + 2, code + 3, TF | 0x46);
    assert_int_equal(seen_count, 1); /* fixed counter 0: precise distribution */
    const uint64_t cfg_c = IA32_PMC_CFG_C_AUX | IA32_PMC_CFG_C_GPR | IA32_PMC_CFG_C_XMM | UINT64_C(1) << 40 |
                           IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED;
    const uint32_t size = 16 + 48 + 64 + 160 + 16 + 256 + 48 + 8 * 24 + 16 + 3 * 8 + 8;
    assert_int_equal(seen[0].address % 4096, 0);
    const struct {
        struct ds_arch_header header;
        struct ds_arch_basic basic;
        struct ds_arch_aux aux;
        struct ds_arch_gpr gpr;
        struct ds_arch_xer xer;
        struct ds_pebs_xmm xmm;
        struct ds_arch_lbr lbr;
        struct ds_pebs_lbr entry[8];
        struct ds_pebs_cntr cntr;
        uint64_t counter[3], padding;
    } *r = arch_phys_to_virt(seen[0].address);
    assert_int_equal(sizeof *r, size);
    assert_true(r->header.format == (DS_ARCH_HEADER_BASIC | DS_ARCH_HEADER_MODE64 | cfg_c | size));
    assert_int_equal(ds_record_size(&ds->caps, &ds->config), size);
    assert_int_equal(r->basic.eventing_ip, (uintptr_t)code + 2);
    assert_int_equal(r->gpr.registers.rbx, 2);
    assert_int_equal(r->gpr.registers.rflags, 0x46);
    assert_int_equal(r->entry[1].to, (uintptr_t)code + 2);
    assert_int_equal(r->entry[2].to, 0);
    const uint64_t *arch = words[CAIRN_TRUTH_ARCH], *had = words[CAIRN_TRUTH_STATE];
    assert_true(had[CAIRN_TRUTH_MSR] == cfg_c);
    assert_int_equal(had[CAIRN_TRUTH_RAX + 3], 2);
    assert_int_equal(arch[CAIRN_TRUTH_ARCH_MODE64], 1);
    assert_true(arch[CAIRN_TRUTH_ARCH_COUNTERS] == (1 | UINT64_C(3) << 32));
    assert_true(r->cntr.gp_mask == 1 && r->cntr.fixed_mask == 3 && !r->cntr.metrics);
    assert_int_equal(arch[CAIRN_TRUTH_ARCH_METRICS], 0);
    assert_int_equal(arch[CAIRN_TRUTH_ARCH_XSTATE], r->xer.xstate);
    assert_int_equal(r->xer.xstate, 2);
    assert_true(arch[CAIRN_TRUTH_ARCH_LBR_CTL] == r->lbr.lbr_ctl && r->lbr.lbr_ctl & IA32_LBR_CTL_LBREN);
    assert_true(arch[CAIRN_TRUTH_ARCH_LBR_DEPTH] == 32 && r->lbr.depth == 32);
    assert_memory_equal(words[CAIRN_TRUTH_CNTR], r->counter, sizeof r->counter);
    assert_int_equal(r->counter[0], DS_BIT(48) - 100 + 2);
    assert_memory_equal(r->xmm.xmm[15], value, sizeof value); /* the compiler uses the lower ones */
    assert_memory_equal(&words[CAIRN_TRUTH_XMM][30], value, sizeof value);
    for (unsigned i = 0; i < 8; i++)
        assert_true(words[CAIRN_TRUTH_LBR][2 * i] == r->entry[i].from &&
                    words[CAIRN_TRUTH_LBR][2 * i + 1] == r->entry[i].to);
    assert_int_equal(words_seen[CAIRN_TRUTH_LBR], 20);                                 /* 16, in records of 5 */
    assert_int_equal(seen[0].more + 1u, ds_truth_records(&ds->caps, &ds->config) - 1); /* nothing was swallowed */
    assert_true(r->padding == 0 && r->header.reserved == 0 && r->aux.data_linear_address == 0);
}

/* The groups of both counters, where one record is for both; each its own, where the processor does it so. */
static void architectural_records_together(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    static const struct ds_model_policy each = {.arch_record_each = true};
    for (unsigned i = 0; i < 2; i++) {
        policy = i ? &each : NULL;
        soft_begin("clearwaterforest", "INST_RETIRED.ANY:2:k,INST_RETIRED.ANY_P:2:k", 8); /* PMC0 has PDIST, too */
        policy = NULL;
        frame = (struct arch_trap_frame){.cs = 8};
        soft_step(code, code + 1, TF);
        soft_step(code, code + 1, TF);
        assert_int_equal(seen_count, 1 + i);
        assert_int_equal(seen[0].counters, i ? 1 : 0x10001);
        assert_int_equal(seen[i].address - seen[0].address, i ? 224 : 0);
        assert_true(words[CAIRN_TRUTH_STATE][CAIRN_TRUTH_MSR] == IA32_PMC_CFG_C_GPR);
        ds_pause(ds);
        ds_drain(ds, CAIRN_DS_RECONFIGURE);
        assert_int_equal(drained_bytes, (1 + i) * 224);
    }
}

static uintptr_t gone; /* no memory from here on */

static bool there(const void *address, size_t size)
{
    return (uintptr_t)address + size <= gone;
}

/* The buffer of architectural PEBS is looked up by its physical address: a record that lies beyond is lost, and
 * counted. */
static void memory_that_is_gone(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    soft_begin("clearwaterforest", "instructions:1:k", 8);
    ds_soft_check_memory(soft, there);
    frame = (struct arch_trap_frame){.cs = 8};
    gone = (uintptr_t)ds->buffer + 224;
    soft_step(code, code + 1, TF);
    assert_int_equal(seen_count, 1);
    soft_step(code, code + 1, TF);
    assert_int_equal(seen_count, 1);
    ds_pause(ds);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_int_equal(drained_bytes, 224);
    assert_int_equal(drained_lost, 1);
}

/* A record still to come, of an instruction that had one itself: its truth is that instruction's, its time as well. */
static void late_record_behind_another(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    static const struct ds_model_policy residual = {.residual = 1};
    static const char *const presets[] = {"icelake", "clearwaterforest"};
    for (unsigned i = 0; i < 2; i++) {
        policy = &residual;
        soft_begin(presets[i], "instructions:1:k", 8);
        policy = NULL;
        frame = (struct arch_trap_frame){.cs = 8, .rbx = 77};
        soft_step(code, code + 1, TF);
        assert_int_equal(seen_count, 1);
        ds_pause(ds);
        ds_stop(ds);
        assert_int_equal(seen_count, 2);
        assert_true(seen[1].event_ip == (uintptr_t)code && seen[1].tid == 4711);
        assert_int_equal(words[CAIRN_TRUTH_STATE][CAIRN_TRUTH_RAX + 3], 77);
        assert_true(seen[1].tsc == seen[0].tsc && words[CAIRN_TRUTH_STATE][CAIRN_TRUTH_TSC_FIRST] <= seen[1].tsc);
        struct ds_counts counts;
        ds_cpu_counts(ds, &counts);
        assert_true(counts.records == 2 && counts.late == 1);
    }
}

/* What an epoch has lost is that epoch's own, and a stale freeze of the counters does not outlive a new start. */
static void loss_by_epoch(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    soft_begin("icelake", "instructions:1:k", 2); /* fixed counter 0: precise distribution, a record each */
    frame = (struct arch_trap_frame){.cs = 8};
    for (unsigned epoch = 0; epoch < 3; epoch++) {
        for (unsigned i = 0; i < 2 + 5 + epoch; i++)
            soft_step(code, code + 1, TF);
        assert_int_equal(seen[seen_count - 1].epoch, epoch);
        assert_int_equal(seen[seen_count - 1].counters, 0x10000);
        drained_lost = 0;
        ds_pause(ds); /* or the drain would end with stepping this test */
        ds_drain(ds, CAIRN_DS_RECONFIGURE);
        assert_int_equal(drained_lost, 5 + epoch);
    }
    ds_stop(ds);
    const struct ds_machine *m = ds_soft_machine(soft);
    assert_int_equal(m->wrmsr(m->context, IA32_PERF_GLOBAL_STATUS_SET, IA32_PERF_GLOBAL_STATUS_CTR_FRZ), 0);
    struct ds_refusal refusal;
    assert_int_equal(ds_start(ds, &refusal), 0);
    drained_lost = 0;
    for (unsigned i = 0; i < 3; i++)
        soft_step(code, code + 1, TF);
    ds_stop(ds);
    assert_int_equal(drained_lost, 1); /* of this start's three */
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.lost, 5 + 6 + 7 + 1);
    assert_int_equal(counts.records, 3 * 2 + 2);
}

/* ---- the model's log */

static void expect_entry(unsigned i, const uint8_t *ip, const uint8_t *next, unsigned length, unsigned cpl)
{
    const struct cairn_model_entry *e = &logged_seen[i].entry;
    uint8_t code[16] = {0};
    memcpy(code, ip, length);
    assert_true(i < entries_seen);
    assert_int_equal(e->sequence, i);
    assert_int_equal(e->epoch, 0);
    assert_int_equal(e->ip, (uintptr_t)ip);
    assert_int_equal(e->next_ip, (uintptr_t)next);
    assert_int_equal(e->tid, 4711);
    assert_int_equal(e->cpl, cpl);
    assert_int_equal(e->length, length);
    assert_memory_equal(e->code, code, sizeof code);
    assert_true(e->tsc && (!i || e->tsc > logged_seen[i - 1].entry.tsc));
}

static void expect_actions(unsigned i, const uint8_t *kinds, unsigned count)
{
    assert_int_equal(logged_seen[i].entry.actions, count);
    for (unsigned n = 0; n < count; n++) {
        assert_int_equal(logged_seen[i].action[n].kind, kinds[n]);
        assert_int_equal(logged_seen[i].action[n].reserved, 0);
    }
}
#define EXPECT_ACTIONS(i, ...) expect_actions(i, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void log_of_a_record(void **state) /* one entry for the overflow, one for the record, none between or after */
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x48, 0x89, 0xE5, 0x74, 0x10, 0x90};
    for (unsigned on = 0; on < 2; on++) {
        soft_begin("skylake", "instructions:3", 1);
        if (on)
            ds_log_start(soft, &model_log);
        frame = (struct arch_trap_frame){.cs = 8};
        soft_step(code, code + 1, TF);
        soft_step(code, code + 1, TF);
        assert_int_equal(entries_seen, 0);
        soft_step(code + 1, code + 4, TF);         /* overflow */
        soft_step(code + 4, code + 22, TF | 0x40); /* JE, taken: the record, and the threshold */
        soft_step(code, code + 1, TF);
        assert_int_equal(entries_seen, on ? 2 : 0);
        assert_int_equal(model_log.entries, on ? 2 : 0);
    }
    expect_entry(0, code + 1, code + 4, 3, 0);
    EXPECT_ACTIONS(0, CAIRN_MODEL_OVERFLOWED, CAIRN_MODEL_ARMED);
    expect_entry(1, code + 4, code + 22, 2, 0);
    EXPECT_ACTIONS(1, CAIRN_MODEL_STORED, CAIRN_MODEL_RELOADED, CAIRN_MODEL_COMPARED, CAIRN_MODEL_PMI_RAISED);
    const struct cairn_model_action *a = logged_seen[1].action;
    assert_int_equal(seen_count, 1);
    assert_int_equal(logged_seen[1].entry.tsc, seen[0].tsc);
    assert_int_equal(a[0].before, seen[0].address);
    assert_int_equal(a[0].after, seen[0].address + 200);
    assert_int_equal(a[0].counters, seen[0].counters);
    assert_int_equal(a[1].after, DS_BIT(48) - 3);
    assert_int_equal(a[2].before, a[0].after);
    assert_int_equal(a[3].before, ARCH_VECTOR_PMI);
    assert_int_equal(ipis, 1);
}

static void log_of_fixed_counters(void **state) /* packed: bit 16 + i */
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    soft_begin("icelake", "instructions:1", 8);
    ds_log_start(soft, &model_log);
    frame = (struct arch_trap_frame){.cs = 8};
    soft_step(code, code + 1, TF);
    expect_entry(0, code, code + 1, 1, 0);
    EXPECT_ACTIONS(0, CAIRN_MODEL_OVERFLOWED, CAIRN_MODEL_ARMED, CAIRN_MODEL_STORED, CAIRN_MODEL_RELOADED,
                   CAIRN_MODEL_COMPARED);
    assert_int_equal(logged_seen[0].action[0].counter, 32);
    assert_int_equal(logged_seen[0].action[2].counters, 1u << 16);
}

static void log_of_a_program(void **state) /* its bytes are copied with care: the page may be gone */
{
    (void)state;
    static const uint8_t code[] __attribute__((aligned(4096))) = {0x48, 0x89, 0xE5, 0x90};
    soft_begin("icelake", "instructions:1:u", 8);
    ds_log_start(soft, &model_log);
    frame = (struct arch_trap_frame){.cs = ARCH_USER_CODE};
    soft_step(code, code + 3, TF);
    expect_entry(0, code, code + 3, 3, 3);
    hole = (uintptr_t)code;
    soft_step(code, code + 3, TF); /* it was decoded before */
    hole = UINT64_MAX;
    assert_int_equal(entries_seen, 2);
    assert_int_equal(logged_seen[1].entry.length, 0);
    assert_int_equal(logged_seen[1].entry.ip, (uintptr_t)code);
}

static void log_of_a_late_interrupt(void **state) /* LVTPC is unmasked: an entry without an instruction */
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    soft_begin("icelake", "instructions:1", 1);
    const struct ds_machine *m = ds_soft_machine(soft);
    ds_log_start(soft, &model_log);
    m->lvtpc_write(m->context, LVTPC_MASKED | ARCH_VECTOR_PMI);
    frame = (struct arch_trap_frame){.cs = 8};
    soft_step(code, code + 1, TF);
    EXPECT_ACTIONS(0, CAIRN_MODEL_OVERFLOWED, CAIRN_MODEL_ARMED, CAIRN_MODEL_STORED, CAIRN_MODEL_RELOADED,
                   CAIRN_MODEL_COMPARED, CAIRN_MODEL_PMI_LATCHED);
    m->lvtpc_write(m->context, ARCH_VECTOR_PMI);
    EXPECT_ACTIONS(1, CAIRN_MODEL_PMI_RAISED);
    assert_int_equal(entries_seen, 2);
    assert_int_equal(logged_seen[1].entry.ip, 0);
    assert_int_equal(logged_seen[1].entry.tid, 0);
    assert_int_equal(logged_seen[1].entry.length, 0);
    assert_int_equal(ipis, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshot_and_pmi),
        cmocka_unit_test(history_group),
        cmocka_unit_test(xmm_group),
        cmocka_unit_test(loss_by_epoch),
        cmocka_unit_test(architectural_groups),
        cmocka_unit_test(architectural_records_together),
        cmocka_unit_test(memory_that_is_gone),
        cmocka_unit_test(late_record_behind_another),
        cmocka_unit_test(log_of_a_record),
        cmocka_unit_test(log_of_fixed_counters),
        cmocka_unit_test(log_of_a_program),
        cmocka_unit_test(log_of_a_late_interrupt),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(soft);
    free(ds);
    return failed;
}
