/* SPDX-License-Identifier: MIT */
/* The rows' functions, and how they answer. */
#pragma once

#include "tools/grab/report/rows.h"

#define GRAB_LEAST 50u /* records that an answer needs */

__attribute__((format(printf, 3, 4))) void grab_say(struct grab_answer *a, const char *answer, const char *format, ...);
#define GRAB_NOT_ASKED(a, ...) grab_say(a, "", __VA_ARGS__)
/* Whether Linux recorded in that setting; else it has said why not. */
bool grab_was_run(const struct grab_judged *j, enum grab_setting_number n, struct grab_answer *a);
/* Behind the number of those that are there. On a busy machine Linux takes fewer samples. */
#define GRAB_TOO_FEW                                                                                                   \
    ": Linux may have slowed sampling down. Set kernel.perf_event_max_sample_rate=100000, then "                       \
    "kernel.perf_cpu_time_max_percent=0 (sysctl), and ask again while nothing else runs"
/* Whether these are enough records for an answer; else it has said so. */
bool grab_enough(struct grab_answer *a, size_t count);
/* All but those that Linux has cut short, by a switch or an interrupt. */
bool grab_nearly(size_t count, size_t all);

typedef void grab_ask(const struct grab_judged *j, struct grab_answer *a);
grab_ask grab_ask_record_size, grab_ask_groups, grab_ask_eventing_ip, grab_ask_rip, grab_ask_tsc_order; /* record.c */
grab_ask grab_ask_spacing, grab_ask_pdist_spacing, grab_ask_pdist_minimum, grab_ask_bystander;          /* spacing.c */
grab_ask grab_ask_tsc_switches, grab_ask_residual;                                                      /* switches.c */
grab_ask grab_ask_skid, grab_ask_bts_path;                                                              /* sampled.c */
grab_ask grab_ask_latency, grab_ask_retire_latency;                                                     /* latency.c */
grab_ask grab_ask_lbr_order, grab_ask_lbr_depth;                                                        /* history.c */
