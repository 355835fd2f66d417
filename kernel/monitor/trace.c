/* SPDX-License-Identifier: MIT */
/* Commands: open batches, sessions, dump. */
#include "kernel/control/session.h"
#include "kernel/cpu.h"
#include "kernel/dump/dump.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/kernel_commands.h"
#include "trace/hub.h"
#include "trace/sessions/group_names.h"

static const char *const clocks[TRACE_CLOCK_TYPES] = {"qpc", "system", "tsc"};

/* ---- batch ------------------------------------------------------------------------------------------------------- */

/* A copy: before the run its CPU may be writing to it. `used` never leads beyond the batch. */
static uint32_t copy_batch(const struct trace_ccswap *c, uint8_t bytes[CCSWAP_BATCH_BYTES])
{
    const uint64_t used = c->used;
    if (used == TRACE_CCSWAP_CLOSED || used > CCSWAP_BATCH_BYTES)
        return 0;
    memcpy(bytes, c->batch.bytes, used);
    return (uint32_t)used;
}

static int batch(struct kmonitor *m, unsigned words, char **word)
{
    static uint8_t bytes[CCSWAP_BATCH_BYTES];
    const struct trace_hub_cpu *hub = kcpu_table[m->cpu]->trace;
    bool found = false;
    (void)words, (void)word;
    for (unsigned i = 0; hub && i < TRACE_CLOCK_TYPES; i++) {
        const uint32_t used = copy_batch(&hub->encoder[i].compact, bytes);
        if (!used)
            continue;
        found = true;
        kmonitor_print(m, "open batch of CPU %u, clock %s: %u bytes of %u\n", m->cpu, clocks[i], used,
                       CCSWAP_BATCH_BYTES);
        kmonitor_show_batch(m, bytes, used);
    }
    if (!found)
        kmonitor_print(m, "no batch is open on CPU %u\n", m->cpu);
    return 0;
}

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

static void show_session(struct kmonitor *m, uint32_t number)
{
    const struct ksession *s = ksession_get(number);
    char groups[TRACE_GROUPS_TEXT];
    if (!s)
        return;
    const struct trace_config *c = trace_session_config(s->session);
    const struct trace_counts sum = ksession_counts(s);
    trace_groups_show(&s->masks, groups);
    kmonitor_print(m, "session %u: %s, %s, %s, %u buffers of %u KiB\n", number, s->running ? "runs" : "does not run",
                   clocks[c->clock.type - 1], c->circular ? "circular" : "sequential", c->buffers,
                   c->buffer_bytes / 1024);
    kmonitor_wrap(m, 2, groups);
    kmonitor_print(m, "  events %lu, switches %lu; lost: events %lu, switches %lu\n", (unsigned long)sum.events_written,
                   (unsigned long)sum.switches_written, (unsigned long)sum.events_lost,
                   (unsigned long)sum.switches_lost);
}

static int sessions(struct kmonitor *m, unsigned words, char **word)
{
    unsigned found = 0;
    (void)words, (void)word;
    for (uint32_t n = 1; n <= TRACE_MAX_SESSIONS; n++) {
        found += ksession_get(n) != NULL;
        show_session(m, n);
    }
    if (!found)
        kmonitor_say(m, "there is no session");
    return 0;
}

#define NEW_BUFFER_KIB 64u

static int make(uint32_t number, const struct perfinfo_groupmask *masks, struct kmonitor *m)
{
    char error[200];
    if (ksession_get(number)) {
        kmonitor_say(m, "session %u: there is one", number);
        return -EEXIST;
    }
    const struct ksession_params params = {.number = number,
                                           .masks = *masks,
                                           .clock = TRACE_CLOCK_QPC,
                                           .buffer_kib = NEW_BUFFER_KIB,
                                           .buffers = 8 * kcpu_count};
    const int e = ksession_create(&params, error, sizeof error);
    if (e)
        kmonitor_wrap(m, 0, error);
    return e;
}

static int session(struct kmonitor *m, unsigned words, char **word)
{
    struct perfinfo_groupmask masks = {{0}};
    uint64_t number;
    int e;
    if (m->place != KMONITOR_BEFORE_RUN) {
        kmonitor_say(m, "session: works only before the run, not after a panic");
        return 0;
    }
    if (!kmonitor_number(m, word[0], TRACE_MAX_SESSIONS, &number))
        return 0;
    if (!number) {
        kmonitor_say(m, "session 0: its number is from 1 to %u", TRACE_MAX_SESSIONS);
        return 0;
    }
    if (words == 3 && trace_groups_parse(word[2], strlen(word[2]), &masks) != 0) {
        kmonitor_say(m, "'%.40s': no groups as in option session.1, such as compact+dpc", word[2]);
        return 0;
    }
    const struct perfinfo_groupmask *given = words == 3 ? &masks : NULL;
    if (kmonitor_same(word[1], "new") && given)
        e = make((uint32_t)number, given, m);
    else if (kmonitor_same(word[1], "start"))
        e = ksession_start((uint32_t)number, given);
    else if (kmonitor_same(word[1], "change") && given)
        e = ksession_change((uint32_t)number, given);
    else if (kmonitor_same(word[1], "stop") && !given)
        e = ksession_stop((uint32_t)number);
    else
        return KMONITOR_USAGE;
    if (e == -ENOENT)
        kmonitor_say(m, "there is no session %lu: `session %lu new GROUPS` makes one", (unsigned long)number,
                     (unsigned long)number);
    else if (e == -EBUSY)
        kmonitor_say(m, "session %lu runs already", (unsigned long)number);
    else if (e == -EINVAL && !kmonitor_same(word[1], "new"))
        kmonitor_say(m, "session %lu does not run", (unsigned long)number);
    else if (!e)
        show_session(m, (uint32_t)number);
    return 0;
}

/* ---- dump -------------------------------------------------------------------------------------------------------- */

static int dump(struct kmonitor *m, unsigned words, char **word)
{
    (void)words, (void)word;
    if (m->place == KMONITOR_AFTER_PANIC) {
        kmonitor_say(m, "dump: `go` dumps, and ends the machine");
        return 0;
    }
    for (uint32_t n = 1; n <= TRACE_MAX_SESSIONS; n++)
        if (ksession_get(n) && ksession_get(n)->running) {
            kmonitor_say(m, "dump: session %u runs: a dump needs all of them stopped; the run ends with one", n);
            return 0;
        }
    kdump("end", NULL);
    return 0;
}

const struct kmonitor_command kmonitor_trace[] = {
    {"batch", "", "the open batch of compact switches, byte by byte", 0, 0, batch, NULL},
    {"sessions", "", "the trace sessions and what they have written", 0, 0, sessions, NULL},
    {"session", "N WHAT [GROUPS]",
     "make, start, change or stop a session; WHAT is new (with GROUPS), start, change (with GROUPS) or stop; GROUPS as "
     "in "
     "option session.1; only before the run",
     2, 3, session, NULL},
    {"dump", "", "send what stopped sessions hold", 0, 0, dump, NULL},
    {NULL, NULL, NULL, 0, 0, NULL, NULL},
};
