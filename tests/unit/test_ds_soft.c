/* SPDX-License-Identifier: MIT */
/*
 * The stepping backend: its traps one by one with frames made by hand, then on this very processor. The second half
 * sets RFLAGS.TF for real; the SIGTRAP handler plays the kernel's #DB stub. GS base points at a struct arch_cpu as in
 * the kernel.
 */
#define _GNU_SOURCE /* REG_RIP and the like */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "ds/ds.h"
#include "ds/model/model.h"
#include "ds/truth.h"
#include "kernel/errno.h"

#define TF          ARCH_RFLAGS_TF
#define ARCH_SET_GS 0x1001

static struct arch_cpu cpu;
static struct ds_soft *soft;
static struct ds_cpu *ds;
static unsigned ipis;

void arch_ipi_self(uint8_t vector);
void arch_ipi_self(uint8_t vector)
{
    assert_int_equal(vector, ARCH_VECTOR_PMI);
    ipis++;
}

/* A program's memory is this program's. */
static uint64_t hole = UINT64_MAX; /* the page that is not there */

/* The kernel reads 15 bytes of a page for an instruction of one: more than ASan lets a variable be read. */
__attribute__((no_sanitize("address"))) static int copy(void *to, const void *from, uint64_t user, size_t size)
{
    if (user + size > hole && user < hole + 4096)
        return -EFAULT;
    for (size_t i = 0; i < size; i++)
        ((volatile uint8_t *)to)[i] = ((const volatile uint8_t *)from)[i];
    return 0;
}

int arch_copy_from_user(void *to, uint64_t from, size_t size)
{
    return copy(to, (const void *)(uintptr_t)from, from, size);
}

int arch_copy_to_user(uint64_t to, const void *from, size_t size)
{
    return copy((void *)(uintptr_t)to, from, to, size);
}

static const uint8_t syscall_entry[16] = {0x0F, 0x01, 0xF8}; /* SWAPGS */
__asm__(".globl arch_syscall_entry\n.set arch_syscall_entry, syscall_entry");

/* ---- what the driver reports ------------------------------------------------------------------------------------- */

#define SEEN 4096
static struct cairn_truth_pebs seen[SEEN];
static unsigned seen_count, drained_bytes;
static uint64_t drained_lost;

static void before_drain(void *context, uint32_t index, uint64_t tsc)
{
    (void)context, (void)index, (void)tsc;
}

static void drained(void *context, uint32_t index, const struct ds_drain *drain)
{
    (void)context, (void)index;
    drained_bytes += drain->bytes;
    drained_lost += drain->lost;
}

static uint64_t words[CAIRN_TRUTH_GROUPS][CAIRN_TRUTH_WORDS_MAX]; /* of the record seen last */
static unsigned words_seen[CAIRN_TRUTH_GROUPS];

static void recorded(void *context, uint32_t index, const void *truth, uint32_t count)
{
    (void)context;
    struct cairn_truth_pebs pebs;
    memcpy(&pebs, truth, sizeof pebs);
    assert_int_equal(pebs.kind, CAIRN_TRUTH_PEBS);
    assert_int_equal(pebs.more, count - 1);
    memset(words_seen, 0, sizeof words_seen);
    for (uint32_t i = 1; i < count; i++) {
        struct cairn_truth_words w;
        memcpy(&w, (const uint8_t *)truth + i * CAIRN_TRUTH_BYTES, sizeof w);
        assert_int_equal(w.kind, CAIRN_TRUTH_WORDS);
        assert_int_equal(w.cpu, index);
        assert_true(w.group < CAIRN_TRUTH_GROUPS);
        assert_int_equal(w.first, words_seen[w.group]);
        words_seen[w.group] += CAIRN_TRUTH_PER_RECORD;
        assert_true(words_seen[w.group] <= CAIRN_TRUTH_WORDS_MAX);
        memcpy(&words[w.group][w.first], w.word, sizeof w.word);
    }
    if (seen_count < SEEN)
        seen[seen_count++] = pebs;
}

static struct cairn_truth_branch branch_seen[SEEN];
static unsigned branches_seen;
static struct ds_bts_drain bts_last;

static void branched(void *context, uint32_t index, const struct cairn_truth_branch *branch)
{
    (void)context;
    assert_int_equal(index, 3);
    if (branches_seen < SEEN)
        branch_seen[branches_seen++] = *branch;
}

static void bts_drained(void *context, uint32_t index, const struct ds_bts_drain *d)
{
    (void)context, (void)index;
    bts_last = *d;
}

#define LOGGED 8
static struct {
    struct cairn_model_entry entry;
    struct cairn_model_action action[8];
} logged_seen[LOGGED];
static unsigned entries_seen;

static void logged(void *context, uint32_t index, const struct cairn_model_entry *entry,
                   const struct cairn_model_action *actions)
{
    (void)context;
    assert_int_equal(index, 3);
    assert_true(entries_seen < LOGGED && entry->actions >= 1 && entry->actions <= 8);
    logged_seen[entries_seen].entry = *entry;
    memcpy(logged_seen[entries_seen++].action, actions, entry->actions * sizeof *actions);
}

static struct arch_trap_frame frame; /* made by hand */

static uint32_t tid(const struct arch_trap_frame *of)
{
    return of == &frame ? 4711 : 0;
}

static uint64_t groups = MSR_PEBS_DATA_CFG_GPR;
static const struct ds_model_policy *policy; /* NULL: all defaults */

static void begin(const char *preset, const char *events, uint32_t records)
{
    static uint64_t area[512] __attribute__((aligned(4096)));
    static void *buffer;
    char error[128] = "";
    struct ds_config config = {.records = records, .threshold = records};
    struct ds_caps caps;
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained, .recorded = recorded,
                                   .bts_drained = bts_drained, .branched = branched, .logged = logged};
    cpu = (struct arch_cpu){.self = &cpu};
    assert_int_equal(syscall(SYS_arch_prctl, ARCH_SET_GS, &cpu), 0);
    seen_count = branches_seen = entries_seen = ipis = drained_bytes = 0;
    drained_lost = 0;
    soft = realloc(soft, ds_soft_bytes());
    ds = realloc(ds, ds_cpu_bytes());
    assert_int_equal(ds_soft_init(soft, preset, policy), 0);
    assert_int_equal(ds_detect(ds_soft_machine(soft), &caps), 0);
    assert_int_equal(ds_parse_events(events, &config, error, sizeof error), 0);
    config.groups = groups;
    free(buffer);
    buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
    if (ds_cpu_init(ds, 3, ds_soft_machine(soft), &caps, &config, &hooks, area, buffer, error, sizeof error))
        fail_msg("%s", error);
    ds_soft_attach(soft, ds, tid);
    struct ds_refusal refusal;
    assert_int_equal(ds_start(ds, &refusal), 0);
}

