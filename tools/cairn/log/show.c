/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/ds.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/cut.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/base/put.h"
#include "tools/cairn/log/clock.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/etl/values.h"
#include "tools/cairn/log/rundown.h"

/* Session clock units as units of 100 ns. */
static uint64_t ticks(const struct cairn_log *log, uint64_t units)
{
    uint64_t hz = log->session.hz;
    return !hz || hz == TRACE_CLOCK_HZ ? units : (uint64_t)((unsigned __int128)units * TRACE_CLOCK_HZ / hz);
}

int64_t cairn_show_origin(const struct cairn_log *log)
{
    const struct cairn_session *s = &log->session;
    return cairn_clock == CAIRN_CLOCK_BOOT ? s->wall.boot : s->start_known ? s->start : 0;
}

void cairn_show_date(char day[CAIRN_DATE_TEXT], char clock[CAIRN_DATE_TEXT], char zone[CAIRN_DATE_TEXT],
                     const struct cairn_log *log, int64_t time)
{
    const int64_t filetime = cairn_date_at(log, time);
    cairn_date_parts(day, clock, zone, filetime, cairn_zone_east(log, filetime));
}

char *cairn_put_seconds(char *at, const struct cairn_log *log, int64_t time)
{
    uint64_t t = (uint64_t)time - (uint64_t)cairn_show_origin(log);
    bool negative = (int64_t)t < 0;
    t = ticks(log, negative ? -t : t);
    *at = '-';
    at = cairn_put(cairn_put_number(at + negative, t / TRACE_CLOCK_HZ, 1), ".", 1);
    return cairn_put_digits(at, (uint32_t)(t % TRACE_CLOCK_HZ), 7);
}

const char *cairn_show_time(char out[CAIRN_SHOWN], const struct cairn_log *log, int64_t time)
{
    char day[CAIRN_DATE_TEXT], zone[CAIRN_DATE_TEXT];
    if (cairn_clock == CAIRN_CLOCK_WALL)
        cairn_show_date(day, out, zone, log, time);
    else
        *cairn_put_seconds(out, log, time) = '\0';
    return out;
}

const char *cairn_show_moment(char out[CAIRN_SHOWN], const struct cairn_log *log, int64_t time)
{
    if (cairn_clock == CAIRN_CLOCK_WALL) {
        const int64_t filetime = cairn_date_at(log, time);
        return cairn_date_text(out, filetime, cairn_zone_east(log, filetime));
    }
    cairn_show_time(out, log, time);
    return strcat(out, " s");
}

const char *cairn_show_span(char out[CAIRN_SHOWN], const struct cairn_log *log, uint64_t units)
{
    uint64_t t = ticks(log, units);
    if (t < 10000)
        snprintf(out, CAIRN_SHOWN, "%" PRIu64 ".%" PRIu64 " us", t / 10, t % 10);
    else if (t < TRACE_CLOCK_HZ)
        snprintf(out, CAIRN_SHOWN, "%" PRIu64 ".%02" PRIu64 " ms", t / 10000, t % 10000 / 100);
    else
        snprintf(out, CAIRN_SHOWN, "%" PRIu64 ".%03" PRIu64 " s", t / TRACE_CLOCK_HZ, t % TRACE_CLOCK_HZ / 10000);
    return out;
}

const char *cairn_show_thread(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t tid, int width)
{
    if (tid == 0) {
        snprintf(out, CAIRN_SHOWN, "idle");
        return out;
    }
    char name[CAIRN_SHOWN - 16];
    const struct cairn_name *n = cairn_find_name(&log->text, tid);
    int number = snprintf(NULL, 0, ":%" PRIu32, tid), room = width - number < 112 ? width - number : 112;
    if (n && room > 0)
        snprintf(out, CAIRN_SHOWN, "%s:%" PRIu32, cairn_cut(name, sizeof(name), n->name, room), tid);
    else
        snprintf(out, CAIRN_SHOWN, "thread:%" PRIu32, tid);
    return out;
}

