/* SPDX-License-Identifier: MIT */
/* The monitor's options. */
#include "kernel/monitor/options.h"

#include "kernel/options/row.h"

struct kmonitor_options kmonitor_options;

static const struct kopt_option on = {.name = "monitor",
                                      .standard = "off",
                                      .text = "on: a prompt on the serial line (without a port: keyboard and screen) "
                                              "before the run, at breakpoints and after a "
                                              "panic (docs/learn/monitor.md)",
                                      .field = &kmonitor_options.on,
                                      .kind = WORD,
                                      .words = "off|on"};
ROWS_ADD(kopt, on);

static const struct kopt_option script = {.name = "monitor.script",
                                          .standard = "none",
                                          .text =
                                              "FILE beside cairn.cfg with commands, one a line, which the monitor "
                                              "reads instead of the serial line; after the last one the run continues",
                                          .field = kmonitor_options.script,
                                          .size = sizeof kmonitor_options.script,
                                          .kind = TEXT,
                                          .needs = "monitor=on"};
ROWS_ADD(kopt, script);