static uint64_t read_msr(uint32_t msr)
{
    const struct ds_machine *m = ds_soft_machine(soft);
    uint64_t v = 0;
    assert_int_equal(m->rdmsr(m->context, msr, &v), 0);
    return v;
}

/* Events a counter has counted since it was set to -period. */
static uint64_t counted(uint32_t msr, uint64_t period)
{
    return (read_msr(msr) + period) & (DS_BIT(48) - 1);
}
#define PERIOD UINT64_C(1000000000)
static uint64_t instructions(void)
{
    return counted(IA32_FIXED_CTR0, PERIOD);
}
static uint64_t branches(void)
{
    return counted(IA32_PMC0, PERIOD);
}
#define COUNT_BOTH "instructions:1000000000,branches:1000000000"

/* ---- frames by hand ---------------------------------------------------------------------------------------------- */

/* Steps on at `ip`; the #DB comes with RIP at `next`. */
static bool step(const uint8_t *ip, const uint8_t *next, uint64_t rflags)
{
    cpu.step_on = 1;
    cpu.step_ip = (uintptr_t)ip;
    frame.rip = (uintptr_t)next;
    frame.rflags = rflags;
    return ds_soft_step(soft, &frame);
}

static void pause_ends_stepping(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    begin("icelake", COUNT_BOTH, 8);
    ds_pause(ds);
    assert_int_equal(cpu.step_on, 0);
    frame = (struct arch_trap_frame){.rip = (uintptr_t)code, .rflags = TF | 2, .cs = 8};
    assert_true(ds_soft_step(soft, &frame));
    assert_int_equal(frame.rflags, 2);
    assert_int_equal(instructions(), 0);
    assert_false(ds_soft_step(soft, &frame)); /* a #DB that is none of ours */
    ds_pause(NULL);
    ds_resume(NULL);
    ds_resume_frame(NULL, &frame);
}

static void one_instruction(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x48, 0x89, 0xE5, 0x90};
    begin("icelake", COUNT_BOTH, 8);
    assert_true(step(code, code + 3, TF | 2));
    assert_int_equal(instructions(), 1);
    assert_int_equal(branches(), 0);
    assert_int_equal(frame.rflags, TF | 2);
    assert_int_equal(cpu.step_ip, (uintptr_t)code + 3);
}

static void branch_taken_or_not(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x74, 0x10, 0xEB, 0xFE};
    begin("icelake", COUNT_BOTH, 8);
    step(code, code + 2, TF);
    step(code, code + 18, TF);
    step(code + 2, code + 2, TF); /* jumps to itself: retires all the same */
    assert_int_equal(instructions(), 3);
    assert_int_equal(branches(), 3);
}

/* What the model is told of branches: its branch history (DEBUGCTL.LBR) shows every taken one. */
static void write_msr(uint32_t msr, uint64_t value)
{
    const struct ds_machine *m = ds_soft_machine(soft);
    assert_int_equal(m->wrmsr(m->context, msr, value), 0);
}

static void branch_classes(void **state)
{
    (void)state;
    enum { COND = 1, CALL = 2, RET = 4, TAKEN = 8, FAR = 16 };
    enum { ZF = 0x40 };
    static const struct {
        const char *name;
        uint8_t code[4];
        int to; /* from its address */
        uint64_t rflags, rcx;
        unsigned events;
        bool taken, faults;
    } rows[] = {
        {"je +16, taken", {0x74, 0x10}, 18, ZF, 0, COND | TAKEN, true, false},
        {"je +16, not taken", {0x74, 0x10}, 2, 0, 0, COND, false, false},
        {"je +0, taken", {0x74, 0}, 2, ZF, 0, COND | TAKEN, true, false},
        {"je +0, not taken", {0x74, 0}, 2, 0, 0, COND, false, false},
        {"loop +0, taken", {0xE2, 0}, 2, 0, 5, COND | TAKEN, true, false},
        {"loop +0, not taken", {0xE2, 0}, 2, 0, 0, COND, false, false},
        {"jmp +0", {0xEB, 0}, 2, 0, 0, TAKEN, true, false},
        {"jmp rax", {0xFF, 0xE0}, 77, 0, 0, TAKEN, true, false},
        {"call rax, to the next", {0xFF, 0xD0}, 2, 0, 0, CALL | TAKEN, true, false},
        {"ret", {0xC3}, -40, 0, 0, RET | TAKEN, true, false},
        {"retfq", {0x48, 0xCB}, -40, 0, 0, FAR, true, false},
        {"iretq", {0x48, 0xCF}, 300, 0, 0, FAR, true, false},
        {"syscall", {0x0F, 0x05}, 300, 0, 0, FAR, true, false},
        {"nop", {0x90}, 1, 0, 0, 0, false, false},
        {"je +16, elsewhere: a fault", {0x74, 0x10}, 40, ZF, 0, 0, false, true},
        {"jmp +0, elsewhere: a fault", {0xEB, 0}, 40, 0, 0, 0, false, true},
    };
    static const uint8_t umasks[] = {0x11, 0x02, 0x08, 0x20, 0x40}; /* of Ice Lake, in the order of the bits above */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin("icelake", "instructions:1000000000:plain,branches:1000000000:plain", 8);
        write_msr(IA32_PERF_GLOBAL_CTRL, DS_BIT(32) | 0x3F);
        for (unsigned c = 0; c < 5; c++) {
            write_msr(IA32_PERFEVTSEL0 + 1 + c,
                      ia32_perfevtsel(0xC4, umasks[c]) | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS);
            write_msr(IA32_A_PMC0 + 1 + c, 0);
        }
        frame = (struct arch_trap_frame){.cs = 8, .rcx = rows[i].rcx};
        step(rows[i].code, rows[i].code + rows[i].to, TF | rows[i].rflags);
        unsigned events = 0;
        for (unsigned c = 0; c < 5; c++)
            events |= (unsigned)read_msr(IA32_A_PMC0 + 1 + c) << c;
        bool branch = rows[i].code[0] != 0x90 && !rows[i].faults;
        if (events != rows[i].events || branches() != branch || instructions() != !rows[i].faults)
            fail_msg("%s: events %x", rows[i].name, events);
    }
}

