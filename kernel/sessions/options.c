/* SPDX-License-Identifier: MIT */
#include "kernel/sessions/options.h"

#include "kernel/lib/string.h"
#include "kernel/options/row.h"
#include "trace/sessions/group_names.h"

#define CLOCKS "qpc|system|tsc" /* from TRACE_CLOCK_QPC on */
#define MODES  "sequential|circular"

struct ksession_option ksession_options[TRACE_MAX_SESSIONS];

bool ksession_wants(uint32_t group)
{
    bool wants = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        wants |= ksession_options[n].on && trace_group_on(&ksession_options[n].masks, group);
    return wants;
}

/* Whether groups are among these that only an absent wing would write; `why` says so then. */
static bool is_group_absent(const struct perfinfo_groupmask *masks, char *why, size_t why_size)
{
    static const char key[] = "session=";
    const struct kopt_absent *const *row;
    for (ROWS_EACH(kopt_absent, row)) {
        const char *word = (*row)->word, *group = word + sizeof key - 1;
        struct perfinfo_groupmask absent = {0};
        if (strlen(word) < sizeof key || memcmp(word, key, sizeof key - 1) != 0 ||
            trace_groups_parse(group, strlen(group), &absent) != 0)
            continue;
        for (unsigned i = 0; i < sizeof absent.masks / sizeof absent.masks[0]; i++)
            if (masks->masks[i] & absent.masks[i])
                return kopt_is_absent(word, strlen(word), why, why_size);
    }
    return false;
}

/* "auto", or groups, or both of them joined. */
static bool parse_groups(const char *part, size_t n, struct ksession_option *s)
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

static bool wrong(const char *what, char *why, size_t why_size)
{
    snprintf(why, why_size, "must be GROUPS:CLOCK:MODE[:KIB[:BUFFERS]], its %s", what);
    return false;
}

static bool parse(void *field, const char *value, size_t size, char *why, size_t why_size)
{
    struct ksession_option *session = field, s = {.on = 1};
    const char *part;
    size_t n;
    int clock, mode;
    uint64_t kib = 0, buffers = 0;
    if (kopt_word_index("off", value, size) == 0 && session != &ksession_options[0]) {
        *session = (struct ksession_option){.clock = TRACE_CLOCK_QPC};
        return true;
    }
    if (!kopt_part(&value, &size, ':', &part, &n) || !parse_groups(part, n, &s))
        return wrong("groups joined by '+', of auto, " TRACE_GROUPS_WORDS ", or a group's value", why, why_size);
    if (!kopt_part(&value, &size, ':', &part, &n) || (clock = kopt_word_index(CLOCKS, part, n)) < 0)
        return wrong("clock qpc, system or tsc", why, why_size);
    if (!kopt_part(&value, &size, ':', &part, &n) || (mode = kopt_word_index(MODES, part, n)) < 0)
        return wrong("mode sequential or circular", why, why_size);
    if (!kopt_part_number(&value, &size, ':', 4, 1024, &kib) ||
        !kopt_part_number(&value, &size, ':', 1, 65536, &buffers) || value)
        return wrong("buffers of 4 to 1024 KiB, 1 to 65536 of them", why, why_size);
    if (is_group_absent(&s.masks, why, why_size))
        return false;
    s.clock = (uint32_t)clock + TRACE_CLOCK_QPC;
    s.circular = (uint32_t)mode;
    s.buffer_kib = (uint32_t)kib;
    s.buffers = (uint32_t)buffers;
    *session = s;
    return true;
}

static void show(const void *field, char *text, size_t size)
{
    static const struct perfinfo_groupmask none;
    const struct ksession_option *s = field;
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

static const struct kopt_form form = {"GROUPS:CLOCK:MODE[:KIB[:BUFFERS]]", parse, show};

#define SESSION(n, its_standard, its_text)                                                                             \
    static const struct kopt_option session_##n = {.name = "session." #n,                                              \
                                                   .standard = (its_standard),                                         \
                                                   .text = (its_text),                                                 \
                                                   .field = &ksession_options[(n)-1],                                  \
                                                   .kind = OTHER,                                                      \
                                                   .form = &form}
#define OTHER_SESSION(n) SESSION(n, "off", "an additional session; off: none")

SESSION(1, "auto:qpc:sequential",
        "a trace session. GROUPS are event groups joined by '+': auto (compact; or full, if session.pmc puts counters "
        "on 0524H or PEBS records have no TSC, formats 0 to 2), compact (0525H), full (0524H), both (compact+full; as "
        "in Windows, 0x20000004+0x20000100 mean compact alone), process, thread, loader, dispatcher, priority, "
        "interrupt, dpc, profile, pmc_profile, spinlock, mark, cpu_config, no_sysconfig, none, or a group's value "
        "(0x20000100). CLOCK: qpc (10 MHz), system (100 ns since 1601) or tsc (cycles). MODE: sequential or circular. "
        "KIB, BUFFERS: its trace.buffer_kib and trace.buffers");
ROWS_ADD(kopt, session_1);
OTHER_SESSION(2);
ROWS_ADD(kopt, session_2);
OTHER_SESSION(3);
ROWS_ADD(kopt, session_3);
OTHER_SESSION(4);
ROWS_ADD(kopt, session_4);
OTHER_SESSION(5);
ROWS_ADD(kopt, session_5);
OTHER_SESSION(6);
ROWS_ADD(kopt, session_6);
OTHER_SESSION(7);
ROWS_ADD(kopt, session_7);
OTHER_SESSION(8);
ROWS_ADD(kopt, session_8);

static bool none_is_live(char *error, size_t error_size)
{
    bool sequential = !kopt.live;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        sequential |= ksession_options[n].on && !ksession_options[n].circular;
    if (!sequential)
        snprintf(error, error_size,
                 "option 'dump=live': has no effect where all sessions are circular: they keep "
                 "their newest buffers for the end; make one sequential, or leave it out");
    return !sequential;
}
KOPT_CHECK(none_is_live);
