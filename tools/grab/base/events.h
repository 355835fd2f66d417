/* SPDX-License-Identifier: MIT */
/* Events of the PMU, as -e names them: opened with precise_ip, so that Linux lets the processor write records. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/grab/bpf/events.h"

#define GRAB_EVENTS_MOST 8

struct grab_event {
    const char *name;
    uint32_t type; /* of perf_event_attr, as the next two */
    uint64_t config, config1;
    bool user, kernel;
    uint64_t period;
};

/* What a name, or a code, means. NULL, or what is wrong with it. */
const char *grab_event_parse(struct grab_event *event, const char *text);
/* Opens it for all CPUs (`pid` -1) or for a process and its children; it counts from now on, or from the exec of that
 * process on. 0, or GRAB_REFUSED: it has said why. It stays open until the program ends. */
int grab_event_open(const struct grab_event *event, pid_t pid, bool on_exec);
/* An event that counts nothing: Linux sets up the Debug Store of all CPUs for the first one, and keeps it up. 0, or
 * GRAB_REFUSED: it has said why. */
int grab_event_hold(void);
/* With architectural PEBS: from now on, or no longer, Linux reads IA32_PEBS_INDEX of each CPU that this thread comes
 * to. The events that make it do so write no record; `ids`: of them, 0: there is none. */
void grab_event_have_read(bool on);
void grab_event_readers(uint64_t ids[GRAB_OWN]);
/* Whether Linux has PEBS for such an event: 0, or errno. It counts nothing. */
int grab_event_try(const struct perf_event_attr *of);
