/* SPDX-License-Identifier: MIT */
/* cairn probe: what workload probe found out about a processor. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ds/layout.h"
#include "ds/model/model.h"
#include "ds/policy/table/table.h"
#include "ds/probe/probe.h"
#include "tools/cairn/base/cut.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/export/json.h"
#include "tools/cairn/log/show.h"

enum { TEXT, JSON };
static const char *const forms[] = {"text", "json", NULL};
static unsigned form;
static const struct cairn_option options[] = {
    {0, "to", "FORM", "format of the output: text, or json (one object per line and CPU)", .word = &form,
     .words = forms},
    CAIRN_LOG_OPTIONS,
};

/* ---- what the log tells ------------------------------------------------------------------------------------------ */

struct asked { /* one question, as the log has it */
    struct cairn_slice name, answer, evidence;
    const struct ds_probe_row *row; /* NULL: not one of this version's */
    char no_answer[80];             /* where the answer is not one of its answers */
};

/* Takes what is before the next '|' off. */
static struct cairn_slice field(struct cairn_slice *s)
{
    const char *bar = s->size ? memchr(s->at, '|', s->size) : NULL;
    const struct cairn_slice f = {s->at, bar ? (uint32_t)(bar - s->at) : s->size};
    const uint32_t taken = f.size + (bar ? 1 : 0);
    s->at += taken;
    s->size -= taken;
    return f;
}

/* False: there is no question `n` of that CPU. */
static bool read_asked(const struct cairn_log *log, uint32_t cpu, unsigned n, struct asked *a)
{
    struct cairn_slice v = cairn_key(&log->text, "probe.%" PRIu32 ".%u", cpu, n);
    if (!v.size)
        return false;
    a->name = field(&v);
    a->answer = field(&v);
    a->evidence = v;
    a->row = NULL;
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++)
        if (cairn_slice_is(a->name, ds_probe_rows[i].name))
            a->row = &ds_probe_rows[i];
    char answer[24];
    cairn_slice_text(answer, sizeof(answer), a->answer);
    if (a->row && answer[0] && !ds_probe_lists(a->row, answer)) { /* mistyped, or of a later version */
        snprintf(a->no_answer, sizeof(a->no_answer), "'%s' is not an answer to it that this version knows", answer);
        a->answer.size = 0;
        a->evidence = cairn_slice_of(a->no_answer);
    }
    return true;
}

struct cost {
    struct cairn_slice name, reason;
    uint64_t samples, least, median, p99;
};

static bool read_cost(const struct cairn_log *log, uint32_t cpu, unsigned n, struct cost *c)
{
    struct cairn_slice v = cairn_key(&log->text, "probe.%" PRIu32 ".cost.%u", cpu, n);
    if (!v.size)
        return false;
    c->name = field(&v);
    uint64_t *const number[] = {&c->samples, &c->least, &c->median, &c->p99};
    for (unsigned i = 0; i < sizeof(number) / sizeof(number[0]); i++)
        if (!cairn_slice_u64(field(&v), number[i]))
            c->samples = 0;
    c->reason = v;
    return true;
}