/* Branch history in the record: what was taken, from where to where, an instruction to its own successor included. */
static void branch_history(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x74, 0x00, 0x75, 0x00, 0xC3, 0x90, 0x90};
    const uint64_t at = (uintptr_t)code;
    begin("icelake", "instructions:1000000000", 8);
    write_msr(IA32_PERF_GLOBAL_CTRL, 0);
    write_msr(MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_LBR | UINT64_C(3) << 24);
    write_msr(IA32_FIXED_CTR0, DS_BIT(48) - 6); /* precise distribution: the record comes with the 6th */
    write_msr(IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
    write_msr(IA32_PERF_GLOBAL_CTRL, DS_BIT(32));
    frame = (struct arch_trap_frame){.cs = 8};
    step(code, code + 1, TF | 0x40);
    step(code + 1, code + 3, TF | 0x40); /* JE +0: taken */
    step(code + 3, code + 5, TF | 0x40); /* JNE +0: not taken */
    step(code + 5, code, TF);            /* RET */
    step(code, code + 1, TF);
    step(code + 1, code + 3, TF); /* JE +0: not taken */
    assert_int_equal(seen_count, 1);
    const struct ds_pebs_basic *basic = (const void *)(uintptr_t)seen[0].address;
    const struct ds_pebs_lbr *lbr = (const void *)(basic + 1);
    assert_int_equal(basic->eventing_ip, at + 1);
    assert_int_equal(lbr[0].from, at + 5);
    assert_int_equal(lbr[0].to, at);
    assert_int_equal(lbr[1].from, at + 1);
    assert_int_equal(lbr[1].to, at + 3);
    assert_int_equal(lbr[2].from, 0);
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
        begin(rows[i].preset, rows[i].events, 8);
        groups = MSR_PEBS_DATA_CFG_GPR;
        frame = (struct arch_trap_frame){.cs = 8};
        for (unsigned s = 0; s < 25; s++) {
            step(code, code + 4, TF);
            step(code + 4, s < 20 ? code : code + 6, TF | (s < 20 ? 0 : 0x40)); /* 20 times taken */
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
    begin("icelake", "instructions:1:k", 8);
    groups = MSR_PEBS_DATA_CFG_GPR;
    frame = (struct arch_trap_frame){.cs = 8};
    __asm__ volatile("movdqu (%0), %%xmm14\n\tmovdqu 16(%0), %%xmm15" ::"r"(value) : "memory", "xmm14", "xmm15");
    step(code, code + 1, TF);
    assert_int_equal(seen_count, 1);
    assert_int_equal(words_seen[CAIRN_TRUTH_XMM], 35);
    const struct ds_pebs_basic *basic = (const void *)(uintptr_t)seen[0].address;
    const struct ds_pebs_xmm *xmm = (const void *)(basic + 1);
    assert_int_equal(ds_pebs_head_size(basic->head), sizeof *basic + sizeof *xmm);
    assert_memory_equal(xmm->xmm[14], value, sizeof value);
    assert_memory_equal(&words[CAIRN_TRUTH_XMM][28], value, sizeof value);
}

static void rep_retires_once(void **state)
{
    (void)state;
    static const uint8_t code[] = {0xF3, 0xAA, 0x90};
    begin("icelake", COUNT_BOTH, 8);
    for (int i = 0; i < 5; i++) {
        assert_true(step(code, code, TF));
        assert_int_equal(instructions(), 0);
        assert_int_equal(cpu.step_ip, (uintptr_t)code);
    }
    step(code, code + 2, TF);
    assert_int_equal(instructions(), 1);
}

static void load_ss_holds_back(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x8E, 0xD0, 0x74, 0x10, 0x90};
    static const uint8_t rep[] = {0x8E, 0xD0, 0xF3, 0xAA};
    begin("icelake", COUNT_BOTH, 8);
    step(code, code + 4, TF); /* MOV SS and JE: one #DB */
    assert_int_equal(instructions(), 2);
    assert_int_equal(branches(), 1);
    step(code, code + 2, TF); /* not held back */
    assert_int_equal(instructions(), 3);
    step(rep, rep + 2, TF); /* MOV SS and one iteration */
    assert_int_equal(instructions(), 4);
    step(rep + 2, rep + 4, TF);
    assert_int_equal(instructions(), 5);
}

static void sti_may_hold_back(void **state)
{
    (void)state;
    static const uint8_t code[] = {0xFB, 0xC3, 0x90};
    begin("icelake", COUNT_BOTH, 8);
    step(code, code + 1, TF); /* as processors do it */
    assert_int_equal(instructions(), 1);
    step(code, code + 2, TF); /* as QEMU's TCG does: STI and RET, which happens to return there */
    assert_int_equal(instructions(), 3);
    assert_int_equal(branches(), 1);
}

static void load_ss_addresses(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x8E, 0xD0, 0x48, 0x89, 0xE5, 0x90, 0x90};
    begin("skylake", "instructions:1", 8);
    step(code, code + 5, TF); /* the first arms, the second writes */
    assert_int_equal(seen_count, 1);
    assert_int_equal(seen[0].event_ip, (uintptr_t)code + 2);
    assert_int_equal(seen[0].next_ip, (uintptr_t)code + 5);
    step(code + 5, code + 6, TF);
    step(code, code + 5, TF); /* now the first writes: its own address, and its successor's */
    assert_int_equal(seen_count, 2);
    assert_int_equal(seen[1].event_ip, (uintptr_t)code);
    assert_int_equal(seen[1].next_ip, (uintptr_t)code + 2);
}

