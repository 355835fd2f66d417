/* SPDX-License-Identifier: MIT */
/* The serial line, file or socket from which a machine's log comes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

struct cairn_serial {
    int fd;
    int to;             /* of a serial device: to write to; -1: that is not allowed, or it is none */
    uint32_t baud;      /* of a serial device */
    struct termios old; /* what cairn_serial_close puts back, */
    bool changed;       /* if anything */
};

/* Opens "DEV[,BAUD]": 8 data bits, no parity, raw, 115200 baud unless told; or "-", or any other file there is, or a
 * UNIX socket, to which it connects. Never waits, as for a line's carrier: reads come after polls. 0; -EINVAL: not a
 * rate a line can have; or another negative errno. `operand` is cut before the rate. */
int cairn_serial_open(struct cairn_serial *serial, char *operand);
/* Another rate for a serial device, after what was written has left. False: the device cannot do it; it may have
 * another one now. */
bool cairn_serial_set_baud(struct cairn_serial *serial, uint32_t baud);
void cairn_serial_close(struct cairn_serial *serial);

int64_t cairn_now_ms(void); /* of a clock that nobody sets */
