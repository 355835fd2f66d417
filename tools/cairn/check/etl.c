/* SPDX-License-Identifier: MIT */
/*
 * Checks whether an ETL file names all processes, threads and images, as far as Windows does. Between a 0005H with a
 * group and a 0020H the file has an event for each that exists (until 0008H says that this is complete), begins or
 * ends; then, up to the next 0005H, for each that is left. IDs and addresses are reused. While the file still lists
 * what exists, some things end before they are listed, and some that began meanwhile are listed again.
 *
 * A session may begin without the first of these lists (DCStart), for all kinds or for images of processes. Then a
 * thing that existed before is first named when it ends or is left; for its kind nothing is checked there.
 *
 * A rule fails only where no sound Windows can have written the file. What one may have is left out, and told with its
 * reason (enum cairn_unlisted).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/number_map.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/etl/etl.h"
#include "tools/cairn/log/rundown.h"
#include "tools/cairn/log/told.h"
#include "trace/groups.h"

#define FAIL(check, i, ...) cairn_fail(check, CAIRN_RULE_RUNDOWN, -1, &(i)->time, __VA_ARGS__)

#define IDLE_PROCESS 0u

enum phase { OFF, BEGINNING, RUNNING, ENDING };
enum what { MASKS = CAIRN_TOLD_OTHER, MASKS_END, COMPLETE }; /* beside those of enum cairn_told_what */

struct item { /* one event */
    int64_t time;
    uint64_t base; /* of an image */
    size_t order;  /* in the file; then the next of the same time has a greater one */
    uint32_t id, pid;
    uint32_t groups[2];                /* MASKS: words 0 and 1 */
    uint32_t stretch, process_stretch; /* of its class, and of processes that were told of; 0: not asked for */
    uint8_t class, what, phase;
};

struct part {              /* of the file, in which a class was asked for */
    int64_t begin, ending; /* 0005H, 0020H; `ending` INT64_MAX: it did not come */
    bool over;             /* nor is there another 0005H behind it */
    bool told_start;       /* some were there */
    bool told_end;         /* some were left */
};

struct story {
    struct {
        struct item *items;
        size_t count, room;
    } list;
    struct {
        struct part *items;
        size_t count, room;
    } parts[CAIRN_STRETCHES];
    bool any[CAIRN_STRETCHES]; /* told of */
    bool masks;
    bool merged; /* of several sessions, each of which may tell of everybody */
    struct {
        uint32_t process, stretch; /* 0: of none */
        bool told;
    } asked; /* image_told_start, of whom last */
    struct {
        struct stranger *items;
        size_t count, room;
    } strangers;
    struct cairn_map by_tid; /* their positions */
};

struct stranger { /* a thread that runs and that no event tells of */
    uint64_t runs;
    int64_t first, last; /* when */
    uint32_t tid, cpu;   /* cpu: of the first */
    bool dies;           /* by the last */
};

/* ---- what the file tells ---------------------------------------------------------------------------------------- */

static uint8_t what_of(uint32_t hook)
{
    switch (hook) {
    case HOOK_PROCESS_START:
    case HOOK_THREAD_START:
    case HOOK_IMAGE_LOAD:
        return CAIRN_TOLD_START;
    case HOOK_PROCESS_END:
    case HOOK_THREAD_END:
    case HOOK_IMAGE_UNLOAD:
        return CAIRN_TOLD_END;
    case HOOK_PROCESS_DC_START:
    case HOOK_THREAD_DC_START:
    case HOOK_IMAGE_DC_START:
        return CAIRN_TOLD_DC_START;
    case HOOK_PROCESS_DC_END:
    case HOOK_THREAD_DC_END:
    case HOOK_IMAGE_DC_END:
        return CAIRN_TOLD_DC_END;
    default:
        return CAIRN_TOLD_NAME;
    }
}

