/* SPDX-License-Identifier: MIT */
/*
 * Single-stepping by ptrace. RFLAGS.TF, which that sets, is kept from the program: out of what PUSHF stores and what
 * SYSCALL leaves in R11. Nor is it in what is told of a step, as RF is not, which breakpoints leave behind.
 */
#define _GNU_SOURCE
#include "tests/linux/random/trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define TF   UINT64_C(0x100)
#define RF   UINT64_C(0x10000)
#define INT3 0xCC

pid_t random_start(const struct random_program *program, int fd)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        random_enter(program, fd);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
        fprintf(stderr, "the child did not get to its entry: status %x\n", (unsigned)status);
        return -1;
    }
    return child;
}

const char *random_ended(int status)
{
    static char line[80];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    snprintf(line, sizeof line, "the program ended with status %x", (unsigned)status);
    return line;
}

static bool get(pid_t child, struct random_registers *to)
{
    struct user_regs_struct u;
    if (ptrace(PTRACE_GETREGS, child, NULL, &u) != 0)
        return false;
    *to = (struct random_registers){.r = {u.rax, u.rcx, u.rdx, u.rbx, u.rsp, u.rbp, u.rsi, u.rdi, u.r8, u.r9, u.r10,
                                          u.r11, u.r12, u.r13, u.r14, u.r15},
                                    .rip = u.rip,
                                    .rflags = u.eflags & ~(TF | RF)};
    return true;
}

static bool set(pid_t child, size_t at, uint64_t value) /* in struct user */
{
    return ptrace(PTRACE_POKEUSER, child, at, value) == 0;
}

/* Runs the instruction that `at` stands before, or delivers the signal. With several vCPUs QEMU (11.1) stops the others
 * for a LOCK whose operand is not aligned, and an exception raised then clears the arithmetic flags and DF: so does #DB
 * where RFLAGS.TF is set. INT3 behind it, where such an instruction always leads, belongs to the next block; a
 * breakpoint by DR7 there QEMU passes over at times. TF must be cleared: after POPF and IRET Linux takes it for the
 * program's. */
static bool advance(const struct random_program *p, pid_t child, const struct random_insn *insn,
                    const struct random_registers *at, int signal, int *status)
{
    const bool locked = insn && insn->kind == RANDOM_LOCKED && !signal;
    const uint64_t next = locked ? at->rip + insn->length : 0;
    uint8_t *code = locked ? p->file + random_place(next) : NULL, kept = locked ? *code : 0;
    if (locked) {
        if (!set(child, offsetof(struct user_regs_struct, eflags), at->rflags))
            return false;
        *code = INT3;
    }
    if (ptrace(locked ? PTRACE_CONT : PTRACE_SINGLESTEP, child, NULL, (long)signal) != 0 ||
        waitpid(child, status, 0) != child)
        return false;
    if (!locked)
        return true;
    *code = kept;
    return !WIFSTOPPED(*status) || WSTOPSIG(*status) != SIGTRAP ||
           set(child, offsetof(struct user_regs_struct, rip), next);
}

static bool set_r11(pid_t child, uint64_t value)
{
    return set(child, offsetof(struct user_regs_struct, r11), value);
}

static struct random_step *add(struct random_trace *t)
{
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 1024;
        t->steps = realloc(t->steps, t->room * sizeof *t->steps);
        if (!t->steps)
            abort();
    }
    memset(&t->steps[t->count], 0, sizeof *t->steps);
    return &t->steps[t->count++];
}

/* Whether the branch at `rip` will be taken: SDM vol. 1, appendix B, and LOOP and JRCXZ. */
static bool condition(const struct random_program *p, const struct random_insn *insn, const struct random_registers *r)
{
    const uint8_t *code = p->file + random_place(r->rip);
    const bool cf = r->rflags & 1, pf = r->rflags & 4, zf = r->rflags & 0x40, sf = r->rflags & 0x80;
    const bool of = r->rflags & 0x800;
    uint64_t count = r->r[1];
    if (insn->kind == RANDOM_JCC) {
        uint8_t c = code[0] == 0x0F ? code[1] : code[0];
        bool holds;
        switch (c >> 1 & 7) {
        case 0:
            holds = of;
            break;
        case 1:
            holds = cf;
            break;
        case 2:
            holds = zf;
            break;
        case 3:
            holds = cf || zf;
            break;
        case 4:
            holds = sf;
            break;
        case 5:
            holds = pf;
            break;
        case 6:
            holds = sf != of;
            break;
        default:
            holds = zf || sf != of;
            break;
        }
        return holds != (c & 1);
    }
    const bool narrow = code[0] == 0x67;
    const uint8_t opcode = code[narrow];
    count = opcode == 0xE3 ? count : count - 1;
    if (narrow)
        count = (uint32_t)count;
    switch (opcode) {
    case 0xE0:
        return count && !zf;
    case 0xE1:
        return count && zf;
    case 0xE2:
        return count;
    default:
        return !count;
    }
}

static enum random_entry entry_of(unsigned kind)
{
    static const uint8_t entries[RANDOM_KINDS] = {
        [RANDOM_SYSCALL] = RANDOM_ENTRY_SYSCALL,
        [RANDOM_INT80] = RANDOM_ENTRY_INT80,
        [RANDOM_INT3] = RANDOM_ENTRY_INT3,
        [RANDOM_INT4] = RANDOM_ENTRY_INT4,
        [RANDOM_UD] = RANDOM_ENTRY_UD,
        [RANDOM_DIVIDE] = RANDOM_ENTRY_DIVIDE,
        [RANDOM_PROTECTION] = RANDOM_ENTRY_PROTECTION,
    };
    return (enum random_entry)entries[kind];
}

