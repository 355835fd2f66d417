/* SPDX-License-Identifier: MIT */
/* The option table and its parser. Also compiled on the host (tools/options, tests). */
#include "kernel/options.h"

#include "ds/ds.h"
#include "kernel/errno.h"
#include "kernel/string.h"
#include "trace/trace.h"

struct kopt kopt;

enum kind { WORD, WORD8, NUMBER32, NUMBER64, TEXT, SERIAL, SESSION };

struct option {
    const char *name;
    const char *standard; /* the default, as one would write it */
    const char *text;     /* for --help */
    uint16_t offset;      /* in struct kopt */
    uint16_t size;        /* TEXT: of the field */
    enum kind kind;
    uint64_t min, max;    /* numbers */
    const char *words;    /* WORD, WORD8: "a|b|c", the value is its position; TEXT: allowed words, NULL: any text */
    const char *needs;    /* what another option must be for this one to have an effect: "name=a|b", where it must not
                           * be that "name!=a"; several with commas; NULL: nothing */
};

static const char model[] = "ds=auto|soft", processor[] = "ds=auto|hw";
static const char debug_store[] = "ds!=off", branches[] = "bts!=off", sampling[] = "ds!=off,pebs!=none";
static const char by_rules[] = "spinlock.every=0";

#define AT(field) offsetof(struct kopt, field), sizeof kopt.field

