/* SPDX-License-Identifier: MIT */
/* Longer than 500 lines: a test for each kind of option there is. */
#include <stdio.h>
#include <string.h>

#include "ds/policy/table/table.h"
#include "kernel/bts/bts.h"
#include "kernel/hybrids/hybrids.h"
#include "kernel/later/later.h"
#include "kernel/lib/errno.h"
#include "kernel/options/options.h"
#include "kernel/options/row.h"
#include "kernel/pmc/options.h"
#include "kernel/ports/options.h"
#include "kernel/sessions/options.h"
#include "kernel/soft/options.h"
#include "kernel/truth/truth.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/presets.h"
#include "tools/options/describe.h"
#include "trace/sessions/group_names.h"

static char error[512];

static int set(const char *word)
{
    error[0] = '\0';
    return kopt_set(word, strlen(word), error, sizeof error);
}

static int parse(const char *text)
{
    kopt_defaults();
    error[0] = '\0';
    return kopt_parse(text, strlen(text), error, sizeof error);
}

/* Every default is a value its own option accepts, and is what is shown back. */
static void defaults_are_legal(void **state)
{
    (void)state;
    struct options_help help;
    char shown[256], word[256];
    kopt_defaults();
    for (size_t i = 0; options_describe(i, &help); i++) {
        snprintf(word, sizeof word, "%s=%s", help.name, help.standard);
        assert_int_equal(set(word), 0);
        assert_true(kopt_show(i, shown, sizeof shown));
        assert_string_equal(shown, word);
    }
    assert_int_equal(kopt_check(error, sizeof error), 0);
}

static void each_kind_of_value(void **state)
{
    (void)state;
    assert_int_equal(parse("ds=soft\nseed=0xFFFFFFFFFFFFFFFF\nserial=com2,9600\nbts=circular\nworkload=hogs"), 0);
    assert_int_equal(kopt.ds, KOPT_DS_SOFT);
    assert_true(kopt.seed == UINT64_MAX);
    assert_int_equal(kports_option.uart.address, 0x2F8);
    assert_int_equal(kports_option.baud, 9600);
    assert_int_equal(kopt.beside, DS_BTS_CIRCULAR);
    assert_int_equal(kbts_options.rings, DS_BTS_ALL);
    assert_string_equal(kopt.workload, "hogs");
    assert_int_equal(parse("serial=none\nbts=interrupt\nbts.rings=u\nbts.records=1"), 0);
    assert_int_equal(kports_option.kind, KPORTS_NONE);
    assert_int_equal(kopt.beside, DS_BTS_INTERRUPT);
    assert_int_equal(kbts_options.rings, DS_BTS_USER);
    assert_int_equal(kbts_options.records, 1);
    assert_int_equal(parse("bts=interrupt\nbts.rings=k"), 0);
    assert_int_equal(kbts_options.rings, DS_BTS_KERNEL);
}

static struct {
    uint32_t number;
    char text[8];
} part;
static const struct kopt_option part_text = {.name = "part.text",
                                             .standard = "none",
                                             .text = "a text",
                                             .field = part.text,
                                             .size = sizeof part.text,
                                             .kind = TEXT};
static const struct kopt_option part_number = {
    .name = "part", .standard = "7", .text = "a number", .field = &part.number, .kind = NUMBER32, .min = 1, .max = 9};
static const struct kopt_absent gone = {"gone", "away", "\"soft away\""},
                                gone_workload = {"workload=gone", "away", "away"},
                                gone_family = {"gone.", "away", "\"soft away\""};
ROWS_ADD(kopt, part_text);
ROWS_ADD(kopt, part_number);
ROWS_ADD(kopt_absent, gone);
ROWS_ADD(kopt_absent, gone_workload);
ROWS_ADD(kopt_absent, gone_family);

/* Options that a part of the kernel adds stand among those of the table in the order of their names; and those of a
 * part that is not there. */
