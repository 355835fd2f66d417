/* SPDX-License-Identifier: MIT */
/*
 * qemu-ds, a Debug Store for QEMU: a TCG plugin that puts ds/model behind CPUID, MSRs and LVTPC of any x86-64 guest.
 * Its rooms, the lowest first: counting, zeros, cpuid, modelled (none of them needs QEMU), qemu, vcpu, retire, run,
 * snapshot, blocks. Read in this order: this file, blocks.h, run.h, tally.h, settle.h, counting.h, need.h, retire.h,
 * host.h, instruments.h, special.h, vcpu.h, memory.h, pmi.h, flags.h, snapshot.h, versions.h, exported.h. With
 * memory=model: accesses.h, costs.h, memory_system.h, tlb.h, caches.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/qemu-ds/blocks/blocks.h"
#include "tools/qemu-ds/cpuid/tsc.h"
#include "tools/qemu-ds/modelled/costs.h"
#include "tools/qemu-ds/options.h"
#include "tools/qemu-ds/qemu/end.h"
#include "tools/qemu-ds/qemu/exported.h"
#include "tools/qemu-ds/qemu/versions.h"
#include "tools/qemu-ds/retire/truth.h"
#include "tools/qemu-ds/run/accesses.h"
#include "tools/qemu-ds/run/begin.h"
#include "tools/qemu-ds/run/instruments.h"
#include "tools/qemu-ds/run/refused.h"
#include "tools/qemu-ds/run/special.h"
#include "tools/qemu-ds/snapshot/snapshot.h"
#include "tools/qemu-ds/vcpu/flags.h"
#include "tools/qemu-ds/vcpu/memory.h"
#include "tools/qemu-ds/zeros/uncounted.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

static qemu_plugin_id_t plugin;
static struct qds_options options;
static int vcpus;
static bool resetting_only;

static void vcpu_starts(unsigned index, void *userdata)
{
    (void)userdata;
    const struct ds_model_preset *preset = index < options.efficient ? options.preset : &options.little;
    if (!qds_begin(index, preset, &options.policy))
        qds_refuse("this QEMU does not show the registers of vCPU %u", index);
    if (!qds_blocks_thread(qds_vcpu(index)))
        qds_refuse("several vCPUs on one thread: not with -accel tcg,thread=single, nor with -icount");
}

/* A reset of the machine, and not what loading a snapshot begins with. */
static void resets_only(void *opaque)
{
    (void)opaque;
    resetting_only = true;
}

/* QEMU's own reset of the machine, not of one vCPU: INIT leaves the model's registers as they are. */
static void machine_reset(void *opaque)
{
    (void)opaque;
    if (!resetting_only)
        qds_snapshot_expect();
    for (int i = 0; i < vcpus; i++) {
        struct qds_vcpu *v = qds_vcpu((unsigned)i);
        if (!v)
            continue;
        qds_begin_anew(v);
        v->fresh |= !resetting_only;
        qds_instruments_change(v, &v->model, true);
    }
    resetting_only = false;
}

static void follow_resets(void)
{
    void (*follow)(void (*handler)(void *opaque), void *opaque);
    void (*follow_resets_only)(void (*handler)(void *opaque), void *opaque);
    qds_exported("qemu_register_reset", &follow);
    qds_exported("qemu_register_reset_nosnapshotload", &follow_resets_only);
    if (follow && follow_resets_only)
        follow_resets_only(resets_only, NULL); /* called in this order */
    if (follow)
        follow(machine_reset, NULL);
    else
        fprintf(stderr, "qemu-ds: this QEMU does not export qemu_register_reset: counts are wrong after a reset of the "
                        "machine, and after loadvm\n");
}

/* Nothing is ever translated but by TCG. */
static void refuse_other_accelerators(void)
{
    const char *(*name)(void);
    qds_exported("current_accel_name", &name);
    if (name && strcmp(name(), "tcg") != 0)
        qds_refuse("with -accel tcg only, this is %s", name());
}

static void refuse_icount(void)
{
    const int *mode; /* enum ICountMode; 0: off */
    qds_exported("use_icount", &mode);
    if (mode && *mode)
        qds_refuse("not with -icount: there the time is known at few instructions, and records ask at any");
}

