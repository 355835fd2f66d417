/* SPDX-License-Identifier: MIT */
/*
 * Where console text goes: to every sink, such as a serial port or a screen. Text that comes before the first sink is
 * kept in a small buffer, which each new sink gets. Pure, also compiled on the host. No lock: kernel/console/print.c
 * serialises calls.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CONSOLE_SINKS 4u    /* at most */
#define CONSOLE_EARLY 8192u /* characters kept for sinks that are still to come: a boot's, up to the processors */

struct console_sink {
    /* Text in pieces of any size; a line ends with '\n' alone, and that may come in a later piece. Interrupts off, the
     * console's lock held, but in a panic: then the write it has broken into may not be finished, and never will be. No
     * printing, no locks, no wait without a bound. */
    void (*write)(void *context, const char *text, size_t size);
    /* Bytes of a dump, which are not for humans, as they are; under the same rules. NULL: none go there. */
    void (*dump)(void *context, const char *data, size_t size);
    const char *way; /* of them, in words: "over serial" */
    void *context;
};

/* `sink` gets what was said so far (the first CONSOLE_EARLY characters of it, and how many are missing), and all that
 * is said from now on. It stays in use for ever. Boot processor, before the others run, interrupts off. 0, or
 * -ENOSPC. */
int kconsole_add(const struct console_sink *sink);

/* For kernel/console/print.c alone: to all sinks there are. */
void kconsole_write(const char *text, size_t size);
void kconsole_dump(const char *data, size_t size);

/* For a dump. How its bytes go, in words; of several ways the one that was added first, such as into memory;
 * NULL: there is none. */
const char *kconsole_way(void);
/* So many of them follow. No lock held. Weak: a part with a sink may say that they have no room. */
void kconsole_announce(uint64_t bytes);