static void of_parts(void **state)
{
    struct options_help help;
    size_t i = 0, other = 0;
    (void)state;
    assert_int_equal(parse("part=3\npart.text=a"), 0);
    assert_true(part.number == 3 && strcmp(part.text, "a") == 0);
    kopt_defaults();
    assert_true(part.number == 7 && strcmp(part.text, "none") == 0);
    assert_int_equal(set("part=0"), -EINVAL);
    assert_string_equal(error, "option 'part=0': must be a number from 1 to 9");
    for (; options_describe(i, &help) && strcmp(help.name, "part") != 0; i++)
        continue;
    assert_true(options_describe(i + 1, &help) && strcmp(help.name, "part.text") == 0);
    for (const char *last = NULL; options_describe(other, &help) && strcmp(help.name, "ds.preset") != 0; other++) {
        assert_true(!last || strcmp(last, help.name) < 0); /* one that has the name of another would hide it */
        last = help.name;
    }
    while (options_describe(other, &help)) /* made from the model's tables */
        other++;
    assert_in_range(other, i + 2, KOPT_ROWS_MAX - 1); /* no row had to be left out */

    assert_int_equal(set("gone=1"), -EINVAL);
    assert_string_equal(
        error, "option 'gone=1': this kernel is built without the wing away (make nucleus WITH=\"soft away\")");
    assert_int_equal(set("gone.far=1"), -EINVAL);
    assert_string_equal(
        error, "option 'gone.far=1': this kernel is built without the wing away (make nucleus WITH=\"soft away\")");
    assert_int_equal(set("workload=gone"), -EINVAL);
    assert_string_equal(error,
                        "option 'workload=gone': this kernel is built without the wing away (make nucleus WITH=away)");
    assert_int_equal(set("workload=gon"), -EINVAL);
    assert_non_null(strstr(error, "must be one of control|hogs|"));
}

/* What would have no effect beside the others is refused, each with what it is that it does not go with. */
static void options_without_effect(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error; /* NULL: good */
    } rows[] = {
        {"ds=soft\nds.preset=nehalem\nds.policy.fit=end_lt\nds.log=1\npebs.later=9", NULL},
        {"ds.preset=nehalem\nds.policy.fit=end_lt\nds.log=1\nds.force=1", NULL}, /* auto may come to either */
        {"ds=hw\nds.force=1\nds.throttle=5\npebs=branches:9", NULL},
        {"ds=off\nbts=off\nds.force=0\nds.throttle=0\npebs.later=none\nbts.records=1024", NULL}, /* the defaults */
        {"spinlock.every=1", "option 'spinlock.every=1': has no effect, no session has the group spinlock, as in "
                             "session.1=auto+spinlock:qpc:sequential"},
        {"session.2=compact:qpc:circular\nspinlock.spin_threshold=2",
         "option 'spinlock.spin_threshold=2': has no effect, no session has the group spinlock, as in "
         "session.1=auto+spinlock:qpc:sequential"},
        {"session.2=spinlock:qpc:circular\nspinlock.hold_threshold=999999",
         "option 'spinlock.hold_threshold=999999': must be 0 or at least 1000000"},
        {"session.2=spinlock:qpc:circular\nspinlock.hold_threshold=0\nspinlock.spin_threshold=7", NULL},
        {"session.1=spinlock:qpc:circular\nspinlock.every=1\nspinlock.hold_threshold=0",
         "option 'spinlock.hold_threshold=0': has no effect with spinlock.every=1, only with spinlock.every=0"},
        {"ds=off\nbts=circular", "option 'bts=circular': has no effect with ds=off"},
        {"ds=off\nds.throttle=5", "option 'ds.throttle=5': has no effect with ds=off"},
        {"ds=off\npebs=branches:9", "option 'pebs=branches:9': has no effect with ds=off"},
        {"ds=off\npebs.later=9", "option 'pebs.later=9': has no effect with ds=off"},
        {"ds=off\npebs.groups=none", "option 'pebs.groups=none': has no effect with ds=off"},
        {"ds=off\npebs.records=50", "option 'pebs.records=50': has no effect with ds=off"},
        {"ds=off\npebs.threshold=5", "option 'pebs.threshold=5': has no effect with ds=off"},
        {"ds=off\nds.log=1", "option 'ds.log=1': has no effect with ds=off, only with ds=auto|soft"},
        {"ds=hw\nds.log=1", "option 'ds.log=1': has no effect with ds=hw, only with ds=auto|soft"},
        {"ds=hw\nds.preset=skylake", "option 'ds.preset=skylake': has no effect with ds=hw, only with ds=auto|soft"},
        {"ds=hw\nds.policy.fit=end_lt",
         "option 'ds.policy.fit=end_lt': has no effect with ds=hw, only with ds=auto|soft"},
        {"ds=soft\nds.force=1", "option 'ds.force=1': has no effect with ds=soft, only with ds=auto|hw"},
        {"bts.rings=u", "option 'bts.rings=u': has no effect with bts=off"},
        {"bts.records=9", "option 'bts.records=9': has no effect with bts=off"},
        {"workload=known\npebs.later=9",
         "option 'workload=known': does not go with pebs.later=9, only with pebs.later=none"},
        {"workload=known\npebs=branches:9", NULL},
        {"pebs=none\nbts=interrupt\nds.throttle=5\nworkload=user\npebs.records=64\npebs.threshold=48", NULL},
        {"ds=hw\npebs=none\nbts=circular\nbts.records=9", NULL},
        {"pebs=none", "option 'pebs=none': nothing is left to record: give events, or ds=off"},
        {"ds=off\npebs=none", "option 'pebs=none': has no effect with ds=off"},
        {"pebs=none\nbts=circular\npebs.later=9", "option 'pebs.later=9': has no effect with pebs=none"},
        {"pebs=none\nbts=circular\npebs.groups=lbr", "option 'pebs.groups=lbr': has no effect with pebs=none"},
        {"pebs=none\nbts=circular\npebs.records=50", "option 'pebs.records=50': has no effect with pebs=none"},
        {"pebs=none\nbts=circular\npebs.threshold=9", "option 'pebs.threshold=9': has no effect with pebs=none"},
        {"pebs=none\nbts=circular\nsession.1=full:qpc:sequential\nsession.pmc=TotalCycles",
         "option 'session.pmc=TotalCycles': has no effect with pebs=none"},
        {"pebs=none\nbts=circular\nds.log=1", "option 'ds.log=1': has no effect with pebs=none"},
        {"pebs=none\nbts=circular\nworkload=known", "option 'workload=known': does not go with pebs=none"},
        {"dump=live\ndump.pace=0\nserial=com2,9600\nsession.2=full:tsc:circular", NULL},
        {"dump.pace=0", "option 'dump.pace=0': has no effect with dump=end, only with dump=live"},
        {"dump=live\nserial=none", "option 'dump=live': has no effect with serial=none"},
        {"dump=live\nsession.1=compact:qpc:circular\nsession.8=full:tsc:sequential", NULL},
        {"dump=live\nsession.1=compact:qpc:circular\nsession.8=full:tsc:circular",
         "option 'dump=live': has no effect where all sessions are circular: they keep their newest buffers for the "
         "end; make one sequential, or leave it out"},
        {"save=esp\nsave.mib=512\nend=reboot\nserial=none", NULL},
        {"save=esp\nend=halt", "option 'save=esp': the log in memory becomes a file after a reset: leave end= out, or "
                               "give end=reboot"},
        {"save.mib=1", "option 'save.mib=1': has no effect with save=off, only with save=esp"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(parse(rows[i].text), rows[i].error ? -EINVAL : 0);
        assert_string_equal(error, rows[i].error ? rows[i].error : "");
    }
}