const char *cairn_show_offset(char out[CAIRN_SHOWN], struct cairn_slice name, uint64_t offset, int width)
{
    char cut[CAIRN_SHOWN - 24];
    const int room = width - snprintf(NULL, 0, "+0x%" PRIx64, offset);
    snprintf(out, CAIRN_SHOWN, "%s+0x%" PRIx64, cairn_cut(cut, sizeof(cut), name, room > 96 ? 96 : room), offset);
    return out;
}

const char *cairn_show_address(char out[CAIRN_SHOWN], const struct cairn_log *log, uint64_t address, int width)
{
    const struct cairn_symbol *s = cairn_find_symbol(&log->text, address);
    if (s)
        return cairn_show_offset(out, s->name, address - s->address, width);
    snprintf(out, CAIRN_SHOWN, "0x%016" PRIx64, address);
    return out;
}

/* NULL also where the log has the function's name. */
static const struct cairn_mapping *file_at(const struct cairn_log *log, uint32_t pid, uint64_t address)
{
    const struct cairn_mapping *map =
        cairn_find_symbol(&log->text, address) ? NULL : cairn_mappings_at(&log->maps, pid, address);
    return map && cairn_mapping_file(map).size ? map : NULL;
}

const char *cairn_show_file(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t pid, uint64_t address)
{
    const struct cairn_mapping *map = file_at(log, pid, address);
    return map ? cairn_slice_text(out, CAIRN_SHOWN, cairn_mapping_file(map)) : NULL;
}

const char *cairn_show_address_in(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t pid, int64_t time,
                                  uint64_t address, int width)
{
    const struct cairn_etl_life *image = NULL;
    const struct cairn_mapping *map = file_at(log, pid, address);
    if (map)
        return cairn_show_offset(out, cairn_mapping_file(map), address - map->from + map->offset, width);
    if (log->etl && pid != CAIRN_NO_TID && !cairn_find_symbol(&log->text, address))
        image = cairn_lives_image(&log->etl->lives, pid, time, address);
    if (!image)
        return cairn_show_address(out, log, address, width);
    const char *text = image->name[0] ? image->name : "unnamed image";
    const struct cairn_slice name = {text, (uint32_t)strlen(text)};
    return cairn_show_offset(out, name, address - image->base, width);
}

uint32_t cairn_process_at(const struct cairn_log *log, uint32_t tid, int64_t time)
{
    return log->etl          ? cairn_lives_process(&log->etl->lives, tid, time)
           : log->maps.count ? (uint32_t)cairn_mappings_process(&log->text, tid)
                             : CAIRN_NO_TID;
}

const char *cairn_show_lock(char out[CAIRN_SHOWN], const struct cairn_log *log, uint64_t address, int width)
{
    const struct cairn_symbol *s = cairn_find_symbol(&log->text, address);
    if (!s || s->address != address)
        return cairn_show_address(out, log, address, width);
    return cairn_cut(out, CAIRN_SHOWN, s->name, width);
}

const char *cairn_show_run(char out[CAIRN_SHOWN], const struct cairn_run *run)
{
    if (run->first == run->last)
        snprintf(out, CAIRN_SHOWN, "frame %" PRIu32, run->first);
    else
        snprintf(out, CAIRN_SHOWN, "frames %" PRIu32 "..%" PRIu32, run->first, run->last);
    return out;
}

const char *cairn_show_flaw(char out[CAIRN_SHOWN], const struct cairn_etl_flaw *f)
{
    if (f->buffer == UINT32_MAX)
        snprintf(out, CAIRN_SHOWN, "%.100s", f->what);
    else
        snprintf(out, CAIRN_SHOWN, "buffer %" PRIu32 " %.100s", f->buffer, f->what);
    return out;
}

