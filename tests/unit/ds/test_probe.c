/* SPDX-License-Identifier: MIT */
/* The experiments, on a machine whose registers are the model's and whose instructions are a list: what the model has
 * been set to is what they answer. */
/* Longer than 500 lines: all experiments run on one machine, which is made here. */
#include <stdbool.h>
#include <string.h>

#include "arch/arch.h"
#include "ds/model/variant/variant.h"
#include "ds/pebs23_layout.h"
#include "ds/policy/table/table.h"
#include "kernel/lib/errno.h"
#include "tests/unit/ds/probe/probe_machine.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/presets.h"

/* What of a preset cannot be seen, and why; NULL: it can be. */
static const char *hidden(const struct ds_model_preset *p, const char *policy)
{
    static const char *const not_architectural[][2] = {
        {"fit", "architectural PEBS: no absolute maximum; see arch_full and arch_fit"},
        {"unmapped", "architectural PEBS: the address is physical, so no page table is asked"},
        {"overflow_bit", "architectural PEBS: see arch_overflow"},
    };
    for (unsigned i = 0; i < 3 && p->format == DS_FORMAT_ARCH; i++)
        if (strcmp(policy, not_architectural[i][0]) == 0)
            return not_architectural[i][1];
    if (strncmp(policy, "arch_", 5) == 0 && p->format != DS_FORMAT_ARCH)
        return "the PEBS of this processor is not architectural";
    if (strcmp(policy, "bystander") == 0 && p->format == 0)
        return "needs two counters with PEBS, one of them for branches";
    if (strcmp(policy, "eventing_ip") == 0 && p->format < 2)
        return "records of this format have no EventingIP";
    if (strcmp(policy, "rip") == 0 && p->format == 0)
        return "needs two counters with PEBS, one of them for branches";
    if (strncmp(policy, "pdist", 5) == 0 && (p->format == 0 || strcmp(p->name, "nehalem") == 0))
        return "no counter with precise distribution";
    if (strcmp(policy, "pdist_minimum") == 0 && strcmp(p->name, "haswell") == 0)
        return "periods below 128 are wrong here anyway, an erratum";
    return NULL;
}

/* What the model does, as it has been set. */
static const char *expected(const struct ds_probe_row *row, const struct ds_model_policy *policy)
{
    for (unsigned i = 0; i < DS_MODEL_POLICIES; i++)
        if (strcmp(ds_model_policies[i].name, row->name) == 0)
            return ds_model_policy_value(policy, &ds_model_policies[i]);
    return row->model;
}

static void expect(const struct ds_model_preset *p, const struct ds_model_policy *policy)
{
    set_up(p, policy);
    probe();
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++) {
        const struct ds_probe_row *row = &ds_probe_rows[i];
        const char *why = hidden(p, row->name), *does = expected(row, policy);
        if (strcmp(results[i].answer, why ? "" : does) != 0 || (why && strcmp(results[i].evidence, why) != 0))
            fail_msg("%s: %s is %s, answered '%s': %s", p->name, row->name, does, results[i].answer,
                     results[i].evidence);
        assert_true(why || ds_probe_lists(row, does));
    }
}

static void policies(void **state) /* each value of each, on each processor */
{
    (void)state;
    for (unsigned n = 0; n < PRESETS; n++)
        for (unsigned i = 0; i < DS_MODEL_POLICIES; i++)
            for (unsigned v = 0; ds_model_policies[i].values[v]; v++) {
                struct ds_model_policy policy = {0};
                ds_model_policy_set(&policy, ds_model_policies[i].name, ds_model_policies[i].values[v]);
                expect(preset_at(n), &policy);
            }
}

static void together(void **state) /* all of them at once */
{
    (void)state;
    for (unsigned n = 0; n < PRESETS; n++)
        for (unsigned v = 0; v < 4; v++) {
            struct ds_model_policy policy = {0};
            for (unsigned i = 0; i < DS_MODEL_POLICIES; i++)
                if (ds_model_policies[i].values[v])
                    ds_model_policy_set(&policy, ds_model_policies[i].name, ds_model_policies[i].values[v]);
            expect(preset_at(n), &policy);
        }
}