/* The log in memory takes a reset. */
static void save_resets(void **state)
{
    (void)state;
    assert_int_equal(parse("save=esp"), 0);
    assert_int_equal(kopt.end, KOPT_END_REBOOT);
    assert_int_equal(parse("save=off"), 0);
    assert_int_equal(kopt.end, KOPT_END_HALT);
}

/* What ds=auto has come to decides during the run: then it is said, option by option. */
static void what_auto_leaves_without_effect(void **state)
{
    (void)state;
    char text[160];
    size_t i = 0;
    assert_int_equal(parse("ds.force=1\nds.preset=skylake\nds.log=1\nbts=circular"), 0);
    assert_true(kopt_idle(&i, KOPT_DS_SOFT, text, sizeof text));
    assert_string_equal(text, "option 'ds.force=1': has no effect with ds=soft, which is what ds=auto has chosen");
    assert_false(kopt_idle(&i, KOPT_DS_SOFT, text, sizeof text));
    i = 0;
    assert_true(kopt_idle(&i, KOPT_DS_HW, text, sizeof text));
    assert_non_null(strstr(text, "'ds.log=1'"));
    assert_true(kopt_idle(&i, KOPT_DS_HW, text, sizeof text));
    assert_non_null(strstr(text, "'ds.preset=skylake': has no effect with ds=hw, which"));
    assert_false(kopt_idle(&i, KOPT_DS_HW, text, sizeof text));
}

static void given_twice(void **state)
{
    (void)state;
    assert_int_equal(parse("seed=1\nswitches=9\nseed=2"), -EINVAL);
    assert_string_equal(error, "cairn.cfg line 3: option 'seed=2': is given twice: leave one of the two out");
    assert_int_equal(parse("ds.policy.fit=end_lt\nds.policy.fit=end_lt"), -EINVAL);
    assert_non_null(strstr(error, "line 2: option 'ds.policy.fit=end_lt': is given twice"));
    assert_int_equal(parse("seed=1\nswitches=9"), 0); /* the next file is another */
    assert_int_equal(set("cpus=0"), -EINVAL);
    assert_int_equal(set("cpus=1"), 0); /* what was refused has not been given */
}