const char *cairn_show_hole_part(char out[CAIRN_SHOWN], const struct cairn_hole *h)
{
    if (h->kind == CAIRN_HOLE_BYTES)
        snprintf(out, CAIRN_SHOWN, "%" PRIu64 " bytes of buffer %" PRIu32, h->bytes, h->buffer);
    else if (h->buffers > 1)
        snprintf(out, CAIRN_SHOWN, "buffers %" PRIu32 "..%" PRIu32, h->buffer, h->buffer + h->buffers - 1);
    else
        snprintf(out, CAIRN_SHOWN, "buffer %" PRIu32, h->buffer);
    return out;
}

const char *cairn_hole_name(uint8_t kind)
{
    static const char *const names[] = {
        [CAIRN_HOLE_BYTES] = "bytes",      [CAIRN_HOLE_BUFFERS] = "buffers", [CAIRN_HOLE_OVERWRITTEN] = "overwritten",
        [CAIRN_HOLE_LOST] = "lost",        [CAIRN_HOLE_STOPPED] = "stopped", [CAIRN_HOLE_LOST_HERE] = "lost_here",
        [CAIRN_HOLE_MAYBE_LOST] = "maybe",
    };
    return names[kind];
}

const char *cairn_show_hole(char out[CAIRN_SHOWN], const struct cairn_log *log, const struct cairn_hole *h)
{
    char frames[CAIRN_SHOWN] = "", named[CAIRN_SHOWN], what[CAIRN_SHOWN];
    const struct cairn_run *run = cairn_missing_between(&log->frames, h->after, h->before);
    if (run)
        snprintf(frames, sizeof(frames), " (%.60s)", cairn_show_run(named, run));
    cairn_show_hole_part(what, h);
    switch (h->kind) {
    case CAIRN_HOLE_STOPPED:
        snprintf(out, CAIRN_SHOWN, "the session did not run, or did not trace switches, until here");
        break;
    case CAIRN_HOLE_BYTES:
        snprintf(out, CAIRN_SHOWN, "%.40s %s%.40s", what, h->malformed ? "are not events" : "missing", frames);
        break;
    case CAIRN_HOLE_BUFFERS:
        snprintf(out, CAIRN_SHOWN, "%.40s missing%s%.40s", what, h->bytes ? ", and parts of others" : "", frames);
        break;
    case CAIRN_HOLE_OVERWRITTEN:
        snprintf(out, CAIRN_SHOWN, "%.40s overwritten (circular mode)", what);
        break;
    case CAIRN_HOLE_LOST_HERE:
        snprintf(out, CAIRN_SHOWN, "events lost here: no empty buffer was left");
        break;
    case CAIRN_HOLE_LOST:
        snprintf(out, CAIRN_SHOWN, "events lost from here on: no buffer was left");
        break;
    default:
        snprintf(out, CAIRN_SHOWN, "events may be missing here: %s",
                 h->why == CAIRN_MAYBE_MISSING  ? "sequence numbers skip a buffer"
                 : h->why == CAIRN_MAYBE_UNREAD ? "a buffer cannot be read"
                 : h->why == CAIRN_MAYBE_OLDER  ? "older buffers are not in this file"
                                                : "some were lost");
    }
    return out;
}

/* "message 77 of {...}, sequence 5, PID 4, TID 12" */
static void show_message(char out[CAIRN_SHOWN], const struct cairn_event *e)
{
    char guid[CAIRN_GUID_TEXT];
    size_t n = (size_t)snprintf(out, CAIRN_SHOWN, "message %u", e->id);
    if (e->provider)
        n += (size_t)snprintf(out + n, CAIRN_SHOWN - n, " of %s", cairn_guid_text(guid, e->provider));
    if (e->has_component)
        n += (size_t)snprintf(out + n, CAIRN_SHOWN - n, " of component %" PRIu32, e->component);
    if (e->has_sequence)
        n += (size_t)snprintf(out + n, CAIRN_SHOWN - n, ", sequence %" PRIu32, e->sequence);
    if (e->tid != CAIRN_NO_TID)
        snprintf(out + n, CAIRN_SHOWN - n, ", PID %" PRIu32 ", TID %" PRIu32, e->pid, e->tid);
}

