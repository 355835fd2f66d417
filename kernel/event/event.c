/* SPDX-License-Identifier: MIT */
#include "kernel/event/event.h"

#include "kernel/gate.h"
#include "kernel/sched/sched.h"

void kevent_init(struct kevent *event, bool manual, bool signalled)
{
    kwait_object_init(&event->object, manual ? KOBJECT_EVENT_MANUAL : KOBJECT_EVENT_AUTO, signalled);
}

int kevent_wait(struct kevent *event, enum kwait_reason reason, uint64_t ticks)
{
    return kwait(&event->object, reason, ticks);
}

void kevent_set(struct kevent *event, int increment)
{
    bool on = kgate_enter();
    ksched_lock();
    event->object.signal = 1;
    kwait_object_wake(&event->object, increment);
    ksched_unlock();
    kgate_leave(on);
}

void kevent_reset(struct kevent *event)
{
    bool on = kgate_enter();
    ksched_lock();
    event->object.signal = 0;
    ksched_unlock();
    kgate_leave(on);
}