static bool groups_are(unsigned number, const char *text)
{
    char shown[TRACE_GROUPS_TEXT];
    trace_groups_show(&ksession_options[number - 1].masks, shown);
    return strcmp(shown, text) == 0;
}

static void shows(const char *word)
{
    struct options_help help;
    char shown[256] = "";
    size_t name = strcspn(word, "=");
    for (size_t i = 0; options_describe(i, &help); i++)
        if (strlen(help.name) == name && memcmp(help.name, word, name) == 0)
            kopt_show(i, shown, sizeof shown);
    assert_string_equal(shown, word);
}

static void counters(void **state)
{
    (void)state;
    static const struct {
        const char *value, *why; /* NULL: it is right */
    } cases[] = {
        {"InstructionRetired", NULL},
        {"InstructionRetired,BranchInstructionRetired,UnhaltedCoreCycles,TotalCycles", NULL},
        {"Timer", "'Timer': must be InstructionRetired"},
        {"instructions", "'instructions': must be InstructionRetired"},
        {"InstructionRetired,", "'': must be InstructionRetired"},
        {"TotalCycles,InstructionRetired,TotalCycles", "'TotalCycles': is there twice"},
        {"InstructionRetired,BranchInstructionRetired,UnhaltedCoreCycles,TotalCycles,BranchInstructions",
         "'BranchInstructions': is one too many, 4 are the most"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "session.1=full:qpc:sequential\nsession.pmc=%s", cases[i].value);
        kopt_defaults();
        assert_int_equal(parse(text), cases[i].why ? -EINVAL : 0);
        if (cases[i].why)
            assert_non_null(strstr(error, cases[i].why));
    }
    kopt_defaults();
    assert_int_equal(parse("session.1=compact:qpc:sequential\nsession.pmc=InstructionRetired"), -EINVAL);
    assert_non_null(strstr(error, "no session writes 0524H events"));
    kopt_defaults();
    assert_int_equal(parse("session.1=full:qpc:sequential\nds=off\nsession.pmc=InstructionRetired"), -EINVAL);
    kopt_defaults(); /* what each would have needs a counter of its own */
    assert_int_equal(parse("session.1=full:qpc:sequential\nsession.pmc=InstructionRetired\npebs=cycles:9,cycles:8,"
                           "cycles:7,cycles:6,cycles:5,cycles:4,cycles:3,cycles:2,branches:9,branches:8,branches:7,"
                           "branches:6,branches:5,branches:4"),
                     -EINVAL);
    assert_non_null(strstr(error, "more events than any"));
    static const struct {
        const char *hooks, *why;
    } of_hooks[] = {
        {"0x0524", NULL},
        {"1330,0x524,0x0F2E,0x0529", NULL},
        {"0x0525", "'0x0525': no hook ID, such as 0x0524, whose events carry items"},
        {"0x10524", "'0x10524': no hook ID"},
        {"ready", "'ready': no hook ID"},
        {"0x0524,", "'': no hook ID"},
        {"0x0524,0x0532,1316", "'1316': is there twice"},
        {"0x0524,0x0529,0x0530,0x0532,0x0F2E", "'0x0F2E': is one too many, 4 are the most"},
        {"0x0524,0x0F43",
         "'session.pmc.hooks=0x0524,0x0F43': no session writes 0F43H events: give one the group 'interrupt'"},
    };
    for (unsigned i = 0; i < sizeof of_hooks / sizeof of_hooks[0]; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "session.1=full+dispatcher+priority:qpc:sequential\n"
                 "session.2=profile+spinlock:tsc:circular\nsession.pmc=TotalCycles\nsession.pmc.hooks=%s",
                 of_hooks[i].hooks);
        kopt_defaults();
        assert_int_equal(parse(text), of_hooks[i].why ? -EINVAL : 0);
        if (of_hooks[i].why)
            assert_non_null(strstr(error, of_hooks[i].why));
    }
    kopt_defaults(); /* without counters */
    assert_int_equal(parse("session.1=full:qpc:sequential\nsession.pmc.hooks=0x0532"), -EINVAL);
    assert_non_null(strstr(error, "session.pmc.hooks"));
    kopt_defaults();
    struct trace_pmc pmc;
    assert_int_equal(kpmc_parse(&pmc, error, sizeof error), 0);
    assert_int_equal(pmc.count + pmc.hooks, 0);
    assert_int_equal(parse("session.1=dispatcher:qpc:sequential\nsession.pmc=TotalCycles\n"
                           "session.pmc.hooks=0x0532"),
                     0);
    assert_int_equal(kpmc_parse(&pmc, error, sizeof error), 0);
    assert_true(pmc.count == 1 && pmc.source[0] == 19 && pmc.hooks == 1 && pmc.hook[0] == 0x0532);
    const struct ds_config *config = &kopt_ds_config;
    kopt_defaults();
    assert_int_equal(parse("session.1=full:qpc:sequential\nsession.pmc=BranchInstructions,TotalCycles"), 0);
    assert_int_equal(config->events, 1);
    assert_int_equal(config->counting, 2);
    assert_string_equal(config->event[1].name, "BR_INST_RETIRED.ALL_BRANCHES");
    assert_string_equal(config->event[2].name, "CPU_CLK_UNHALTED.THREAD");
    kopt_defaults();
}