static void add(struct story *s, const struct cairn_event *e)
{
    static const uint8_t classes[] = {[CAIRN_RUNDOWN_PROCESS] = CAIRN_CLASS_PROCESS,
                                      [CAIRN_RUNDOWN_THREAD] = CAIRN_CLASS_THREAD,
                                      [CAIRN_RUNDOWN_IMAGE] = CAIRN_CLASS_IMAGE};
    struct item i = {.time = e->time, .order = s->list.count, .class = CAIRN_CLASS_OTHER};
    struct cairn_rundown r;
    if (e->hook == HOOK_RUNDOWN_COMPLETE) {
        i.what = COMPLETE;
    } else if ((e->hook == HOOK_HEADER_EXTENSION || e->hook == HOOK_GROUP_MASKS_END) && e->size >= sizeof(i.groups)) {
        i.what = e->hook == HOOK_HEADER_EXTENSION ? MASKS : MASKS_END;
        memcpy(i.groups, e->payload, sizeof(i.groups));
        s->masks = true;
    } else {
        cairn_rundown_read(&r, e);
        i.what = what_of(e->hook);
        if (r.kind == CAIRN_RUNDOWN_NONE || i.what == CAIRN_TOLD_NAME || (r.kind == CAIRN_RUNDOWN_THREAD && !r.tid))
            return; /* idle threads share one number */
        i.class = classes[r.kind];
        i.id = r.kind == CAIRN_RUNDOWN_THREAD ? r.tid : r.pid;
        i.pid = r.pid;
        i.base = r.kind == CAIRN_RUNDOWN_IMAGE ? r.address : 0;
        s->any[i.class] = true;
    }
    *CAIRN_ADD(s->list) = i;
}