#define SESSION_AT(n) AT(session[(n) - 1])
#define OTHER_SESSION(n) \
    { "session." #n, "off", "another session beside session 1; off: none", SESSION_AT(n), SESSION, 0, 0, NULL, NULL }

static const char presets[] = "names of ds_model_presets"; /* stands for them: see get_row */

static const struct option table[] = {
    { "ds", "auto",
      "Debug Store backend: hw (CPUID and MSRs), soft (model, single-stepping), auto: hw where it is there, else soft",
      AT(ds), WORD, 0, 0, "auto|hw|soft|off", NULL },
    { "ds.preset", "icelake",
      "processor the soft backend's model pretends to be",
      AT(ds_preset), TEXT, 0, 0, presets, model },
    { "ds.force", "0",
      "1: take counters and a DS area that were found in use, by firmware perhaps; 0: report them and leave them alone",
      AT(ds_force), NUMBER32, 0, 1, NULL, processor },
    { "ds.throttle", "0",
      "PMIs of a CPU within a timer tick after which its counters and branch tracing stand still for a tick; "
      "0: on hw 100, on soft none, which cannot hang",
      AT(ds_throttle), NUMBER32, 0, 100000, NULL, debug_store },
    { "ds.log", "0",
      "1: the soft backend's model writes down what it does, step by step, for 'cairn ds --life' (hw: nobody sees it)",
      AT(ds_log), NUMBER32, 0, 1, NULL, "ds=auto|soft,pebs!=none" },
    { "pebs", "INST_RETIRED.ANY:5003",
      "events to sample: EVENT:PERIOD[:ldlat=N|:frontend=N][:u|k|uk][:plain][,...], ldlat is load latency's threshold "
      "in core cycles; or none: branches alone, with bts=",
      AT(pebs), TEXT, 0, 0, NULL, debug_store },
    { "pebs.later", "none",
      "periods of the events of pebs=, in their order, from the middle of the run (half of switches=) on: none, they "
      "stay, or PERIOD[,...]; not with workload=known, which has the counters",
      AT(pebs_later), TEXT, 0, 0, NULL, "ds!=off,pebs!=none,workload!=known" },
    { "pebs.groups", "gpr",
      "record groups beside the basic one, from format 4 on: none, or some of gpr, mem, xmm, lbr (lbr:8: the newest "
      "8 of 32 branches) and counters (format 6), as in gpr,lbr:8; formats 0 to 3 have one layout, whose "
      "registers none does not leave out",
      AT(pebs_groups), TEXT, 0, 0, NULL, sampling },
    { "pebs.records", "64",
      "size of each CPU's PEBS buffer in records; on processors of format 0 what fits into one page, 27, is the most",
      AT(pebs_records), NUMBER32, 1, 4096, NULL, sampling },
    { "pebs.threshold", "48",
      "records until the PMI drains the buffer, at most pebs.records",
      AT(pebs_threshold), NUMBER32, 1, 4096, NULL, sampling },
    { "bts", "off",
      "branch tracing, beside PEBS or with pebs=none: circular keeps the newest records of each time a thread runs, "
      "interrupt all of them",
      AT(bts), WORD, 0, 0, "off|circular|interrupt", debug_store },
    { "bts.rings", "uk",
      "whose branches: uk all, u the programs' in ring 3, k the kernel's",
      AT(bts_rings), WORD, 0, 0, "uk|u|k", branches },
    { "bts.records", "1024",
      "size of each CPU's BTS buffer in records",
      AT(bts_records), NUMBER32, 1, 16384, NULL, branches },
    { "session.1", "auto:qpc:sequential",
      "a trace session. GROUPS of events joined by '+': auto (compact, or full where PEBS records have no TSC, formats "
      "0 to 2, and PebsIndex at each switch is all there is to tell whose they are), compact (0525H), full (0524H), "
      "both, process, thread, loader, dispatcher, priority, interrupt, dpc, profile, pmc_profile, spinlock, mark, "
      "cpu_config, no_sysconfig, none, or a group's value (0x20000100). CLOCK: qpc (10 MHz), system (100 ns since "
      "1601) or tsc (cycles). MODE: sequential or circular. KIB, BUFFERS: as trace.buffer_kib, trace.buffers, for "
      "this session",
      SESSION_AT(1), SESSION, 0, 0, NULL, NULL },
    OTHER_SESSION(2),
    OTHER_SESSION(3),
    OTHER_SESSION(4),
    OTHER_SESSION(5),
    OTHER_SESSION(6),
    OTHER_SESSION(7),
    OTHER_SESSION(8),
    { "session.restarts", "0",
      "stop and start sessions 2 and up so many times, one after another, in the middle of the run",
      AT(session_restarts), NUMBER32, 0, 100000, NULL, NULL },
    { "session.pmc", "none",
      "performance counters whose values each 0524H event carries, of sessions with 'full' or 'both': up to 4 of "
      "InstructionRetired, BranchInstructionRetired, BranchInstructions, UnhaltedCoreCycles, TotalCycles, with commas",
      AT(session_pmc), TEXT, 0, 0, NULL, sampling },
    { "trace.buffers", "256",
      "trace buffers of a session, all CPUs together; at least one a CPU (circular: and one more)",
      AT(trace_buffers), NUMBER32, 1, 65536, NULL, NULL },
    { "trace.buffer_kib", "64",
      "size of a trace buffer in KiB",
      AT(trace_buffer_kib), NUMBER32, 4, 1024, NULL, NULL },
    { "spinlock.spin_threshold", "1",
      "of a session with spinlock: spins from which on a contended acquisition may become an event",
      AT(spinlock.spin_threshold), NUMBER32, TRACE_SPINLOCK_SPIN_THRESHOLD, UINT32_MAX, NULL, by_rules },
    { "spinlock.contention_sample_rate", "1",
      "of those, one of so many does, on each CPU",
      AT(spinlock.contention_sample_rate), NUMBER32, TRACE_SPINLOCK_CONTENTION_SAMPLE_RATE, UINT32_MAX, NULL,
      by_rules },
    { "spinlock.acquire_sample_rate", "1000",
      "of the uncontended acquisitions, one of so many does, on each CPU",
      AT(spinlock.acquire_sample_rate), NUMBER32, TRACE_SPINLOCK_ACQUIRE_SAMPLE_RATE, UINT32_MAX, NULL, by_rules },
    { "spinlock.hold_threshold", "1000000",
      "and so does each lock held for more than so many TSC cycles: 0 (off) or at least 1000000",
      AT(spinlock.hold_threshold), NUMBER32, 0, UINT32_MAX, NULL, by_rules },
    { "spinlock.every", "0",
      "1: every release is an event, whatever the others say; Windows has no such thing",
      AT(spinlock.every), WORD8, 0, 0, "0|1", NULL },
    { "dump", "end",
      "when the trace goes to the serial port: end, or live: full buffers of sequential sessions while the run goes "
      "on, by a thread of the lowest priority, to be used again; what is left then, at the end",
      AT(dump), WORD, 0, 0, "end|live", "serial!=none" },
    { "dump.pace", "1",
      "1: while the run goes on, no faster than the baud rate of serial=, though the port may take more (an emulator's "
      "does); 0: as fast as it takes it",
      AT(dump_pace), NUMBER32, 0, 1, NULL, "dump=live" },
    { "workload", "mix",
      "what the threads do (docs/workloads.md)",
      AT(workload), TEXT, 0, 0, "mix|pingpong|prodcons|lockfight|locks|hogs|sleepers|traps|known|control|user|hostile",
      NULL },
    { "switches", "20000",
      "end after this many context switches, all CPUs together",
      AT(switches), NUMBER64, 1, UINT64_C(1000000000), NULL, NULL },
    { "seconds", "60",
      "end after this many seconds at the latest",
      AT(seconds), NUMBER32, 1, 86400, NULL, NULL },
    { "seed", "1",
      "seed of the workload's random numbers",
      AT(seed), NUMBER64, 0, UINT64_MAX, NULL, NULL },
    { "tick", "1000",
      "timer tick in microseconds",
      AT(tick_us), NUMBER32, 100, 100000, NULL, NULL },
    { "cpus", "64",
      "use at most this many CPUs",
      AT(cpus), NUMBER32, 1, 64, NULL, NULL },
    { "truth", "0",
      "1: also record, outside the session, what really happened, for 'cairn check'",
      AT(truth), NUMBER32, 0, 1, NULL, NULL },
    { "serial", "com1,115200",
      "console and dump: com1, com2, an I/O port (0x3f8) or none, and the baud rate",
      AT(serial_port), SERIAL, 0, 0, NULL, NULL },
    { "end", "halt",
      "what to do when all is said: halt, reboot, poweroff, or exit (QEMU's debug-exit port)",
      AT(end), WORD, 0, 0, "halt|exit|reboot|poweroff", NULL },
    { "panic", "none",
      "break the kernel on purpose in the middle of the run: now, null, stack (overflow), double (fault)",
      AT(panic), WORD, 0, 0, "none|now|null|stack|double", NULL },
    { "tsc.align", "0",
      "wait at start until the TSC is a multiple of 2^N: equal runs under QEMU's -icount",
      AT(tsc_align), NUMBER32, 0, 40, NULL, NULL },
};
#define FIRST_POLICY 2u /* ds.policy.NAME, a row for each of ds_model_policies, come after ds.preset */
#define OPTIONS      (sizeof table / sizeof table[0] + DS_MODEL_POLICIES)

static uint64_t given; /* bit i: option i, since kopt_defaults */
_Static_assert(OPTIONS <= 64, "a bit for each option");

struct row {
    struct option option;
    char name[32], words[160];
};

static void add_word(struct row *r, const char *word)
{
    size_t n = strlen(r->words);
    snprintf(r->words + n, sizeof r->words - n, "%s%s", n ? "|" : "", word);
}

/* Row `i` of the table: as it stands there, but for what the model's own tables say. */
static const struct option *get_row(size_t i, struct row *r)
{
    r->words[0] = '\0';
    if (i - FIRST_POLICY >= DS_MODEL_POLICIES) {
        const struct option *o = &table[i < FIRST_POLICY ? i : i - DS_MODEL_POLICIES];
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
        r->option = (struct option){.name = r->name,
                                    .standard = p->values[0],
                                    .text = p->question,
                                    .offset = (uint16_t)(offsetof(struct kopt, ds_policy) + p->field),
                                    .kind = WORD8,
                                    .needs = model};
    }
    r->option.words = r->words;
    return &r->option;
}

static void *field_of(const struct option *o)
{
    return (char *)&kopt + o->offset;
}

/* The row of the option of this name, or OPTIONS. */
static size_t find(const char *name, size_t size)
{
    struct row row;
    size_t i = 0;
    for (; i < OPTIONS; i++) {
        const struct option *o = get_row(i, &row);
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0)
            break;
    }
    return i;
}