/* A hypervisor that refuses nothing is none, to this question; of KVM's guest all that it refuses is named. */
static void beneath_a_hypervisor(void **state)
{
    static struct ds_model_preset guest;
    (void)state;
    set_up(ds_model_preset("icelake"), NULL);
    probe();
    assert_string_equal(result("hypervisor")->answer, "none");
    assert_string_equal(result("hypervisor")->evidence, "no hypervisor shows itself");
    guest = *ds_model_preset("icelake");
    assert_int_equal(ds_model_kvm_guest(&guest), 0);
    set_up(&guest, NULL);
    assert_true(fake.caps.pebs && !fake.caps.bts);
    probe();
    assert_string_equal(result("hypervisor")->answer, "some");
    assert_string_equal(result("hypervisor")->evidence,
                        "KVMKVMKVM; #GP: MSR_PEBS_LD_LAT MSR_PEBS_FRONTEND MSR_PEBS_DATA_CFG IA32_DEBUGCTL.BTINT");
    assert_string_equal(result("reserved")->answer, "fault");
    assert_string_equal(result("spacing")->answer, "n_plus_1");
    /* one that shows itself, and refuses nothing of what its records' format has */
    guest = *ds_model_preset("skylake");
    set_up(&guest, NULL);
    fake.hypervisor = true;
    probe();
    assert_string_equal(result("hypervisor")->answer, "none");
    assert_string_equal(result("hypervisor")->evidence, "; #GP: of none");
}

static void shadow(void **state) /* a processor that records slow instructions alone */
{
    (void)state;
    set_up(ds_model_preset("skylake"), NULL);
    fake.shadow = true;
    probe();
    assert_string_equal(result("shadow")->answer, "uneven");
    assert_non_null(strstr(result("shadow")->evidence, "of the NOPs behind them 0 0 0 0 0 0 0"));
}

static void addresses(void **state) /* records that have others than the manual says */
{
    (void)state;
    for (unsigned n = 0; n < PRESETS; n++)
        for (unsigned before = 0; before <= 32; before += 8) {
            const struct ds_model_preset *p = preset_at(n);
            set_up(p, NULL);
            fake.before = before;
            fake.late = fake.early = true;
            probe();
            assert_string_equal(result("eventing_ip")->answer, p->format < 2 ? "" : "next");
            assert_string_equal(result("rip")->answer, p->format < 2 ? "" : "eventing");
            set_up(p, NULL);
            fake.before = before;
            fake.late = true;
            probe();
            assert_string_equal(result("eventing_ip")->answer, p->format < 2 ? "" : "next");
            assert_string_equal(result("rip")->answer, p->format == 0 ? "" : "next");
        }
}

/* What cannot be told from each other: both addresses the instruction's own, and both the next one's of a processor
 * that never records the last jump. */
static void addresses_unknown(void **state)
{
    (void)state;
    for (unsigned n = 0; n < PRESETS; n++)
        for (unsigned i = 0; i < 3; i++) {
            const struct ds_model_preset *p = preset_at(n);
            set_up(p, NULL);
            fake.early = i == 0;
            fake.blind = i > 0;
            fake.late = i == 2;
            probe();
            assert_string_equal(result("eventing_ip")->answer, "");
            assert_string_equal(result("rip")->answer, "");
            if (p->format >= 2)
                assert_non_null(strstr(result("rip")->evidence, "no record has the address of the NOP behind"));
        }
}

/* A record of another counter that disarms one, without reloading it. */
static void bystander_disarmed(void **state)
{
    static const char *const presets[] = {"haswell", "skylake"}; /* a format that reloads it, one that does not */
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        set_up(ds_model_preset(presets[i]), NULL);
        fake.disarms = true;
        probe();
        assert_string_equal(result("bystander")->answer, "other");
        assert_non_null(strstr(result("bystander")->evidence, "disarmed, not reloaded; its own never came"));
    }
}

