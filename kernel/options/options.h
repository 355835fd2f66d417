/* SPDX-License-Identifier: MIT */
/*
 * The options. The kernel's parser, the check in run-qemu.sh, --help and docs/reference/options.md are all made from
 * the same rows: table.c has those of the nucleus, and wings have theirs in their own options.c. parse.c reads words,
 * show.c prints values, check.c says which words do not go together. build/cairn-options contains this room, too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ds/ds.h"

enum kopt_ds { KOPT_DS_AUTO, KOPT_DS_HW, KOPT_DS_SOFT, KOPT_DS_OFF };
enum kopt_end { KOPT_END_HALT, KOPT_END_EXIT, KOPT_END_REBOOT, KOPT_END_POWEROFF };

#define KOPT_TEXT 256

struct kopt {
    uint32_t ds; /* enum kopt_ds */
    char pebs[KOPT_TEXT];
    char pebs_groups[32];
    uint32_t pebs_records, pebs_threshold;
    uint32_t beside; /* what is recorded beside PEBS: a wing's option; 0: nothing */
    uint32_t live;   /* full buffers are taken out during the run: a wing's option */
    uint32_t trace_buffers, trace_buffer_kib;
    char workload[16];
    uint64_t switches;
    uint32_t seconds;
    uint64_t seed;
    uint32_t tick_us;
    uint32_t cpus;
    uint32_t end; /* enum kopt_end */
};

extern struct kopt kopt;

/* Sets every option to its default. */
void kopt_defaults(void);

/* One "key=value" word of `size` characters. 0, or -EINVAL with one line in `error`: the word, what is wrong, what
 * would be right. Only printable ASCII is taken, and `error` has no other bytes. An option may be given once after
 * kopt_defaults. */
int kopt_set(const char *word, size_t size, char *error, size_t error_size);

/* A whole \cairn.cfg: one key=value a line, '#' begins a comment, blank lines are skipped, CR is ignored. Stops at the
 * first bad line; `error` then names its number. */
int kopt_parse(const char *text, size_t size, char *error, size_t error_size);

/* What no single word shows: combinations. 0 or -EINVAL with one line. */
int kopt_check(char *error, size_t error_size);

/* The first option from row *i on that is not at its default and yet has no effect where option ds is as good as `ds`:
 * one line in `text` says which, and *i is the row after it. False: there is none. */
bool kopt_idle(size_t *i, enum kopt_ds ds, char *text, size_t size);

/* Whether PEBS is asked for: neither ds=off nor pebs=none. */
bool kopt_pebs(void);

/* What the options say of counters and PEBS, once kopt_check has parsed pebs=: it does before it asks the parts. */
extern struct ds_config kopt_ds_config;
/* The same with other events than pebs=. 0 or -EINVAL with one line. */
int kopt_events(struct ds_config *config, const char *events, char *error, size_t error_size);

/* Whether a CPU that samples what pebs= says can do so all the time. Weak: by default it can. 0, or -EINVAL with one
 * line. */
struct ds_cpu;
int kopt_check_plan(struct ds_cpu *ds, char *error, size_t error_size);

/* Adds what counters count beside the events of pebs=. Weak: another part of the kernel may define it; by default it
 * adds nothing. 0, or -EINVAL with one line. */
int kopt_add_counting(struct ds_config *config, char *error, size_t error_size);

/* Option `i` in force as "NAME=VALUE" (for the machine stream); false past the last. */
bool kopt_show(size_t i, char *text, size_t size);
