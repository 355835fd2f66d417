/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/flags.h"

#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#define GPRS               16
#define WORDS              64 /* of QEMU's state in which RIP is looked for */
#define GENERAL_PROTECTION 13 /* the vector */

static struct { /* of QEMU */
    uint64_t (*helper_read_eflags)(const void *env);
    uint64_t (*cpu_get_tsc)(const void *env);
    void *(*qemu_get_cpu)(int index);
    bool (*cpu_restore_state)(void *cpu, uintptr_t at);
    void (*raise_exception_err_ra)(const void *env, int vector, int code, uintptr_t at);
} qemu;

void qds_exported(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
}

/* The same, of what is of use on an x86-64 host only. */
static void exported(const char *name, void *function)
{
#ifdef __x86_64__
    qds_exported(name, function);
#else
    (void)name, (void)function;
#endif
}

bool qds_flags_available(void)
{
    exported("helper_read_eflags", &qemu.helper_read_eflags);
    exported("cpu_get_tsc", &qemu.cpu_get_tsc);
    exported("qemu_get_cpu", &qemu.qemu_get_cpu);
    exported("cpu_restore_state", &qemu.cpu_restore_state);
    exported("raise_exception_err_ra", &qemu.raise_exception_err_ra);
    return qemu.helper_read_eflags && qemu.cpu_get_tsc && qemu.qemu_get_cpu && qemu.cpu_restore_state;
}

/* RBP of the caller is it where it begins with the general-purpose registers and has RIP and EFLAGS side by side. */
bool qds_flags_look_for_env(struct qds_vcpu *v, void *const *frame)
{
    if (v->env_looked_for)
        return v->env;
    v->env_looked_for = true;
    const uint64_t *env = frame[0], rip = qds_read(v, QDS_RIP), eflags = qds_read(v, QDS_EFLAGS);
    if (!qds_flags_available() || (uintptr_t)env < 4096 || (uintptr_t)env % 8)
        return false;
    for (unsigned i = 0; i < GPRS; i++)
        if (env[i] != qds_read(v, QDS_RAX + i))
            return false;
    for (unsigned i = GPRS; i < WORDS && !v->env; i++)
        if (env[i] == rip && env[i + 1] == eflags) {
            v->env_rip = i;
            v->env = env;
        }
    return v->env;
}

bool qds_flags(struct qds_vcpu *v, uint64_t *rflags)
{
    const bool known = v->env && !v->flags_hidden;
    *rflags = (known ? qemu.helper_read_eflags(v->env) : qds_read(v, QDS_EFLAGS)) & ~(uint64_t)QDS_RFLAGS_RF;
    return known;
}

bool qds_flags_restore(struct qds_vcpu *v, void *at)
{
    return v->env && qemu.cpu_restore_state(qemu.qemu_get_cpu((int)v->index), (uintptr_t)at);
}

void qds_flags_raise_gp(struct qds_vcpu *v, void *at)
{
    if (v->env && qemu.raise_exception_err_ra)
        qemu.raise_exception_err_ra(v->env, GENERAL_PROTECTION, 0, (uintptr_t)at);
}

uint64_t qds_tsc(struct qds_vcpu *v)
{
    return v->env ? qemu.cpu_get_tsc(v->env) : 0;
}
