/* SPDX-License-Identifier: MIT */
/* The option table and its parser. Also compiled on the host (tools/options, tests). */
#include "kernel/options/row.h"

#include "boot/save/save_format.h"
#include "ds/ds.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/session.h"

struct kopt kopt;

#define WORKLOAD(name) "|" #name
static const char workloads[] =
#include "kernel/options/workloads.h"
    ;

static const char model[] = "ds=auto|soft", processor[] = "ds=auto|hw";
static const char debug_store[] = "ds!=off", branches[] = "bts!=off", sampling[] = "ds!=off,pebs!=none";
static const char by_rules[] = "spinlock.every=0";

#define AT(field) offsetof(struct kopt, field), sizeof kopt.field

#define SESSION_AT(n) AT(session[(n) - 1])
#define OTHER_SESSION(n) \
    { "session." #n, "off", "another session beside session 1; off: none", SESSION_AT(n), SESSION, 0, 0, NULL, NULL }

static const char presets[] = "names of ds_model_presets"; /* stands for them: see get_row */

static const struct kopt_option table[] = {
    {"ds", "auto",
     "Debug Store backend: hw (CPUID and MSRs), soft (model, single-stepping), auto: hw where it is there, else soft",
     AT(ds), WORD, 0, 0, "auto|hw|soft|off", NULL},
    {"ds.preset", "icelake", "processor the soft backend's model pretends to be", AT(ds_preset), TEXT, 0, 0, presets,
     model},
    {"ds.force", "0",
     "1: take counters and a DS area that were found in use, by firmware perhaps; 0: report them and leave them alone",
     AT(ds_force), NUMBER32, 0, 1, NULL, processor},
    {"ds.throttle", "0",
     "PMIs of a CPU within a timer tick after which its counters and branch tracing stand still for a tick; "
     "0: on hw 100, on soft none, which cannot hang",
     AT(ds_throttle), NUMBER32, 0, 100000, NULL, debug_store},
    {"ds.log", "0",
     "1: the soft backend's model writes down what it does, step by step, for 'cairn ds --life' (hw: nobody sees it)",
     AT(ds_log), NUMBER32, 0, 1, NULL, "ds=auto|soft,pebs!=none"},
    {"pebs", "INST_RETIRED.ANY:5003",
     "events to sample: EVENT:PERIOD[:ldlat=N|:frontend=N][:u|k|uk][:plain][,...], ldlat is load latency's threshold "
     "in core cycles; or none: branches alone, with bts=",
     AT(pebs), TEXT, 0, 0, NULL, debug_store},
    {"pebs.atom", "same",
     "on a hybrid, what its efficient cores sample, written as in pebs=: same, as the others, or events of their own, "
     "or none: no PEBS on them",
     AT(pebs_atom), TEXT, 0, 0, NULL, sampling},
    {"pebs.cpus", "all",
     "on a hybrid, which CPUs have PEBS: all, core: the performance cores, atom: the efficient ones; threads run on "
     "all",
     AT(pebs_cpus), WORD, 0, 0, "all|core|atom", sampling},
    {"pebs.later", "none",
     "periods of the events of pebs=, in their order, from the middle of the run (half of switches=) on: none, they "
     "stay, or PERIOD[,...]; those of pebs.atom= stay; not with workload=known or probe, which have the counters",
     AT(pebs_later), TEXT, 0, 0, NULL, "ds!=off,pebs!=none,workload!=known,workload!=probe"},
    {"pebs.groups", "gpr",
     "record groups beside the basic one, from format 4 on: none, or some of gpr, mem, xmm, lbr (lbr:8: the newest "
     "8 of 32 branches) and counters (format 6), as in gpr,lbr:8; formats 0 to 3 have one layout, whose "
     "registers none does not leave out",
     AT(pebs_groups), TEXT, 0, 0, NULL, sampling},
    {"pebs.records", "64",
     "size of each CPU's PEBS buffer in records; on processors of format 0 what fits into one page, 27, is the most",
     AT(pebs_records), NUMBER32, 1, 4096, NULL, sampling},
    {"pebs.threshold", "48", "records until the PMI drains the buffer, at most pebs.records", AT(pebs_threshold),
     NUMBER32, 1, 4096, NULL, sampling},
    {"bts", "off",
     "branch tracing, beside PEBS or with pebs=none: circular keeps the newest records of each time a thread runs, "
     "interrupt all of them",
     AT(bts), WORD, 0, 0, "off|circular|interrupt", debug_store},
    {"bts.rings", "uk", "whose branches: uk all, u the programs' in ring 3, k the kernel's", AT(bts_rings), WORD, 0, 0,
     "uk|u|k", branches},
    {"bts.records", "1024", "size of each CPU's BTS buffer in records", AT(bts_records), NUMBER32, 1, 16384, NULL,
     branches},
    {"session.1", "auto:qpc:sequential",
     "a trace session. GROUPS of events joined by '+': auto (compact; full where PEBS records have no TSC, formats 0 "
     "to 2, and PebsIndex at each switch is all there is to tell whose they are, and where session.pmc has its "
     "counters on 0524H), compact (0525H), full (0524H), "
     "both (as compact+full does; the values 0x20000004+0x20000100 mean compact alone, as in Windows), process, "
     "thread, loader, dispatcher, priority, interrupt, dpc, profile, pmc_profile, spinlock, mark, cpu_config, "
     "no_sysconfig, none, or a group's value (0x20000100). CLOCK: qpc (10 MHz), system (100 ns since "
     "1601) or tsc (cycles). MODE: sequential or circular. KIB, BUFFERS: as trace.buffer_kib, trace.buffers, for "
     "this session",
     SESSION_AT(1), SESSION, 0, 0, NULL, NULL},
    OTHER_SESSION(2),
    OTHER_SESSION(3),
    OTHER_SESSION(4),
    OTHER_SESSION(5),
    OTHER_SESSION(6),
    OTHER_SESSION(7),
    OTHER_SESSION(8),
    {"session.restarts", "0",
     "stop and start sessions 2 and up so many times, one after another, in the middle of the run",
     AT(session_restarts), NUMBER32, 0, 100000, NULL, NULL},
    {"session.pmc", "none",
     "performance counters whose values events carry (PMC items): up to 4 of InstructionRetired, "
     "BranchInstructionRetired, BranchInstructions, UnhaltedCoreCycles, TotalCycles, with commas",
     AT(session_pmc), TEXT, 0, 0, NULL, sampling},
    {"session.pmc.hooks", "0x0524",
     "which events carry them, of every session that writes one of them: up to 4 hook IDs, with commas, of 0x0524 "
     "('full' or 'both'), 0x0529, 0x0530, 0x0531, 0x0532, 0x0F22, 0x0F2E, 0x0F2F, 0x0F43, 0x0F44, 0x0F45",
     AT(session_pmc_hooks), TEXT, 0, 0, NULL, "ds!=off,pebs!=none,session.pmc!=none"},
    {"trace.buffers", "256",
     "trace buffers of a session, all CPUs together; at least one a CPU (circular: and one more)", AT(trace_buffers),
     NUMBER32, 1, 65536, NULL, NULL},
    {"trace.buffer_kib", "64", "size of a trace buffer in KiB", AT(trace_buffer_kib), NUMBER32, 4, 1024, NULL, NULL},
    {"spinlock.spin_threshold", "1",
     "of a session with spinlock: spins from which on a contended acquisition may become an event",
     AT(spinlock.spin_threshold), NUMBER32, TRACE_SPINLOCK_SPIN_THRESHOLD, UINT32_MAX, NULL, by_rules},
    {"spinlock.contention_sample_rate", "1", "of those, one of so many does, on each CPU",
     AT(spinlock.contention_sample_rate), NUMBER32, TRACE_SPINLOCK_CONTENTION_SAMPLE_RATE, UINT32_MAX, NULL, by_rules},
    {"spinlock.acquire_sample_rate", "1000", "of the uncontended acquisitions, one of so many does, on each CPU",
     AT(spinlock.acquire_sample_rate), NUMBER32, TRACE_SPINLOCK_ACQUIRE_SAMPLE_RATE, UINT32_MAX, NULL, by_rules},
    {"spinlock.hold_threshold", "1000000",
     "and so does each lock held for more than so many TSC cycles: 0 (off) or at least 1000000",
     AT(spinlock.hold_threshold), NUMBER32, 0, UINT32_MAX, NULL, by_rules},
    {"spinlock.every", "0", "1: every release is an event, whatever the others say; Windows has no such thing",
     AT(spinlock.every), WORD8, 0, 0, "0|1", NULL},
    {"dump", "end",
     "when the trace goes to the serial port: end, or live: full buffers of sequential sessions while the run goes "
     "on, by a thread of the lowest priority, to be used again; what is left then, at the end",
     AT(dump), WORD, 0, 0, "end|live", "serial!=none"},
    {"dump.pace", "1",
     "1: while the run goes on, no faster than the baud rate of serial=, though the port may take more (an emulator's "
     "does); 0: as fast as it takes it",
     AT(dump_pace), NUMBER32, 0, 1, NULL, "dump=live"},
    {"workload", "mix", "what the threads do (docs/how-to/workloads.md)", AT(workload), TEXT, 0, 0, workloads + 1,
     NULL},
    {"switches", "20000", "end after this many context switches, all CPUs together", AT(switches), NUMBER64, 1,
     UINT64_C(1000000000), NULL, NULL},
    {"seconds", "60", "end after this many seconds at the latest", AT(seconds), NUMBER32, 1, 86400, NULL, NULL},
    {"seed", "1", "seed of the workload's random numbers", AT(seed), NUMBER64, 0, UINT64_MAX, NULL, NULL},
    {"tick", "1000", "timer tick in microseconds", AT(tick_us), NUMBER32, 100, 100000, NULL, NULL},
    {"cpus", "256", "use at most this many CPUs (of a hybrid, which of them sample: pebs.cpus=)", AT(cpus), NUMBER32, 1,
     MAX_CPUS, NULL, NULL},
    {"x2apic", "auto",
     "mode of the local APICs: auto: as the firmware left it, x2APIC also where APIC IDs from 255 on need it; on: "
     "x2APIC, where SMM code of old firmware may hang; off: xAPIC, which leaves out APIC IDs from 255 on",
     AT(x2apic), WORD, 0, 0, "auto|on|off", NULL},
    {"truth", "0", "1: also record, outside the session, what really happened, for 'cairn check'", AT(truth), NUMBER32,
     0, 1, NULL, NULL},
    {"serial", "auto",
     "console and dump: auto (what ACPI's SPCR names, else DBG2, else the first that is there of COM1 to COM4, else "
     "of PCI), com1 to com4, an I/O port (0x3f8), mmio:ADDRESS[:STRIDE[:WIDTH]] (bytes from register to register, and "
     "of an access), pci (the first) or pci:BUS:DEVICE.FUNCTION as lspci writes it, or none; the baud rate, as near "
     "as the port's clock gives it (115200, or with auto SPCR's); that clock in Hz, where it is not 1843200",
     AT(serial), SERIAL, 0, 0, NULL, NULL},
    {"save", "off",
     "esp: all that goes to the serial port, there or not, is kept in memory, too, the machine is reset, and its next "
     "start makes \\cairn-NNN.log of it on the volume it boots from, and switches off (docs/explain/boot.md); end= is "
     "reboot",
     AT(save), WORD, 0, 0, "off|esp", NULL},
    {"save.mib", "64", "memory for that, in MiB", AT(save_mib), NUMBER32, 1, SAVE_MIB_MAX, NULL, "save=esp"},
    {"screen", "on",
     "on: text goes to the screen as well, where the firmware gives a framebuffer; off: it stays as the loader left "
     "it",
     AT(screen), WORD, 0, 0, "off|on", NULL},
    {"end", "halt", "what to do when all is said: halt, reboot, poweroff, or exit (QEMU's debug-exit port)", AT(end),
     WORD, 0, 0, "halt|exit|reboot|poweroff", NULL},
    {"panic", "none",
     "break the kernel on purpose in the middle of the run: now, null, stack (overflow), double (fault)", AT(panic),
     WORD, 0, 0, "none|now|null|stack|double", NULL},
    {"tsc.align", "0",
     "wait at start until the TSC is a multiple of 2^N: equal runs under QEMU's -icount, idle CPUs do not halt",
     AT(tsc_align), NUMBER32, 0, 40, NULL, NULL},
};
#define FIRST_POLICY 2u /* ds.policy.NAME, a row for each of ds_model_policies, come after ds.preset */
#define OPTIONS      (sizeof table / sizeof table[0] + DS_MODEL_POLICIES)

static uint64_t given; /* bit i: option i, since kopt_defaults */
_Static_assert(OPTIONS <= 64, "a bit for each option");

static void add_word(struct kopt_row *r, const char *word)
{
    size_t n = strlen(r->words);
    snprintf(r->words + n, sizeof r->words - n, "%s%s", n ? "|" : "", word);
}

/* As it stands in the table, but for what the model's own tables say. */
const struct kopt_option *kopt_row_get(size_t i, struct kopt_row *r)
{
    if (i >= OPTIONS)
        return NULL;
    r->words[0] = '\0';
    if (i - FIRST_POLICY >= DS_MODEL_POLICIES) {
        const struct kopt_option *o = &table[i < FIRST_POLICY ? i : i - DS_MODEL_POLICIES];
        if (o->words != presets)
            return o;
        r->option = *o;
        for (size_t p = 0; p < DS_MODEL_PRESETS; p++)
            add_word(r, ds_model_presets[p].name);
    } else {
        const struct ds_model_policy_row *p = &ds_model_policies[i - FIRST_POLICY];
        snprintf(r->name, sizeof r->name, "ds.policy.%s", p->name);
        for (size_t v = 0; p->values[v]; v++)
            add_word(r, p->values[v]);
        r->option = (struct kopt_option){.name = r->name,
                                    .standard = p->values[0],
                                    .text = p->question,
                                    .offset = (uint16_t)(offsetof(struct kopt, ds_policy) + p->field),
                                    .kind = WORD8,
                                    .needs = model};
    }
    r->option.words = r->words;
    return &r->option;
}

void *kopt_option_field(const struct kopt_option *o)
{
    return (char *)&kopt + o->offset;
}

size_t kopt_row_find(const char *name, size_t size)
{
    struct kopt_row row;
    const struct kopt_option *o;
    size_t i = 0;
    for (; (o = kopt_row_get(i, &row)); i++)
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0)
            break;
    return i;
}