static int bad(char *error, size_t error_size, const char *word, size_t size, const char *why)
{
    snprintf(error, error_size, "option '%.*s': %s", (int)size, word, why);
    return -EINVAL;
}

/* Position of `value` in "a|b|c", or -1. */
static int word_index(const char *words, const char *value, size_t size)
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
static bool number(const char *s, size_t n, uint64_t *out)
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

static bool parse_serial(const char *value, size_t size, const char **why)
{
    const char *comma = memchr(value, ',', size);
    size_t n = comma ? (size_t)(comma - value) : size;
    uint64_t port, baud = 115200;
    if (n == 4 && memcmp(value, "com1", 4) == 0)
        port = 0x3F8;
    else if (n == 4 && memcmp(value, "com2", 4) == 0)
        port = 0x2F8;
    else if (n == 4 && memcmp(value, "none", 4) == 0)
        port = 0;
    else if (!number(value, n, &port) || port == 0 || port > 0xFFF8) {
        *why = "the port is com1, com2, none or an I/O address from 0x1 to 0xfff8";
        return false;
    }
    if (comma && (!number(comma + 1, size - n - 1, &baud) || baud == 0 || baud > 115200 || 115200 % baud != 0)) {
        *why = "the baud rate is 115200 divided by a whole number";
        return false;
    }
    kopt.serial_port = (uint16_t)port;
    kopt.serial_baud = (uint32_t)baud;
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
    if (word_index("off", value, size) == 0 && session != &kopt.session[0]) {
        *session = (struct kopt_session){ .clock = TRACE_CLOCK_QPC };
        return true;
    }
    *why = "must be GROUPS:CLOCK:MODE[:KIB[:BUFFERS]], its groups joined by '+', of auto, " TRACE_GROUPS_WORDS
           ", or a group's value";
    if (!next_part(&value, &size, &part, &n) || !parse_groups(part, n, &s))
        return false;
    *why = "must be GROUPS:CLOCK:MODE[:KIB[:BUFFERS]], its clock qpc, system or tsc";
    int word;
    if (!next_part(&value, &size, &part, &n) || (word = word_index(CLOCKS, part, n)) < 0)
        return false;
    s.clock = (uint32_t)word + TRACE_CLOCK_QPC;
    *why = "must be GROUPS:CLOCK:MODE[:KIB[:BUFFERS]], its mode sequential or circular";
    if (!next_part(&value, &size, &part, &n) || (word = word_index(MODES, part, n)) < 0)
        return false;
    s.circular = (uint32_t)word;
    *why = "must be GROUPS:CLOCK:MODE[:KIB[:BUFFERS]], its buffers of 4 to 1024 KiB, 1 to 65536 of them";
    if (next_part(&value, &size, &part, &n)) {
        if (!number(part, n, &v) || v < 4 || v > 1024)
            return false;
        s.buffer_kib = (uint32_t)v;
    }
    if (next_part(&value, &size, &part, &n)) {
        if (!number(part, n, &v) || v < 1 || v > 65536)
            return false;
        s.buffers = (uint32_t)v;
    }
    if (value)
        return false;
    *session = s;
    return true;
}

