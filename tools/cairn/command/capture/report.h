/* SPDX-License-Identifier: MIT */
/* Reports how a machine's run ended, and what was recorded. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/cairn/command/capture/heard.h"
#include "tools/cairn/command/capture/machine.h"

#define CAIRN_TIMEOUT 124 /* exit status: the time was up */

/* who ended the run */
enum cairn_stop {
    CAIRN_STOP_NONE,  /* the machine itself */
    CAIRN_STOP_HEARD, /* we did: it has said its last words */
    CAIRN_STOP_LEFT,  /* we did: its verdict came, and it went on */
    CAIRN_STOP_TIME,  /* we did: the time was up */
};

struct cairn_run_end {
    const struct cairn_heard *heard;
    struct cairn_machine *machine; /* it has ended */
    enum cairn_stop stop;
    uint64_t timeout;  /* seconds */
    bool frames;       /* of a trace came, */
    bool damaged;      /* and not all that there should be, or some damaged */
    const char *log;   /* of all that it has said */
    const char *saved; /* where the log goes that the machine leaves on its volume; NULL: it leaves none */
};

/* Prints the verdict, where the logs are, what was lost, and what to look at. Returns the exit status: CAIRN_GOOD,
 * CAIRN_BAD, CAIRN_UNREADABLE where the machine or its firmware did not run, CAIRN_TIMEOUT. */
int cairn_report_run(const struct cairn_run_end *end);