static void read_story(struct story *s, const struct cairn_etl *etl)
{
    for (size_t i = 0; i < etl->buffers.count; i++) {
        const struct cairn_etl_buffer *b = &etl->buffers.items[i];
        struct cairn_event e;
        for (uint32_t at = 0; cairn_event_at(b->events, b->size, at, &e); at += e.space)
            add(s, &e);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int by_who(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return by_time(a, b);
}

static uint8_t phase_behind(struct story *s, unsigned class, uint8_t phase, const struct item *i)
{
    static const uint32_t groups[CAIRN_STRETCHES] = {PERF_PROCESS, PERF_THREAD, PERF_LOADER};
    struct part *last = phase == OFF ? NULL : &s->parts[class].items[s->parts[class].count - 1];
    bool on = i->groups[0] & groups[class];
    if (i->what == COMPLETE)
        return phase == BEGINNING ? RUNNING : phase;
    if (i->what == MASKS_END && last) {
        last->ending = i->time;
        return ENDING;
    }
    if (i->what != MASKS || (!last && !on))
        return phase;
    if (!last) {
        *CAIRN_ADD(s->parts[class]) = (struct part){.begin = i->time, .ending = INT64_MAX};
        return BEGINNING;
    }
    last->over = !on;
    last->ending = on ? INT64_MAX : last->ending;
    return !on ? OFF : phase == ENDING ? RUNNING : phase;
}

/* In which part of the file each event is. */
static void place(struct story *s)
{
    uint8_t phases[CAIRN_STRETCHES] = {OFF, OFF, OFF};
    if (s->list.count)
        qsort(s->list.items, s->list.count, sizeof(*s->list.items), by_time);
    for (size_t n = 0; n < s->list.count; n++) {
        struct item *i = &s->list.items[n];
        if (i->class < CAIRN_STRETCHES) {
            i->phase = phases[i->class];
            i->stretch = i->phase == OFF ? 0 : (uint32_t)s->parts[i->class].count;
            i->process_stretch = phases[CAIRN_CLASS_PROCESS] == OFF ? 0 : (uint32_t)s->parts[CAIRN_CLASS_PROCESS].count;
            if (i->stretch) {
                s->parts[i->class].items[i->stretch - 1].told_start |= i->what == CAIRN_TOLD_DC_START;
                s->parts[i->class].items[i->stretch - 1].told_end |= i->what == CAIRN_TOLD_DC_END;
            }
        }
        for (unsigned class = 0; class < CAIRN_STRETCHES && i->class == CAIRN_CLASS_OTHER; class ++)
            phases[class] = phase_behind(s, class, phases[class], i);
    }
    if (s->list.count)
        qsort(s->list.items, s->list.count, sizeof(*s->list.items), by_who);
}

/* ---- everybody -------------------------------------------------------------------------------------------------- */

static const char *name(char out[CAIRN_SHOWN], const struct item *i)
{
    if (i->class == CAIRN_CLASS_IMAGE)
        snprintf(out, CAIRN_SHOWN, "the image at 0x%" PRIx64 " of process %" PRIu32, i->base, i->id);
    else
        snprintf(out, CAIRN_SHOWN, "%s %" PRIu32, i->class == CAIRN_CLASS_PROCESS ? "process" : "thread", i->id);
    return out;
}

/* The first of its class and ID; NULL: it is not told of. */
static const struct item *find(const struct story *s, unsigned class, uint32_t id)
{
    size_t low = 0, high = s->list.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct item *i = &s->list.items[middle];
        if (i->class < class || (i->class == class && i->id < id))
            low = middle + 1;
        else
            high = middle;
    }
    const struct item *i = &s->list.items[low];
    return low < s->list.count && i->class == class && i->id == id ? i : NULL;
}

/* Whether the session told who of a class was there when part `stretch` of the file began. */
static bool told_start(const struct story *s, unsigned class, uint32_t stretch)
{
    return stretch && s->parts[class].items[stretch - 1].told_start;
}

/* The same of an image, which may be there from the beginning of its process on: who is told of is told process by
 * process. */
static bool image_told_start(struct story *s, const struct item *image)
{
    const struct item *end = s->list.items + s->list.count, *i = find(s, CAIRN_CLASS_PROCESS, image->id);
    if (s->asked.stretch == image->stretch && s->asked.process == image->id)
        return s->asked.told;
    bool told = false;
    for (; i && i < end && i->class == CAIRN_CLASS_PROCESS && i->id == image->id; i++)
        told |= i->stretch == image->process_stretch && i->what == CAIRN_TOLD_START;
    for (i = find(s, image->class, image->id); i < end && i->class == image->class && i->id == image->id; i++)
        told |= i->stretch == image->stretch && i->what == CAIRN_TOLD_DC_START;
    s->asked.process = image->id;
    s->asked.stretch = image->stretch;
    return s->asked.told = told;
}

struct life {
    const struct item *began; /* NULL: not there */
    bool told;                /* by the rundown, in this life */
    bool ended;               /* its last event but the rundown's says so */
    bool left;                /* at the end */
};

static void leave_out(struct cairn_check *check, enum cairn_unlisted why)
{
    check->unlisted[why]++;
}

/* The end of the part in which the last events were. */
static void finish(struct cairn_check *check, const struct story *s, struct life *l, const struct item *last)
{
    char who[CAIRN_SHOWN];
    const struct part *p = last->stretch ? &s->parts[last->class].items[last->stretch - 1] : NULL;
    const bool lost = p && l->began && p->over && p->told_end && l->began->time < p->ending;
    if (lost && l->ended)
        leave_out(check, CAIRN_UNLISTED_CROSSED);
    else if (lost)
        FAIL(check, l->began, "%s neither ends nor is in the end rundown", name(who, last));
    *l = (struct life){0};
}

/* It goes, or is left, and did not begin. */
static void check_unseen(struct cairn_check *check, struct story *s, const struct item *i, const char *what)
{
    char who[CAIRN_SHOWN];
    if (i->class == CAIRN_CLASS_IMAGE && !image_told_start(s, i))
        leave_out(check, CAIRN_UNLISTED_START);
    else if (i->class == CAIRN_CLASS_THREAD && i->pid == IDLE_PROCESS)
        leave_out(check, CAIRN_UNLISTED_IDLE);
    else
        FAIL(check, i, "%s %s, but has no start event", name(who, i), what);
}

static void told_twice(struct cairn_check *check, const struct story *s, const struct item *i, const char *how)
{
    char who[CAIRN_SHOWN];
    if (s->merged)
        leave_out(check, CAIRN_UNLISTED_MERGED);
    else
        FAIL(check, i, "%s %s", name(who, i), how);
}

static void step(struct cairn_check *check, struct story *s, struct life *l, const struct item *i)
{
    const bool beginning = i->phase == BEGINNING, dc = i->what == CAIRN_TOLD_DC_START;
    switch (i->what) {
    case CAIRN_TOLD_START:
    case CAIRN_TOLD_DC_START:
        if (l->began && !dc && l->began->what == CAIRN_TOLD_DC_START && !beginning)
            leave_out(check, CAIRN_UNLISTED_CROSSED);
        else if (l->began && (!beginning || (dc && l->told)))
            told_twice(check, s, i, "begins again, but has not ended");
        l->told = dc || (l->began && l->told);
        l->ended &= dc;
        l->began = i;
        break;
    case CAIRN_TOLD_END:
        if (l->ended && s->merged)
            leave_out(check, CAIRN_UNLISTED_MERGED);
        else if (!l->began && !l->left && !beginning)
            check_unseen(check, s, i, "ends");
        *l = (struct life){.left = l->left, .ended = true};
        break;
    default:
        if (l->left)
            told_twice(check, s, i, "is in the end rundown twice");
        else if (!l->began && l->ended)
            leave_out(check, CAIRN_UNLISTED_CROSSED);
        else if (!l->began)
            check_unseen(check, s, i, "is in the end rundown");
        *l = (struct life){.left = true};
    }
}

static void check_lives(struct cairn_check *check, struct story *s)
{
    struct life life = {0};
    const struct item *last = NULL;
    for (size_t n = 0; n < s->list.count && s->list.items[n].class < CAIRN_STRETCHES; n++) {
        const struct item *i = &s->list.items[n];
        bool same = last && last->class == i->class && last->id == i->id && last->base == i->base;
        bool same_part = same && last->stretch == i->stretch;
        if (last && !same_part)
            finish(check, s, &life, last);
        last = i;
        if (!i->stretch)
            continue; /* before the session asked, or behind it */
        if (!told_start(s, i->class, i->stretch)) {
            if (!same_part)
                leave_out(check, CAIRN_UNLISTED_START);
            continue;
        }
        check->compared[CAIRN_RULE_RUNDOWN] += !same;
        step(check, s, &life, i);
        if (i->class == CAIRN_CLASS_THREAD && told_start(s, CAIRN_CLASS_PROCESS, i->process_stretch) &&
            life.began == i && !find(s, CAIRN_CLASS_PROCESS, i->pid))
            FAIL(check, i, "thread %" PRIu32 " of process %" PRIu32 ", which has no start event", i->id, i->pid);
    }
    if (last)
        finish(check, s, &life, last);
}

/* ---- who runs --------------------------------------------------------------------------------------------------- */

/* The part of the file in which threads were asked for then, if it tells of those that were there; NULL: none. */
static const struct part *asked_at(const struct story *s, int64_t time)
{
    size_t low = 0, high = s->parts[CAIRN_CLASS_THREAD].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->parts[CAIRN_CLASS_THREAD].items[middle].begin <= time)
            low = middle + 1;
        else
            high = middle;
    }
    const struct part *p = low ? &s->parts[CAIRN_CLASS_THREAD].items[low - 1] : NULL;
    return p && p->told_start && time < p->ending ? p : NULL;
}