static void pushf_does_not_leak(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x9C, 0x66, 0x9C, 0x90};
    uint64_t stack[2] = {TF | 0x246, UINT64_MAX};
    begin("icelake", COUNT_BOTH, 8);
    frame = (struct arch_trap_frame){.cs = 8, .rsp = (uintptr_t)stack};
    step(code, code + 1, TF);
    assert_int_equal(stack[0], 0x246);
    assert_int_equal(stack[1], UINT64_MAX);
    stack[0] = UINT64_C(0xAAAAAAAAAAAA0000) | TF;
    step(code + 1, code + 3, TF);
    assert_int_equal(stack[0], UINT64_C(0xAAAAAAAAAAAA0000));
    assert_int_equal(instructions(), 2);
}

static void popf_and_iret_go_on(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x9D, 0x48, 0xCF};
    begin("icelake", COUNT_BOTH, 8);
    assert_true(step(code, code + 1, 2)); /* the image had no TF */
    assert_int_equal(frame.rflags, TF | 2);
    assert_true(step(code + 1, code, 2));
    assert_int_equal(frame.rflags, TF | 2);
    assert_int_equal(instructions(), 2);
    assert_int_equal(branches(), 1);
}

/* ---- ring 3 */

#define COUNT_USER   "instructions:1000000000:u,branches:1000000000:u"
#define COUNT_KERNEL "instructions:1000000000:k,branches:1000000000:k"

static void rings(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0xEB, 0x00, 0x90};
    static const char *const filters[] = {COUNT_USER, COUNT_KERNEL, COUNT_BOTH};
    for (unsigned i = 0; i < 3; i++) {
        begin("icelake", filters[i], 8);
        frame = (struct arch_trap_frame){.cs = ARCH_USER_CODE};
        step(code, code + 1, TF);
        step(code + 1, code + 3, TF);
        assert_int_equal(instructions(), i == 1 ? 0 : 2);
        assert_int_equal(branches(), i == 1 ? 0 : 1);
        frame.cs = 8;
        step(code, code + 1, TF);
        assert_int_equal(instructions(), i == 0 ? 2 : i == 1 ? 1 : 3);
    }
}

/* SYSCALL at `ip`, stepping on before it at `from`, as the kernel's entry sees it. */
static void system_call(const uint8_t *from, const uint8_t *ip)
{
    cpu.step_on = 1;
    cpu.step_ip = (uintptr_t)from;
    frame = (struct arch_trap_frame){.cs = ARCH_USER_CODE, .rip = (uintptr_t)ip + 2, .rcx = (uintptr_t)ip + 2,
                                     .rflags = TF | 0x202, .r11 = TF | 0x202};
    ds_soft_system_call(soft, &frame);
    assert_int_equal(cpu.step_on, 0);
    assert_int_equal(frame.rflags, 0x202);
    assert_int_equal(frame.r11, 0x202);
}

static void syscall_retires(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x0F, 0x05, 0x8E, 0xD0, 0x0F, 0x05, 0x90};
    begin("icelake", COUNT_USER, 8);
    system_call(code, code);
    assert_int_equal(instructions(), 1);
    assert_int_equal(branches(), 1);
    system_call(code + 2, code + 4); /* behind MOV SS, whose #DB did not come */
    assert_int_equal(instructions(), 3);
    assert_int_equal(branches(), 2);
    ds_soft_system_call(soft, &frame); /* of a thread that is not stepped */
    assert_int_equal(instructions(), 3);
    ds_resume_user(ds, &frame);
    assert_int_equal(frame.rflags, TF | 0x202);
    assert_int_equal(cpu.step_on, 1);
    assert_int_equal(cpu.step_ip, frame.rip);
    ds_resume_user(NULL, &frame);
}

/* The #DB that MOV SS has held back comes after SYSCALL, at CPL 0 with the program's stack. */
static void debug_at_syscall_entry(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x8E, 0xD0, 0x0F, 0x05, 0x90};
    begin("icelake", COUNT_USER, 8);
    frame = (struct arch_trap_frame){.cs = 8, .rcx = (uintptr_t)code + 4, .r11 = TF | 0x202};
    assert_true(step(code, syscall_entry, 2));
    assert_int_equal(instructions(), 2);
    assert_int_equal(branches(), 1);
    assert_int_equal(frame.rflags, 2); /* the kernel's entry is not stepped */
    assert_int_equal(frame.r11, 0x202);
    assert_int_equal(cpu.step_on, 0);
    frame.cs = ARCH_USER_CODE;
    ds_soft_system_call(soft, &frame); /* counts nothing again */
    assert_int_equal(instructions(), 2);
}

/* The record of a SYSCALL: RIP at the kernel's entry, RFLAGS as masked, in R11 the program's, without our TF. */
static void syscall_record(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x8E, 0xD0, 0x0F, 0x05, 0x90};
    const uint64_t own = 0x40246 | ARCH_RFLAGS_IF; /* AC is masked as well */
    for (unsigned late = 0; late < 2; late++) { /* by the entry's report; by a #DB right there */
        begin("icelake", "instructions:2:u", 8); /* precise distribution: the second writes */
        cpu.step_on = 1;
        cpu.step_ip = (uintptr_t)code;
        frame = (struct arch_trap_frame){.rsp = 0x7000, .rcx = (uintptr_t)code + 4, .r11 = TF | own};
        if (late) {
            frame.cs = 8;
            frame.rip = (uintptr_t)syscall_entry;
            frame.rflags = own & ~ARCH_SYSCALL_RFLAGS_OFF;
            assert_true(ds_soft_step(soft, &frame));
        } else {
            frame.cs = ARCH_USER_CODE;
            frame.rip = frame.rcx;
            frame.rflags = frame.r11;
            ds_soft_system_call(soft, &frame);
            assert_int_equal(frame.rflags, own);
        }
        assert_int_equal(frame.r11, own);
        assert_int_equal(seen_count, 1);
        const struct ds_pebs_basic *basic = (const void *)(uintptr_t)seen[0].address;
        const struct ds_pebs_gpr *gpr = (const void *)(basic + 1);
        assert_int_equal(basic->eventing_ip, (uintptr_t)code + 2);
        assert_int_equal(gpr->rip, (uintptr_t)syscall_entry);
        assert_int_equal(gpr->rflags, 0x46);
        assert_int_equal(words[CAIRN_TRUTH_STATE][CAIRN_TRUTH_RFLAGS], 0x46);
        assert_int_equal(words[CAIRN_TRUTH_STATE][CAIRN_TRUTH_MSR], MSR_PEBS_DATA_CFG_GPR);
        assert_int_equal(gpr->rcx, (uintptr_t)code + 4);
        assert_int_equal(gpr->r8_r15[3], own);
        assert_int_equal(gpr->rsp, 0x7000);
    }
}

