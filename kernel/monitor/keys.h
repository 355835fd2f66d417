/* SPDX-License-Identifier: MIT */
/* What the keys of a PS/2 keyboard mean: scan code set 1, US layout, as the i8042 translates it. Pure, also compiled on
 * the host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct kmonitor_keys {
    bool shift, control, extended; /* extended: E0H came before */
    char text[4];
};

/* One scan code. What a terminal would send for the key: a string that holds until the next call; "": nothing. */
const char *kmonitor_keys_code(struct kmonitor_keys *k, uint8_t code);