static struct stranger *stranger(struct story *s, uint32_t tid)
{
    const uint32_t known = cairn_map_find(&s->by_tid, tid);
    if (known)
        return &s->strangers.items[known - 1];
    cairn_map_add(&s->by_tid, tid, (uint32_t)s->strangers.count);
    struct stranger *new = CAIRN_ADD(s->strangers);
    *new = (struct stranger){.tid = tid};
    return new;
}

/* Thread `tid` runs on the switch's CPU `n`; `dies`: or is to do so no more. */
static void note_run(struct cairn_check *check, struct story *s, uint32_t n, uint32_t tid, int64_t time, bool dies)
{
    if (!tid)
        return;
    check->compared[CAIRN_RULE_RUNDOWN]++;
    if (find(s, CAIRN_CLASS_THREAD, tid))
        return;
    struct stranger *is = stranger(s, tid);
    if (!is->runs || time < is->first) {
        is->first = time;
        is->cpu = n;
    }
    if (!is->runs || time >= is->last) {
        is->last = time;
        is->dies = dies;
    }
    is->runs++;
}

static void note_switches(struct cairn_check *check, struct story *s, uint32_t n, bool compact)
{
    struct cairn_cursor cursor;
    struct cairn_switch sw;
    cairn_cursor_init(&cursor, check->log, n, compact);
    while (cairn_cursor_next(&cursor, &sw)) {
        const bool dies = sw.detailed && (sw.raw || sw.state == KTHREAD_TERMINATED); /* raw: nobody knows */
        if (!asked_at(s, sw.time))
            continue;
        note_run(check, s, n, sw.old_tid, sw.time, dies);
        note_run(check, s, n, sw.new_known ? sw.new_tid : 0, sw.time, false);
    }
}