static void program_sets_tf(void **state) /* by POPF of either size, by IRET: its own #DB */
{
    (void)state;
    static const uint8_t rows[][2] = {{0x9D}, {0x66, 0x9D}, {0x48, 0x9D}, {0x48, 0xCF}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint8_t *next = rows[i] + 1 + (rows[i][1] != 0);
        begin("icelake", COUNT_USER, 8);
        frame = (struct arch_trap_frame){.cs = ARCH_USER_CODE};
        assert_false(step(rows[i], next, 0x202 | TF));
        assert_int_equal(instructions(), 1);
        assert_true(step(rows[i], next, 0x202)); /* it loaded none */
        assert_int_equal(frame.rflags, 0x202 | TF);
        frame.cs = 8;
        assert_true(step(rows[i], next, 0x202 | TF)); /* the kernel may */
    }
}

static void int1_is_no_step(void **state) /* a #DB of its own, whoever executes it */
{
    (void)state;
    static const uint8_t code[] = {0xF1, 0x90, 0x8E, 0xD0, 0xF1, 0x90};
    for (unsigned user = 0; user < 2; user++) {
        begin("icelake", COUNT_BOTH, 8);
        frame = (struct arch_trap_frame){.cs = user ? ARCH_USER_CODE : 8};
        assert_false(step(code, code + 1, TF));
        assert_int_equal(instructions(), 0);
        assert_int_equal(branches(), 0);
        assert_false(step(code + 2, code + 5, TF)); /* behind MOV SS, which has retired */
        assert_int_equal(instructions(), 1);
    }
}

/* The last instruction of a program's last page, and a stack that is not the program's. */
static void program_pages(void **state)
{
    (void)state;
    static uint8_t pages[3 * 4096];
    uint8_t *end = (uint8_t *)(((uintptr_t)pages + 2 * 4096) & ~UINT64_C(4095));
    memcpy(end - 3, (const uint8_t[]){0x48, 0x89, 0xE5}, 3);
    begin("icelake", COUNT_USER, 8);
    hole = (uintptr_t)end;
    frame = (struct arch_trap_frame){.cs = ARCH_USER_CODE, .rsp = (uintptr_t)end + 8};
    step(end - 3, end, TF);
    assert_int_equal(instructions(), 1);
    hole = UINT64_MAX;
    memcpy(end - 1, (const uint8_t[]){0x48, 0x89, 0xE5}, 3); /* one that lies in two pages */
    step(end - 1, end + 2, TF);
    assert_int_equal(instructions(), 2);
    begin("icelake", COUNT_USER, 8); /* nothing is known of the bytes any more */
    hole = (uintptr_t)end;
    step(end - 1, end + 2, TF); /* and the second page is not there: no instruction */
    assert_int_equal(instructions(), 0);
    hole = (uintptr_t)end - 4096;
    step(end - 3, end, TF); /* nor the first */
    assert_int_equal(instructions(), 0);
    hole = (uintptr_t)end;
    end[8] = end[9] = 0xFF;
    static const uint8_t pushf[] = {0x9C, 0x90};
    step(pushf, pushf + 1, TF);
    assert_int_equal(instructions(), 1);
    assert_int_equal(end[9], 0xFF); /* what cannot be written is not written */
    hole = UINT64_MAX;
}

static void fault_does_not_retire(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x0F, 0x32, 0x90, 0x90}; /* RDMSR, whose #GP handler went on at +3 */
    begin("icelake", COUNT_BOTH, 8);
    assert_true(step(code, code + 3, TF));
    assert_int_equal(instructions(), 0);
    assert_int_equal(cpu.step_ip, (uintptr_t)code + 3);
    assert_int_equal(frame.rflags, TF);
}

static void interrupt_between(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90, 0x90};
    begin("icelake", COUNT_BOTH, 8);
    step(code, code + 1, TF);
    ds_pause(ds); /* interrupt entry: no #DB follows in the handler */
    struct arch_trap_frame interrupted = {.rip = (uintptr_t)code + 1, .rflags = TF | ARCH_RFLAGS_IF, .cs = 8};
    cpu.step_ip = 0xDEAD; /* another thread ran meanwhile */
    ds_resume_frame(ds, &interrupted);
    assert_int_equal(cpu.step_on, 1);
    assert_int_equal(cpu.step_ip, (uintptr_t)code + 1);
    frame.rip = (uintptr_t)code + 2;
    ds_soft_step(soft, &frame);
    assert_int_equal(instructions(), 2);
    interrupted.rflags = ARCH_RFLAGS_IF; /* a thread that was not being stepped */
    ds_resume_frame(ds, &interrupted);
    assert_int_equal(cpu.step_on, 0);
}

static void snapshot_and_pmi(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90, 0x90};
    begin("skylake", "instructions:1:k", 2);
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
    step(code, code + 1, TF | 0x46);
    uint64_t before = arch_rdtsc();
    step(code + 1, code + 2, TF | 0x46);
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
    step(code, code + 1, TF);
    step(code, code + 1, TF);
    assert_int_equal(seen_count, 1);
    frame.cs = 8;
    step(code, code + 1, TF);
    step(code, code + 1, TF);
    assert_int_equal(ipis, 1); /* the second record reached the threshold */
    step(code, code + 1, TF);
    step(code, code + 1, TF); /* no room */
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
    assert_int_equal(read_msr(IA32_PEBS_ENABLE), 0);
    assert_int_equal(read_msr(IA32_DS_AREA), 0);
}

