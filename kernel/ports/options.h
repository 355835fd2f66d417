/* SPDX-License-Identifier: MIT */
/* The option serial=. */
#pragma once

#include <stdint.h>

#include "arch/firmware/uart.h"

enum kports_kind {
    KPORTS_NONE,
    KPORTS_AUTO,
    KPORTS_PORT,
    KPORTS_PCI,          /* the first one */
    KPORTS_PCI_FUNCTION, /* this one */
};

struct kports_option {
    uint32_t kind;         /* enum kports_kind */
    struct arch_uart uart; /* KPORTS_PORT; its clock also of the others, where one was given, else 0 */
    uint16_t function;     /* bus << 8 | device << 3 | function */
    uint32_t baud;         /* 0: what the firmware has, or else KSERIAL_BAUD */
};
extern struct kports_option kports_option;
