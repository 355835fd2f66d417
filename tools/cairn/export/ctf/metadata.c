/* SPDX-License-Identifier: MIT */
/* Writes the description of the trace, in TSDL. writer.c writes its events, with the fields in this order. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "tools/cairn/base/names.h"
#include "tools/cairn/export/ctf/ctf.h"
#include "tools/cairn/log/date.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/model/filter.h"
#include "tools/cairn/model/loss.h"

#define NS INT64_C(1000000000)
/* Of a date, in nanoseconds since 1970: as far as readers' 64 bits have room behind it for CAIRN_CTF_LONGEST. */
#define LATEST CAIRN_CTF_LONGEST

/* Those of the machine and of the run. The map of memory, and what is of one CPU or one session, json has. */
static const char *const kept_keys[] = {"machine.", "kernel.", "loader.", "firmware.", "boot.", "ds.", "option."};

static void quoted(FILE *f, struct cairn_slice text)
{
    putc('"', f);
    for (uint32_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.at[i];
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else
            putc(c < ' ' || c > '~' ? '?' : c, f);
    }
    putc('"', f);
}

static void env_text(FILE *f, const char *name, struct cairn_slice text)
{
    fprintf(f, "    %s = ", name);
    quoted(f, text);
    fputs(";\n", f);
}

static void env_key(const struct cairn_output *o, const struct cairn_key *key)
{
    char name[CAIRN_SHOWN];
    bool kept = false;
    cairn_slice_text(name, sizeof(name), key->name);
    for (size_t i = 0; i < sizeof(kept_keys) / sizeof(kept_keys[0]); i++)
        kept |= strncmp(name, kept_keys[i], strlen(kept_keys[i])) == 0;
    if (!kept || key->name.size >= sizeof(name) || !cairn_key_counts(&o->log->text, key))
        return;
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    env_text(o->file, name, key->value);
}

struct losses { /* told so far */
    FILE *to;
    unsigned count;
};

static void env_loss(void *to, const char *text)
{
    struct losses *l = to;
    char name[32];
    snprintf(name, sizeof(name), "loss_%u", ++l->count);
    env_text(l->to, name, cairn_slice_of(text));
}

/* What is not in the trace, and why. */
static void env_missing(const struct cairn_output *o)
{
    struct losses losses = {.to = o->file};
    char text[CAIRN_SHOWN_END];
    fprintf(o->file, "    missing_frames = %" PRIu64 ";\n    damaged_frames = %" PRIu64 ";\n",
            (uint64_t)o->log->frames.missing_frames, cairn_damaged_frames(o->log));
    if (cairn_show_bad_end(text, o->log))
        env_text(o->file, "bad_end", cairn_slice_of(text));
    cairn_tell_losses(o->log, env_loss, &losses);
}

static void env(const struct cairn_output *o)
{
    const struct cairn_log *log = o->log;
    FILE *f = o->file;
    fputs("env {\n    domain = \"kernel\";\n    tracer_name = \"cairn\";\n", f);
    fprintf(f, "    tracer_version = \"%s\";\n    session = %" PRIu32 ";\n    cpus = %" PRIu32 ";\n", CAIRN_VERSION,
            log->number, log->cpus);
    fprintf(f, "    from_session_start = %d;\n", log->session.start_known);
    if (cairn_out_switches_from(o))
        fprintf(f, "    switches_from = \"%s\";\n", cairn_out_switches_from(o));
    env_missing(o);
    if (log->session.stop_known)
        fprintf(f, "    ends_ns = %" PRId64 ";\n", cairn_out_ns(o, log->session.stop));
    if (cairn_filter_on())
        env_text(f, "only", cairn_slice_of(cairn_filter_text()));
    if (cairn_has_key(&log->text, "ds.emulated"))
        fprintf(f, "    emulated_ds = %d;\n", cairn_slice_is(cairn_key(&log->text, "ds.emulated"), "1"));
    if (cairn_has_key(&log->text, "machine.emulated"))
        fprintf(f, "    emulated_machine = %d;\n", cairn_slice_is(cairn_key(&log->text, "machine.emulated"), "1"));
    for (size_t i = 0; i < log->text.keys.count; i++)
        env_key(o, &log->text.keys.items[i]);
    fputs("};\n\n", f);
}