/* Atoms before the baseline: precise distribution on PMC0, on Goldmont the only one; and none on Silvermont. */
static void atoms(void **state)
{
    static const struct {
        uint32_t signature;
        uint8_t format;
        uint64_t pebs, pdist;
        const char *spacing, *pdist_spacing;
    } atom[] = {
        {0x000506C9, 3, 0x1, 0x1, "", "n"},                 /* Goldmont */
        {0x000706A8, 3, 0x70000000F, 0x1, "n_plus_1", "n"}, /* Goldmont Plus */
        {0x00030678, 2, 0x1, 0, "n_plus_1", ""},            /* Silvermont */
    };
    (void)state;
    for (unsigned i = 0; i < sizeof atom / sizeof atom[0]; i++) {
        struct ds_model_preset p = *ds_model_preset("skylake");
        p.signature = atom[i].signature;
        p.format = atom[i].format;
        p.pebs_counters = atom[i].pebs;
        p.pdist = atom[i].pdist;
        set_up(&p, NULL);
        assert_true(fake.caps.pebs_counters == atom[i].pebs);
        probe();
        assert_string_equal(result("spacing")->answer, atom[i].spacing);
        assert_string_equal(result("pdist_spacing")->answer, atom[i].pdist_spacing);
        assert_string_equal(result("pdist_minimum")->answer, atom[i].pdist ? "none" : "");
    }
}

/* Where the architectural event of instructions has no records, that with precise distribution asks in its place. */
static void imprecise(void **state)
{
    (void)state;
    set_up(ds_model_preset("skylake"), NULL);
    fake.model.policy.unlisted = DS_MODEL_UNLISTED_NONE;
    probe();
    assert_string_equal(result("fit")->answer, "end_le");
    assert_true(strncmp(result("fit")->evidence, "PREC_DIST: below a maximum of 3 sizes", 37) == 0);
    assert_string_equal(result("drop_reload")->answer, "yes");
    assert_string_equal(result("bystander")->answer, "by_format");
    assert_string_equal(result("pdist_spacing")->answer, "n");
    assert_string_equal(result("spacing")->answer, "n_plus_1");
    assert_true(strncmp(result("spacing")->evidence, "counter 2, ", 11) == 0);
    assert_non_null(strstr(result("spacing")->evidence, ", of branches"));
    assert_true(strncmp(result("bts_full")->evidence, "64 jumps", 8) == 0);
    static const uint32_t periods_are_wrong[] = {0x000306C3, 0x000306D4}; /* Haswell: below 128; Broadwell: others */
    for (unsigned i = 0; i < 2; i++) {
        struct ds_model_preset p = *ds_model_preset("haswell");
        p.signature = periods_are_wrong[i];
        set_up(&p, NULL);
        fake.model.policy.unlisted = DS_MODEL_UNLISTED_NONE;
        probe();
        assert_false(fake.erroneous);
        static const char *const same[] = {"fit", "drop_reload", "bystander", "masked_pmi", "full_signal", "unmapped"};
        for (unsigned n = 0; n < sizeof same / sizeof same[0]; n++)
            assert_string_equal(result(same[n])->answer, ds_probe_model(&ds_probe_rows[result(same[n]) - results]));
        assert_string_equal(result("shadow")->answer, i ? "" : "even");
        assert_int_equal(cost("record")->samples, bench.samples);
        assert_int_equal(cost("drain")->samples, bench.samples);
        if (i)
            assert_non_null(strstr(result("overflow_bit")->evidence, "no multiples of 64, which are wrong here"));
    }
}

/* What is said to have precise distribution and has not is what is told of, not another counter; nor is that said where
 * a counter has not been set again. */
static void not_precise(void **state)
{
    (void)state;
    struct ds_model_preset p = *ds_model_preset("icelake");
    p.pdist = 0;
    set_up(&p, NULL);
    probe();
    assert_string_equal(result("pdist_spacing")->answer, "n_plus_1");
    assert_non_null(strstr(result("pdist_spacing")->evidence, "counter 32, "));
    assert_non_null(strstr(result("pdist_minimum")->evidence, "no precise distribution: counter 32's records"));
    set_up(ds_model_preset("icelake"), NULL);
    fake.no_slots = true;
    probe();
    assert_string_equal(result("pdist_spacing")->evidence,
                        "counter 32: one record at most, so its reset value may not be at 0x80 of the area");
    set_up(ds_model_preset("arrowlake"), NULL);
    fake.no_slots = true;
    probe();
    assert_string_equal(result("pdist_minimum")->answer, "");
    assert_string_equal(result("pdist_spacing")->evidence,
                        "counter 0: one record at most, so its reset value may not be at 0x40 of the area");
    assert_non_null(strstr(result("spacing")->evidence, "may not be at 0x48 of the area"));
}

