/* SPDX-License-Identifier: MIT */
/* Lab 5: what you write. trace/wire/format.h has the layout of a batch and of its records (CCSWAP_...), the states of
 * threads (enum kthread_state) and what they wait for (enum kwait_reason). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/wire/format.h"

/* ---- encoder: one CPU's */

struct cswitch {             /* a context switch */
    uint32_t old_tid;        /* the thread that leaves; 0: the idle thread */
    uint32_t new_wait;       /* timer ticks that the incoming thread has waited */
    uint8_t old_state;       /* enum kthread_state */
    uint8_t old_wait_reason; /* enum kwait_reason, if old_state is KTHREAD_WAITING */
    int8_t old_priority;     /* 0 to 31 */
    int8_t old_base;         /* base priority, 0 to 31 */
};

enum why { WHY_SPACE, WHY_AGE, WHY_DELTA, WHY_TIDS, WHY_STOP, WHY_DRAIN };

struct encoder;                    /* yours: define it */
extern const size_t encoder_bytes; /* its size */

/* `tick`: how long a timer tick is, in the unit of `time`. You need it for the age of a batch: CCSWAP_BATCH_TICKS. The
 * memory is not zeroed. */
void encoder_init(struct encoder *e, int64_t tick);

/* Adds a switch at `time`, which never decreases. If the open batch cannot take it, the batch is closed first; then the
 * switch begins a new one. Conditions are tried in this order: space, age, delta, tids. */
void encoder_switch(struct encoder *e, const struct cswitch *sw, int64_t time);

/* Closes the open batch, if there is one. */
void encoder_close(struct encoder *e, int64_t time, enum why why);

/* You call this for each batch that you close: all its bytes, the number of its switches, the time of closing (of the
 * switch that did not fit, or of encoder_close), and why. It copies the bytes. */
void lab_batch(struct encoder *e, const void *batch, uint32_t bytes, uint32_t switches, int64_t time, enum why why);

/* ---- decoder */

struct decoded {
    int64_t time;
    uint32_t tid;        /* that left; 0: the idle thread */
    uint8_t form;        /* enum ccswap_type */
    uint8_t state;       /* enum kthread_state. This and the next two: 0 in the idle forms */
    uint8_t wait_reason; /* enum kwait_reason; 0 unless state is KTHREAD_WAITING */
    int8_t priority;
    uint32_t wait; /* of the incoming thread; 0 in all forms but FULL */
};

#define DECODE_BAD UINT32_MAX

/* Decodes a batch of `bytes` bytes. Returns how many switches it has, at most `room`. DECODE_BAD: it is no whole batch:
 * the header or the last record is cut off, or a record names a slot in which there is no thread. */
uint32_t decode(const uint8_t *batch, uint32_t bytes, struct decoded *out, uint32_t room);