static int set_value(const struct option *o, const char *word, size_t word_size, const char *value, size_t size,
                     char *error, size_t error_size)
{
    char why[256];
    const char *reason = why;
    uint64_t v;
    int i;

    switch (o->kind) {
    case WORD:
    case WORD8:
        if ((i = word_index(o->words, value, size)) >= 0) {
            if (o->kind == WORD)
                *(uint32_t *)field_of(o) = (uint32_t)i;
            else
                *(uint8_t *)field_of(o) = (uint8_t)i;
            return 0;
        }
        snprintf(why, sizeof why, "must be one of %s", o->words);
        break;
    case NUMBER32:
    case NUMBER64:
        if (number(value, size, &v) && v >= o->min && v <= o->max) {
            if (o->kind == NUMBER32)
                *(uint32_t *)field_of(o) = (uint32_t)v;
            else
                *(uint64_t *)field_of(o) = v;
            return 0;
        }
        snprintf(why, sizeof why, "must be a number from %lu to %lu", (unsigned long)o->min, (unsigned long)o->max);
        break;
    case TEXT:
        if (o->words && word_index(o->words, value, size) < 0) {
            snprintf(why, sizeof why, "must be one of %s", o->words);
        } else if (size >= o->size) {
            snprintf(why, sizeof why, "is longer than %u characters", o->size - 1u);
        } else {
            memcpy(field_of(o), value, size);
            ((char *)field_of(o))[size] = '\0';
            return 0;
        }
        break;
    case SERIAL:
        if (parse_serial(value, size, &reason))
            return 0;
        break;
    case SESSION:
        if (parse_session(field_of(o), value, size, &reason))
            return 0;
        break;
    }
    return bad(error, error_size, word, word_size, reason);
}