/* The instruction at `before` has run. False: it is not what the generator has said. */
static bool ran(struct random_trace *t, const struct random_program *p, const struct random_insn *insn,
                const struct random_registers *before, const struct random_registers *after)
{
    struct random_step *s = add(t);
    const uint64_t next = before->rip + insn->length;
    s->rip = before->rip;
    s->kind = insn->kind;
    s->length = insn->length;
    s->entry = (uint8_t)entry_of(insn->kind);
    s->retired = true;
    s->known = after != NULL;
    t->retired++;
    if (after)
        s->after = *after;
    switch (insn->kind) {
    case RANDOM_JCC:
    case RANDOM_LOOP:
        s->taken = condition(p, insn, before);
        return s->taken || after->rip == next;
    case RANDOM_JUMP:
    case RANDOM_CALL:
    case RANDOM_RETURN:
    case RANDOM_FAR:
        s->taken = true;
        return true;
    case RANDOM_SYSCALL:
    case RANDOM_INT80:
    case RANDOM_INT3:
    case RANDOM_INT4:
        return true;
    case RANDOM_UD:
    case RANDOM_DIVIDE:
    case RANDOM_PROTECTION:
        return false;
    default:
        return !after || after->rip == next;
    }
}

static void faulted(struct random_trace *t, const struct random_insn *insn, uint64_t rip)
{
    struct random_step *s = add(t);
    s->rip = rip;
    s->kind = insn ? insn->kind : RANDOM_NONE;
    s->length = insn ? insn->length : 0;
    s->entry = (uint8_t)(insn ? entry_of(insn->kind) : RANDOM_ENTRY_NONE);
    if (!s->entry)
        s->entry = RANDOM_ENTRY_PAGE_FAULT;
}

/* What stepping has left of itself in what the instruction stored. */
static void hide_stepping(const struct random_program *p, pid_t child, const struct random_insn *insn, uint64_t rip,
                          struct random_registers *r)
{
    if (insn->kind == RANDOM_PUSHF)
        p->file[random_place(r->r[4]) + 1] &= (uint8_t) ~(TF >> 8);
    const bool returned = r->rip == rip + insn->length; /* not from a signal's handler, to what it has interrupted */
    if (insn->kind == RANDOM_SYSCALL && returned && r->r[11] & TF && set_r11(child, r->r[11] & ~TF))
        r->r[11] &= ~TF;
}

const char *random_step(const struct random_program *p, pid_t child, struct random_trace *t)
{
    struct random_registers at, next;
    bool delivers = false;
    int signal = 0, status;
    t->count = 0;
    t->retired = 0;
    if (!get(child, &at))
        return "its registers cannot be read";
    while (t->count < RANDOM_STEPS_MAX) {
        const struct random_insn *insn = random_at(p, at.rip);
        if (!advance(p, child, insn, &at, signal, &status))
            return "it cannot be stepped";
        signal = 0;
        if (!WIFSTOPPED(status)) {
            if (!insn || !ran(t, p, insn, &at, NULL))
                return "it ended in the middle";
            return random_ended(status);
        }
        if (!get(child, &next))
            return "its registers cannot be read";
        const int stop = WSTOPSIG(status);
        if (delivers) { /* the handler begins, nothing has run */
            if (stop != SIGTRAP || next.rip != p->handler)
                return "a signal did not get to its handler";
            delivers = false;
        } else if (stop == SIGTRAP && (!insn || insn->kind != RANDOM_INT3)) {
            if (!insn)
                return "it is where no instruction begins";
            hide_stepping(p, child, insn, at.rip, &next);
            if (insn->kind == RANDOM_SHADOW) {
                struct random_registers second = at; /* nothing that the program sees has changed */
                second.rip += insn->length;
                const struct random_insn *behind = random_at(p, second.rip);
                if (!behind || !ran(t, p, insn, &at, &second) || !ran(t, p, behind, &second, &next))
                    return "MOV SS is followed by more than a plain instruction";
            } else if ((insn->kind != RANDOM_REP || next.rip != at.rip) && !ran(t, p, insn, &at, &next)) {
                return "an instruction went elsewhere";
            }
        } else {
            signal = stop;
            delivers = true;
            if (insn && (insn->kind == RANDOM_INT3 || insn->kind == RANDOM_INT4)) {
                if (!ran(t, p, insn, &at, &next))
                    return "an interrupt went elsewhere";
            } else {
                faulted(t, insn, at.rip);
            }
        }
        at = next;
    }
    return "it does not end";
}

void random_show(const struct random_program *p, const struct random_trace *t, unsigned at, unsigned n)
{
    static const char *const kinds[RANDOM_KINDS] = {
        "?",    "",    "",    "rep",     "pushf",   "mov ss", "lock", "jcc", "loop", "jmp",
        "call", "ret", "far", "syscall", "int 80h", "int3",   "int4", "#UD", "#DE",  "#GP",
    };
    for (unsigned i = at < n ? 0 : at - n; i <= at + 1 && i < t->count; i++) {
        const struct random_step *s = &t->steps[i];
        long place = random_place(s->rip);
        printf("%s %5u  %8llx ", i == at ? ">" : " ", i, (unsigned long long)s->rip);
        for (unsigned b = 0; b < s->length; b++)
            printf(" %02x", p->file[place + b]);
        printf("  %s%s%s\n", kinds[s->kind], s->taken ? " taken" : "", s->retired ? "" : " faults");
    }
}