/* On Golden Cove PMC0 is the one with precise distribution, and PEBS records no instructions there; fixed counter 0
 * records as others do. */
static void precise_by_branches(void **state)
{
    (void)state;
    set_up(ds_model_preset("sapphirerapids"), NULL);
    fake.model.policy.unlisted = DS_MODEL_UNLISTED_NONE;
    probe();
    assert_string_equal(result("pdist_spacing")->answer, "n");
    assert_non_null(strstr(result("pdist_spacing")->evidence, "counter 0, period 128: "));
    assert_non_null(strstr(result("pdist_spacing")->evidence, "mostly 128; counter 32 mostly 129"));
    assert_string_equal(result("pdist_minimum")->answer, "none");
    assert_string_equal(result("spacing")->answer, "n_plus_1");

    struct ds_model_preset p = *ds_model_preset("sapphirerapids");
    p.pdist = 0;
    set_up(&p, NULL);
    probe();
    assert_string_equal(result("pdist_spacing")->answer, "n_plus_1");
    assert_non_null(strstr(result("pdist_minimum")->evidence, "no precise distribution: counter 0's records"));
}

/* Answers that are no policy of the model. */
static void architectural_otherwise(void **state)
{
    struct ds_model_policy wide = {.arch_size_wide = true};
    (void)state;
    set_up(ds_model_preset("pantherlake"), &wide);
    fake.base_bits = 0xFC0;
    fake.spills = true;
    probe();
    assert_string_equal(result("arch_size")->answer, "other");
    assert_string_equal(result("arch_size")->evidence, "SIZE 15 is taken; of its bits 11 to 4 these are: 0x30");
    assert_string_equal(result("arch_full")->answer, "other");
    assert_non_null(strstr(result("arch_full")->evidence, "bytes changed there or behind: 1"));
    assert_string_equal(result("arch_base")->answer, "page");
    set_up(ds_model_preset("pantherlake"), NULL);
    fake.rounds = true;
    fake.base_bits = 0x8;
    probe();
    assert_string_equal(result("arch_base")->answer, "size");
    assert_non_null(strstr(result("arch_base")->evidence, "only: written, 0x"));
    assert_string_equal(result("arch_size")->answer, "other");
    assert_non_null(strstr(result("arch_size")->evidence, "SIZE 15 is refused"));
    assert_string_equal(result("arch_fit")->answer, "yes"); /* buffers of the probe are where they may be */
    set_up(ds_model_preset("clearwaterforest"), NULL);
    fake.disarms = true;
    probe();
    assert_string_equal(result("bystander")->answer, "other");
    set_up(ds_model_preset("clearwaterforest"), NULL);
    fake.hides = true;
    probe();
    assert_string_equal(result("arch_overflow")->answer, "never");
}

static void hidden_overflow(void **state) /* a processor whose status shows no overflow before the record */
{
    (void)state;
    set_up(ds_model_preset("skylake"), NULL);
    fake.hides = true;
    probe();
    assert_string_equal(result("overflow_bit")->answer, "clear");
    set_up(ds_model_preset("skylake"), NULL);
    probe();
    assert_string_equal(result("overflow_bit")->answer, "set");
    assert_non_null(strstr(result("overflow_bit")->evidence, "GLOBAL_STATUS 0x2; behind its record: 0x0"));
}

