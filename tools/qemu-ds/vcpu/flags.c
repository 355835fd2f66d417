/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/vcpu/flags.h"

#include <string.h>

#include "tools/qemu-ds/qemu/end.h"
#include "tools/qemu-ds/qemu/exported.h"

#define GPRS               16
#define WORDS              64 /* of QEMU's state: RIP is looked for, then come those that flags are computed from */
#define FLAGS_WORDS        16
#define HALVES             (2 * FLAGS_WORDS)
#define BEHIND_EFLAGS      4  /* of these */
#define GENERAL_PROTECTION 13 /* the vector */
#define CS_L               (UINT64_C(1) << (32 + 21))

static struct { /* of QEMU */
    uint64_t (*helper_read_eflags)(const void *env);
    uint64_t (*cpu_get_tsc)(const void *env);
    void *(*qemu_get_cpu)(int index);
    bool (*cpu_restore_state)(void *cpu, uintptr_t at);
    __attribute__((noreturn)) void (*cpu_io_recompile)(void *cpu, uintptr_t at);
    void (*raise_exception_err_ra)(const void *env, int vector, int code, uintptr_t at);
} qemu;
static bool available, must;

/* What is of use on an x86-64 host only. */
static void exported(const char *name, void *function)
{
#ifdef __x86_64__
    qds_exported(name, function);
#else
    (void)name, (void)function;
#endif
}

void qds_flags_begin(bool exact)
{
    exported("helper_read_eflags", &qemu.helper_read_eflags);
    exported("cpu_get_tsc", &qemu.cpu_get_tsc);
    exported("qemu_get_cpu", &qemu.qemu_get_cpu);
    exported("cpu_restore_state", &qemu.cpu_restore_state);
    exported("cpu_io_recompile", &qemu.cpu_io_recompile);
    exported("raise_exception_err_ra", &qemu.raise_exception_err_ra);
    available = qemu.helper_read_eflags && qemu.cpu_get_tsc && qemu.qemu_get_cpu && qemu.cpu_restore_state &&
                qemu.cpu_io_recompile;
    must = exact;
    if (must && !available)
        qds_refuse("exact=flags: this QEMU does not export what is needed: RFLAGS would be unknown in records");
}

/* Behind it are the segment registers, ES to GS: selector, base, and in a third word limit and attributes. */
static unsigned look_for_cs(struct qds_vcpu *v)
{
    enum { SEGMENT = 3, CS = 1, FS = 4, GS = 5, SEGMENTS };
    for (unsigned at = v->env_rip + 2; at < v->env_rip + FLAGS_WORDS; at++) {
        const uint64_t *found = v->env + at;
        bool same =
            found[SEGMENT * FS + 1] == qds_read(v, QDS_FS_BASE) && found[SEGMENT * GS + 1] == qds_read(v, QDS_GS_BASE);
        for (unsigned i = 0; i < SEGMENTS && same; i++)
            same = (uint32_t)found[SEGMENT * i] == (uint32_t)qds_read(v, QDS_ES + i);
        if (same)
            return at + SEGMENT * CS + 2;
    }
    return 0;
}

/* RBP of the caller is it where it begins with the general-purpose registers and has RIP and EFLAGS side by side. */
static void look_for_env(struct qds_vcpu *v, uint64_t *env)
{
    const uint64_t rip = qds_read(v, QDS_RIP), eflags = qds_read(v, QDS_EFLAGS);
    if (!available || (uintptr_t)env < 4096 || (uintptr_t)env % 8)
        return;
    for (unsigned i = 0; i < GPRS; i++)
        if (env[i] != qds_read(v, QDS_RAX + i))
            return;
    for (unsigned i = GPRS; i < WORDS - FLAGS_WORDS && !v->env; i++)
        if (env[i] == rip && env[i + 1] == eflags) {
            v->env_rip = i;
            v->env = env;
            v->env_cs = look_for_cs(v);
        }
}

void qds_flags_look_for_env(struct qds_vcpu *v, void *const *frame)
{
    if (v->env_looked_for)
        return;
    v->env_looked_for = true;
    look_for_env(v, frame[0]);
    if (must && !v->env)
        qds_refuse("exact=flags: this QEMU keeps its state otherwise: RFLAGS would be unknown in records");
}

static void *cpu(const struct qds_vcpu *v)
{
    return qemu.qemu_get_cpu((int)v->index);
}

/* What restoring sets it sets whatever was there before. RIP and EFLAGS do not count: the first 128 bits. */
static void learn(struct qds_vcpu *v)
{
    uint32_t saved[HALVES], once[HALVES], *const state = (uint32_t *)(v->env + v->env_rip);
    struct qds_lazy *lazy = v->passing.lazy;
    memcpy(saved, state, sizeof saved);
    memset(state, 0x55, sizeof saved);
    qemu.cpu_restore_state(cpu(v), (uintptr_t)v->passing.at);
    memcpy(once, state, sizeof once);
    memset(state, 0xAA, sizeof saved);
    qemu.cpu_restore_state(cpu(v), (uintptr_t)v->passing.at);
    for (uint8_t i = BEHIND_EFLAGS; i < HALVES; i++)
        if (state[i] == once[i]) {
            lazy->at = i;
            lazy->value = state[i];
        }
    memcpy(state, saved, sizeof saved);
    lazy->known = true;
}

/* In the middle of a block that goes on, and relies on what was there: computing flags changes what they are of. */
static uint64_t read_in_passing(struct qds_vcpu *v)
{
    if (!v->passing.lazy->known)
        learn(v);
    const struct qds_lazy *lazy = v->passing.lazy;
    uint32_t saved[HALVES], *const state = (uint32_t *)(v->env + v->env_rip);
    memcpy(saved, state, sizeof saved);
    if (lazy->at)
        state[lazy->at] = lazy->value;
    const uint64_t rflags = qemu.helper_read_eflags(v->env);
    memcpy(state, saved, sizeof saved);
    return rflags;
}

uint64_t qds_flags(struct qds_vcpu *v)
{
    const uint64_t rflags = !v->env         ? qds_read(v, QDS_EFLAGS)
                            : v->passing.at ? read_in_passing(v)
                                            : qemu.helper_read_eflags(v->env);
    return rflags & ~(uint64_t)QDS_RFLAGS_RF;
}

bool qds_flags_restore(struct qds_vcpu *v, void *at)
{
    return v->env && qemu.cpu_restore_state(cpu(v), (uintptr_t)at);
}

void qds_flags_run_alone(struct qds_vcpu *v, void *at)
{
    qemu.cpu_io_recompile(cpu(v), (uintptr_t)at);
}

void qds_flags_raise_gp(struct qds_vcpu *v, void *at)
{
    if (v->env && qemu.raise_exception_err_ra)
        qemu.raise_exception_err_ra(v->env, GENERAL_PROTECTION, 0, (uintptr_t)at);
}

bool qds_compatibility(const struct qds_vcpu *v)
{
    return v->env_cs && !(v->env[v->env_cs] & CS_L);
}

uint64_t qds_tsc(struct qds_vcpu *v)
{
    return v->env ? qemu.cpu_get_tsc(v->env) : 0;
}
