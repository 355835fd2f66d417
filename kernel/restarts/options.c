/* SPDX-License-Identifier: MIT */
/* The option session.restarts. */
#include "kernel/restarts/restarts.h"

#include "kernel/lib/string.h"
#include "kernel/options/row.h"
#include "kernel/sessions/options.h"

uint32_t krestart_count;

static const struct kopt_option restarts = {
    .name = "session.restarts",
    .standard = "0",
    .text = "how many times to restart sessions 2 and up, one after another, in the middle of the run",
    .field = &krestart_count,
    .kind = NUMBER32,
    .max = 100000};
ROWS_ADD(kopt, restarts);

static bool none_to_restart(char *error, size_t error_size)
{
    bool some = !krestart_count;
    for (uint32_t n = 1; n < TRACE_MAX_SESSIONS; n++)
        some |= ksession_options[n].on != 0;
    if (!some)
        snprintf(error, error_size,
                 "option 'session.restarts': session 1 is not restarted, and there is no other: "
                 "give one, session.2=compact:tsc:sequential for example");
    return !some;
}
KOPT_CHECK(none_to_restart);