/* What the CPUs do, efficient cores, and all later. */
static void plans(struct ds_config *config, struct ds_config *atom, uint64_t *later)
{
    *config = kopt_ds_config;
    assert_int_equal(khybrid_config(atom, error, sizeof error), 0);
    assert_int_equal(klater_periods(later, error, sizeof error), 0);
}

/* The events of efficient cores: those of pebs=, their own, or none. */
static void kinds_of_cores(void **state)
{
    (void)state;
    struct ds_config config, atom;
    uint64_t later[DS_MAX_COUNTERS];
    assert_int_equal(parse("pebs=branches:9,INST_RETIRED.ANY:7:u\npebs.groups=gpr,lbr:4"), 0);
    plans(&config, &atom, later);
    assert_false(khybrid_own_events());
    assert_int_equal(khybrid_options.cpus, KHYBRID_ALL);
    assert_memory_equal(&config, &atom, sizeof atom);
    assert_int_equal(parse("pebs=branches:9,cycles:5\npebs.later=4,6\npebs.atom=INST_RETIRED.ANY:7:u\n"
                           "pebs.cpus=atom\npebs.groups=gpr,lbr:4\npebs.records=20\npebs.threshold=9\n"
                           "session.1=full:qpc:sequential\nsession.pmc=TotalCycles"),
                     0);
    plans(&config, &atom, later);
    assert_true(khybrid_own_events());
    assert_int_equal(khybrid_options.cpus, KHYBRID_ATOM);
    assert_true(config.events == 2 && later[0] == 4 && later[1] == 6);
    assert_true(atom.events == 1 && atom.event[0].period == 7 && !atom.event[0].kernel && atom.counting == 1);
    assert_true(atom.groups == config.groups && atom.records == 20 && atom.threshold == 9);
    assert_int_equal(parse("pebs.atom=none"), 0);
    plans(&config, &atom, later);
    assert_true(config.events == 1 && !atom.events && !atom.counting);
    /* What is wrong is said of the option that has it. */
    assert_int_equal(parse("pebs.atom=branches"), -EINVAL);
    assert_memory_equal(error, "option 'pebs.atom': 'branches': needs a period", 46);
    assert_int_equal(parse("pebs=branches"), -EINVAL);
    assert_memory_equal(error, "option 'pebs': 'branches': needs a period", 41);
    assert_int_equal(parse("bts=circular\npebs=none\npebs.atom=branches:9"), -EINVAL);
    assert_memory_equal(error, "option 'pebs.atom=branches:9': has no effect with pebs=none", 58);
    assert_int_equal(parse("pebs.cpus=2"), -EINVAL);
    kopt_defaults();
}

