/* SPDX-License-Identifier: MIT */
#include "tools/grab/base/limits.h"

#include <stdbool.h>
#include <sys/resource.h>

#define FILES (1u << 20) /* fs.nr_open, unless somebody has changed it: Linux allows root no more */

static struct rlimit memory, files; /* before */
static bool raised;

void grab_limits_raise(void)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    raised = !getrlimit(RLIMIT_MEMLOCK, &memory) && !getrlimit(RLIMIT_NOFILE, &files);
    if (!raised)
        return;
    const struct rlimit most = {files.rlim_max, files.rlim_max}, more = {FILES, FILES};
    setrlimit(RLIMIT_MEMLOCK, &all);                                /* before 5.11 maps count there */
    if (files.rlim_max >= FILES || setrlimit(RLIMIT_NOFILE, &more)) /* an event is one on each CPU, or thread */
        setrlimit(RLIMIT_NOFILE, &most);
}

void grab_limits_restore(void)
{
    if (!raised)
        return;
    setrlimit(RLIMIT_MEMLOCK, &memory);
    setrlimit(RLIMIT_NOFILE, &files);
}