const char *cairn_show_event(char out[CAIRN_SHOWN_EVENT], const struct cairn_log *log, const struct cairn_event *e)
{
    struct cairn_rundown r;
    if (e->header == ETL_MESSAGE) {
        show_message(out, e);
        return out;
    }
    if (e->hook == CAIRN_NO_HOOK) {
        snprintf(out, CAIRN_SHOWN, "%s (header %02XH), %" PRIu32 " bytes", cairn_header_name(e->header), e->header,
                 e->space);
        return out;
    }
    int n = snprintf(out, CAIRN_SHOWN_EVENT, "%04" PRIX32 "H %s", e->hook, cairn_hook_name(e->hook));
    cairn_rundown_read(&r, e);
    size_t left = CAIRN_SHOWN_EVENT - (size_t)n;
    if (r.kind == CAIRN_RUNDOWN_PROCESS) {
        snprintf(out + n, left, " %" PRIu32 " of %" PRIu32 "%s%s", r.pid, r.parent, r.name[0] ? ", " : "", r.name);
    } else if (r.kind == CAIRN_RUNDOWN_THREAD) {
        const struct cairn_name *known = r.tid && !r.name[0] ? cairn_find_name(&log->text, r.tid) : NULL;
        struct cairn_slice name = known ? known->name : (struct cairn_slice){r.name, (uint32_t)strlen(r.name)};
        snprintf(out + n, left, " %" PRIu32 " of %" PRIu32 "%s%.*s", r.tid, r.pid, name.size ? ", " : "",
                 (int)name.size, name.at);
    } else if (r.kind == CAIRN_RUNDOWN_IMAGE) {
        snprintf(out + n, left, " of %" PRIu32 ", %s", r.pid, r.name);
    }
    return out;
}

const char *cairn_show_lost(char out[CAIRN_SHOWN], struct cairn_lost lost)
{
    if (!lost.unknown)
        snprintf(out, CAIRN_SHOWN, "%" PRIu64, lost.counted);
    else if (lost.counted)
        snprintf(out, CAIRN_SHOWN, "unknown, at least %" PRIu64, lost.counted);
    else
        snprintf(out, CAIRN_SHOWN, "unknown");
    return out;
}

