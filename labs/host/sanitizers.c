/* SPDX-License-Identifier: MIT */
/* Your code runs under AddressSanitizer and UndefinedBehaviorSanitizer. What they find ends the check with a status of
 * its own, of which labs/run.sh makes a verdict. The sanitizers call these two functions by their names. */
#include <stdio.h>

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
    /* Memory that nobody frees is no lab's subject; all of the machine's memory would be the teacher's. */
    return "exitcode=99:print_legend=0:color=never:detect_leaks=0:hard_rss_limit_mb=2048";
}

const char *__ubsan_default_options(void)
{
    return "exitcode=99:print_stacktrace=1:color=never";
}

/* A report ends the program at once, without what stdout still holds. */
__attribute__((constructor)) static void hold_nothing_back(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
}