static void sessions(void **state)
{
    (void)state;
    const struct ksession_option *s = ksession_options;
    kopt_defaults();
    assert_true(s[0].on && s[0].automatic && s[0].clock == TRACE_CLOCK_QPC && !s[0].circular);
    assert_true(groups_are(1, "none"));
    for (unsigned i = 1; i < TRACE_MAX_SESSIONS; i++)
        assert_false(s[i].on);
    assert_int_equal(parse("session.1=compact+full:qpc:circular\nsession.2=full+dpc:system:sequential:16\n"
                           "session.8=auto+spinlock+0x40000040:tsc:circular:1024:65536\nsession.restarts=3"),
                     0);
    assert_true(groups_are(1, "both") && s[0].circular && !s[0].automatic);
    shows("session.1=both:qpc:circular");
    assert_true(s[1].on && groups_are(2, "full+dpc") && s[1].clock == TRACE_CLOCK_SYSTEM && s[1].buffer_kib == 16);
    assert_int_equal(s[1].buffers, 0);
    shows("session.2=full+dpc:system:sequential:16");
    assert_true(s[7].automatic && groups_are(8, "spinlock+0x40000040") && s[7].clock == TRACE_CLOCK_TSC);
    assert_int_equal(s[7].buffer_kib, 1024);
    assert_int_equal(s[7].buffers, 65536);
    shows("session.8=auto+spinlock+0x40000040:tsc:circular:1024:65536");
    assert_int_equal(parse("session.8=none:tsc:circular"), 0);
    shows("session.8=none:tsc:circular");
    assert_int_equal(parse("session.8=off\nsession.restarts=3"), -EINVAL); /* none is there to be restarted */
    assert_non_null(strstr(error, "option 'session.restarts': session 1 is not restarted"));
    shows("session.8=off");
    kopt_defaults();

    /* clang-format off */
    static const char *const bad[] = {
        "session.1=off", "session.9=full:qpc:circular", "session.0=off", "session.2=", "session.2=full",
        "session.2=full:qpc", "session.2=full:qpc:", "session.2=full:qpc:around", "session.2=full:hpet:circular",
        "session.2=fuller:qpc:circular", "session.2=:qpc:circular", "session.2=full+:qpc:circular",
        "session.2=+full:qpc:circular", "session.2=autos:qpc:circular", "session.2=auto+:qpc:circular",
        "session.2=full:qpc:circular:", "session.2=full:qpc:circular:3", "session.2=full:qpc:circular:1025",
        "session.2=full:qpc:circular:x", "session.2=full:qpc:circular:4:0", "session.2=full:qpc:circular:4:65537",
        "session.2=full:qpc:circular:4:8:1", "session.2=full:qpc:circular:4:8:", "session.2=0x:qpc:circular",
        "session.2=0x123456789:qpc:circular", "session.2=0xG:qpc:circular",
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(set(bad[i]), -EINVAL);
        assert_false(s[1].on); /* nothing of it is kept */
    }
}

/* The model's own tables decide what there is. */
static void presets_and_policies(void **state)
{
    (void)state;
    char word[128], shown[128];
    struct options_help help;
    unsigned rows = 0;
    kopt_defaults();
    for (size_t i = 0; i < PRESETS; i++) {
        kopt_defaults();
        snprintf(word, sizeof word, "ds.preset=%s", preset_at(i)->name);
        assert_int_equal(set(word), 0);
        assert_string_equal(ksoft_options.preset, preset_at(i)->name);
    }
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++) {
        const struct ds_model_policy_row *row = &ds_model_policies[i];
        assert_string_equal(ds_model_policy_value(&ksoft_options.policy, row), row->values[0]);
        for (size_t v = 0; row->values[v]; v++) {
            snprintf(word, sizeof word, "ds.policy.%s=%s", row->name, row->values[v]);
            kopt_defaults();
            assert_int_equal(set(word), 0);
            assert_string_equal(ds_model_policy_value(&ksoft_options.policy, row), row->values[v]);
        }
    }
    for (size_t i = 0; options_describe(i, &help); i++) {
        if (strncmp(help.name, "ds.policy.", 10) != 0)
            continue;
        assert_string_equal(help.name + 10, ds_model_policies[rows].name);
        assert_string_equal(help.text, ds_model_policies[rows].question);
        snprintf(word, sizeof word, "%s=%s", help.name, strrchr(help.values, '|') + 1);
        kopt_defaults();
        assert_int_equal(set(word), 0);
        assert_true(kopt_show(i, shown, sizeof shown));
        assert_string_equal(shown, word);
        rows++;
    }
    assert_int_equal(rows, DS_MODEL_POLICIES);
}

