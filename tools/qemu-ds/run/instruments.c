/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/run/instruments.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "tools/qemu-ds/qemu/exported.h"
#include "tools/qemu-ds/qemu/versions.h"

/* ns without anything that counts, until blocks are translated without it again. It doubles each time. Otherwise QEMU
 * would translate most of the time where a guest starts and stops counting again and again, as a debugger does. */
#define IDLE_FIRST 1000000000LL
#define IDLE_LAST  (64 * IDLE_FIRST)

static qemu_plugin_id_t plugin;
static void (*register_again)(void);
static struct {
    void *(*qemu_get_cpu)(int index);
    /* On the vCPU's thread, while all vCPUs stand between two blocks. */
    void (*async_safe_run_on_cpu)(void *cpu, void (*function)(void *cpu, void *data), void *data);
    void (*tb_flush__exclusive_or_serial)(void);
} qemu;

/* What blocks have, or will when `resetting` is over: QEMU has been asked to translate them anew, and does when all
 * vCPUs have left theirs. What they have at least. What they have. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct qds_instruments instruments, least, planted;
static bool resetting;
static unsigned resets;
static atomic_bool more;        /* instruments than the least */
static atomic_uint wanting;     /* vCPUs on which something counts */
static atomic_llong idle_since; /* when that became none */
static atomic_llong idle_after = IDLE_FIRST;

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* There are no blocks, and all vCPUs stand still or have not begun: what new blocks get. */
static void plant(void)
{
    planted = instruments;
    if (!qds_instruments_counting())
        qds_vcpus_forget_blocks();
}

/* All vCPUs stand still, and there are no blocks. */
static void flushed(void)
{
    pthread_mutex_lock(&lock);
    resetting = false;
    resets++;
    plant();
    pthread_mutex_unlock(&lock);
}

static void flush(void *cpu, void *data)
{
    (void)cpu, (void)data;
    qemu.tb_flush__exclusive_or_serial();
    flushed();
}

static void reset(void *userdata)
{
    (void)userdata;
    flushed();
    register_again();
}

/* With `lock` held, and nothing pending. The vCPU leaves before its next block, the others when QEMU gets to it. */
static void translate_anew(const struct qds_vcpu *v)
{
    more = memcmp(&instruments, &least, sizeof least) != 0;
    resetting = true;
    if (qds_instruments_flush())
        qemu.async_safe_run_on_cpu(qemu.qemu_get_cpu((int)v->index), flush, NULL);
    else
        qds_api->reset(plugin, reset, NULL);
}

/* While a vCPU waits for others to leave their blocks, none of those may begin to count in what they are in. */
bool qds_instruments_change(struct qds_vcpu *v, const struct ds_model *to, bool must)
{
    struct qds_instruments need = qds_need(to), had;
    bool wants = !qds_need_nothing(&need);
    pthread_mutex_lock(&lock);
    bool may = must || !wants || !resetting;
    if (may) {
        if (wants != v->wants && atomic_fetch_add(&wanting, wants ? 1 : -1) == 1 && !wants)
            idle_since = now();
        v->wants = wants;
        had = instruments;
        for (unsigned g = 0; g < QDS_GROUPS; g++) {
            instruments.wanted[g] |= need.wanted[g];
            instruments.near[g] |= need.near[g];
        }
        instruments.history |= need.history;
        memcpy(v->counting.near, need.near, sizeof need.near);
        if (memcmp(&had, &instruments, sizeof had) != 0 && !resetting)
            translate_anew(v);
    }
    pthread_mutex_unlock(&lock);
    return may;
}

void qds_instruments_renew(const struct qds_vcpu *v)
{
    pthread_mutex_lock(&lock);
    if (!resetting)
        translate_anew(v);
    pthread_mutex_unlock(&lock);
}

void qds_instruments_relax(const struct qds_vcpu *v)
{
    if (wanting || !more || now() - idle_since < idle_after)
        return;
    pthread_mutex_lock(&lock);
    if (!wanting && !resetting) {
        instruments = least;
        if (idle_after < IDLE_LAST)
            idle_after = 2 * idle_after;
        translate_anew(v);
    }
    pthread_mutex_unlock(&lock);
}

void qds_instruments_begin(qemu_plugin_id_t id, const struct qds_instruments *at_least,
                           void (*register_callbacks)(void))
{
    plugin = id;
    register_again = register_callbacks;
    instruments = least = *at_least;
    qds_exported("qemu_get_cpu", &qemu.qemu_get_cpu);
    qds_exported("async_safe_run_on_cpu", &qemu.async_safe_run_on_cpu);
    qds_exported("tb_flush__exclusive_or_serial", &qemu.tb_flush__exclusive_or_serial);
    plant();
}

bool qds_instruments_flush(void)
{
    return qemu.qemu_get_cpu && qemu.async_safe_run_on_cpu && qemu.tb_flush__exclusive_or_serial;
}

const struct qds_instruments *qds_instruments_planted(void)
{
    return &planted;
}

bool qds_instruments_counting(void)
{
    return !qds_need_nothing(&planted);
}

unsigned qds_instruments_changes(void)
{
    return resets;
}

bool qds_instruments_idle(void)
{
    return memcmp(&instruments, &least, sizeof least) == 0;
}