/* What an epoch has lost is that epoch's own, and a stale freeze of the counters does not outlive a new start. */
static void loss_by_epoch(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    begin("icelake", "instructions:1:k", 2); /* fixed counter 0: precise distribution, a record each */
    frame = (struct arch_trap_frame){.cs = 8};
    for (unsigned epoch = 0; epoch < 3; epoch++) {
        for (unsigned i = 0; i < 2 + 5 + epoch; i++)
            step(code, code + 1, TF);
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
        step(code, code + 1, TF);
    ds_stop(ds);
    assert_int_equal(drained_lost, 1); /* of this start's three */
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.lost, 5 + 6 + 7 + 1);
    assert_int_equal(counts.records, 3 * 2 + 2);
}

/* An interrupt where the #DB of MOV SS is still due, or a fault of the instruction behind it. */
static void interrupted_in_a_shadow(void **state)
{
    (void)state;
    static const uint8_t code[] = {0x8E, 0xD0, 0x8E, 0xD0, 0x8B, 0x03, 0x90}; /* mov ss, eax twice; mov eax, [rbx] */
    for (unsigned retired = 0; retired <= 2; retired++) {
        begin("icelake", COUNT_BOTH, 8);
        frame = (struct arch_trap_frame){.cs = 8, .rsp = 0x7000, .rflags = TF | 2};
        frame.rip = (uintptr_t)code + 2 * retired;
        cpu.step_ip = (uintptr_t)code;
        cpu.step_on = 0;
        ds_soft_interrupted(soft, &frame); /* paused: of no interest */
        assert_int_equal(instructions(), 0);
        cpu.step_on = 1;
        ds_soft_interrupted(soft, &frame);
        assert_int_equal(instructions(), retired);
        assert_int_equal(frame.rflags, TF | 2);
        ds_resume_frame(ds, &frame); /* at the end of the interrupt */
        step((const uint8_t *)(uintptr_t)cpu.step_ip, code + 6, TF);
        assert_int_equal(instructions(), 3);
        ds_stop(ds);
    }
    begin("icelake", COUNT_BOTH, 8); /* the load faults, and a handler goes on elsewhere: no shadow, nothing retired */
    frame = (struct arch_trap_frame){.cs = 8, .rsp = 0x7000, .rflags = TF | 2, .rip = (uintptr_t)code + 6};
    cpu.step_ip = (uintptr_t)code + 4;
    cpu.step_on = 1;
    ds_soft_interrupted(soft, &frame);
    assert_int_equal(instructions(), 0);
    ds_stop(ds);
}

/* The truth of each branch that BTS was to store, and how many they were, stored or not. */
static void branches_to_store(void **state)
{
    (void)state;
    static const uint8_t jump[] = {0xEB, 0x02, 0x90, 0x90, 0x90}, not_taken[] = {0x74, 0x02, 0x90, 0x90, 0x90};
    static const uint8_t mov_ss[] = {0x8E, 0xD0, 0x90, 0x90};
    static struct ds_bts_record buffer[171] __attribute__((aligned(4096)));
    struct ds_refusal refusal;
    for (unsigned mode = DS_BTS_CIRCULAR; mode <= DS_BTS_INTERRUPT; mode++) {
        begin("icelake", COUNT_BOTH, 8);
        frame = (struct arch_trap_frame){.cs = 8, .rsp = 0x7000};
        step(jump, jump + 4, TF); /* BTS is off */
        assert_int_equal(branches_seen, 0);
        assert_int_equal(ds_bts_init(ds, mode, DS_BTS_ALL, 3, buffer), 0);
        assert_int_equal(ds_bts_start(ds, &refusal), 0);
        for (unsigned i = 0; i < 5; i++) {
            step(jump, jump + 4, TF);
            step(jump + 4, jump + 5, TF);
            step(not_taken, not_taken + 2, TF);
            step(mov_ss, mov_ss + 3, TF);
        }
        assert_int_equal(branches_seen, 5);
        for (unsigned i = 0; i < 5; i++) {
            assert_int_equal(branch_seen[i].kind, CAIRN_TRUTH_BRANCH);
            assert_int_equal(branch_seen[i].cpu, 3);
            assert_int_equal(branch_seen[i].stored, mode == DS_BTS_CIRCULAR || i < 3);
            assert_int_equal(branch_seen[i].tid, 4711);
            assert_int_equal(branch_seen[i].from, (uintptr_t)jump);
            assert_int_equal(branch_seen[i].to, (uintptr_t)jump + 4);
            assert_int_equal(branch_seen[i].epoch, 0);
            assert_true(i == 0 || branch_seen[i].tsc > branch_seen[i - 1].tsc);
        }
        assert_int_equal(ipis, mode == DS_BTS_INTERRUPT);
        ds_pause(ds);
        ds_bts_drain(ds, CAIRN_DS_SWITCH, 1);
        assert_int_equal(bts_last.records, 3);
        assert_int_equal(bts_last.lost, 2);
        step(jump, jump + 4, TF);
        assert_int_equal(branch_seen[5].epoch, 1);
        ds_stop(ds);
        assert_int_equal(bts_last.records, 1);
        assert_int_equal(bts_last.lost, 0);
        step(jump, jump + 4, TF);
        assert_int_equal(branches_seen, 6);
        assert_int_equal(ds_bts_init(ds, mode, DS_BTS_ALL, 3, buffer), 0); /* a second time: its loss is its own */
        assert_int_equal(ds_bts_start(ds, &refusal), 0);
        step(jump, jump + 4, TF);
        ds_stop(ds);
        assert_int_equal(bts_last.records, 1);
        assert_int_equal(bts_last.lost, 0);
    }
}

