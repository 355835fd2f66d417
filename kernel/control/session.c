/* SPDX-License-Identifier: MIT */
#include "kernel/control/session.h"

#include "kernel/cpu.h"
#include "kernel/event/event.h"
#include "kernel/gate.h"
#include "kernel/lib/errno.h"
#include "kernel/phase.h"

static struct kevent lock; /* signalled: free */

static void init(const struct boot_info *unused)
{
    (void)unused;
    kevent_init(&lock, false, true);
}
KPHASE(KPHASE_ALONE, init);

static void take(void)
{
    kevent_wait(&lock, KWAIT_EXECUTIVE, KWAIT_FOREVER);
}

static void give(void)
{
    kevent_set(&lock, KWAIT_INCREMENT);
}

struct request {
    enum cairn_session_what what;
    struct ksession *session;
};

static void act_here(void *argument)
{
    const struct request *r = argument;
    ksession_act(r->session, r->what);
}

/* Its masks become `new`; without any it stops. */
static void act(struct ksession *s, enum cairn_session_what what, const struct perfinfo_groupmask *old,
                const struct perfinfo_groupmask *new)
{
    const struct ksession_change change = {trace_session_config(s->session)->number, *old, *new};
    struct request r = {what, s};
    ksession_call(&change, 1, act_here, &r);
}

static const struct perfinfo_groupmask nothing; /* of a session that does not run */

/* 0, -ENOENT or -EINVAL. */
static int find_running(uint32_t number, struct ksession **s)
{
    *s = ksession_get(number);
    return !*s ? -ENOENT : (*s)->running ? 0 : -EINVAL;
}

int ksession_start(uint32_t number, const struct perfinfo_groupmask *masks)
{
    take();
    struct ksession *s = ksession_get(number);
    const int e = !s ? -ENOENT : s->running ? -EBUSY : 0;
    if (!e) {
        if (masks)
            s->masks = *masks;
        ksession_note_start(s);
        act(s, CAIRN_SESSION_START, &nothing, &s->masks);
    }
    give();
    return e;
}

int ksession_change(uint32_t number, const struct perfinfo_groupmask *masks)
{
    struct ksession *s;
    take();
    int e = find_running(number, &s);
    if (!e) {
        const struct perfinfo_groupmask old = s->masks;
        s->masks = *masks;
        act(s, CAIRN_SESSION_MASKS, &old, &s->masks);
    }
    give();
    return e;
}

int ksession_stop(uint32_t number)
{
    struct ksession *s;
    take();
    int e = find_running(number, &s);
    if (!e) {
        act(s, CAIRN_SESSION_STOP, &s->masks, &nothing);
        ksession_note_stop(s);
    }
    give();
    return e;
}

int ksession_masks(uint32_t number, struct perfinfo_groupmask *masks)
{
    struct ksession *s;
    take();
    int e = find_running(number, &s);
    if (!e)
        *masks = s->masks;
    give();
    return e;
}

/* Each CPU makes what has changed its own, as it does other masks. */
static void tell(struct ksession *s)
{
    act(s, CAIRN_SESSION_MASKS, &s->masks, &s->masks);
}

int ksession_stamp(uint32_t number, uint32_t on, uint32_t off)
{
    struct ksession *s;
    bool pebs = false;
    take(); /* during the run pebs_stamp moves under it alone: ksession_move_pebs */
    for (uint32_t i = 0; i < kcpu_count; i++)
        pebs |= kcpu_table[i]->pebs_stamp != NULL;
    int e = find_running(number, &s);
    e = e || pebs ? e : -ENODEV;
    if (!e) {
        s->without = (s->without & ~on) | off;
        tell(s);
    }
    give();
    return e;
}

int ksession_carry(uint32_t number, ksession_choose choose, void *argument)
{
    struct ksession *s;
    take();
    int e = find_running(number, &s);
    e = e ? e : choose(s->session, argument);
    if (!e)
        tell(s);
    give();
    return e;
}

void ksession_move_pebs(bool (*function)(void *argument), void *argument)
{
    take();
    bool on = kgate_enter();
    if (function(argument))
        ksession_tell();
    kgate_leave(on);
    give();
}