/* Of those threads, Windows may have told of the end before the session began, and it lists those of the idle process
 * at the end alone. */
static void check_strangers(struct cairn_check *check, const struct story *s)
{
    const uint32_t build = check->log->etl->header.provider_version;
    for (size_t i = 0; i < s->strangers.count; i++) {
        const struct stranger *is = &s->strangers.items[i];
        if (is->dies) {
            leave_out(check, CAIRN_UNLISTED_CROSSED);
        } else if (build >= ETL_BUILD_DPC_DELEGATES && !asked_at(s, is->first)->told_end) {
            leave_out(check, CAIRN_UNLISTED_IDLE);
        } else {
            cairn_fail(check, CAIRN_RULE_RUNDOWN, (int)is->cpu, &is->first,
                       "thread %" PRIu32 " runs, but has no start event", is->tid);
            check->failed[CAIRN_RULE_RUNDOWN] += is->runs - 1;
        }
    }
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Why it cannot be checked who is told of; NULL: it can. */
static const char *why_not(const struct cairn_check *check, const struct story *s)
{
    const struct cairn_etl *etl = check->log->etl;
    const uint32_t mode = etl->header.log_file_mode;
    bool gaps = !check->whole || etl->header.events_lost || etl->times.buffers_lost;
    for (uint32_t n = 0; n < check->log->cpus; n++)
        gaps |= check->log->cpu[n].holes.count != 0;
    if (!s->any[CAIRN_CLASS_PROCESS] && !s->any[CAIRN_CLASS_THREAD])
        return "not checked: the file has no start and end events of processes and threads";
    if (!s->masks)
        return "not checked: no event 0005H says which groups the session had";
    if (mode & ETL_MODE_CIRCULAR)
        return "not checked: a circular file may have lost its beginning";
    if (mode & ETL_MODE_BUFFERING)
        return "not checked: a session kept in memory may have lost its beginning";
    if (mode & (ETL_MODE_NEW_FILE | ETL_MODE_APPEND))
        return "not checked: a session with several files may have its beginning in another one";
    if (mode & ETL_MODE_RELOG)
        return "not checked: the file was relogged, and events may have been filtered out";
    return gaps ? "not checked: events are missing" : NULL;
}

void cairn_check_etl_rundown(struct cairn_check *check)
{
    const struct cairn_log *log = check->log;
    struct story s = {.merged = cairn_slice_is(cairn_key(&log->text, "etl.file"), ETL_MERGED_NAME)};
    uint64_t switches = 0;
    for (uint32_t n = 0; n < log->cpus; n++)
        switches += log->cpu[n].switches.compact + log->cpu[n].switches.full;
    read_story(&s, log->etl);
    check->no_rundown = why_not(check, &s);
    if (check->no_rundown && !switches && !s.any[CAIRN_CLASS_PROCESS] && !s.any[CAIRN_CLASS_THREAD])
        check->no_rundown = NULL; /* there is nobody it could tell of */
    else if (!check->no_rundown) {
        place(&s);
        check_lives(check, &s);
        for (uint32_t n = 0; n < log->cpus; n++) {
            note_switches(check, &s, n, true);
            note_switches(check, &s, n, false);
        }
        check_strangers(check, &s);
        if (check->unlisted[CAIRN_UNLISTED_START] && !check->compared[CAIRN_RULE_RUNDOWN])
            check->no_rundown = "not checked: no DCStart event lists what was running at the start";
    }
    free(s.list.items);
    free(s.strangers.items);
    cairn_map_free(&s.by_tid);
    for (unsigned class = 0; class < CAIRN_STRETCHES; class ++)
        free(s.parts[class].items);
}