/* "typealias enum : uintN_t {...} := name;" of the numbers that have a name, and of `more`. */
static void enumeration(FILE *f, const char *name, unsigned bits, const char *(*name_of)(uint8_t), const char *more)
{
    bool first = true;
    fprintf(f, "typealias enum : uint%u_t {", bits);
    for (unsigned i = 0; i <= UINT8_MAX; i++) {
        const char *label = name_of((uint8_t)i);
        if (strcmp(label, "?") == 0)
            continue;
        fprintf(f, "%s\n    \"%s\" = %u", first ? "" : ",", label, i);
        first = false;
    }
    fprintf(f, "%s\n} := %s;\n\n", more, name);
}

static const char *why_name(uint8_t blame)
{
    return blame == CAIRN_BLAME_KNOWN ? "known" : blame < CAIRN_BLAMES ? cairn_blame_why(blame) : "?";
}

static const char types[] =
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 16; align = 8; signed = true; } := int16_t;\n"
    "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
    "typealias integer { size = 32; align = 8; signed = true; base = 16; } := hook_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex_t;\n"
    "typealias enum : uint8_t { no = 0, yes = 1 } := yes_t;\n"
    "typealias enum : uint8_t {\n"
    "    bytes = 0, buffers = 1, overwritten = 2, lost = 3, stopped = 4, lost_here = 5, maybe = 6\n"
    "} := lost_t;\n";
_Static_assert(CAIRN_HOLE_BYTES == 0 && CAIRN_HOLE_BUFFERS == 1 && CAIRN_HOLE_OVERWRITTEN == 2 &&
                   CAIRN_HOLE_LOST == 3 && CAIRN_HOLE_STOPPED == 4 && CAIRN_HOLE_LOST_HERE == 5 &&
                   CAIRN_HOLE_MAYBE_LOST == 6,
               "as in lost_t");

static const char head[] = "trace {\n    major = 1;\n    minor = 8;\n    byte_order = le;\n"
                           "    packet.header := struct { uint32_t magic; uint32_t stream_id; };\n};\n\n";

static const char stream[] =
    "stream {\n"
    "    id = 0;\n"
    "    packet.context := struct {\n"
    "        clock_t timestamp_begin;\n        clock_t timestamp_end;\n        uint64_t content_size;\n"
    "        uint64_t packet_size;\n        uint64_t packet_seq_num;\n        uint64_t events_discarded;\n"
    "        uint32_t cpu_id;\n    };\n"
    "    event.header := struct { uint8_t id; clock_t timestamp; };\n"
    "};\n\n";