/* What a cost is of, in words. */
static const char *cost_text(const struct cost *c)
{
    static const char *const switches[][2] = {
        {"switch_off", "a context switch, not traced"},
        {"switch_on", "a context switch, traced"},
        {"switch_stamped", "a context switch, traced with PebsIndex"},
    };
    for (unsigned i = 0; i < DS_PROBE_COSTS; i++)
        if (cairn_slice_is(c->name, ds_probe_costs[i].name))
            return ds_probe_costs[i].what;
    for (unsigned i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
        if (cairn_slice_is(c->name, switches[i][0]))
            return switches[i][1];
    return "unknown to this version of cairn";
}

/* Register `r` of CPUID leaf 1 and so on; false: the log does not have it. */
static bool read_leaf(const struct cairn_log *log, uint32_t cpu, unsigned leaf, unsigned r[4])
{
    char words[40];
    cairn_slice_text(words, sizeof(words), cairn_key(&log->text, "cpu.%" PRIu32 ".cpuid.%08x.00000000", cpu, leaf));
    return sscanf(words, "%x %x %x %x", &r[0], &r[1], &r[2], &r[3]) == 4;
}

#define NO_VENDOR "unknown"

struct identity { /* of the processor itself, whatever a model pretends to be */
    char vendor[13];
    unsigned family, model, stepping;
    struct cairn_slice microcode, hypervisor, machine, backend, preset, kind;
    bool known, emulated; /* the latter: who was asked, so answers and cycles say nothing about the processor */
};

static struct identity read_identity(const struct cairn_log *log, uint32_t cpu)
{
    unsigned r[4];
    struct identity i = {
        .vendor = NO_VENDOR,
        .microcode = cairn_key(&log->text, "cpu.%" PRIu32 ".microcode", cpu),
        .hypervisor = cairn_key(&log->text, "machine.hypervisor"),
        .machine = cairn_key(&log->text, "probe.%" PRIu32 ".machine", cpu),
        .backend = cairn_key(&log->text, "ds.backend"),
        .preset = cairn_key(&log->text, "ds.preset"),
        .kind = cairn_key(&log->text, "cpu.%" PRIu32 ".core_type", cpu),
    };
    i.emulated = !cairn_slice_is(cairn_key(&log->text, "machine.emulated"), "0") || cairn_slice_is(i.machine, "model");
    if (read_leaf(log, cpu, 0, r)) {
        const unsigned word[3] = {r[1], r[3], r[2]};
        for (unsigned n = 0; n < 12; n++) {
            const char c = (char)(word[n / 4] >> n % 4 * 8);
            i.vendor[n] = c > ' ' && c <= '~' ? c : '?';
        }
        i.vendor[12] = '\0';
    }
    i.known = read_leaf(log, cpu, 1, r);
    if (!i.known) /* of a card, which has it of the first CPU alone */
        i.known = sscanf(cairn_slice_text((char[16]){0}, 16, cairn_key(&log->text, "cpu.0.signature")), "%x", r) == 1;
    if (i.known) {
        i.family = cpuid_01h_eax_family(r[0]);
        i.family += i.family == 15 ? r[0] >> 20 & 0xFF : 0;
        i.model = cpuid_01h_eax_model(r[0]);
        i.stepping = cpuid_01h_eax_stepping(r[0]);
    }
    return i;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { COLUMNS = 5 };
static const unsigned widths[COLUMNS] = {21, 13, 13, 13, 16}; /* and a blank between each; the longest answer has 13 */

/* Takes what fits into `width` columns off, whole words where that can be, else whole parts of a register's name. */
static struct cairn_slice line(struct cairn_slice *s, unsigned width)
{
    uint32_t n = s->size;
    if (n > width) {
        for (n = width; n && s->at[n] != ' '; n--)
            ;
        for (uint32_t part = width; !n && part; part--)
            n = s->at[part - 1] == '_' ? part : 0;
        n = n ? n : width;
    }
    const struct cairn_slice taken = {s->at, n};
    while (n < s->size && s->at[n] == ' ')
        n++;
    s->at += n;
    s->size -= n;
    return taken;
}

static void print_row(struct cairn_slice cell[COLUMNS])
{
    bool more = true;
    while (more) {
        unsigned blanks = 0;
        more = false;
        for (unsigned i = 0; i < COLUMNS; i++) {
            const struct cairn_slice part = line(&cell[i], widths[i]);
            if (part.size)
                printf("%*s%.*s", (int)blanks, "", CAIRN_SLICE(part));
            blanks = part.size ? widths[i] - part.size + 1 : blanks + widths[i] + 1;
            more |= cell[i].size != 0;
        }
        putchar('\n');
    }
}

static void print_asked(const struct asked *a)
{
    char question[256];
    const struct ds_probe_row *row = a->row;
    snprintf(question, sizeof(question), "%.*s: %s", CAIRN_SLICE(a->name),
             row ? ds_probe_question(row) : "unknown to this version of cairn");
    struct cairn_slice cell[COLUMNS] = {cairn_slice_of(question), cairn_slice_of(row ? row->manual : ""),
                                        cairn_slice_of(row ? ds_probe_model(row) : ""),
                                        a->answer.size ? a->answer : cairn_slice_of("not determined"),
                                        cairn_slice_of(row ? row->how : "")};
    print_row(cell);
    const int n = printf("  %s", a->answer.size ? "found: " : "not determined: ");
    cairn_print_wrapped((unsigned)n, "", (unsigned)n, a->evidence);
    putchar('\n');
}

static bool is_policy(const struct asked *a)
{
    struct ds_model_policy policy = {0};
    char name[32], value[32];
    return ds_model_policy_set(&policy, cairn_slice_text(name, sizeof(name), a->name),
                               cairn_slice_text(value, sizeof(value), a->answer)) == 0;
}

static bool differs(const struct asked *a)
{
    return a->row && a->answer.size && !cairn_slice_is(a->answer, ds_probe_model(a->row));
}

/* What is otherwise than the model's default, and how to have the model like that. */
static void print_difference(const struct cairn_log *log, uint32_t cpu)
{
    struct asked a;
    unsigned all = 0, different = 0, unknown = 0;
    char set[1024] = "";
    int used = 0;
    for (; read_asked(log, cpu, all, &a); all++) {
        different += differs(&a);
        unknown += !a.answer.size || !a.row;
        if (differs(&a) && is_policy(&a) && used < (int)sizeof(set))
            used += snprintf(set + used, sizeof(set) - (size_t)used, " ds.policy.%.*s=%.*s", CAIRN_SLICE(a.name),
                             CAIRN_SLICE(a.answer));
    }
    if (!log->report && cairn_log_damaged(log) && all < DS_PROBE_ROWS)
        printf("this log is damaged; it has %u of %u questions\n", all, (unsigned)DS_PROBE_ROWS);
    if (log->miscopied) {
        printf("%u questions, not compared with the model because the card is mistyped or cut\n", all);
        return;
    }
    printf("%u questions: %u like the model's default, %u different, %u not determined\n", all,
           all - different - unknown, different, unknown);
    if (set[0]) {
        const int n = printf("to make the model do the same:");
        cairn_wrap_words(stdout, (unsigned)n, 5, cairn_slice_of(set));
    }
}

static void print_identity(const struct cairn_log *log, uint32_t cpu)
{
    const struct identity i = read_identity(log, cpu);
    char text[512];
    char brand[CAIRN_SHOWN_BRAND];
    const bool nameless = strcmp(i.vendor, NO_VENDOR) == 0 && cairn_show_brand(brand, log, cpu);
    int n = snprintf(text, sizeof(text), "%s", nameless ? brand : i.vendor);
    if (i.known)
        n += snprintf(text + n, sizeof(text) - (size_t)n, ", family %u, model %u (%02XH), stepping %u", i.family,
                      i.model, i.model, i.stepping);
    n += snprintf(text + n, sizeof(text) - (size_t)n, ", microcode %.24s; hypervisor %.24s; backend %.24s",
                  cairn_slice_text((char[25]){0}, 25, i.microcode), cairn_slice_text((char[25]){0}, 25, i.hypervisor),
                  cairn_slice_text((char[25]){0}, 25, i.backend));
    if (cairn_slice_is(i.machine, "model") && !i.preset.size)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "; the answers are from a model, not from this processor");
    else if (cairn_slice_is(i.machine, "model"))
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      "; the answers are from the model of %s, not from this processor",
                      cairn_slice_text((char[25]){0}, 25, i.preset));
    if (cairn_slice_is(i.machine, "virtual"))
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      "; the answers are from what the hypervisor shows of this processor");
    uint64_t type;
    if (cairn_slice_u64(i.kind, &type))
        n += snprintf(text + n, sizeof(text) - (size_t)n, "; %s (core type %" PRIX64 "H)",
                      type == CPUID_1AH_EAX_ATOM   ? "an efficient core"
                      : type == CPUID_1AH_EAX_CORE ? "a performance core"
                                                   : "a core of an unknown kind",
                      type);
    snprintf(text + n, sizeof(text) - (size_t)n, "%s", i.emulated ? "; emulated" : "");
    n = printf("CPU %-3" PRIu32 " ", cpu);
    cairn_print_wrapped((unsigned)n, "", (unsigned)n, cairn_slice_of(text));
    putchar('\n');
}