static void serial_ports(void **state)
{
    enum { PORT = KPORTS_PORT };
    (void)state;
    static const struct {
        const char *word;
        struct arch_uart uart;
        uint32_t baud;
        const char *shown;
        uint32_t kind, function;
    } cases[] = {
        {"com1", {0x3F8, 1843200, ARCH_UART_IO, 1, 1}, 115200, "0x3f8,115200", PORT, 0},
        {"com2,9600", {0x2F8, 1843200, ARCH_UART_IO, 1, 1}, 9600, "0x2f8,9600", PORT, 0},
        {"com3", {0x3E8, 1843200, ARCH_UART_IO, 1, 1}, 115200, "0x3e8,115200", PORT, 0},
        {"com4", {0x2E8, 1843200, ARCH_UART_IO, 1, 1}, 115200, "0x2e8,115200", PORT, 0},
        {"0xc000,115201", {0xC000, 1843200, ARCH_UART_IO, 1, 1}, 115201, "0xc000,115201", PORT, 0},
        {"49152,921600,14745600", {0xC000, 14745600, ARCH_UART_IO, 1, 1}, 921600, "0xc000,921600,14745600", PORT, 0},
        {"mmio:0xfe034000",
         {0xFE034000, 1843200, ARCH_UART_MEMORY, 1, 1},
         115200,
         "mmio:0xfe034000:1:1,115200",
         PORT,
         0},
        {"mmio:0xfe034000:4,115200,48000000",
         {0xFE034000, 48000000, ARCH_UART_MEMORY, 4, 4},
         115200,
         "mmio:0xfe034000:4:4,115200,48000000",
         PORT,
         0},
        {"mmio:0xfe034001:4:1",
         {0xFE034001, 1843200, ARCH_UART_MEMORY, 4, 1},
         115200,
         "mmio:0xfe034001:4:1,115200",
         PORT,
         0},
        {"auto", {0}, 0, "auto", KPORTS_AUTO, 0},
        {"auto,115200", {0}, 115200, "auto,115200", KPORTS_AUTO, 0},
        {"auto,921600,14745600", {.clock = 14745600}, 921600, "auto,921600,14745600", KPORTS_AUTO, 0},
        {"pci", {0}, 115200, "pci,115200", KPORTS_PCI, 0},
        {"pci:0:3.0", {0}, 115200, "pci:00:03.0,115200", KPORTS_PCI_FUNCTION, 0x0018},
        {"pci:fe:1F.7,9600,3686400", {.clock = 3686400}, 9600, "pci:fe:1f.7,9600,3686400", KPORTS_PCI_FUNCTION, 0xFEFF},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char word[64], text[64];
        snprintf(word, sizeof word, "serial=%s", cases[i].word);
        for (unsigned again = 0; again <= 1; again++) { /* what is shown can be given */
            const struct arch_uart *u = &kports_option.uart;
            kopt_defaults();
            assert_int_equal(set(word), 0);
            assert_int_equal(kports_option.kind, cases[i].kind);
            assert_int_equal(kports_option.function, cases[i].function);
            assert_int_equal(u->address, cases[i].uart.address);
            assert_int_equal(u->clock, cases[i].uart.clock);
            assert_int_equal(u->space, cases[i].uart.space);
            assert_int_equal(u->stride, cases[i].uart.stride);
            assert_int_equal(u->width, cases[i].uart.width);
            assert_int_equal(kports_option.baud, cases[i].baud);
            struct options_help help;
            for (size_t row = 0; options_describe(row, &help); row++)
                if (strcmp(help.name, "serial") == 0)
                    kopt_show(row, text, sizeof text);
            snprintf(word, sizeof word, "serial=%s", cases[i].shown);
            assert_string_equal(text, word);
        }
    }
    kopt_defaults();
    assert_int_not_equal(set("serial=com1,100000"), 0);
    assert_non_null(strstr(error, "1843200 Hz gives no baud rate within 2.5 % of that: 115200 is the nearest"));
}

static void bad_words_are_named(void **state)
{
    (void)state;
    /* clang-format off */
    static const char *const bad[] = {
        "", "ds", "=", "ds=", "ds=sof", "ds=softx", "DS=soft", "nosuch=1", "switches=", "switches=0", "switches=-1",
        "switches=1x", "seed=18446744073709551616", "seed=0x", "tick=99", "cpus=257", "session.1=compact",
        "session.1=compact:qpc", "session.1=compact:qpc:sequential:", "session.1=half:qpc:circular", "serial=com0",
        "serial=com5", "serial=", "serial=0", "serial=0xfff9", "serial=com1,", "serial=com1,0", "serial=com1,x",
        "serial=com1,100000", "serial=com1,4294967296", "serial=com1,115200,", "serial=com1,115200,0",
        "serial=com1,115200,1000000", "serial=com1,115200,1843200,1", "serial=mmio", "serial=mmio:", "serial=mmio:0",
        "serial=mmio:0xfe034000:", "serial=mmio:0xfe034000:3", "serial=mmio:0xfe034000:8", "serial=mmio:0xfe034000:4:",
        "serial=mmio:0xfe034000:4:8", "serial=mmio:0xfe034000:1:2", "serial=mmio:0xfe034000:4:4:4",
        "serial=mmio:0xfe034002:4", "serial=auto:1", "serial=pci:", "serial=pci:0", "serial=pci:0:3",
        "serial=pci:0:3.", "serial=pci:0:3.8", "serial=pci:0:20.0", "serial=pci:100:3.0", "serial=pci:0:3.0.0",
        "serial=pci:g:3.0", "serial=pci:0x1:3.0", "serial=pci,100000", "serial=none,100000", "serial=none,",
        "serial=mmio:0x10000000000000", "workload=none", "ds.preset=i486",
        "ds.preset=", "ds.preset=names of presets", "ds.policy.fit=yes", "ds.policy.fit=",
        "ds.policy.nosuch=yes", "truth=2", "bts=on", "bts=", "bts.records=0",
        "bts.records=16385", "panic=later",
    };
    /* clang-format on */
    kopt_defaults();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_not_equal(set(bad[i]), 0);
        assert_non_null(strstr(error, bad[i]));
        assert_null(strchr(error, '\n'));
    }
}