void kopt_defaults(void)
{
    struct row row;
    memset(&kopt, 0, sizeof kopt);
    given = 0;
    for (size_t i = 0; i < OPTIONS; i++) {
        char error[8]; /* the defaults are right: a test sets each of them */
        const struct option *o = get_row(i, &row);
        set_value(o, o->standard, 0, o->standard, strlen(o->standard), error, sizeof error);
    }
}

int kopt_set(const char *word, size_t size, char *error, size_t error_size)
{
    const char *equals = memchr(word, '=', size);
    if (!equals)
        return bad(error, error_size, word, size, "must have the form name=value");
    size_t n = (size_t)(equals - word);
    struct row row;
    size_t i = find(word, n);
    if (i < OPTIONS) {
        if (given & UINT64_C(1) << i)
            return bad(error, error_size, word, size, "is given twice: leave one of the two out");
        int e = set_value(get_row(i, &row), word, size, equals + 1, size - n - 1, error, error_size);
        given |= e ? 0 : UINT64_C(1) << i;
        return e;
    }
    return bad(error, error_size, word, size, "there is no option of this name (docs/options.md lists them)");
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

/* Word `n` of "a|b|c". */
static void show_word(const char *words, uint32_t n, char *text, size_t size)
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
    show_word(CLOCKS, s->clock - TRACE_CLOCK_QPC, clock, sizeof clock);
    show_word(MODES, s->circular, mode, sizeof mode);
    if (s->buffers)
        snprintf(sizes, sizeof sizes, ":%u:%u", s->buffer_kib, s->buffers);
    else if (s->buffer_kib)
        snprintf(sizes, sizeof sizes, ":%u", s->buffer_kib);
    snprintf(text, size, "%s%s%s:%s:%s%s", s->automatic ? "auto" : "", s->automatic && some ? "+" : "", groups, clock,
             mode, sizes);
}

static void show_value(const struct option *o, char *text, size_t size)
{
    switch (o->kind) {
    case WORD:
    case WORD8:
        show_word(o->words, o->kind == WORD ? *(uint32_t *)field_of(o) : *(uint8_t *)field_of(o), text, size);
        break;
    case NUMBER32:
        snprintf(text, size, "%u", *(uint32_t *)field_of(o));
        break;
    case NUMBER64:
        snprintf(text, size, "%lu", (unsigned long)*(uint64_t *)field_of(o));
        break;
    case TEXT:
        snprintf(text, size, "%s", (char *)field_of(o));
        break;
    case SERIAL:
        if (kopt.serial_port)
            snprintf(text, size, "0x%x,%u", kopt.serial_port, kopt.serial_baud);
        else
            snprintf(text, size, "none");
        break;
    case SESSION:
        show_session(field_of(o), text, size);
        break;
    }
}

/* ---- what no single word shows ---------------------------------------------------------------------------------- */

/* Whether one of `needs` (see struct option) is not so, where option ds is as good as `ds`. `other`: which option that
 * is, with its value; `words`: what it had to be, or "" where it is what it must not be. */
static bool is_missing(const char *needs, enum kopt_ds ds, char *other, size_t other_size, char *words,
                       size_t words_size)
{
    for (size_t n; *needs; needs += n + (needs[n] == ',')) {
        struct row row;
        char value[KOPT_TEXT];
        const char *comma = strchr(needs, ','), *equals = strchr(needs, '=');
        n = comma ? (size_t)(comma - needs) : strlen(needs);
        const bool not = equals[-1] == '!';
        const size_t name = (size_t)(equals - needs) - not;
        snprintf(words, words_size, "%.*s", (int)(n - (size_t)(equals + 1 - needs)), equals + 1);
        const struct option *o = get_row(find(needs, name), &row);
        if (field_of(o) == &kopt.ds)
            show_word(o->words, ds, value, sizeof value);
        else
            show_value(o, value, sizeof value);
        if ((word_index(words, value, strlen(value)) < 0) == not)
            continue;
        snprintf(other, other_size, "%.*s=%.16s", (int)name, needs, value);
        words[0] = not ? '\0' : words[0];
        return true;
    }
    return false;
}

