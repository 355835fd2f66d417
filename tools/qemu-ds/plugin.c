/* SPDX-License-Identifier: MIT */
/*
 * qemu-ds, a Debug Store for QEMU: a TCG plugin that puts ds/model behind CPUID, MSRs and LVTPC of any x86-64 guest.
 * Read in this order: this file, blocks.h, run.h, counting.h, need.h, special.h, vcpu.h, memory.h, pmi.h, flags.h.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/qemu-ds/blocks.h"
#include "tools/qemu-ds/flags.h"
#include "tools/qemu-ds/options.h"
#include "tools/qemu-ds/run.h"
#include "tools/qemu-ds/truth.h"

#define IDLE_AFTER 1000000000 /* ns without anything that counts, until blocks are translated without it again */

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

static qemu_plugin_id_t plugin;
static struct qds_options options;
static struct qemu_plugin_scoreboard *boards;
static int vcpus;

/* What blocks have, or will when `resetting` is over: QEMU has been asked to translate them anew, and does when all
 * vCPUs have left theirs. What they have at least. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct qds_instruments instruments, least;
static bool resetting;
static unsigned resets;
static atomic_bool more;        /* instruments than the least */
static atomic_uint wanting;     /* vCPUs on which something counts */
static atomic_llong idle_since; /* when that became none */

__attribute__((noreturn, format(printf, 1, 2))) static void refuse(const char *format, ...)
{
    char why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    fprintf(stderr, "qemu-ds: %s\n", why);
    exit(1);
}

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void register_callbacks(void);

/* All vCPUs stand still, and there are no blocks. */
static void reset(void *userdata)
{
    (void)userdata;
    pthread_mutex_lock(&lock);
    resetting = false;
    resets++;
    qds_blocks_set(&instruments);
    pthread_mutex_unlock(&lock);
    register_callbacks();
}

/* With `lock` held, and nothing pending. The vCPU leaves before its next block, the others when QEMU gets to it. */
static void translate_anew(void)
{
    more = memcmp(&instruments, &least, sizeof least) != 0;
    resetting = true;
    qemu_plugin_reset(plugin, reset, NULL);
}

/* While a vCPU waits for others to leave their blocks, none of those may begin to count in what they are in. */
static bool change(struct qds_vcpu *v, const struct ds_model *to, bool must)
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
        for (unsigned g = 0; g < QDS_GROUPS; g++)
            instruments.wanted[g] |= need.wanted[g];
        if (memcmp(&had, &instruments, sizeof had) != 0 && !resetting)
            translate_anew();
    }
    pthread_mutex_unlock(&lock);
    return may;
}

static void interrupted(void)
{
    if (wanting || !more || now() - idle_since < IDLE_AFTER)
        return;
    pthread_mutex_lock(&lock);
    if (!wanting && !resetting) {
        instruments = least;
        translate_anew();
    }
    pthread_mutex_unlock(&lock);
}

static void vcpu_starts(unsigned index, void *userdata)
{
    (void)userdata;
    if (!qds_vcpu_init(index, options.preset, &options.policy, boards))
        refuse("this QEMU does not show the registers of vCPU %u", index);
    if (!qds_blocks_thread(qds_vcpu(index)))
        refuse("several vCPUs on one thread: not with -accel tcg,thread=single, nor with -icount");
}

/* QEMU's own reset of the machine, not of one vCPU: INIT leaves the model's registers as they are. */
static void machine_reset(void *opaque)
{
    (void)opaque;
    for (int i = 0; i < vcpus; i++) {
        struct qds_vcpu *v = qds_vcpu((unsigned)i);
        if (!v)
            continue;
        qds_vcpu_reset(v);
        change(v, &v->model, true);
    }
}

static void follow_resets(void)
{
    void (*follow)(void (*handler)(void *opaque), void *opaque);
    qds_exported("qemu_register_reset", &follow);
    if (follow)
        follow(machine_reset, NULL);
}

