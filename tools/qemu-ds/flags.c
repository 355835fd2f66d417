/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/flags.h"

#define _GNU_SOURCE
#include <dlfcn.h>

#define GPRS               16
#define GENERAL_PROTECTION 13 /* the vector */

typedef uint64_t (*env_function)(void *env);

static env_function exported(const char *name)
{
#ifdef __x86_64__
    return (env_function)(uintptr_t)dlsym(RTLD_DEFAULT, name);
#else
    return (void)name, NULL;
#endif
}

bool qds_flags_available(void)
{
    return exported("helper_read_eflags") && exported("cpu_restore_state") && exported("qemu_get_cpu") &&
           exported("cpu_get_tsc");
}

bool qds_flags_look_for_env(struct qds_vcpu *v, void *const *frame)
{
    if (v->env_looked_for)
        return v->env;
    v->env_looked_for = true;
    const uint64_t *env = frame[0]; /* RBP of the caller; CPUX86State begins with the general-purpose registers */
    if (!qds_flags_available() || (uintptr_t)env < 4096 || (uintptr_t)env % 8)
        return false;
    for (unsigned i = 0; i < GPRS; i++)
        if (env[i] != qds_read(v, QDS_RAX + i))
            return false;
    v->env = frame[0];
    return true;
}

bool qds_flags(struct qds_vcpu *v, uint64_t *rflags)
{
    if (!v->env) {
        *rflags = qds_read(v, QDS_EFLAGS) & ~(uint64_t)QDS_RFLAGS_RF;
        return false;
    }
    *rflags = exported("helper_read_eflags")(v->env) & ~(uint64_t)QDS_RFLAGS_RF;
    return true;
}

bool qds_flags_restore(struct qds_vcpu *v, void *at)
{
    void *(*get_cpu)(int index) = (void *(*)(int))(uintptr_t)exported("qemu_get_cpu");
    bool (*restore)(void *cpu, uintptr_t at) = (bool (*)(void *, uintptr_t))(uintptr_t)exported("cpu_restore_state");
    return v->env && restore(get_cpu((int)v->index), (uintptr_t)at);
}

void qds_flags_raise_gp(struct qds_vcpu *v, void *at)
{
    void (*raise)(void *env, int vector, int code, uintptr_t at) =
        (void (*)(void *, int, int, uintptr_t))(uintptr_t)exported("raise_exception_err_ra");
    if (v->env && raise)
        raise(v->env, GENERAL_PROTECTION, 0, (uintptr_t)at);
}

uint64_t qds_tsc(struct qds_vcpu *v)
{
    return v->env ? exported("cpu_get_tsc")(v->env) : 0;
}