bool kopt_idle(size_t *i, enum kopt_ds ds, char *text, size_t size)
{
    for (; *i < OPTIONS; ++*i) {
        struct row row;
        char value[KOPT_TEXT], other[48], words[32];
        const struct option *o = get_row(*i, &row);
        if (!o->needs)
            continue;
        show_value(o, value, sizeof value);
        if (strcmp(value, o->standard) == 0 || !is_missing(o->needs, ds, other, sizeof other, words, sizeof words))
            continue;
        int n = snprintf(text, size, "option '%s=%s': has no effect with %s", o->name, value, other);
        if (ds != kopt.ds)
            snprintf(text + n, size - (size_t)n, ", which is what ds=auto has chosen");
        else if (words[0])
            snprintf(text + n, size - (size_t)n, ", but with %.*s%s", (int)(strchr(other, '=') + 1 - other), other,
                     words);
        ++*i;
        return true;
    }
    return false;
}

bool kopt_pebs(void)
{
    return kopt.ds != KOPT_DS_OFF && strcmp(kopt.pebs, "none") != 0;
}

/* pebs=none: what is left to do? */
static int check_without_pebs(char *error, size_t error_size)
{
    if (kopt_pebs() || kopt.ds == KOPT_DS_OFF)
        return 0;
    if (!kopt.bts)
        snprintf(error, error_size, "option 'pebs=none': with bts=off nothing is left to record: give "
                 "bts=circular or bts=interrupt, or ds=off");
    else if (strcmp(kopt.workload, "known") == 0)
        snprintf(error, error_size, "option 'pebs=none': workload=known is about what PEBS counts: give another");
    else
        return 0;
    return -EINVAL;
}

/* Intel's name for what can be asked for in session.pmc. */
static const char *event_of(uint16_t source)
{
    switch (source) {
    case TRACE_PMC_INSTRUCTION_RETIRED:
        return "INST_RETIRED.ANY";
    case TRACE_PMC_UNHALTED_CORE_CYCLES:
    case TRACE_PMC_TOTAL_CYCLES:
        return "CPU_CLK_UNHALTED.THREAD";
    case TRACE_PMC_BRANCH_INSTRUCTION_RETIRED:
    case TRACE_PMC_BRANCH_INSTRUCTIONS:
        return "BR_INST_RETIRED.ALL_BRANCHES";
    default:
        return NULL;
    }
}

int kopt_pmc_sources(uint16_t source[TRACE_PMC_MAX], char *error, size_t error_size)
{
    const char *s = kopt.session_pmc;
    if (strcmp(s, "none") == 0)
        return 0;
    for (int count = 0;; s++) {
        const char *comma = strchr(s, ',');
        size_t n = comma ? (size_t)(comma - s) : strlen(s);
        int number = trace_pmc_find(s, n);
        bool twice = false;
        for (int i = 0; i < count; i++)
            twice |= source[i] == number;
        if (number < 0 || !event_of((uint16_t)number) || twice || count == TRACE_PMC_MAX) {
            snprintf(error, error_size, "option 'session.pmc': '%.*s': %s", (int)n, s,
                     twice                    ? "is there twice"
                     : count == TRACE_PMC_MAX ? "is one too many, 4 are the most"
                                              : "no such source: docs/options.md lists them");
            return -EINVAL;
        }
        source[count++] = (uint16_t)number;
        s += n;
        if (!*s)
            return count;
    }
}

int kopt_ds_config(struct ds_config *config, uint64_t *later, char *error, size_t error_size)
{
    *config = (struct ds_config){.records = kopt.pebs_records, .threshold = kopt.pebs_threshold,
                                 .throttle = kopt.ds_throttle};
    uint16_t source[TRACE_PMC_MAX];
    int e = ds_parse_events(kopt.pebs, config, error, error_size);
    int sources = e ? 0 : kopt_pmc_sources(source, error, error_size);
    e = sources < 0 ? sources : e;
    for (int i = 0; i < sources && !e; i++)
        if ((e = ds_add_counting(config, event_of(source[i]))))
            snprintf(error, error_size, "option 'session.pmc': with those of pebs= these are more events than any "
                     "processor here has counters (14)");
    e = e ? e : ds_parse_periods(kopt.pebs_later, config->events, later, error, error_size);
    return e ? e : ds_parse_groups(kopt.pebs_groups, config, error, error_size);
}

