/* SPDX-License-Identifier: MIT */
/* Where the monitor's characters come from: a script, else the serial port, else a PS/2 keyboard. All are polled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "boot/info.h"

enum kmonitor_source { KMONITOR_SCRIPT, KMONITOR_SERIAL, KMONITOR_KEYBOARD, KMONITOR_NOBODY };

/* Chooses the source, once, when the serial port is known. A keyboard is turned on. */
enum kmonitor_source kmonitor_input_begin(const struct boot_info *info);
/* The source in words. */
const char *kmonitor_input_words(void);
/* The next line of the script into `line`, cut at `size` - 1; false: it is over. */
bool kmonitor_input_script(char *line, size_t size);
/* The next character; -1: none has come. */
int kmonitor_input(void);