static const struct {
    const char *name, *fields;
} events[] = {
    [CAIRN_CTF_THREAD] = {"thread", "uint32_t tid; string name; int32_t base_priority;"},
    /* the fields of LTTng's, as far as the trace has them, and then the rest */
    [CAIRN_CTF_SWITCH] = {"sched_switch",
                          "string prev_comm; uint32_t prev_tid; int16_t prev_prio; "
                          "uint8_t prev_state; string next_comm; int64_t next_tid; form_t form; state_t state; "
                          "reason_t reason; int64_t next_waited_ticks;"},
    [CAIRN_CTF_SAMPLE] = {"sample",
                          "hex_t ip; string function; yes_t timed; yes_t ip_is_after; int64_t tid; "
                          "string comm; why_t why; uint32_t epoch; uint8_t format; hex_t address; uint16_t words; "
                          "struct { string name; hex_t value; } record[words];"},
    [CAIRN_CTF_DRAIN] = {"drain", "uint32_t epoch; drain_t reason; uint32_t records; yes_t complete; uint64_t lost; "
                                  "yes_t lost_unknown;"},
    [CAIRN_CTF_BRANCH_DRAIN] = {"branch_drain", "uint32_t epoch; drain_t reason; int64_t tid; string comm; "
                                                "uint32_t records; yes_t circular; uint64_t lost; yes_t lost_unknown;"},
    [CAIRN_CTF_BRANCH] = {"branch", "uint32_t epoch; uint32_t number; int64_t tid; string comm; hex_t from; "
                                    "string from_function; hex_t to; string to_function; hex_t flags;"},
    [CAIRN_CTF_LOCK] = {"lock",
                        "hex_t lock; string name; hex_t caller; string function; uint32_t tid; string comm; "
                        "string mode; int64_t acquired_ns; int64_t released_ns; uint64_t wait_cycles; uint32_t spins; "
                        "uint32_t interrupts; uint8_t irql; uint32_t depth; yes_t in_dpc; yes_t in_isr;"},
    [CAIRN_CTF_EVENT] = {"event", "hook_t hook; string text;"},
    [CAIRN_CTF_LOST] = {"lost", "lost_t kind; string text; int64_t first_buffer; int64_t buffers; int64_t bytes; "
                                "int64_t since_ns; int64_t until_ns;"},
    [CAIRN_CTF_OUT_OF_ORDER] = {"out_of_order", "int64_t ns;"},
};

/* One field a line. */
static void fields(FILE *f, const char *text)
{
    unsigned deep = 0;
    fputs("        ", f);
    for (; *text; text++) {
        deep += *text == '{';
        deep -= *text == '}';
        putc(*text, f);
        if (*text != ';' || deep)
            continue;
        fputs(text[1] ? "\n       " : "\n", f);
    }
}

/* 1.8 knows no clock that begins below zero: this one says CAIRN_CTF_ORIGIN when the session begins. */
static void clock(const struct cairn_output *o)
{
    const struct cairn_session *s = &o->log->session;
    char text[CAIRN_DATE_TEXT];
    int64_t began;
    const bool dated = cairn_out_wall(o, &began, text) && began < LATEST;
    began = dated ? began : 0;
    fprintf(o->file,
            "clock {\n    name = session;\n    description = \"%s\";\n    freq = %" PRId64 ";\n"
            "    offset_s = %" PRId64 ";\n    offset = %" PRId64 ";\n    absolute = FALSE;\n};\n",
            dated && o->log->own ? "the session's clock, set to the time of day of the firmware's clock"
            : dated              ? "the session's clock, set to the time of day of the file's header"
            : s->start_known     ? "since the session began"
                                 : "the session's clock",
            NS, began / NS - CAIRN_CTF_ORIGIN / NS, began % NS);
}

void cairn_ctf_metadata(const struct cairn_output *o)
{
    FILE *f = o->file;
    fprintf(f, "\n%s\n", types);
    enumeration(f, "form_t", 8, cairn_form_name, "");
    enumeration(f, "state_t", 16, cairn_state_name, ",\n    not_told = 0x100, state_or_reason = 0x101");
    enumeration(f, "reason_t", 16, cairn_reason_name, ",\n    not_told = 0x100");
    enumeration(f, "drain_t", 8, cairn_drain_name, "");
    enumeration(f, "why_t", 8, why_name, "");
    fputs(head, f);
    env(o);
    clock(o);
    fputs("typealias integer { size = 64; align = 8; signed = false; map = clock.session.value; } := clock_t;\n\n", f);
    fputs(stream, f);
    for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        fprintf(f, "event {\n    name = \"%s\";\n    id = %u;\n    stream_id = 0;\n    fields := struct {\n",
                events[i].name, i);
        fields(f, events[i].fields);
        fputs("    };\n};\n\n", f);
    }
}