/* Whether an option of spin locks is not as it usually is, but no session wants them. */
static bool idle_spinlock(char *error, size_t error_size)
{
    for (size_t i = 0; i < OPTIONS && !kopt_wants(PERF_SPINLOCK); i++) {
        struct row row;
        char value[KOPT_TEXT];
        const struct option *o = get_row(i, &row);
        show_value(o, value, sizeof value);
        if (o->offset - offsetof(struct kopt, spinlock) >= sizeof kopt.spinlock || strcmp(value, o->standard) == 0)
            continue;
        snprintf(error, error_size, "option '%s=%s': has no effect, no session has the group spinlock, as in "
                 "session.1=auto+spinlock:qpc:sequential", o->name, value);
        return true;
    }
    return false;
}

int kopt_check(char *error, size_t error_size)
{
    struct ds_config config;
    uint64_t later[DS_MAX_COUNTERS];
    size_t i = 0;
    if (kopt_idle(&i, kopt.ds, error, error_size) || check_without_pebs(error, error_size))
        return -EINVAL;
    if (kopt.pebs_threshold > kopt.pebs_records) {
        const bool said = given & UINT64_C(1) << find("pebs.threshold", strlen("pebs.threshold"));
        if (said)
            snprintf(error, error_size, "option 'pebs.threshold=%u': must not be above pebs.records=%u",
                     kopt.pebs_threshold, kopt.pebs_records);
        else
            snprintf(error, error_size, "option 'pebs.records=%u': is below pebs.threshold, whose default is %u: give "
                     "pebs.threshold=, at most %u", kopt.pebs_records, kopt.pebs_threshold, kopt.pebs_records);
        return -EINVAL;
    }
    uint32_t others = 0;
    for (uint32_t n = 1; n < TRACE_MAX_SESSIONS; n++)
        others += kopt.session[n].on;
    if (kopt.session_restarts && !others) {
        snprintf(error, error_size, "option 'session.restarts': session 1 is not restarted, and there is no other");
        return -EINVAL;
    }
    bool full = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        full |= kopt.session[n].on && (kopt.session[n].automatic || trace_group_full(&kopt.session[n].masks));
    if (strcmp(kopt.session_pmc, "none") != 0 && !full) {
        snprintf(error, error_size, "option 'session.pmc=%s': no session writes 0524H events: give one 'full' or "
                 "'both'", kopt.session_pmc);
        return -EINVAL;
    }
    if (!trace_spinlock_sampling_valid(&kopt.spinlock)) {
        snprintf(error, error_size, "option 'spinlock.hold_threshold=%u': must be 0 or at least %u",
                 kopt.spinlock.hold_threshold, TRACE_SPINLOCK_HOLD_THRESHOLD);
        return -EINVAL;
    }
    if (idle_spinlock(error, error_size))
        return -EINVAL;
    bool sequential = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        sequential |= kopt.session[n].on && !kopt.session[n].circular;
    if (kopt.dump == KOPT_DUMP_LIVE && !sequential) {
        snprintf(error, error_size, "option 'dump=live': has no effect where all sessions are circular: they keep "
                 "their newest buffers for the end; make one sequential, or leave it out");
        return -EINVAL;
    }
    return kopt_ds_config(&config, later, error, error_size);
}

bool kopt_wants(uint32_t group)
{
    bool wants = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        wants |= kopt.session[n].on && trace_group_on(&kopt.session[n].masks, group);
    return wants;
}

bool kopt_show(size_t i, char *text, size_t size)
{
    if (i >= OPTIONS)
        return false;
    char value[KOPT_TEXT];
    struct row row;
    const struct option *o = get_row(i, &row);
    show_value(o, value, sizeof value);
    snprintf(text, size, "%s=%s", o->name, value);
    return true;
}

bool kopt_describe(size_t i, struct kopt_help *help)
{
    static char values[48];
    static struct row row;
    if (i >= OPTIONS)
        return false;
    const struct option *o = get_row(i, &row);
    if (o->kind == NUMBER32 || o->kind == NUMBER64)
        snprintf(values, sizeof values, "%lu..%lu", (unsigned long)o->min, (unsigned long)o->max);
    help->name = o->name;
    help->standard = o->standard;
    help->text = o->text;
    help->needs = o->needs;
    help->values = o->words                  ? o->words
                   : o->kind == SERIAL       ? "PORT[,BAUD]"
                   : o->kind == SESSION      ? "GROUPS:CLOCK:MODE[:KIB[:BUFFERS]]"
                   : o->kind == TEXT         ? "TEXT"
                                             : values;
    return true;
}