static int bad(char *error, size_t error_size, const char *word, size_t size, const char *why)
{
    snprintf(error, error_size, "option '%.*s': %s", (int)size, word, why);
    return -EINVAL;
}

int kopt_word_index(const char *words, const char *value, size_t size)
{
    for (int i = 0;; i++) {
        const char *end = strchr(words, '|');
        size_t n = end ? (size_t)(end - words) : strlen(words);
        if (n == size && memcmp(words, value, n) == 0)
            return i;
        if (!end)
            return -1;
        words = end + 1;
    }
}

/* Decimal or 0x hexadecimal, no sign. */
bool kopt_number(const char *s, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    unsigned base = 10;
    if (n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
        n -= 2;
    }
    if (!n)
        return false;
    for (; n; n--, s++) {
        unsigned char c = (unsigned char)*s;
        unsigned letter = c | 32u;
        unsigned digit = c >= '0' && c <= '9' ? c - '0' + 0u : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 99;
        if (digit >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return true;
}

#define CLOCKS "qpc|system|tsc" /* from TRACE_CLOCK_QPC on */
#define MODES  "sequential|circular"

/* The next part of "A:B:C" and what is left; false: there is none. */
static bool next_part(const char **value, size_t *size, const char **part, size_t *part_size)
{
    if (!*value)
        return false;
    const char *colon = memchr(*value, ':', *size);
    *part = *value;
    *part_size = colon ? (size_t)(colon - *value) : *size;
    *size -= colon ? *part_size + 1 : *size;
    *value = colon ? colon + 1 : NULL;
    return true;
}

/* "auto", or groups, or both of them joined. */
static bool parse_groups(const char *part, size_t n, struct kopt_session *s)
{
    if (n >= 4 && memcmp(part, "auto", 4) == 0 && (n == 4 || part[4] == '+')) {
        s->automatic = 1;
        if (n == 4)
            return true;
        part += 5;
        n -= 5;
    }
    return trace_groups_parse(part, n, &s->masks) == 0;
}

static bool parse_session(struct kopt_session *session, const char *value, size_t size, const char **why)
{
    struct kopt_session s = { .on = 1 };
    const char *part;
    size_t n;
    uint64_t v;
    if (kopt_word_index("off", value, size) == 0 && session != &kopt.session[0]) {
        *session = (struct kopt_session){ .clock = TRACE_CLOCK_QPC };
        return true;
    }
    *why = "must be GROUPS:CLOCK:MODE[:KIB[:BUFFERS]], its groups joined by '+', of auto, " TRACE_GROUPS_WORDS
           ", or a group's value";
    if (!next_part(&value, &size, &part, &n) || !parse_groups(part, n, &s))
        return false;
    *why = "must be GROUPS:CLOCK:MODE[:KIB[:BUFFERS]], its clock qpc, system or tsc";
    int word;
    if (!next_part(&value, &size, &part, &n) || (word = kopt_word_index(CLOCKS, part, n)) < 0)
        return false;
    s.clock = (uint32_t)word + TRACE_CLOCK_QPC;
    *why = "must be GROUPS:CLOCK:MODE[:KIB[:BUFFERS]], its mode sequential or circular";
    if (!next_part(&value, &size, &part, &n) || (word = kopt_word_index(MODES, part, n)) < 0)
        return false;
    s.circular = (uint32_t)word;
    *why = "must be GROUPS:CLOCK:MODE[:KIB[:BUFFERS]], its buffers of 4 to 1024 KiB, 1 to 65536 of them";
    if (next_part(&value, &size, &part, &n)) {
        if (!kopt_number(part, n, &v) || v < 4 || v > 1024)
            return false;
        s.buffer_kib = (uint32_t)v;
    }
    if (next_part(&value, &size, &part, &n)) {
        if (!kopt_number(part, n, &v) || v < 1 || v > 65536)
            return false;
        s.buffers = (uint32_t)v;
    }
    if (value)
        return false;
    *session = s;
    return true;
}

static int set_value(const struct kopt_option *o, const char *word, size_t word_size, const char *value, size_t size,
                     char *error, size_t error_size)
{
    char why[256];
    const char *reason = why;
    uint64_t v;
    int i;

    switch (o->kind) {
    case WORD:
    case WORD8:
        if ((i = kopt_word_index(o->words, value, size)) >= 0) {
            if (o->kind == WORD)
                *(uint32_t *)kopt_option_field(o) = (uint32_t)i;
            else
                *(uint8_t *)kopt_option_field(o) = (uint8_t)i;
            return 0;
        }
        snprintf(why, sizeof why, "must be one of %s", o->words);
        break;
    case NUMBER32:
    case NUMBER64:
        if (kopt_number(value, size, &v) && v >= o->min && v <= o->max) {
            if (o->kind == NUMBER32)
                *(uint32_t *)kopt_option_field(o) = (uint32_t)v;
            else
                *(uint64_t *)kopt_option_field(o) = v;
            return 0;
        }
        snprintf(why, sizeof why, "must be a number from %lu to %lu", (unsigned long)o->min, (unsigned long)o->max);
        break;
    case TEXT:
        if (o->words && kopt_word_index(o->words, value, size) < 0) {
            snprintf(why, sizeof why, "must be one of %s", o->words);
        } else if (size >= o->size) {
            snprintf(why, sizeof why, "is longer than %u characters", o->size - 1u);
        } else {
            memcpy(kopt_option_field(o), value, size);
            ((char *)kopt_option_field(o))[size] = '\0';
            return 0;
        }
        break;
    case SERIAL:
        if (kopt_serial_parse(value, size, why, sizeof why))
            return 0;
        break;
    case SESSION:
        if (parse_session(kopt_option_field(o), value, size, &reason))
            return 0;
        break;
    }
    return bad(error, error_size, word, word_size, reason);
}

bool kopt_row_given(size_t i)
{
    return given & UINT64_C(1) << i;
}

void kopt_defaults(void)
{
    struct kopt_row row;
    memset(&kopt, 0, sizeof kopt);
    given = 0;
    const struct kopt_option *o;
    for (size_t i = 0; (o = kopt_row_get(i, &row)); i++) {
        char error[8]; /* the defaults are right: a test sets each of them */
        set_value(o, o->standard, 0, o->standard, strlen(o->standard), error, sizeof error);
    }
}

int kopt_set(const char *word, size_t size, char *error, size_t error_size)
{
    const char *equals = memchr(word, '=', size);
    if (!equals)
        return bad(error, error_size, word, size, "must have the form name=value");
    size_t n = (size_t)(equals - word);
    struct kopt_row row;
    const size_t i = kopt_row_find(word, n);
    const struct kopt_option *o = kopt_row_get(i, &row);
    if (o) {
        if (kopt_row_given(i))
            return bad(error, error_size, word, size, "is given twice: leave one of the two out");
        int e = set_value(o, word, size, equals + 1, size - n - 1, error, error_size);
        given |= e ? 0 : UINT64_C(1) << i;
        return e;
    }
    return bad(error, error_size, word, size, "there is no option of this name (docs/reference/options.md lists them)");
}

int kopt_parse(const char *text, size_t size, char *error, size_t error_size)
{
    for (unsigned line = 1; size; line++) {
        const char *newline = memchr(text, '\n', size);
        size_t whole = newline ? (size_t)(newline - text) + 1 : size;
        const char *comment = memchr(text, '#', whole);
        const char *word = text;
        size_t n = comment ? (size_t)(comment - text) : newline ? whole - 1 : whole;
        while (n && (word[n - 1] == ' ' || word[n - 1] == '\t' || word[n - 1] == '\r'))
            n--;
        for (; n && (*word == ' ' || *word == '\t'); n--)
            word++;
        if (n) {
            char why[384];
            int e = kopt_set(word, n, why, sizeof why);
            if (e) {
                snprintf(error, error_size, "cairn.cfg line %u: %s", line, why);
                return e;
            }
        }
        text += whole;
        size -= whole;
    }
    return kopt_check(error, error_size);
}

void kopt_word_show(const char *words, uint32_t n, char *text, size_t size)
{
    for (; n; n--)
        words = strchr(words, '|') + 1;
    const char *end = strchr(words, '|');
    snprintf(text, size, "%.*s", (int)(end ? (size_t)(end - words) : strlen(words)), words);
}

static void show_session(const struct kopt_session *s, char *text, size_t size)
{
    static const struct perfinfo_groupmask none;
    char groups[TRACE_GROUPS_TEXT] = "", clock[8], mode[12], sizes[24] = "";
    if (!s->on) {
        snprintf(text, size, "off");
        return;
    }
    bool some = !s->automatic || memcmp(&s->masks, &none, sizeof none) != 0;
    if (some)
        trace_groups_show(&s->masks, groups);
    kopt_word_show(CLOCKS, s->clock - TRACE_CLOCK_QPC, clock, sizeof clock);
    kopt_word_show(MODES, s->circular, mode, sizeof mode);
    if (s->buffers)
        snprintf(sizes, sizeof sizes, ":%u:%u", s->buffer_kib, s->buffers);
    else if (s->buffer_kib)
        snprintf(sizes, sizeof sizes, ":%u", s->buffer_kib);
    snprintf(text, size, "%s%s%s:%s:%s%s", s->automatic ? "auto" : "", s->automatic && some ? "+" : "", groups, clock,
             mode, sizes);
}

void kopt_option_show(const struct kopt_option *o, char *text, size_t size)
{
    switch (o->kind) {
    case WORD:
    case WORD8:
        kopt_word_show(o->words,
                       o->kind == WORD ? *(uint32_t *)kopt_option_field(o) : *(uint8_t *)kopt_option_field(o), text,
                       size);
        break;
    case NUMBER32:
        snprintf(text, size, "%u", *(uint32_t *)kopt_option_field(o));
        break;
    case NUMBER64:
        snprintf(text, size, "%lu", (unsigned long)*(uint64_t *)kopt_option_field(o));
        break;
    case TEXT:
        snprintf(text, size, "%s", (char *)kopt_option_field(o));
        break;
    case SERIAL:
        kopt_serial_show(text, size);
        break;
    case SESSION:
        show_session(kopt_option_field(o), text, size);
        break;
    }
}

bool kopt_show(size_t i, char *text, size_t size)
{
    char value[KOPT_TEXT];
    struct kopt_row row;
    const struct kopt_option *o = kopt_row_get(i, &row);
    if (!o)
        return false;
    kopt_option_show(o, value, sizeof value);
    snprintf(text, size, "%s=%s", o->name, value);
    return true;
}

bool kopt_describe(size_t i, struct kopt_help *help)
{
    static char values[48];
    static struct kopt_row row;
    const struct kopt_option *o = kopt_row_get(i, &row);
    if (!o)
        return false;
    if (o->kind == NUMBER32 || o->kind == NUMBER64)
        snprintf(values, sizeof values, "%lu..%lu", (unsigned long)o->min, (unsigned long)o->max);
    help->name = o->name;
    help->standard = o->standard;
    help->text = o->text;
    help->needs = o->needs;
    help->values = o->words                  ? o->words
                   : o->kind == SERIAL       ? "PORT[,BAUD[,CLOCK]]"
                   : o->kind == SESSION      ? "GROUPS:CLOCK:MODE[:KIB[:BUFFERS]]"
                   : o->kind == TEXT         ? "TEXT"
                                             : values;
    return true;
}