static void print_totals(int i, const struct qds_vcpu *v)
{
    fprintf(stderr,
            "qemu-ds: vCPU %d: %" PRIu64 " records, %" PRIu64 " dropped, %" PRIu64 " branch records, %" PRIu64
            " dropped, %" PRIu64 " PMIs, %" PRIu64 " steps, flags %s%s\n",
            i, v->model.records, v->model.dropped, v->model.bts_records, v->model.bts_dropped, v->pmis, v->steps,
            v->env              ? "exact"
            : v->env_looked_for ? "unknown"
                                : "not asked for",
            v->env_looked_for && !v->env ? ", TSC unknown" : "");
    if (options.memory)
        qds_accesses_print((unsigned)i);
    if (v->model.lost || v->model.bts_lost)
        fprintf(stderr,
                "qemu-ds: vCPU %d: %" PRIu64 " records, %" PRIu64 " branch records lost: DS memory not mapped\n", i,
                v->model.lost, v->model.bts_lost);
    if (v->late)
        fprintf(stderr, "qemu-ds: vCPU %d: %" PRIu64 " times it may have begun to count late\n", i, v->late);
    if (v->rdpmcs_refused)
        fprintf(stderr, "qemu-ds: vCPU %d: %" PRIu64 " RDPMC left to QEMU, which has none\n", i, v->rdpmcs_refused);
}

static void ends(void *userdata)
{
    (void)userdata;
    for (int i = 0; i < vcpus; i++) {
        const struct qds_vcpu *v = qds_vcpu((unsigned)i);
        if (v && options.stats)
            print_totals(i, v);
        if (v)
            qds_silent_print(&v->silent, (unsigned)i, stderr);
    }
    qds_uncounted_print();
    qds_refused_print();
    if (!qds_vcpu(0))
        fprintf(stderr, "qemu-ds: no vCPU was seen: it takes -accel tcg\n");
    if (options.stats)
        fprintf(stderr, "qemu-ds: translated anew %u times, %s at the end\n", qds_instruments_changes(),
                qds_instruments_idle() ? "idle" : "counting");
    if (!qds_truth_close()) {
        fprintf(stderr, "qemu-ds: truth=%s: not all of it could be written\n", options.truth);
        fflush(NULL);
        _exit(1); /* whatever the guest has ended with */
    }
}

static void model_memory(void)
{
    char caches[200];
    qds_memory_describe(&options.memory_config, caches, sizeof caches);
    fprintf(stderr, "qemu-ds: memory=model: %s, cpi %u.%02u: modelled, not measured\n", caches,
            options.cpi / QDS_UNITS_OF_A_CYCLE, options.cpi % QDS_UNITS_OF_A_CYCLE);
    qds_costs_begin(&options.memory_config, options.preset);
    qds_accesses_begin(&options.memory_config, (unsigned)vcpus);
}

/* What blocks have where nothing counts. */
static struct qds_instruments least(void)
{
    struct qds_instruments i = {0};
    i.wanted[QDS_ALL_RINGS] = qds_truth_counts() ? DS_BIT(DS_MODEL_INSTRUCTION) : 0;
    i.wanted[QDS_OTHER_RINGS] = options.ready ? DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_BRANCH) : 0;
    return i;
}

static void register_callbacks(void)
{
    qds_api->register_vcpu_init_cb(plugin, vcpu_starts, NULL);
    qds_api->register_atexit_cb(plugin, ends, NULL);
    qds_blocks_register(plugin);
}

static void choose_version(int version)
{
    if (!qds_api_choose(version))
        qds_refuse("for plugin API 6 and 7 (QEMU 11.0 and 11.1), this QEMU has %d: take QEMU 11.1, of Debian 13's "
                   "backports or by 'make deps-ds' of Cairn, or a newer qemu-ds",
                   version);
    if (version == 6)
        fprintf(stderr, "qemu-ds: plugin API 6 (QEMU 11.0): tried only with 7 (QEMU 11.1)\n");
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    char why[400];
    if (strcmp(info->target_name, "x86_64") != 0 || !info->system_emulation)
        qds_refuse("for qemu-system-x86_64 only");
    choose_version(info->version.cur);
    refuse_other_accelerators();
    refuse_icount();
    if (info->system.max_vcpus > (int)QDS_VCPUS)
        qds_refuse("for up to %u vCPUs, this machine has room for %d", QDS_VCPUS, info->system.max_vcpus);
    if (qds_options_parse(&options, argc, (const char *const *)argv, why, sizeof why) != 0)
        qds_refuse("%s", why);
    qds_flags_begin(options.exact_flags);
    qds_memory_begin();
    qds_tsc_begin();
    qds_refused_set(&options.refused);
    plugin = id;
    vcpus = info->system.max_vcpus;
    if (options.memory)
        model_memory();
    if (options.truth && !qds_truth_open(options.truth, options.preset->name, vcpus, options.instructions))
        qds_refuse("truth=%s: cannot be written", options.truth);
    qds_boards_new();
    const struct qds_instruments at_least = least();
    qds_instruments_begin(id, &at_least, register_callbacks);
    if (!qds_instruments_flush() && options.reference)
        fprintf(stderr, "qemu-ds: this QEMU does not export tb_flush__exclusive_or_serial: reference cycles also pass "
                        "while a vCPU halts\n");
    register_callbacks();
    follow_resets();
    qds_snapshot_begin(vcpus);
    return 0;
}
