/* SPDX-License-Identifier: MIT */
#include "kernel/hybrids/hybrids.h"

#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/hybrid.h"

enum kind { CORE, ATOM, KINDS }; /* of a CPU: an efficient core, or any other */

static struct ds_config atom;
static const struct ds_config nothing;
static char why_not[KINDS][200]; /* one sentence: why CPUs of this kind have no PEBS, while others do; or "" */

static enum kind kind_of(const struct ds_caps *caps)
{
    return caps->core_type == CPUID_1AH_EAX_ATOM ? ATOM : CORE;
}

static enum kind kind_of_cpu(uint32_t cpu)
{
    return kind_of(&kds->caps[cpu]);
}

static const char *left_out_kind(enum kind kind)
{
    if (kind == CORE && khybrid_options.cpus == KHYBRID_ATOM)
        return "pebs.cpus=atom";
    if (kind == ATOM && khybrid_options.cpus == KHYBRID_CORE)
        return "pebs.cpus=core";
    return kind == ATOM && strcmp(khybrid_options.events, "none") == 0 ? "pebs.atom=none" : NULL;
}

static const char *left_out(const struct ds_caps *caps)
{
    return left_out_kind(kind_of(caps));
}

static void choose(const struct ds_config **config)
{
    char error[160]; /* kopt_check has found the option right */
    khybrid_config(&atom, error, sizeof error);
    atom.throttle = kds->ds.throttle;
    atom.tick_tsc = kds->ds.tick_tsc;
    for (uint32_t i = 0; i < kcpu_count; i++) {
        const enum kind kind = kind_of_cpu(i);
        const char *why = left_out_kind(kind);
        if (why) {
            config[i] = &nothing;
            snprintf(why_not[kind], sizeof why_not[kind], "%s", why);
        } else if (kind == ATOM && khybrid_own_events()) {
            config[i] = &atom;
        }
    }
}

static void give_up(uint32_t cpu, const struct ds_config **config, char *error, size_t error_size)
{
    char *why = why_not[kind_of_cpu(cpu)];
    if (*config == &atom)
        khybrid_name_option(error, error_size);
    if (!why[0])
        snprintf(why, sizeof why_not[0], "%s", error);
    *config = &nothing;
}

static int settle(char *error, size_t error_size)
{
    uint32_t count[KINDS] = {0}, without[KINDS] = {0}, first[KINDS] = {0};
    static const char *const name[KINDS] = {"performance", "efficient"};
    for (uint32_t i = kcpu_count; i-- > 0;) {
        const enum kind kind = kind_of_cpu(i);
        count[kind]++;
        if (kds->config[i]->events)
            continue;
        without[kind]++;
        first[kind] = i;
    }
    if (kcpu_count == without[CORE] + without[ATOM]) {
        snprintf(error, error_size, "option '%s': no CPU is left that has PEBS: here are %u %s and %u %s cores",
                 why_not[kind_of_cpu(0)], count[CORE], name[CORE], count[ATOM], name[ATOM]);
        for (unsigned kind = KINDS; kind-- > 0;) /* those that were to have PEBS know better */
            if (count[kind] && !left_out_kind((enum kind)kind))
                snprintf(error, error_size, "%s", why_not[kind]);
        return -EINVAL;
    }
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (without[kind])
            kprintf("ds: no PEBS on %u of %u %s cores, from CPU %u on: %s\n", without[kind], count[kind], name[kind],
                    first[kind], why_not[kind]);
    static const char no_effect[] = "has no effect: no CPU here is an efficient core of a hybrid";
    if (khybrid_own_events() && !count[ATOM])
        kprintf("ds: pebs.atom=%s %s\n", khybrid_options.events, no_effect);
    if (khybrid_options.cpus == KHYBRID_CORE && !count[ATOM])
        kprintf("ds: pebs.cpus=core %s\n", no_effect);
    return 0;
}

static const char *why_not_cpu(uint32_t cpu)
{
    return why_not[kind_of_cpu(cpu)];
}

const struct khybrid khybrid = {.atom = &atom,
                                .left_out = left_out,
                                .choose = choose,
                                .give_up = give_up,
                                .settle = settle,
                                .why_not = why_not_cpu};
