/* SPDX-License-Identifier: MIT */
/*
 * A Debug Store for machines that have none: ds/model driven by single-stepping. A thread runs with RFLAGS.TF set,
 * every instruction ends in a #DB, and the #DB handler tells the model what has retired. Counts, addresses and
 * registers are exact. SDM vol. 3B, "Single-Step Exception Condition".
 *
 * Of a CPU (struct arch_cpu), step_on says whether a #DB counts, and step_ip is the address of the instruction that the
 * next #DB will have finished. RFLAGS.TF is the thread's:
 *
 *   pause         clears step_on with one instruction. The #DB that follows it counts nothing and takes TF out of its
 *                 frame. From an interrupt handler (where TF is clear) there is none, and the interrupted frame keeps
 *                 its TF.
 *   resume        sets both, then TF; the first #DB comes after the instruction that follows POPF, its own return.
 *   resume_frame  at the end of an interrupt: a frame with TF belongs to a thread that was being stepped.
 *
 * What single-stepping alone does not show, and what is done about it (each has a test; ds/soft/user has SYSCALL):
 *
 *   REP string    a #DB after each iteration, with RIP still at the instruction: it retires once, with the last one.
 *   MOV SS        delays the #DB until after the next instruction (SDM vol. 3A, "Masking Exceptions and Interrupts When
 *                 Switching Stacks"): two have retired. A record of the first has the registers as they are after the
 *                 second, except RIP. RIP shows this case: a REP string after MOV SS has an iteration of its own.
 *   STI           is stepped by processors, but QEMU's TCG (7.2) delays the #DB as after MOV SS. TCG also delays the
 *                 #DB after a second MOV SS, but not interrupts: one may come while a #DB is due, which then never
 *                 comes; on any processor so may a fault right after MOV SS. What has retired by then is counted at the
 *                 entry into the kernel (ds_soft_interrupted).
 *   PUSHF         stores TF: it is removed from the image on the stack, or the thread could set TF again later.
 *   POPF, IRET    load an image without TF: it is set again here. If a program's image has TF, the frame of the next
 *                 #DB has it, too, as only this file sets TF otherwise: the program wants a #DB of its own and gets it.
 *   faults        do not retire, and the handler may continue elsewhere. An instruction counts nothing unless execution
 *                 went on at the next instruction or, for a direct branch, at its target.
 *   interrupts    are no branches here: scope 'thread' counts a thread's own code. (A processor's BTS does record the
 *                 entry: no software can pause before it.)
 *   branch to the next instruction: RIP does not show whether it was taken: the condition is tested.
 *   INT n         its handler returns without a #DB of its own. Kernel threads have no INT n, and no program completes
 *                 one. INT1 is a #DB of its own, and no step.
 *   HLT           with TF set and IF clear hangs QEMU 7.2: a stepped thread must not halt. The idle thread is never
 *                 sampled, and panic pauses first.
 *
 * No code is rewritten while it runs (W^X), and all address spaces have the same programs at the same place, so decoded
 * instructions are cached by address.
 */
#include "ds/soft/soft.h"
#include "arch/arch.h"
#include "ds/driver/driver.h"
#include "ds/soft/inside.h"
#include "ds/soft/retired.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* ---- the model's host -------------------------------------------------------------------------------------------- */

/* DS memory is the kernel's own: where it is missing, the access faults in the #DB handler and the panic names it,
 * unless somebody wants it looked up (ds_soft_check_memory). */
static bool there(const struct ds_soft *soft, uint64_t address, uint32_t size)
{
    return !soft->mapped || soft->mapped((const void *)(uintptr_t)address, size);
}

