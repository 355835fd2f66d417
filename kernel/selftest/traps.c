/* SPDX-License-Identifier: MIT */
/*
 * A self-test of single-stepping: a thread on each CPU runs pieces of code that are hard to step (traps.asm) and counts
 * exactly what retires, while timer ticks come in between. For that its CPU gets a second model, programmed only to
 * count; afterwards the session's model continues where it was. One verdict for each CPU.
 */
#include "arch/arch.h"
#include "ds/layout.h"
#include "kernel/console/report.h"
#include "kernel/gate.h"
#include "kernel/memory/mem.h"
#include "kernel/recording/ds.h"
#include "kernel/sched/threads.h"
#include "kernel/workload/parts.h"

/* clang-format off */
#define PIECES(_)                                                                                                      \
    /* name, instructions, branches */                                                                                 \
    _(empty, 0, 0) _(nops, 12, 0) _(rep_stosb, 4, 0) _(rep_none, 2, 0) _(repne_scasb, 3, 0) _(repe_cmpsb, 3, 0)        \
    _(pushfq, 2, 0) _(pushfw, 3, 0) _(popfq, 5, 0) _(cli_sti, 5, 0) _(jnz, 21, 10) _(loop, 6, 5) _(call, 8, 6)         \
    _(mov_ss, 4, 0) _(mov_ss_jmp, 4, 1) _(mov_ss_pushfq, 4, 0) _(mov_ss_rep, 5, 0) _(iretq, 12, 1) _(lock_cpuid, 5, 0)
/* clang-format on */

#define DECLARE(name, instructions, branches) uint64_t traps_##name(void *buffer);
PIECES(DECLARE)

struct counted {
    uint64_t instructions, branches;
};

static const struct piece {
    const char *name;
    uint64_t (*code)(void *buffer);
    struct counted expected;
} pieces[] = {
#define ROW(name, instructions, branches) {#name, traps_##name, {instructions, branches}},
    PIECES(ROW)};
#define COUNT (sizeof pieces / sizeof pieces[0])

struct trapper {
    const struct ds_machine *model; /* NULL: nothing is stepped */
    uint32_t cpu;
    uint64_t rounds, ticks;
    uint8_t buffer[256];
};

static bool write_msr(const struct ds_machine *m, uint32_t msr, uint64_t value)
{
    return m->wrmsr(m->context, msr, value) == 0;
}

static uint64_t read_msr(const struct ds_machine *m, uint32_t msr)
{
    uint64_t value = 0;
    m->rdmsr(m->context, msr, &value);
    return value;
}

/* Instructions on fixed counter 0, branches on PMC0; no PEBS, no interrupts. */
static bool program(const struct ds_machine *m)
{
    return write_msr(m, IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_os(0)) &&
           write_msr(m, IA32_PERFEVTSEL0, ia32_perfevtsel(0xC4, 0) | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN) &&
           write_msr(m, IA32_PERF_GLOBAL_CTRL, DS_BIT(ds_counter_fixed(0)) | DS_BIT(0));
}

/* All that retires from one gate to the next, the ends of the gates' own code included: the same for every piece. */
static struct counted count(struct trapper *t, uint64_t (*code)(void *buffer), uint64_t *rax)
{
    const struct ds_machine *m = t->model, *before;
    bool on = kgate_enter();
    struct kcpu *cpu = kcpu_this(); /* the thread is bound to it */
    uint64_t ticks = cpu->ticks;
    write_msr(m, IA32_FIXED_CTR0, 0);
    write_msr(m, IA32_PMC0, 0);
    before = cpu->stepped;
    cpu->stepped = m;
    kgate_leave(on);
    *rax = code(t->buffer);
    on = kgate_enter();
    cpu->stepped = before;
    struct counted n = {read_msr(m, IA32_FIXED_CTR0), read_msr(m, IA32_PMC0)};
    t->ticks += cpu->ticks - ticks;
    kgate_leave(on);
    return n;
}

/* Printing is not to be stepped through. */
#define REPORT(verdict, ...)                                                                                           \
    do {                                                                                                               \
        bool was_on = kgate_enter();                                                                                   \
        kreport(verdict, "traps", __VA_ARGS__);                                                                        \
        kgate_leave(was_on);                                                                                           \
    } while (0)

/* One time through all pieces; false after the first that is not as it should be. */
static bool go_through(struct trapper *t)
{
    struct counted overhead = {0};
    for (size_t i = 0; i < COUNT; i++) {
        const struct piece *p = &pieces[i];
        uint64_t rax;
        struct counted n = count(t, p->code, &rax);
        if (i == 0)
            overhead = n;
        n.instructions -= overhead.instructions;
        n.branches -= overhead.branches;
        bool image = p->code == traps_pushfq || p->code == traps_pushfw || p->code == traps_mov_ss_pushfq;
        if (n.instructions != p->expected.instructions || n.branches != p->expected.branches)
            REPORT(KREPORT_FAIL, "CPU %u: %s: %lu instructions and %lu branches retired, not %lu and %lu", t->cpu,
                   p->name, n.instructions, n.branches, p->expected.instructions, p->expected.branches);
        else if (image && rax & ARCH_RFLAGS_TF)
            REPORT(KREPORT_FAIL, "CPU %u: %s: the thread sees TF in its RFLAGS, %lx", t->cpu, p->name, rax);
        else
            continue;
        return false;
    }
    return true;
}

static void step_through(void *argument)
{
    struct trapper *t = argument;
    bool right = true;
    while (kpart_goes_on(NULL)) {
        for (unsigned i = 0; t->model && right && i < 4; i++, t->rounds++)
            right = go_through(t);
        kthread_sleep(1, KWAIT_DELAY_EXECUTION);
    }
    if (!t->model)
        REPORT(KREPORT_SKIP, "CPU %u: nothing is single-stepped without ds=soft", t->cpu);
    else if (right)
        REPORT(KREPORT_PASS,
               "CPU %u: %lu pieces of code, %lu times each, %lu timer ticks in between: every count right", t->cpu,
               COUNT, t->rounds, t->ticks);
    kds_machine_free(t->model);
}

static int start(uint64_t seed)
{
    int e = 0;
    (void)seed;
    for (uint32_t i = 0; i < kcpu_count && !e; i++) {
        struct trapper *t = kworkload_alloc(sizeof *t);
        if (!t)
            return -ENOMEM;
        t->cpu = i;
        if (kds->other) {
            t->model = kds_machine_make(false);
            if (!t->model)
                return -ENOMEM;
            if (!program(t->model))
                e = -EINVAL;
        }
        if (!e)
            e = kworkload_thread("trapper", i, KPRIORITY_NORMAL, i, step_through, t);
        if (e)
            kds_machine_free(t->model);
    }
    return e;
}

KWORKLOAD(traps, start);