/* A processor of two kinds of cores: one CPU of each is asked, and each answers for itself. */
static void kinds(void **state)
{
    (void)state;
    static const struct {
        const char *like;
        uint32_t signature;
    } hybrids[] = {{"sapphirerapids", 0x000B0671}, {"arrowlake", 0x000C0662}};
    static struct ds_caps caps[7];
    for (unsigned h = 0; h < sizeof hybrids / sizeof hybrids[0]; h++) {
        struct ds_model_preset big = *ds_model_preset(hybrids[h].like), small;
        big.signature = hybrids[h].signature;
        big.core_type = CPUID_1AH_EAX_CORE;
        small = big;
        small.core_type = CPUID_1AH_EAX_ATOM;
        small.gp_counters = 6;
        small.fixed_counters = 3;
        small.pebs_counters = UINT64_C(0x70000003F);
        small.perf_metrics = small.load_latency = false;
        small.pdist = 3; /* as on efficient cores from Crestmont on: the probe takes another */
        const struct ds_model_preset *const cores[] = {&big, &big, &small, &big, &small, &small};
        for (unsigned i = 0; i < 6; i++) {
            set_up(cores[i], NULL);
            caps[i] = fake.caps;
        }
        uint32_t cpus[4] = {9, 9, 9, 9};
        assert_int_equal(ds_probe_kinds(caps, 6, cpus, 4), 2);
        assert_true(cpus[0] == 0 && cpus[1] == 2 && cpus[2] == 9);
        assert_int_equal(ds_probe_kinds(caps, 6, cpus, 1), 1);
        assert_int_equal(ds_probe_kinds(caps + 2, 1, cpus, 4), 1);
        caps[6] = caps[0];
        caps[6].pebs = false; /* of one kind, but its PEBS is not usable */
        assert_int_equal(ds_probe_kinds(caps, 7, cpus, 4), 3);
        assert_int_equal(cpus[2], 6);
        for (unsigned k = 0; k < 2; k++) {
            set_up(cores[cpus[k]], NULL);
            assert_int_equal(fake.caps.core_type, cores[cpus[k]]->core_type);
            fake.model.policy.drop_keeps_overflow = k == 1; /* what they do differs, too */
            probe();
            assert_string_equal(result("drop_reload")->answer, k ? "no" : "yes");
            assert_string_equal(result("fit")->answer, "end_le");
            assert_string_equal(result("bystander")->answer, "by_format");
            assert_string_equal(result("spacing")->answer, "n_plus_1");
        }
    }
}

static void surroundings(void **state) /* however many instructions there are around the code, within what is allowed */
{
    (void)state;
    static const struct ds_model_policy none;
    for (unsigned before = 0; before <= 32; before++) {
        set_up(ds_model_preset("skylake"), &none);
        fake.before = before;
        probe();
        for (unsigned i = 0; i < DS_MODEL_POLICIES; i++)
            if (strcmp(ds_model_policies[i].name, "unlisted") != 0 && /* asked by the driver's self-test */
                !hidden(fake.model.preset, ds_model_policies[i].name))
                assert_string_equal(result(ds_model_policies[i].name)->answer, ds_model_policies[i].values[0]);
    }
}