const char *cairn_show_brand(char out[CAIRN_SHOWN_BRAND], const struct cairn_log *log, uint32_t cpu)
{
    memset(out, 0, CAIRN_SHOWN_BRAND);
    for (unsigned leaf = 0; leaf < 3; leaf++) {
        unsigned r[4];
        char words[40];
        cairn_slice_text(words, sizeof(words),
                         cairn_key(&log->text, "cpu.%" PRIu32 ".cpuid.8000000%u.00000000", cpu, leaf + 2));
        if (sscanf(words, "%x %x %x %x", &r[0], &r[1], &r[2], &r[3]) != 4)
            break; /* a leaf that is all zero, behind the end of a short name, is left out of a log */
        memcpy(out + 16 * leaf, r, 16);
    }
    if (!out[0])
        cairn_slice_text(out, CAIRN_SHOWN_BRAND, cairn_key(&log->text, "cpu.0.brand")); /* as a card has it */
    for (char *p = out; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    const size_t blanks = strspn(out, " ");
    memmove(out, out + blanks, CAIRN_SHOWN_BRAND - blanks);
    for (size_t n = strlen(out); n && out[n - 1] == ' '; n--)
        out[n - 1] = '\0';
    return out[0] ? out : NULL;
}

bool cairn_show_has_store(const struct cairn_log *log)
{
    const struct cairn_slice store = cairn_key(&log->text, "ds.store");
    return !store.size || cairn_slice_is(store, "bts");
}

const char *cairn_show_store(const struct cairn_log *log)
{
    return cairn_show_has_store(log) ? "the Debug Store is only for BTS" : "without a Debug Store; no BTS";
}

void cairn_print_backend(const struct cairn_log *log, const char *head, const char *prefix)
{
    struct cairn_slice backend = cairn_key(&log->text, "ds.backend"), reason = cairn_key(&log->text, "ds.reason");
    if (!backend.size)
        return;
    int used = printf("%s%.*s: ", head, CAIRN_SLICE(backend));
    cairn_print_wrapped((unsigned)used, prefix, 2, reason);
    if (cairn_log_arch(log))
        printf("%sarchitectural PEBS (record format 15): %s\n", prefix, cairn_show_store(log));
}

struct kind {
    uint64_t format, bytes, records, threshold, type; /* type: of the core, UINT64_MAX where it has none */
};

/* False: this CPU is like CPU 0, or what is left of the log does not say. */
static bool find_kind(struct kind *k, const struct cairn_text *t, uint32_t cpu)
{
    k->type = UINT64_MAX;
    cairn_slice_u64(cairn_key(t, "cpu.%" PRIu32 ".core_type", cpu), &k->type);
    return cairn_has_key(t, "ds.cpu.%" PRIu32 ".format", cpu) && cairn_ds_number(t, cpu, "format", &k->format) &&
           cairn_ds_number(t, cpu, "record_bytes", &k->bytes) && cairn_ds_number(t, cpu, "records", &k->records) &&
           cairn_ds_number(t, cpu, "threshold", &k->threshold);
}

static void show_cpus(char out[32], uint32_t first, uint32_t last)
{
    if (last == first)
        snprintf(out, 32, "CPU %" PRIu32, first);
    else
        snprintf(out, 32, "CPU %" PRIu32 "..%" PRIu32, first, last);
}

/* Which CPUs run without PEBS while others have it, and why. */
static void print_without_pebs(const struct cairn_log *log, const char *prefix)
{
    for (uint32_t cpu = 0, last; cpu < log->cpus; cpu = last + 1) {
        struct cairn_slice why, next;
        char cpus[32], rest[48];
        last = cpu;
        if (!cairn_ds_without(&log->text, cpu, &why))
            continue;
        while (last + 1 < log->cpus && cairn_ds_without(&log->text, last + 1, &next) && cairn_slice_same(next, why))
            last++;
        show_cpus(cpus, cpu, last);
        snprintf(rest, sizeof(rest), "%s  ", prefix);
        cairn_print_wrapped((unsigned)printf("%s%-14s no PEBS: ", prefix, cpus), rest, (unsigned)strlen(rest), why);
    }
}

void cairn_print_other_kinds(const struct cairn_log *log, const char *prefix)
{
    for (uint32_t cpu = 1, last; cpu < log->cpus; cpu = last + 1) {
        struct kind k, next;
        char cpus[32];
        last = cpu;
        if (!find_kind(&k, &log->text, cpu))
            continue;
        while (last + 1 < log->cpus && find_kind(&next, &log->text, last + 1) && memcmp(&k, &next, sizeof(k)) == 0)
            last++;
        show_cpus(cpus, cpu, last);
        printf("%s%-14s format %" PRIu64 ", %" PRIu64 " bytes, %" PRIu64 " %s, threshold %" PRIu64, prefix, cpus,
               k.format, k.bytes, k.records, cairn_plural(k.records, "record", "records"), k.threshold);
        if (k.type != UINT64_MAX)
            printf(", core type %" PRIX64 "H", k.type);
        putchar('\n');
    }
    print_without_pebs(log, prefix);
}

/* An event without what follows its name, and what is said of it. */
static void print_mark(const char *prefix, const char *title, uint32_t cpu, struct cairn_slice event, const char *text)
{
    const char *colon = event.size ? memchr(event.at, ':', event.size) : NULL;
    const unsigned indent = (unsigned)printf("%s%-14s ", prefix, title);
    const int used =
        printf("CPU %" PRIu32 ", %.*s: ", cpu, colon ? (int)(colon - event.at) : (int)event.size, event.at);
    cairn_print_wrapped(indent + (unsigned)used, prefix, indent, (struct cairn_slice){text, (uint32_t)strlen(text)});
}

/* Events whose numbers "ds.cpu.N.NAME" has, each where a CPU has others than the one before. */
static void print_marked(const struct cairn_log *log, const char *prefix, const char *name, const char *title,
                         const char *meaning)
{
    struct cairn_slice before = {"", 0}, whose_before = {"", 0};
    for (uint32_t cpu = 0; cpu < log->cpus; cpu++) {
        const struct cairn_slice marked = cairn_key(&log->text, "ds.cpu.%" PRIu32 ".%s", cpu, name);
        const struct cairn_slice whose = cairn_key(&log->text, "ds.cpu.%" PRIu32 ".events", cpu);
        const bool again = cairn_slice_same(marked, before) && cairn_slice_same(whose, whose_before);
        struct cairn_slice rest = marked;
        uint64_t number;
        before = marked;
        whose_before = whose;
        while (!again && cairn_slice_number(&rest, &number)) {
            const struct cairn_slice event = cairn_ds_event(&log->text, cpu, (unsigned)number);
            print_mark(prefix, title, cpu, event, meaning);
        }
    }
}

/* Likewise of each event that has errata on a CPU, and had not the same ones on the CPU before. */
static void print_errata(const struct cairn_log *log, const char *prefix)
{
    static const char meaning[] = ": counts or records may be wrong";
    for (uint32_t cpu = 0; cpu < log->cpus; cpu++)
        for (unsigned i = 0; i < DS_MAX_COUNTERS; i++) {
            const struct cairn_slice errata = cairn_key(&log->text, "ds.cpu.%" PRIu32 ".errata.%u", cpu, i);
            const struct cairn_slice event = cairn_ds_event(&log->text, cpu, i);
            if (!errata.size ||
                (cpu && cairn_slice_same(errata, cairn_key(&log->text, "ds.cpu.%" PRIu32 ".errata.%u", cpu - 1, i)) &&
                 cairn_slice_same(event, cairn_ds_event(&log->text, cpu - 1, i))))
                continue;
            char *text = cairn_alloc(errata.size + sizeof(meaning));
            sprintf(text, "%.*s%s", CAIRN_SLICE(errata), meaning);
            print_mark(prefix, "errata:", cpu, event, text);
            free(text);
        }
}

void cairn_print_event_marks(const struct cairn_log *log, const char *prefix)
{
    print_marked(log, prefix, "not_precise", "not precise:", "records may be of a later instruction");
    print_marked(log, prefix, "alone", "taken alone:", "correct only with Hyper-Threading off");
    print_errata(log, prefix);
}

bool cairn_show_bad_end(char out[CAIRN_SHOWN_END], const struct cairn_log *log)
{
    struct cairn_slice verdict = cairn_key(&log->text, "end.verdict"), panic = cairn_key(&log->text, "end.panic");
    struct cairn_slice failed = cairn_key(&log->text, "end.fail");
    if (panic.size)
        snprintf(out, CAIRN_SHOWN_END, "the guest panicked: %.*s", CAIRN_SLICE(panic));
    else if (log->panic)
        snprintf(out, CAIRN_SHOWN_END, "the guest panicked; the reason is missing in this log");
    else if (cairn_slice_is(verdict, "fail"))
        snprintf(out, CAIRN_SHOWN_END, "the guest's own verdict is fail: %.*s of its tests failed",
                 CAIRN_SLICE(failed));
    else
        return false;
    return true;
}

void cairn_print_bad_end(const struct cairn_log *log, const char *prefix)
{
    char text[CAIRN_SHOWN_END];
    if (!cairn_show_bad_end(text, log))
        return;
    fputs(prefix, stdout);
    cairn_print_wrapped((unsigned)strlen(prefix), prefix, (unsigned)strlen(prefix),
                        (struct cairn_slice){text, (uint32_t)strlen(text)});
}