#define COST_NAME   15u /* columns */
#define COST_REASON 48u

static void print_costs(const struct cairn_log *log, uint32_t cpu)
{
    struct cost c;
    const bool emulated = read_identity(log, cpu).emulated;
    for (unsigned n = 0; read_cost(log, cpu, n, &c); n++) {
        if (n == 0)
            printf("\n%s%-15s %10s %10s %10s   %s%s\n", cairn_colour(stdout, CAIRN_COLOUR_HEAD), "cost", "least",
                   "median", "p99", emulated ? "emulated cycles" : "TSC cycles",
                   cairn_colour(stdout, CAIRN_COLOUR_OFF));
        char text[128];
        snprintf(text, sizeof(text), "%s", cost_text(&c));
        const char *name = CAIRN_CUT(c.name, COST_NAME);
        int used = c.samples
                       ? printf("%-15s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "   ", name, c.least, c.median, c.p99)
                       : printf("%-15s not determined: %s", name, CAIRN_CUT(c.reason, COST_REASON));
        if (!c.samples)
            putchar('\n');
        else
            cairn_print_wrapped((unsigned)used, "", (unsigned)used, cairn_slice_of(text));
    }
}

static void print_text(const struct cairn_log *log, uint32_t cpu)
{
    struct asked a;
    struct cairn_slice head[COLUMNS] = {cairn_slice_of("question"), cairn_slice_of("manual"), cairn_slice_of("default"),
                                        cairn_slice_of("machine"), cairn_slice_of("how measured")};
    print_identity(log, cpu);
    printf("%s", cairn_colour(stdout, CAIRN_COLOUR_HEAD));
    print_row(head);
    printf("%s", cairn_colour(stdout, CAIRN_COLOUR_OFF));
    for (unsigned n = 0; read_asked(log, cpu, n, &a); n++)
        print_asked(&a);
    print_difference(log, cpu);
    print_costs(log, cpu);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

#define VERSION                                                                                                        \
    1u /* of the object, docs/how-to/probe.md: another one where a field goes or is of another type or meaning */

static void print_json(const struct cairn_log *log, uint32_t cpu)
{
    struct cairn_json j = {.to = stdout};
    const struct identity i = read_identity(log, cpu);
    char brand[CAIRN_SHOWN_BRAND];
    struct asked a;
    uint64_t hz;
    cairn_json_open(&j, NULL);
    cairn_json_text(&j, "type", "probe");
    cairn_json_count(&j, "version", VERSION);
    cairn_json_count(&j, "cpu", cpu);
    cairn_json_bool(&j, "damaged", cairn_log_damaged(log));
    cairn_json_slice(&j, "asked", i.machine);
    cairn_json_slice(&j, "backend", i.backend);
    cairn_json_bool(&j, "emulated", i.emulated);
    if (i.preset.size)
        cairn_json_slice(&j, "preset", i.preset);
    cairn_json_text(&j, "vendor", i.vendor);
    if (cairn_show_brand(brand, log, cpu))
        cairn_json_text(&j, "brand", brand);
    if (i.known) {
        cairn_json_count(&j, "family", i.family);
        cairn_json_count(&j, "model", i.model);
        cairn_json_count(&j, "stepping", i.stepping);
    }
    if (i.microcode.size)
        cairn_json_slice(&j, "microcode", i.microcode);
    if (i.kind.size)
        cairn_json_slice(&j, "core_type", i.kind);
    cairn_json_slice(&j, "hypervisor", i.hypervisor);
    if (cairn_slice_u64(cairn_key(&log->text, "machine.tsc_hz"), &hz))
        cairn_json_count(&j, "tsc_hz", hz);
    cairn_json_slice(&j, "kernel", cairn_key(&log->text, "kernel.version"));
    cairn_json_open_list(&j, "questions");
    for (unsigned n = 0; read_asked(log, cpu, n, &a); n++) {
        cairn_json_open(&j, NULL);
        cairn_json_slice(&j, "name", a.name);
        if (a.answer.size)
            cairn_json_slice(&j, "answer", a.answer);
        if (a.row)
            cairn_json_text(&j, "default", ds_probe_model(a.row));
        cairn_json_slice(&j, a.answer.size ? "evidence" : "reason", a.evidence);
        cairn_json_close(&j);
    }
    cairn_json_close_list(&j);
    cairn_json_open_list(&j, "costs");
    struct cost c;
    for (unsigned n = 0; read_cost(log, cpu, n, &c); n++) {
        cairn_json_open(&j, NULL);
        cairn_json_slice(&j, "name", c.name);
        cairn_json_count(&j, "samples", c.samples);
        if (c.samples) {
            cairn_json_count(&j, "least", c.least);
            cairn_json_count(&j, "median", c.median);
            cairn_json_count(&j, "p99", c.p99);
        } else {
            cairn_json_slice(&j, "reason", c.reason);
        }
        cairn_json_close(&j);
    }
    cairn_json_close_list(&j);
    cairn_json_end(&j);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void say_none_in_report(const struct cairn_log *log)
{
    const struct cairn_slice pebs = cairn_key(&log->text, "pebs");
    const bool none = pebs.size >= 3 && memcmp(pebs.at, "no:", 3) == 0;
    cairn_error("%s has no answers of the probe%s%.*s", log->report, none ? ": pebs=" : "", none ? (int)pebs.size : 0,
                pebs.at);
}

static int show(const struct cairn_log *log)
{
    bool any = false;
    for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++) {
        struct asked a;
        if (!read_asked(log, cpu, 0, &a))
            continue;
        if (form == JSON) {
            print_json(log, cpu);
        } else {
            printf("%s", any ? "\n" : "");
            print_text(log, cpu);
        }
        any = true;
    }
    if (any)
        return CAIRN_GOOD;
    if (log->etl)
        cairn_error("an ETL file does not have the answers of the probe; read the log that it was made from");
    else if (log->report)
        say_none_in_report(log);
    else if (cairn_log_damaged(log))
        cairn_error("this log is damaged and has no questions of the probe; they may be in the missing part");
    else if (cairn_log_grabbed(log))
        cairn_error("this log has no answers of the probe; 'cairn grab --report' tests this processor under Linux");
    else
        cairn_error("this log has no answers of the probe (boot with workload=probe)");
    return CAIRN_BAD;
}

const struct cairn_command cairn_probe_command = {
    .name = "probe",
    .arguments = "[options] LOG",
    .summary = "show what the probe found about a processor",
    .options = options,
    .notes = "LOG must be from a run with workload=probe. 'manual' is what the manual says.\n"
             "'default' is what the model does unless ds.policy.NAME= says otherwise.\n"
             "'machine' is the answer of this machine, or 'not determined' and the reason.\n"
             "docs/how-to/probe.md explains each question. LOG may also be a report without a\n"
             "trace, as for cairn info.\n",
    .examples = {"cairn probe cairn-machine.txt", "cairn probe --to json t.log"},
    .show = show,
    .reports = true,
};