static bool read_memory(void *context, uint64_t address, void *to, uint32_t size)
{
    if (!there(context, address, size))
        return false;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static bool write_memory(void *context, uint64_t address, const void *from, uint32_t size)
{
    if (!there(context, address, size))
        return false;
    memcpy((void *)(uintptr_t)address, from, size);
    return true;
}

/* The buffer of architectural PEBS, which the kernel's direct map has. */
static bool read_physical(void *context, uint64_t address, void *to, uint32_t size)
{
    return read_memory(context, (uintptr_t)arch_phys_to_virt(address), to, size);
}

static bool write_physical(void *context, uint64_t address, const void *from, uint32_t size)
{
    return write_memory(context, (uintptr_t)arch_phys_to_virt(address), from, size);
}

/* No #PF is injected: counters stay armed, which is what software can tell the two values of the policy by. */
static void page_fault(void *context, uint64_t address, bool write)
{
    (void)context, (void)address, (void)write;
}

static void registers(void *context, struct ds_model_registers *out)
{
    struct ds_soft *soft = context;
    const struct arch_trap_frame *f = soft->step.frame;
    if (!soft->step.tsc_first) { /* a step has one time: a record still to come of it is no older than its own */
        soft->step.tsc_first = arch_rdtsc();
        soft->record_tsc = arch_rdtsc();
    }
    /* clang-format off */
    *out = (struct ds_model_registers){
        .rflags = f->rflags & ~ARCH_RFLAGS_TF, /* the thread's own: TF is ours */
        .rip = soft->step.next,
        .rax = f->rax, .rbx = f->rbx, .rcx = f->rcx, .rdx = f->rdx,
        .rsi = f->rsi, .rdi = f->rdi, .rbp = f->rbp, .rsp = f->rsp,
        .r8_r15 = {f->r8, f->r9, f->r10, f->r11, f->r12, f->r13, f->r14, f->r15},
        .eventing_ip = soft->step.ip,
        .tsc = soft->record_tsc,
    }; /* all code here is 64-bit */
    /* clang-format on */
}

/* XMM0 to XMM15, low half first: nothing here has touched them since the instruction. */
static void xmm(void *context, struct ds_pebs_xmm *out)
{
    (void)context;
#define STORE(i) "movups %%xmm" #i ", 16*" #i "(%0)\n\t"
    __asm__ volatile(STORE(0) STORE(1) STORE(2) STORE(3) STORE(4) STORE(5) STORE(6) STORE(7) STORE(8) STORE(9) STORE(10)
                         STORE(11) STORE(12) STORE(13) STORE(14) STORE(15)::"r"(out->xmm)
                     : "memory");
#undef STORE
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    (void)context;
    arch_ipi_self((uint8_t)(lvtpc & LVTPC_VECTOR)); /* taken when the stepped thread has interrupts on */
}

static void recorded(void *context, const struct ds_model_record *record)
{
    struct ds_soft *soft = context;
    struct ds_cpu *ds = soft->ds;
    if (!ds || !ds->hooks.recorded)
        return;
    soft->step.tsc_last = arch_rdtsc();
    if (soft->step.frame != &soft->late.frame)
        soft->step.tid = soft->tid(soft->step.frame);
    ds->hooks.recorded(ds->hooks.context, ds->cpu, ds, &soft->step, record);
}

static void branched(void *context, const struct ds_model_branch *branch, bool stored)
{
    struct ds_soft *soft = context;
    struct ds_cpu *ds = soft->ds;
    if (!ds || !ds->hooks.branched)
        return;
    soft->step.tid = soft->tid(soft->step.frame);
    ds->hooks.branched(ds->hooks.context, ds->cpu, ds, &soft->step, branch, stored);
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static void soft_cpuid(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    ds_model_cpuid(&((struct ds_soft *)context)->model, leaf, subleaf, out);
}

static int soft_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    if (ds_soft_late)
        ds_soft_late(context);
    return ds_model_rdmsr(&((struct ds_soft *)context)->model, msr, value) ? -EFAULT : 0;
}

static int soft_wrmsr(void *context, uint32_t msr, uint64_t value)
{
    if (ds_soft_late)
        ds_soft_late(context);
    return ds_model_wrmsr(&((struct ds_soft *)context)->model, msr, value) ? -EFAULT : 0;
}

static uint64_t soft_physical(void *context, const void *address)
{
    (void)context;
    return arch_virt_to_phys(address);
}

static uint32_t soft_lvtpc_read(void *context)
{
    return ((struct ds_soft *)context)->model.lvtpc;
}

static void soft_lvtpc_write(void *context, uint32_t value)
{
    struct ds_soft *soft = context;
    ds_model_lvtpc_write(&soft->model, value);
    if (ds_soft_acted)
        ds_soft_acted(soft, 0); /* a PMI that had waited */
}

_Static_assert(offsetof(struct arch_cpu, step_ip) == 16, "arch_cpu.step_ip in soft_resume");
_Static_assert(offsetof(struct arch_cpu, step_on) == 24, "arch_cpu.step_on in soft_pause and soft_resume");

static void soft_pause(void)
{
    __asm__ volatile("movb $0, %%gs:24" ::: "memory"); /* step_on; one instruction, see above */
}

/* clang-format off */
/* Naked: nothing of the compiler's may lie between POPF and the return. */
__attribute__((naked)) static void soft_resume(void)
{
    __asm__("leaq 1f(%rip), %rax\n\t"
            "movq %rax, %gs:16\n\t" /* step_ip */
            "movb $1, %gs:24\n\t"   /* step_on */
            "pushfq\n\t"
            "orl $0x100, (%rsp)\n\t" /* TF */
            "popfq\n"
            "1:\tret");
}
/* clang-format on */

static void soft_resume_frame(const struct arch_trap_frame *frame)
{
    struct arch_cpu *cpu = arch_this_cpu();
    cpu->step_ip = frame->rip;
    cpu->step_on = (frame->rflags & ARCH_RFLAGS_TF) != 0;
}

static bool soft_paused(void)
{
    return !arch_this_cpu()->step_on;
}

static struct ds_stepped soft_counts(void *context)
{
    const struct ds_soft *soft = context;
    const struct ds_model *m = &soft->model;
    return (struct ds_stepped){.dropped = m->dropped + m->lost,
                               .swallowed = m->swallowed,
                               .branches = m->bts_records + m->bts_dropped + m->bts_lost,
                               .steps = soft->steps};
}

static bool soft_pdist(void *context, unsigned counter)
{
    return ((const struct ds_soft *)context)->model.preset->pdist & DS_BIT(counter);
}

static const char *soft_policy(void *context, const char *name)
{
    return ds_model_policy_named ? ds_model_policy_named(&((const struct ds_soft *)context)->model.policy, name) : NULL;
}

size_t ds_soft_bytes(void)
{
    return sizeof(struct ds_soft);
}

int ds_soft_init(struct ds_soft *soft, const char *preset, const struct ds_model_policy *policy)
{
    static const struct ds_stepping stepping = {
        .pause = soft_pause,
        .resume = soft_resume,
        .resume_frame = soft_resume_frame,
        .paused = soft_paused,
        .counts = soft_counts,
        .step = ds_soft_step,
        .interrupted = ds_soft_interrupted,
        .system_call = ds_soft_system_call,
        .attach = ds_soft_attach,
        .check_memory = ds_soft_check_memory,
        .pdist = soft_pdist,
        .policy = soft_policy,
    };
    const struct ds_model_preset *p = ds_model_preset(preset);
    if (!p)
        return -EINVAL;
    memset(soft, 0, sizeof *soft);
    const struct ds_model_host host = {.read = read_memory,
                                       .write = write_memory,
                                       .read_physical = read_physical,
                                       .write_physical = write_physical,
                                       .registers = registers,
                                       .xmm = xmm,
                                       .raise_pmi = raise_pmi,
                                       .page_fault = page_fault,
                                       .recorded = recorded,
                                       .branched = branched,
                                       .context = soft};
    ds_model_init(&soft->model, p, policy, &host);
    soft->machine = (struct ds_machine){.backend = "soft",
                                        .cpuid = soft_cpuid,
                                        .rdmsr = soft_rdmsr,
                                        .wrmsr = soft_wrmsr,
                                        .lvtpc_read = soft_lvtpc_read,
                                        .lvtpc_write = soft_lvtpc_write,
                                        .stepping = &stepping,
                                        .context = soft,
                                        .physical = soft_physical,
                                        .readable = arch_readable};
    return 0;
}

const struct ds_machine *ds_soft_machine(struct ds_soft *soft)
{
    return &soft->machine;
}

void ds_soft_attach(void *context, struct ds_cpu *ds, uint32_t (*tid)(const struct arch_trap_frame *frame))
{
    struct ds_soft *soft = context;
    soft->ds = ds;
    soft->tid = tid;
}

void ds_soft_check_memory(void *soft, bool (*mapped)(const void *address, size_t size))
{
    ((struct ds_soft *)soft)->mapped = mapped;
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

/* The instruction at `ip`, which has just run, so its bytes are there. */
static struct ds_insn instruction(struct ds_soft *soft, uint64_t ip)
{
    struct ds_soft_decoded *d = &soft->decoded[(ip ^ ip >> 11) & (DS_SOFT_DECODED - 1)];
    if (d->ip != ip) {
        d->ip = ip;
        if (soft->cpl)
            ds_soft_decode_user(ip, &d->insn);
        else
            ds_insn_decode((const uint8_t *)(uintptr_t)ip, DS_INSN_MAX, &d->insn);
    }
    return d->insn;
}

static void note_branch(struct ds_soft_history *history, uint64_t from, uint64_t to)
{
    history->branch[history->next].from = from;
    history->branch[history->next].to = to;
    history->next = (history->next + 1) % DS_SOFT_BRANCHES;
}

static void retire(struct ds_soft *soft, const struct ds_insn *insn, uint64_t ip, uint64_t next,
                   struct ds_model_retired *retired)
{
    const struct ds_model_branch *branch = retired->branch;
    retired->cpl = soft->cpl;
    if (branch && (!soft->ds || !soft->ds->throttled)) /* branch history stands still while throttled */
        note_branch(&soft->step.history, ip, next);
    soft->step.ip = ip;
    soft->step.next = next;
    soft->step.tsc_first = 0; /* not asked for yet */
    ds_model_retire(&soft->model, retired);
    if (ds_soft_remember)
        ds_soft_remember(soft);
    if (soft->ds && soft->ds->hooks.retired)
        soft->ds->hooks.retired(soft->ds->hooks.context, soft->ds->cpu,
                                (retired->events & DS_BIT(DS_MODEL_BRANCH)) != 0);
    if (ds_soft_acted)
        ds_soft_acted(soft, insn->length);
}

/* The instruction at `ip` has retired before others, which this #DB is for. */
static void retire_shadow(struct ds_soft *soft, const struct ds_insn *insn, uint64_t ip)
{
    struct ds_model_retired retired = {.events = ds_retired_events(insn)};
    retire(soft, insn, ip, ip + insn->length, &retired);
}

/* Whether a program has loaded TF. */
static bool wants_tf(const struct ds_soft *soft, const struct ds_insn *insn)
{
    return soft->cpl && (insn->kind == DS_INSN_POPF || insn->kind == DS_INSN_IRET) &&
           soft->step.frame->rflags & ARCH_RFLAGS_TF;
}

bool ds_soft_account(struct ds_soft *soft, struct arch_trap_frame *frame, uint64_t ip, uint64_t next)
{
    struct ds_insn insn = instruction(soft, ip);
    struct ds_model_retired retired;
    struct ds_model_branch branch;
    uint64_t successor = ip + insn.length;
    if (insn.kind == DS_INSN_INTERRUPT)
        return false;                                       /* INT1: no other comes here */
    if (insn.kind == DS_INSN_SHADOW && next != successor) { /* its #DB was held back */
        retire_shadow(soft, &insn, ip);
        return ds_soft_account(soft, frame, successor, next);
    }
    if (insn.kind == DS_INSN_REP_STRING && next == ip)
        return true; /* between iterations */
    if (!ds_retired(&retired, &branch, &insn, ip, next, frame->rflags, frame->rcx))
        return true; /* it faulted, and the handler went on elsewhere */
    branch.cpl = insn.kind == DS_INSN_SYSTEM ? 0 : soft->cpl;
    if (insn.kind == DS_INSN_PUSHF && soft->cpl)
        ds_soft_clear_user_tf(soft);
    else if (insn.kind == DS_INSN_PUSHF)
        *(volatile uint8_t *)(frame->rsp + 1) &= (uint8_t) ~(ARCH_RFLAGS_TF >> 8); /* in both sizes in that byte */
    retire(soft, &insn, ip, next, &retired);
    return !wants_tf(soft, &insn);
}

void ds_soft_interrupted(void *context, struct arch_trap_frame *frame)
{
    struct ds_soft *soft = context;
    struct arch_cpu *cpu = arch_this_cpu();
    soft->step.frame = frame;
    soft->cpl = frame->cs & 3;
    while (cpu->step_on && cpu->step_ip != frame->rip) {
        struct ds_insn insn = instruction(soft, cpu->step_ip);
        if (insn.kind != DS_INSN_SHADOW)
            return;
        retire_shadow(soft, &insn, cpu->step_ip);
        cpu->step_ip += insn.length;
    }
}

bool ds_soft_step(void *context, struct arch_trap_frame *frame)
{
    struct ds_soft *soft = context;
    struct arch_cpu *cpu = arch_this_cpu();
    if (!cpu->step_on) {
        bool paused = frame->rflags & ARCH_RFLAGS_TF;
        frame->rflags &= ~ARCH_RFLAGS_TF;
        return paused;
    }
    soft->steps++;
    if (ds_soft_at_syscall && !(frame->cs & 3) && frame->rip == (uintptr_t)arch_syscall_entry) {
        ds_soft_at_syscall(soft, frame);
        return true;
    }
    soft->step.frame = frame;
    soft->cpl = frame->cs & 3;
    bool ours = ds_soft_account(soft, frame, cpu->step_ip, frame->rip);
    cpu->step_ip = frame->rip;
    frame->rflags |= ARCH_RFLAGS_TF;
    return ours;
}