/* What the model does not have, and what it refuses, is #GP to the driver. */
static void refused_registers(void **state)
{
    (void)state;
    begin("skylake", COUNT_BOTH, 8);
    const struct ds_machine *m = ds_soft_machine(soft);
    uint64_t v;
    assert_int_equal(m->rdmsr(m->context, 0x10, &v), -EFAULT);
    assert_int_equal(m->wrmsr(m->context, 0x10, 0), -EFAULT);
    assert_int_equal(m->rdmsr(m->context, MSR_PEBS_DATA_CFG, &v), -EFAULT);
    assert_int_equal(m->wrmsr(m->context, IA32_PEBS_ENABLE, UINT64_MAX), -EFAULT);
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
#define EXPECT_ACTIONS(i, ...)                                                                                         \
    expect_actions(i, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void log_of_a_record(void **state) /* one entry for the overflow, one for the record, none between or after */
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x48, 0x89, 0xE5, 0x74, 0x10, 0x90};
    for (unsigned on = 0; on < 2; on++) {
        begin("skylake", "instructions:3", 1);
        if (on)
            ds_soft_log(soft);
        frame = (struct arch_trap_frame){.cs = 8};
        step(code, code + 1, TF);
        step(code, code + 1, TF);
        assert_int_equal(entries_seen, 0);
        step(code + 1, code + 4, TF);      /* overflow */
        step(code + 4, code + 22, TF | 0x40); /* JE, taken: the record, and the threshold */
        step(code, code + 1, TF);
        assert_int_equal(entries_seen, on ? 2 : 0);
        assert_int_equal(ds_soft_logged(soft), on ? 2 : 0);
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
    begin("icelake", "instructions:1", 8);
    ds_soft_log(soft);
    frame = (struct arch_trap_frame){.cs = 8};
    step(code, code + 1, TF);
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
    begin("icelake", "instructions:1:u", 8);
    ds_soft_log(soft);
    frame = (struct arch_trap_frame){.cs = ARCH_USER_CODE};
    step(code, code + 3, TF);
    expect_entry(0, code, code + 3, 3, 3);
    hole = (uintptr_t)code;
    step(code, code + 3, TF); /* it was decoded before */
    hole = UINT64_MAX;
    assert_int_equal(entries_seen, 2);
    assert_int_equal(logged_seen[1].entry.length, 0);
    assert_int_equal(logged_seen[1].entry.ip, (uintptr_t)code);
}

static void log_of_a_late_interrupt(void **state) /* LVTPC is unmasked: an entry without an instruction */
{
    (void)state;
    static const uint8_t code[] = {0x90, 0x90};
    static const struct ds_model_policy latched = {.masked_pmi_latched = true};
    policy = &latched;
    begin("icelake", "instructions:1", 1);
    policy = NULL;
    const struct ds_machine *m = ds_soft_machine(soft);
    ds_soft_log(soft);
    m->lvtpc_write(m->context, LVTPC_MASKED | ARCH_VECTOR_PMI);
    frame = (struct arch_trap_frame){.cs = 8};
    step(code, code + 1, TF);
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

static void unknown_preset(void **state)
{
    (void)state;
    struct ds_soft *s = malloc(ds_soft_bytes());
    assert_int_equal(ds_soft_init(s, "i486", NULL), -EINVAL);
    free(s);
}

/* ---- on this processor ------------------------------------------------------------------------------------------- */

static void on_sigtrap(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct arch_trap_frame f = {
        .r15 = (uint64_t)g[REG_R15],
        .r14 = (uint64_t)g[REG_R14],
        .r13 = (uint64_t)g[REG_R13],
        .r12 = (uint64_t)g[REG_R12],
        .r11 = (uint64_t)g[REG_R11],
        .r10 = (uint64_t)g[REG_R10],
        .r9 = (uint64_t)g[REG_R9],
        .r8 = (uint64_t)g[REG_R8],
        .rbp = (uint64_t)g[REG_RBP],
        .rdi = (uint64_t)g[REG_RDI],
        .rsi = (uint64_t)g[REG_RSI],
        .rdx = (uint64_t)g[REG_RDX],
        .rcx = (uint64_t)g[REG_RCX],
        .rbx = (uint64_t)g[REG_RBX],
        .rax = (uint64_t)g[REG_RAX],
        .vector = ARCH_VECTOR_DB,
        .rip = (uint64_t)g[REG_RIP],
        .cs = (uint64_t)g[REG_CSGSFS] & 0xFFFF,
        .rflags = (uint64_t)g[REG_EFL],
        .rsp = (uint64_t)g[REG_RSP],
    };
    if (!ds_soft_step(soft, &f))
        abort();
    g[REG_EFL] = (greg_t)f.rflags;
}

/* Code under test: called stepped, with a buffer in RDI. What it leaves in RAX comes back. */
#define CODE(name, text)                                                                                               \
    uint64_t name(void *buffer);                                                                                       \
    __asm__(".text\n.globl " #name "\n" #name ":\n" text "\nret\n")

CODE(code_empty, "");
CODE(code_nops, ".rept 12\nnop\n.endr");
CODE(code_rep, "mov $100, %ecx\nmov $0x5A, %eax\nrep stosb\nmov %ecx, %eax");
CODE(code_rep_none, "xor %ecx, %ecx\nrep stosq");
CODE(code_scan, "mov $64, %ecx\nmov $1, %eax\nrepne scasb");
CODE(code_pushf, "pushfq\npop %rax");
CODE(code_pushf16, "pushfw\npop %ax");
CODE(code_popf, "pushfq\nandq $~0x100, (%rsp)\npopfq\nnop\nnop");
CODE(code_loop, "mov $10, %ecx\n1: dec %ecx\njnz 1b");
CODE(code_call, "mov $1, %ecx\ncall 1f\ncall 1f\njmp 2f\n1: ret\n2: jrcxz 2b\nnop");
CODE(code_load_ss, "mov %ss, %eax\nmov %eax, %ss\nnop\nnop");
CODE(code_load_ss_jump, "mov %ss, %eax\nmov %eax, %ss\njmp 1f\nnop\n1: nop");
CODE(code_load_ss_pushf, "mov %ss, %eax\nmov %eax, %ss\npushfq\npop %rax");
CODE(code_load_ss_rep, "mov %ss, %eax\nmov $9, %ecx\nmov %eax, %ss\nrep stosb\nnop");
CODE(code_iret,
     "mov %rsp, %rdx\nmov %ss, %eax\npush %rax\npush %rdx\npushfq\nmov %cs, %eax\npush %rax\nlea 1f(%rip), %rax\n"
     "push %rax\niretq\n1: nop\nnop");
CODE(code_vector, "pxor %xmm0, %xmm0\nmovdqu %xmm0, (%rdi)\nmfence\ncpuid\nlock incq (%rdi)");

struct real {
    const char *name;
    uint64_t (*code)(void *buffer);
    unsigned instructions, branches; /* without RET */
    bool no_tf_in_rax;
};

static const struct real real_code[] = {
    {"nops", code_nops, 12, 0, false},
    {"rep stosb", code_rep, 4, 0, false},
    {"rep stosq, RCX = 0", code_rep_none, 2, 0, false},
    {"repne scasb", code_scan, 3, 0, false},
    {"pushfq", code_pushf, 2, 0, true},
    {"pushfw", code_pushf16, 2, 0, true},
    {"popfq without TF", code_popf, 5, 0, false},
    {"loop", code_loop, 21, 10, false},
    {"call, ret, jmp, jrcxz", code_call, 8, 6, false},
    {"mov ss", code_load_ss, 4, 0, false},
    {"mov ss; jmp", code_load_ss_jump, 4, 1, false},
    {"mov ss; pushfq", code_load_ss_pushf, 4, 0, true},
    {"mov ss; rep stosb", code_load_ss_rep, 5, 0, false},
    {"iretq without TF", code_iret, 12, 1, false},
    {"vector, cpuid, lock", code_vector, 5, 0, false},
};

/* CPUID and IRETQ change RBX and the like, so the call says so. Returns RAX. */
__attribute__((noinline, no_sanitize("address", "undefined"))) static uint64_t run_stepped(uint64_t (*code)(void *),
                                                                                           void *buffer)
{
    uint64_t rax;
    ds_resume(ds);
    __asm__ volatile("xor %%eax, %%eax\n\tcall *%1"
                     : "=&a"(rax), "+r"(code), "+D"(buffer)
                     :
                     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
    ds_pause(ds);
    return rax;
}

static void install_sigtrap(void)
{
    struct sigaction action = {.sa_sigaction = on_sigtrap, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
}

static void real_counts(void **state)
{
    (void)state;
    uint8_t buffer[1024] __attribute__((aligned(16)));
    install_sigtrap();
    begin("icelake", COUNT_BOTH, 8);
    run_stepped(code_empty, buffer);
    uint64_t overhead_instructions = instructions(), overhead_branches = branches();
    assert_true(overhead_instructions > 3);
    for (size_t i = 0; i < sizeof real_code / sizeof real_code[0]; i++) {
        const struct real *r = &real_code[i];
        memset(buffer, 0, sizeof buffer);
        begin("icelake", COUNT_BOTH, 8);
        uint64_t rax = run_stepped(r->code, buffer);
        uint64_t n = instructions() - overhead_instructions, taken = branches() - overhead_branches;
        if (n != r->instructions || taken != r->branches)
            fail_msg("%s: %lu instructions, %lu branches", r->name, (unsigned long)n, (unsigned long)taken);
        if (r->no_tf_in_rax && rax & TF)
            fail_msg("%s: TF leaked into the image", r->name);
        assert_int_equal(arch_read_rflags() & TF, 0);
        assert_int_equal(cpu.step_on, 0);
    }
}

static void real_records(void **state)
{
    (void)state;
    install_sigtrap();
    begin("skylake", "instructions:2:u", 64);
    run_stepped(code_nops, NULL);
    unsigned inside = 0;
    uint64_t first = (uintptr_t)code_nops, last = first + 11;
    for (unsigned i = 0; i < seen_count; i++) {
        if (seen[i].event_ip < first || seen[i].event_ip > last)
            continue;
        inside++;
        assert_int_equal(seen[i].next_ip, seen[i].event_ip + 1);
        if (i + 1 < seen_count && seen[i + 1].event_ip <= last && seen[i + 1].event_ip > first)
            assert_int_equal(seen[i + 1].event_ip, seen[i].event_ip + 3); /* a period of 2 is every third */
    }
    assert_int_equal(inside, 4);
    assert_int_equal(*ds_pebs_index(ds), seen[0].address + seen_count * 200);
    ds_stop(ds);
    assert_int_equal(drained_bytes, seen_count * 200);
}

/* A drain from the stepped thread itself pauses, and stepping goes on after it. */
static void real_drain_in_thread(void **state)
{
    (void)state;
    install_sigtrap();
    begin("skylake", "instructions:50:u", 64);
    ds_resume(ds);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    unsigned before = seen_count;
    code_nops(NULL);
    for (volatile int i = 0; i < 100; i++)
        ;
    bool stepping = cpu.step_on;
    ds_pause(ds);
    assert_true(stepping);
    assert_true(seen_count > before);
    for (unsigned i = 1; i < seen_count; i++)
        assert_true(seen[i].epoch >= seen[i - 1].epoch);
    assert_int_equal(seen[seen_count - 1].epoch, 1);
    ds_stop(ds);
    assert_int_equal(drained_bytes, seen_count * 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pause_ends_stepping),   cmocka_unit_test(one_instruction),
        cmocka_unit_test(branch_taken_or_not),   cmocka_unit_test(rep_retires_once),
        cmocka_unit_test(history_group),         cmocka_unit_test(xmm_group),
        cmocka_unit_test(branch_classes),        cmocka_unit_test(branch_history),
        cmocka_unit_test(load_ss_holds_back),    cmocka_unit_test(load_ss_addresses),
        cmocka_unit_test(sti_may_hold_back),
        cmocka_unit_test(pushf_does_not_leak),   cmocka_unit_test(popf_and_iret_go_on),
        cmocka_unit_test(rings),                 cmocka_unit_test(syscall_retires),
        cmocka_unit_test(debug_at_syscall_entry), cmocka_unit_test(syscall_record),
        cmocka_unit_test(program_sets_tf),        cmocka_unit_test(int1_is_no_step),
        cmocka_unit_test(program_pages),
        cmocka_unit_test(fault_does_not_retire), cmocka_unit_test(interrupt_between),
        cmocka_unit_test(snapshot_and_pmi),      cmocka_unit_test(unknown_preset),
        cmocka_unit_test(refused_registers),
        cmocka_unit_test(loss_by_epoch),         cmocka_unit_test(interrupted_in_a_shadow),
        cmocka_unit_test(branches_to_store),
        cmocka_unit_test(log_of_a_record),       cmocka_unit_test(log_of_fixed_counters),
        cmocka_unit_test(log_of_a_program),      cmocka_unit_test(log_of_a_late_interrupt),
        cmocka_unit_test(real_counts),           cmocka_unit_test(real_records),
        cmocka_unit_test(real_drain_in_thread),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(soft);
    free(ds);
    return failed;
}