static void given_back(void **state) /* every register is what it was */
{
    (void)state;
    for (unsigned n = 0; n < PRESETS; n++) {
        struct ds_model before;
        set_up(preset_at(n), NULL);
        ds_model_wrmsr(&fake.model, IA32_DS_AREA, 0x1234000);
        ds_model_wrmsr(&fake.model, IA32_PERFEVTSEL0, 0x4300C0);
        ds_model_wrmsr(&fake.model, IA32_PMC0, 77);
        ds_model_wrmsr(&fake.model, IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
        ds_model_lvtpc_write(&fake.model, 0xEE);
        memcpy(&before, &fake.model, sizeof before);
        probe();
        assert_memory_equal(before.value, fake.model.value, sizeof before.value);
        assert_memory_equal(before.perfevtsel, fake.model.perfevtsel, sizeof before.perfevtsel);
        assert_int_equal(before.ds_area, fake.model.ds_area);
        assert_int_equal(before.debugctl, fake.model.debugctl);
        assert_int_equal(before.lvtpc, fake.model.lvtpc);
        assert_int_equal(before.global_ctrl, fake.model.global_ctrl);
        assert_int_equal(fake.model.pebs_enable | fake.model.global_status | fake.model.data_cfg, 0);
    }
}

static void not_tried(void **state)
{
    (void)state;
    set_up(ds_model_preset("icelake"), NULL);
    bench.unmapped = 0;
    probe();
    assert_string_equal(result("unmapped")->answer, "");
    assert_string_equal(result("unmapped")->evidence, "nobody dares");
    assert_int_equal(fake.model.lost, 0);
    assert_string_equal(result("fit")->answer, "end_le");
}

/* Where an erratum hangs a processor whose PEBS buffer has more than a page. */
static void one_page(void **state)
{
    (void)state;
    unsigned of_one_page = 0;
    for (unsigned n = 0; n < PRESETS; n++) {
        set_up(preset_at(n), NULL);
        bench.unmapped = 0; /* elsewhere, and only under an emulator */
        of_one_page += fake.caps.errata.one_page_buffer;
        probe();
        assert_false(fake.hung);
        if (!hidden(preset_at(n), "fit"))
            assert_string_equal(result("fit")->answer, "end_le");
        assert_string_equal(result("threshold_again")->answer, "yes");
        assert_int_equal(cost("drain")->samples, bench.samples);
    }
    assert_int_equal(of_one_page, 1); /* Penryn */
}

static void stuck_counters(void **state) /* processors whose counters do not count before they have been set free */
{
    (void)state;
    set_up(ds_model_preset("nehalem"), NULL);
    assert_true(fake.caps.errata.counters_stuck);
    probe();
    assert_true(fake.freed);
    assert_string_equal(result("spacing")->answer, "n_plus_1");
    set_up(ds_model_preset("skylake"), NULL);
    probe();
    assert_false(fake.freed);
}

static void refused(void **state) /* an MSR that a question needs raises #GP */
{
    (void)state;
    char error[160];
    set_up(ds_model_preset("icelake"), NULL);
    fake.forbidden = IA32_PERF_GLOBAL_OVF_CTRL;
    assert_int_equal(ds_probe_all(&bench, results, costs, error, sizeof error), -EFAULT);
    assert_string_equal(error, "MSR 0x390 raises #GP where it is given back");
    assert_string_equal(result("masked_pmi")->answer, "");
    assert_string_equal(result("masked_pmi")->evidence, "MSR 0x390 raises #GP where it is written");
    fake.forbidden = IA32_PEBS_ENABLE;
    assert_int_equal(ds_probe_all(&bench, results, costs, error, sizeof error), -EFAULT);
    assert_string_equal(error, "MSR 0x3f1 raises #GP where it is read");
}

/* BTS alone: where PEBS is architectural MSR_PEBS_DATA_CFG is not there, nor are others of its registers. */
static void without_pebs(void **state)
{
    (void)state;
    static const uint32_t gone[] = {MSR_PEBS_DATA_CFG, IA32_PEBS_ENABLE};
    for (unsigned i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        set_up(ds_model_preset("icelake"), NULL);
        fake.caps.pebs = false;
        fake.caps.reason = "it has another PEBS";
        fake.forbidden = gone[i];
        probe();
        assert_string_equal(result("fit")->evidence, "no PEBS: it has another PEBS");
        assert_string_equal(result("bts_full")->answer, "stop");
    }
}

static void dead(void **state) /* counters that stand still: nothing is concluded from nothing */
{
    (void)state;
    static const char *const silent[] = {"fit",       "drop_reload",     "masked_pmi",    "bystander", "pdist_minimum",
                                         "unmapped",  "spacing",         "pdist_spacing", "shadow",    "full_signal",
                                         "self_mask", "threshold_again", "eventing_ip",   "rip",       "overflow_bit"};
    set_up(ds_model_preset("icelake"), NULL);
    fake.model.counter_mask = UINT64_MAX; /* none comes to its end */
    probe();
    for (unsigned i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        assert_string_equal(result(silent[i])->answer, "");
        assert_string_equal(result(silent[i])->evidence, "counter 1 makes no record of retired instructions");
    }
    assert_string_equal(result("reserved")->answer, "fault");
    assert_string_equal(result("bts_full")->answer, "stop");
    assert_int_equal(cost("record")->samples, 0);
    assert_int_equal(cost("bts")->samples, bench.samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies),
        cmocka_unit_test(together),
        cmocka_unit_test(surroundings),
        cmocka_unit_test(given_back),
        cmocka_unit_test(not_tried),
        cmocka_unit_test(refused),
        cmocka_unit_test(without_pebs),
        cmocka_unit_test(dead),
        cmocka_unit_test(beneath_a_hypervisor),
        cmocka_unit_test(shadow),
        cmocka_unit_test(addresses),
        cmocka_unit_test(hidden_overflow),
        cmocka_unit_test(architectural_otherwise),
        cmocka_unit_test(kinds),
        cmocka_unit_test(addresses_unknown),
        cmocka_unit_test(bystander_disarmed),
        cmocka_unit_test(atoms),
        cmocka_unit_test(not_precise),
        cmocka_unit_test(precise_by_branches),
        cmocka_unit_test(imprecise),
        cmocka_unit_test(one_page),
        cmocka_unit_test(stuck_counters),
    };
    return cmocka_run_group_tests_name("ds_probe", tests, NULL, NULL);
}