/* cairn.cfg may hold anything; what is said of it goes to a terminal. */
static void errors_are_printable(void **state)
{
    (void)state;
    kopt_defaults();
    for (unsigned c = 1; c < 256; c++) {
        static const char *const options[] = {"switches=%c5", "%cnosuch=1",        "word%c",
                                              "pebs=INST%c",  "monitor.script=%c", "session.2=%c:qpc:circular",
                                              "serial=com%c", "session.pmc=%c"};
        if (c == '\n' || c == '#' || (c >= ' ' && c <= '~'))
            continue;
        for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
            char word[64], hex[8];
            snprintf(word, sizeof word, options[i], (int)c);
            snprintf(hex, sizeof hex, "\\x%02x", c);
            assert_int_equal(set(word), -EINVAL);
            assert_non_null(strstr(error, hex));
            assert_non_null(strstr(error, "': holds a character that is not printable ASCII"));
            for (const char *p = error; *p; p++)
                assert_in_range(*p, ' ', '~');
        }
    }
    assert_int_equal(parse("truth=1\nsw\x1b[2Jitches=5"), -EINVAL);
    assert_string_equal(error, "cairn.cfg line 2: option 'sw\\x1b[2Jitches=5': holds a character that is not printable "
                               "ASCII");
    char word[512];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_int_equal(set(word), -EINVAL); /* the reason is there, however long the word is */
    assert_non_null(strstr(error, "xxx...': must have the form name=value"));
}

static void a_file_of_options(void **state)
{
    (void)state;
    assert_int_equal(parse("# a comment\r\n\r\n  truth=1 \t\r\nswitches=300 # so few\nseed=7"), 0);
    assert_int_equal(ktruth_wanted, 1);
    assert_int_equal(kopt.switches, 300);
    assert_int_equal(kopt.seed, 7);
    assert_int_not_equal(parse("truth=1\ncpus=many\nseed=7\n"), 0);
    assert_non_null(strstr(error, "line 2"));
    assert_non_null(strstr(error, "cpus=many"));
}

static void combinations_are_checked(void **state)
{
    (void)state;
    assert_int_not_equal(parse("pebs.records=8\npebs.threshold=9\n"), 0);
    assert_non_null(strstr(error, "option 'pebs.threshold=9': must not be above pebs.records=8"));
    assert_int_not_equal(parse("pebs.records=8\n"), 0); /* nobody has said a word of the threshold */
    assert_string_equal(error, "option 'pebs.records=8': is below pebs.threshold, whose default is 48: give "
                               "pebs.threshold=, at most 8");
    assert_int_not_equal(parse("pebs.later=1009,50021\n"), 0); /* more periods than there are events */
    assert_non_null(strstr(error, "option 'pebs.later': '1009,50021': must be none, or a period"));
    assert_int_not_equal(parse("pebs=NO_SUCH_EVENT:100\n"), 0);
    assert_non_null(strstr(error, "NO_SUCH_EVENT"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_legal),
        cmocka_unit_test(each_kind_of_value),
        cmocka_unit_test(of_parts),
        cmocka_unit_test(counters),
        cmocka_unit_test(kinds_of_cores),
        cmocka_unit_test(sessions),
        cmocka_unit_test(serial_ports),
        cmocka_unit_test(bad_words_are_named),
        cmocka_unit_test(errors_are_printable),
        cmocka_unit_test(a_file_of_options),
        cmocka_unit_test(presets_and_policies),
        cmocka_unit_test(combinations_are_checked),
        cmocka_unit_test(options_without_effect),
        cmocka_unit_test(save_resets),
        cmocka_unit_test(what_auto_leaves_without_effect),
        cmocka_unit_test(given_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
