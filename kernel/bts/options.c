/* SPDX-License-Identifier: MIT */
/* Options of branch tracing. */
#include "kernel/bts/bts.h"

#include "kernel/options/row.h"

struct kbts_options kbts_options;

static const struct kopt_option mode = {.name = "bts",
                                        .standard = "off",
                                        .text = "branch tracing, with PEBS or alone (pebs=none): each time a thread "
                                                "runs, circular keeps the newest records, interrupt all of them",
                                        .field = &kopt.beside,
                                        .kind = WORD,
                                        .words = "off|circular|interrupt",
                                        .needs = "ds!=off"};
ROWS_ADD(kopt, mode);

static const struct kopt_option rings = {.name = "bts.rings",
                                         .standard = "uk",
                                         .text = "which branches: u (programs in ring 3), k (the kernel) or uk",
                                         .field = &kbts_options.rings,
                                         .kind = WORD,
                                         .words = "uk|u|k",
                                         .needs = "bts!=off"};
ROWS_ADD(kopt, rings);

static const struct kopt_option records = {.name = "bts.records",
                                           .standard = "1024",
                                           .text = "size of each CPU's BTS buffer in records",
                                           .field = &kbts_options.records,
                                           .kind = NUMBER32,
                                           .min = 1,
                                           .max = 16384,
                                           .needs = "bts!=off"};
ROWS_ADD(kopt, records);