/* Nothing is ever translated but by TCG. */
static void refuse_other_accelerators(void)
{
    const char *(*name)(void);
    qds_exported("current_accel_name", &name);
    if (name && strcmp(name(), "tcg") != 0)
        refuse("with -accel tcg only, this is %s", name());
}

static void refuse_icount(void)
{
    const int *mode; /* enum ICountMode; 0: off */
    qds_exported("use_icount", &mode);
    if (mode && *mode)
        refuse("not with -icount: there the time is known at few instructions, and records ask at any");
}

static void ends(void *userdata)
{
    (void)userdata;
    for (int i = 0; options.stats && i < vcpus; i++) {
        const struct qds_vcpu *v = qds_vcpu((unsigned)i);
        if (v)
            fprintf(stderr,
                    "qemu-ds: vCPU %d: %" PRIu64 " records, %" PRIu64 " dropped, %" PRIu64 " branch records, %" PRIu64
                    " PMIs, %" PRIu64 " steps, flags %s%s\n",
                    i, v->model.records, v->model.dropped, v->model.bts_records, v->pmis, v->steps,
                    v->env ? "exact" : v->env_looked_for ? "unknown" : "not asked for",
                    v->env_looked_for && !v->env ? ", TSC unknown" : "");
        if (v && v->late)
            fprintf(stderr, "qemu-ds: vCPU %d: %" PRIu64 " times it may have begun to count late\n", i, v->late);
        if (v && v->rdpmcs_refused)
            fprintf(stderr, "qemu-ds: vCPU %d: %" PRIu64 " RDPMC left to QEMU, which has none\n", i, v->rdpmcs_refused);
    }
    if (!qds_vcpu(0))
        fprintf(stderr, "qemu-ds: no vCPU was seen: it takes -accel tcg\n");
    if (options.stats)
        fprintf(stderr, "qemu-ds: translated anew %u times, %s at the end\n", resets,
                qds_need_nothing(&instruments) ? "idle" : "counting");
    if (!qds_truth_close()) {
        fprintf(stderr, "qemu-ds: truth=%s: not all of it could be written\n", options.truth);
        fflush(NULL);
        _exit(1); /* whatever the guest has ended with */
    }
}

static void flags_unknown(void)
{
    if (options.exact_flags)
        refuse("exact=flags: this QEMU keeps its state otherwise: RFLAGS would be unknown in records");
}

static void register_callbacks(void)
{
    qemu_plugin_register_vcpu_init_cb(plugin, vcpu_starts, NULL);
    qemu_plugin_register_atexit_cb(plugin, ends, NULL);
    qds_blocks_register(plugin, boards);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    char why[240];
    if (strcmp(info->target_name, "x86_64") != 0 || !info->system_emulation)
        refuse("for qemu-system-x86_64 only");
    if (info->version.cur != QEMU_PLUGIN_VERSION)
        refuse("for plugin API %d (QEMU 11.1), this QEMU has %d", QEMU_PLUGIN_VERSION, info->version.cur);
    refuse_other_accelerators();
    refuse_icount();
    if (info->system.max_vcpus > (int)QDS_VCPUS)
        refuse("for up to %u vCPUs, this machine has room for %d", QDS_VCPUS, info->system.max_vcpus);
    if (qds_options_parse(&options, argc, (const char *const *)argv, why, sizeof why) != 0)
        refuse("%s", why);
    if (options.exact_flags && !qds_flags_available())
        refuse("exact=flags: this QEMU does not export what is needed: RFLAGS would be unknown in records");
    plugin = id;
    vcpus = info->system.max_vcpus;
    if (options.truth && !qds_truth_open(options.truth, options.preset->name, vcpus))
        refuse("truth=%s: cannot be written", options.truth);
    if (options.truth)
        least.wanted[QDS_ALL_RINGS] = 1u << DS_MODEL_INSTRUCTION;
    instruments = least;
    qds_blocks_set(&least);
    boards = qemu_plugin_scoreboard_new(sizeof(struct qds_board));
    qds_run_change = change;
    qds_run_interrupted = interrupted;
    qds_run_flags_unknown = flags_unknown;
    register_callbacks();
    follow_resets();
    return 0;
}
